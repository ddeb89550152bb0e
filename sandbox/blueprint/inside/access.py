"""Who may do what inside a cluster: AKS's own bindings, and the role that this bot's reader is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sandbox.blueprint.inside.scene import Scene
from sandbox.world import Body, Principal

_API = "rbac.authorization.k8s.io"
READER = "aksbot-reader"
_LOOK = ["get", "list"]
READER_RULES: list[Body] = [
    {
        "apiGroups": [""],
        "resources": ["nodes", "pods", "namespaces", "events", "services", "endpoints", "configmaps"],
        "verbs": _LOOK,
    },
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    {
        "apiGroups": ["apps"],
        "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"],
        "verbs": _LOOK,
    },
    {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": _LOOK},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": _LOOK},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": _LOOK},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _LOOK},
    {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": _LOOK},
    {"apiGroups": ["storage.k8s.io"], "resources": ["volumeattachments", "csinodes"], "verbs": _LOOK},
    {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": _LOOK},
    {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims", "nodepools"], "verbs": _LOOK},
    {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes", "pods"], "verbs": _LOOK},
    {"nonResourceURLs": ["/readyz", "/readyz/*", "/livez", "/livez/*", "/version"], "verbs": ["get"]},
]


def access_bodies(scene: Scene, principals: Iterable[Principal]) -> Iterator[Body]:
    """Entra clusters know principals by their object ids; the group of administrators is AKS's doing."""
    people = {one.name: one.object_id for one in principals}
    yield _role(scene, READER, READER_RULES)
    if "reader" in people:
        yield _binding(scene, READER, READER, [_user(people["reader"])])
    if "writer" in people:
        yield _binding(scene, "aksbot-writer", "cluster-admin", [_user(people["writer"])])
    if scene.places.spec.entra:
        administrators = {"apiGroup": _API, "kind": "Group", "name": scene.places.administrators}
        yield _binding(scene, "aks-cluster-admin-binding-aad", "cluster-admin", [administrators])


def _user(object_id: str) -> Body:
    return {"apiGroup": _API, "kind": "User", "name": object_id}


def _role(scene: Scene, name: str, rules: list[Body]) -> Body:
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "ClusterRole",
        "metadata": scene.meta("ClusterRole", name),
        "rules": rules,
    }


def _binding(scene: Scene, name: str, role: str, subjects: list[Body]) -> Body:
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": scene.meta("ClusterRoleBinding", name),
        "roleRef": {"apiGroup": _API, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }
