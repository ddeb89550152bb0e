"""RBAC objects inside a cluster: AKS's own bindings and the role of the bot's reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.service_operator import GROUPS as OPERATORS_GROUPS
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
        "apiGroups": [""],
        "resources": [
            "persistentvolumes",
            "persistentvolumeclaims",
            "resourcequotas",
            "limitranges",
            "serviceaccounts",
        ],
        "verbs": _LOOK,
    },
    {
        "apiGroups": ["apps"],
        "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"],
        "verbs": _LOOK,
    },
    {"apiGroups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": _LOOK},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": _LOOK},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": _LOOK},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _LOOK},
    {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies", "ingresses"], "verbs": _LOOK},
    {"apiGroups": ["crd.projectcalico.org"], "resources": ["globalnetworkpolicies", "networkpolicies"], "verbs": _LOOK},
    {
        "apiGroups": ["cilium.io"],
        "resources": ["ciliumnetworkpolicies", "ciliumclusterwidenetworkpolicies"],
        "verbs": _LOOK,
    },
    {"apiGroups": ["storage.k8s.io"], "resources": ["volumeattachments", "csinodes", "storageclasses"], "verbs": _LOOK},
    {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": _LOOK},
    {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["httproutes"], "verbs": _LOOK},
    {
        "apiGroups": ["networking.istio.io"],
        "resources": ["destinationrules", "gateways", "serviceentries", "virtualservices"],
        "verbs": _LOOK,
    },
    {"apiGroups": ["keda.sh"], "resources": ["scaledobjects"], "verbs": _LOOK},
    {"apiGroups": ["acn.azure.com"], "resources": ["nodenetworkconfigs"], "verbs": _LOOK},
    {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims", "nodepools"], "verbs": _LOOK},
    {"apiGroups": ["karpenter.azure.com"], "resources": ["aksnodeclasses"], "verbs": _LOOK},
    {"apiGroups": [*OPERATORS_GROUPS], "resources": ["*"], "verbs": ["list"]},
    {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
        "verbs": _LOOK,
    },
    {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes", "pods"], "verbs": _LOOK},
    {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
    {"nonResourceURLs": ["/readyz", "/readyz/*", "/livez", "/livez/*", "/version", "/apis"], "verbs": ["get"]},
]
WRITER = "aksbot-writer"
WRITER_RULES: list[Body] = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "delete"]},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["get", "list", "patch"]},
]
PROBED_IN = "default"
PROBE_RULES: list[Body] = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "delete"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
]
"""The rules that deploy/kubernetes/writer.yaml grants."""


def access_bodies(scene: Scene, principals: Iterable[Principal]) -> Iterator[Body]:
    """RBAC objects. Entra clusters identify principals by object id; AKS binds the admin group."""
    people = {principal.name: principal.object_id for principal in principals}
    yield _role(scene, READER, READER_RULES)
    if "reader" in people:
        yield _binding(scene, READER, READER, [_user(people["reader"])])
    if "writer" in people:
        yield _role(scene, WRITER, WRITER_RULES)
        yield _binding(scene, WRITER, WRITER, [_user(people["writer"])])
        yield _role(scene, WRITER, PROBE_RULES, PROBED_IN)
        yield _binding(scene, WRITER, WRITER, [_user(people["writer"])], PROBED_IN)
    if scene.places.spec.entra:
        administrators = {"apiGroup": _API, "kind": "Group", "name": scene.places.administrators}
        yield _binding(scene, "aks-cluster-admin-binding-aad", "cluster-admin", [administrators])


def _user(object_id: str) -> Body:
    return {"apiGroup": _API, "kind": "User", "name": object_id}


def _role(scene: Scene, name: str, rules: list[Body], namespace: str = "") -> Body:
    kind = "Role" if namespace else "ClusterRole"
    metadata = scene.meta(kind, name, namespace)
    return {"apiVersion": f"{_API}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(scene: Scene, name: str, role: str, subjects: list[Body], namespace: str = "") -> Body:
    kind = "Role" if namespace else "ClusterRole"
    return {
        "apiVersion": f"{_API}/v1",
        "kind": f"{kind}Binding",
        "metadata": scene.meta(f"{kind}Binding", name, namespace),
        "roleRef": {"apiGroup": _API, "kind": kind, "name": role},
        "subjects": subjects,
    }
