"""A cluster to which a test adds objects: all API server lists, cluster-wide or per namespace, are built from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from handlers.model import Finding
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.wire import Azure

PLURALS = {
    "ConfigMap": "/api/v1/configmaps",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Deployment": "/apis/apps/v1/deployments",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
    "Event": "/api/v1/events",
    "Ingress": "/apis/networking.k8s.io/v1/ingresses",
    "Job": "/apis/batch/v1/jobs",
    "LimitRange": "/api/v1/limitranges",
    "Namespace": "/api/v1/namespaces",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/networkpolicies",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": "/api/v1/persistentvolumeclaims",
    "Pod": "/api/v1/pods",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "ResourceQuota": "/api/v1/resourcequotas",
    "Service": "/api/v1/services",
    "ServiceAccount": "/api/v1/serviceaccounts",
    "StatefulSet": "/apis/apps/v1/statefulsets",
}


class Inside(Azure):
    """The cluster's objects. `objects` are added by the test to the healthy cluster of `Azure`."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: list[Body] = []
        self.logs: dict[str, str] = {}
        """Pod logs by path; empty for any other pod."""
        self.more_inside: dict[str, list[Body]] = {}
        """Lists of other kinds, by path."""
        self.groups: list[Body] = []
        """API groups of custom resources, as discovery tells them."""

    def add(self, kind: str, name: str, namespace: str = "shop", **body: Any) -> Body:
        metadata = {"name": name, "namespace": namespace, "creationTimestamp": at(timedelta(hours=1))}
        made = {"kind": kind, **body, "metadata": metadata | body.get("metadata", {})}
        self.objects.append(made)
        return made

    def serves(self, group: str, *versions: str) -> None:
        """The kinds of this API group are installed."""
        self.groups.append({"name": group, "versions": [{"version": version} for version in versions]})

    def inside(self, path: str) -> tuple[int, Any]:
        status, answer = super().inside(path)
        if path == "/apis" and status == 404:
            return 200, {"kind": "APIGroupList", "groups": self.groups}
        if path.endswith("/log") and status == 404:
            return 200, self.logs.get(path, "")
        listed = self.more_inside[path] if path in self.more_inside else self._listed(path)
        if listed is None or status not in (200, 404):
            return status, answer
        return 200, {"metadata": {}, "items": [*(answer.get("items") or ()), *listed]}

    def _listed(self, path: str) -> list[Body] | None:
        """The objects of a list, or None if the path is not a list of a supported kind."""
        before, _, behind = path.partition("/namespaces/")
        namespace, _, plural = behind.partition("/")
        wanted = f"{before}/{plural}" if plural else path
        kind = next((kind for kind, known in PLURALS.items() if known == wanted), None)
        if kind is None:
            return None
        return [one for one in self._of(kind) if not plural or one["metadata"].get("namespace") == namespace]

    def _of(self, kind: str) -> Iterator[Body]:
        yield from (one for one in self.objects if one["kind"] == kind)

    def waits(self, name: str = "web-5d9c7b8f6-x2x4z", said: str = "0/1 nodes are available", **spec: Any) -> Body:
        """A pod of Deployment/web that has been unschedulable for ten minutes."""
        since = at(timedelta(minutes=10))
        containers = [{"name": "web", "resources": {"requests": spec.pop("requests", {"cpu": "100m"})}}]
        scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        return self.add(
            "Pod",
            name,
            metadata={
                "labels": {"app": "web"},
                "creationTimestamp": since,
                "ownerReferences": [{"kind": "ReplicaSet", "name": name.rpartition("-")[0]}],
            },
            spec={"containers": containers, **spec},
            status={"phase": "Pending", "conditions": [scheduled | {"message": said, "lastTransitionTime": since}]},
        )

    def runs(
        self, name: str, node: str = "node-0", namespace: str = "shop", *, ready: bool = True, **more: Any
    ) -> Body:
        """A running pod on a node."""
        since = at(timedelta(minutes=30))
        owner = [{"kind": "ReplicaSet", "name": name.rpartition("-")[0]}]
        spec = {"nodeName": node, "containers": [{"name": "main", "resources": {}}], **more.pop("spec", {})}
        status = {
            "phase": "Running",
            "podIP": "10.244.0.9",
            "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}],
            **more.pop("status", {}),
        }
        labels = more.pop("labels", {"app": name.split("-")[0]})
        return self.add(
            "Pod", name, namespace, metadata={"labels": labels, "ownerReferences": owner}, spec=spec, status=status
        )

    def room(self, name: str = "node-0", pool: str = "apps", labels: Body | None = None, **spec: Any) -> Body:
        """A Ready node with 4 CPUs, 16 GiB and capacity for 30 pods."""
        allocatable = {"cpu": "4", "memory": "16Gi", "pods": "30", "ephemeral-storage": "100Gi"}
        body = self.node(name, pool, allocatable=allocatable | spec.pop("allocatable", {}))
        body["metadata"]["labels"] |= {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "westeurope-1"}
        body["metadata"]["labels"] |= labels or {}
        body["spec"] |= spec
        return body


def page(section: str, finding: Finding) -> str:
    """A section of the finding's runbook, rendered with its facts."""
    book = LIBRARY.get(finding.code)
    assert book is not None
    return book.render(section, finding.facts)
