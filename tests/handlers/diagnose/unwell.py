"""Unhealthy workloads as wire bodies, as written by Kubernetes and the kubelet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside

SET, POD = "web-5d9c7b8f6", "web-5d9c7b8f6-x2x4z"
LOG = f"/api/v1/namespaces/shop/pods/{POD}/log"


class Unwell(Inside):
    """Deployment/web in namespace shop, behind service web; the test sets what is wrong with it."""

    def __init__(self, **container: Any) -> None:
        super().__init__()
        self.pool("apps", count=1)
        self.room()
        self.container: Body = {"name": "web", "image": "registry.example.com/web:4.2.1", **container}
        self.webhooks: list[Body] = []
        self.config_maps: dict[str, Body] = {}
        """ConfigMap data by path."""
        self.template: Body = {"containers": [self.container], "serviceAccountName": "default"}

    def deploys(self, wanted: int = 1, standing: int = 1, ready: int = 0, **status: Any) -> Body:
        """Add the Deployment and its ReplicaSet."""
        labels = {"app": "web"}
        spec = {"replicas": wanted, "template": {"metadata": {"labels": labels}, "spec": self.template}}
        counts = {"replicas": standing, "readyReplicas": ready, "observedGeneration": 1, **status}
        owner = [{"kind": "Deployment", "name": "web"}]
        self.add("Service", "web", spec={"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]})
        self.add("ReplicaSet", SET, metadata={"ownerReferences": owner}, spec=spec, status=counts)
        return self.add("Deployment", "web", spec=spec, status=counts)

    def refused(self, message: str, ago: timedelta = timedelta(minutes=2), standing: int = 0) -> Unwell:
        """Its replica set cannot create a pod."""
        failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": ""}
        self.deploys(standing=standing, ready=standing, conditions=[failure] if not standing else [])
        self.warned("ReplicaSet", SET, "FailedCreate", f"Error creating: {message}", ago=ago, count=9)
        return self

    def stands(self, state: Body, *, ready: bool = False, restarts: int = 0, last: Body | None = None) -> Unwell:
        """Its only pod is scheduled, with its container in this state for ten minutes."""
        self.deploys(ready=int(ready))
        status = {"name": "web", "ready": ready, "restartCount": restarts, "state": state, "lastState": last or {}}
        since = at(timedelta(minutes=10))
        self.add(
            "Pod",
            POD,
            metadata={
                "labels": {"app": "web"},
                "creationTimestamp": since,
                "ownerReferences": [{"kind": "ReplicaSet", "name": SET}],
            },
            spec={**self.template, "nodeName": "node-0"},
            status={
                "phase": "Running" if "waiting" not in state or restarts else "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "True", "lastTransitionTime": since},
                    {"type": "Ready", "status": str(ready), "lastTransitionTime": since},
                ],
                "containerStatuses": [status],
            },
        )
        return self

    def waits_for(self, reason: str, message: str = "") -> Unwell:
        """A container that does not start, with the kubelet's reason."""
        return self.stands({"waiting": {"reason": reason, "message": message}})

    def crashes(self, exit_code: int = 1, reason: str = "Error", lasted_s: int = 30, restarts: int = 6) -> Unwell:
        """A container in CrashLoopBackOff that ended two minutes ago."""
        ended = timedelta(minutes=2)
        end = {"exitCode": exit_code, "reason": reason, "finishedAt": at(ended)}
        end["startedAt"] = at(ended + timedelta(seconds=lasted_s))
        waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
        return self.stands(waiting, restarts=restarts, last={"terminated": end})

    def says(self, *lines: str) -> Unwell:
        self.logs[LOG] = "\n".join(lines)
        return self

    def warned(
        self,
        kind: str,
        name: str,
        reason: str,
        message: str,
        *,
        ago: timedelta = timedelta(seconds=30),
        count: int = 5,
        container: str = "",
    ) -> Unwell:
        """A warning event that last occurred a while ago."""
        about: Body = {"kind": kind, "name": name, "namespace": "shop"}
        if container:
            about["fieldPath"] = f"spec.containers{{{container}}}"
        self.add(
            "Event",
            f"{name}.{len(self.objects)}",
            type="Warning",
            reason=reason,
            message=message,
            count=count,
            firstTimestamp=at(timedelta(minutes=15) + ago),
            lastTimestamp=at(ago),
            involvedObject=about,
        )
        return self

    def inside(self, path: str) -> tuple[int, Any]:
        kind = path.rpartition("/")[2]
        if kind.endswith("webhookconfigurations") and not any(part in path for part in self.denied):
            return 200, {"metadata": {}, "items": self.webhooks if kind.startswith("validating") else []}
        if path.startswith("/apis/storage.k8s.io/") and not any(part in path for part in self.denied):
            wanted = {"storageclasses": "StorageClass", "volumeattachments": "VolumeAttachment"}[kind]
            return 200, {"metadata": {}, "items": [one for one in self.objects if one["kind"] == wanted]}
        if path in self.config_maps and not any(part in path for part in self.denied):
            return 200, {"kind": "ConfigMap", "data": self.config_maps[path]}
        return super().inside(path)
