"""A cluster with Azure Service Operator, to which a test adds resources: definitions, discovery, lists and events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside

KINDS = {
    "Disk": ("compute", "disks"),
    "FlexibleServer": ("dbforpostgresql", "flexibleservers"),
    "FlexibleServersDatabase": ("dbforpostgresql", "flexibleserversdatabases"),
    "ManagedCluster": ("containerservice", "managedclusters"),
    "ManagedClustersAgentPool": ("containerservice", "managedclustersagentpools"),
    "Redis": ("cache", "redis"),
    "RedisLinkedServer": ("cache", "redislinkedservers"),
    "Registry": ("containerregistry", "registries"),
    "ResourceGroup": ("resources", "resourcegroups"),
    "RoleAssignment": ("authorization", "roleassignments"),
    "StorageAccount": ("storage", "storageaccounts"),
    "VirtualNetwork": ("network", "virtualnetworks"),
}
"""Group and plural of each kind."""
AZURE = "/subscriptions/5a1c0000-0000-4000-8000-000000000001/resourceGroups"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OLD = timedelta(hours=3)


class WithOperator(Inside):
    """The definitions and resources of ASO. `says` adds a resource with its Ready condition."""

    def __init__(self) -> None:
        super().__init__()
        self.pool("apps")
        self.node()
        self.made: list[Body] = []

    def says(
        self,
        kind: str,
        name: str,
        reason: str = "Succeeded",
        message: str = "",
        *,
        namespace: str = "platform",
        severity: str = "Warning",
        ago: timedelta = timedelta(minutes=40),
        **more: Any,
    ) -> Body:
        """A resource and what ASO says of it. `owner`, `notes` (annotations), `generation`, `conditions`."""
        ready = {"type": "Ready", "status": "False", "severity": severity, "reason": reason, "message": message}
        if reason == "Succeeded":
            ready = {"type": "Ready", "status": "True", "reason": reason}
        ready |= {"lastTransitionTime": at(ago), "observedGeneration": 2}
        owner = more.get("owner")
        group = KINDS[kind][0]
        body = {
            "kind": kind,
            "apiVersion": f"{group}.azure.com/v1api20240901storage",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "generation": more.get("generation", 2),
                "creationTimestamp": at(more.get("created", OLD)),
                "annotations": more.get("notes", {}),
            },
            "spec": {"owner": owner} if owner else {},
            "status": {"conditions": more.get("conditions", [ready])},
        }
        self.made.append(body)
        return body

    def failed(
        self, kind: str, name: str, message: str, count: int = 6, *, first: int = 50, last: int = 2, **more: Any
    ) -> None:
        """The event of ASO's tries that failed, between two moments, in minutes ago."""
        namespace = more.get("namespace", "platform")
        self.kube_events.append(
            {
                "metadata": {"name": f"{name}.{len(self.kube_events)}", "namespace": namespace},
                "involvedObject": {"kind": kind, "name": name, "namespace": namespace},
                "type": "Warning",
                "reason": more.get("reason", "CreateOrUpdateActionError"),
                "message": message,
                "firstTimestamp": at(timedelta(minutes=first)),
                "lastTimestamp": at(timedelta(minutes=last)),
                "count": count,
            }
        )

    def inside(self, path: str) -> tuple[int, Any]:
        status, answer = super().inside(path)
        listed = self._of_operator(path)
        if listed is None or status not in (200, 404):
            return status, answer
        return 200, {"metadata": {}, "items": listed}

    def _of_operator(self, path: str) -> list[Body] | None:
        used = {one["kind"]: KINDS[one["kind"]] for one in self.made}
        if path == DEFINITIONS:
            return [{"metadata": {"name": f"{plural}.{group}.azure.com"}} for group, plural in used.values()]
        if path == "/apis":
            return [_discovered(group, plural, kind) for kind, (group, plural) in used.items()]
        for kind, (group, plural) in used.items():
            if path == f"/apis/{group}.azure.com/v1api20240901storage/{plural}":
                return [one for one in self.made if one["kind"] == kind]
        return None


def _discovered(group: str, plural: str, kind: str) -> Body:
    """One group of the API server's discovery, with a preview and both variants of the stable version."""
    row = {"resource": plural, "responseKind": {"group": f"{group}.azure.com", "version": "", "kind": kind}}
    versions = ("v1api20240402previewstorage", "v1api20240901", "v1api20240901storage")
    return {
        "metadata": {"name": f"{group}.azure.com"},
        "versions": [{"version": version, "resources": [row]} for version in versions],
    }
