"""The resources of Kubernetes by the names that people type: their API group, and whether they have a namespace.

For `rbac`: a resource of a custom kind is written with its group (`certificates.cert-manager.io`), as kubectl takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

NAMESPACED: dict[str, str] = {
    "": "configmaps endpoints events limitranges persistentvolumeclaims pods podtemplates replicationcontrollers "
    "resourcequotas secrets serviceaccounts services",
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "autoscaling": "horizontalpodautoscalers",
    "batch": "cronjobs jobs",
    "coordination.k8s.io": "leases",
    "discovery.k8s.io": "endpointslices",
    "gateway.networking.k8s.io": "gateways httproutes grpcroutes referencegrants",
    "networking.k8s.io": "ingresses networkpolicies",
    "policy": "poddisruptionbudgets",
    "rbac.authorization.k8s.io": "rolebindings roles",
}
CLUSTER_WIDE: dict[str, str] = {
    "": "componentstatuses namespaces nodes persistentvolumes",
    "admissionregistration.k8s.io": "mutatingwebhookconfigurations validatingwebhookconfigurations",
    "apiextensions.k8s.io": "customresourcedefinitions",
    "apiregistration.k8s.io": "apiservices",
    "authentication.k8s.io": "tokenreviews",
    "authorization.k8s.io": "subjectaccessreviews",
    "certificates.k8s.io": "certificatesigningrequests",
    "networking.k8s.io": "ingressclasses",
    "node.k8s.io": "runtimeclasses",
    "rbac.authorization.k8s.io": "clusterrolebindings clusterroles",
    "scheduling.k8s.io": "priorityclasses",
    "storage.k8s.io": "csidrivers csinodes storageclasses volumeattachments",
}
SHORT = {
    "cj": "cronjobs",
    "cm": "configmaps",
    "crd": "customresourcedefinitions",
    "crds": "customresourcedefinitions",
    "deploy": "deployments",
    "ds": "daemonsets",
    "ep": "endpoints",
    "ev": "events",
    "hpa": "horizontalpodautoscalers",
    "ing": "ingresses",
    "netpol": "networkpolicies",
    "no": "nodes",
    "ns": "namespaces",
    "pdb": "poddisruptionbudgets",
    "po": "pods",
    "pv": "persistentvolumes",
    "pvc": "persistentvolumeclaims",
    "rs": "replicasets",
    "sa": "serviceaccounts",
    "sc": "storageclasses",
    "sts": "statefulsets",
    "svc": "services",
}
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
RARE_VERBS = ("approve", "bind", "escalate", "impersonate", "sign", "use")
_GROUPS = {
    name: (group, scoped)
    for scoped, groups in ((True, NAMESPACED), (False, CLUSTER_WIDE))
    for group, names in groups.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as the API calls it."""

    name: str
    """With its subresource: `pods/log`."""
    group: str
    namespaced: bool


def resource_of(typed: str) -> Resource | None:
    """The resource that somebody means; None where none is called so."""
    whole, _, part = typed.partition("/")
    plain, _, group = whole.partition(".")
    name = _known(plain)
    if group:
        known, namespaced = _GROUPS.get(name, ("", True))
        return (
            Resource(_with(name, part), group, namespaced)
            if known == group
            else Resource(_with(plain, part), group, True)
        )
    if name not in _GROUPS:
        return None
    return Resource(_with(name, part), *_GROUPS[name])


def near_resources(typed: str) -> list[str]:
    return get_close_matches(typed.partition("/")[0], [*_GROUPS, *SHORT], n=3, cutoff=0.5)


def near_verbs(typed: str) -> list[str]:
    return get_close_matches(typed, (*VERBS, *RARE_VERBS), n=3, cutoff=0.5)


def is_verb(typed: str) -> bool:
    return typed in (*VERBS, *RARE_VERBS)


def _known(plain: str) -> str:
    """`deploy`, `deployment` and `deployments` are one."""
    name = SHORT.get(plain, plain)
    return next((one for one in (name, f"{name}s", f"{name}es", f"{name[:-1]}ies") if one in _GROUPS), name)


def _with(name: str, part: str) -> str:
    return f"{name}/{part}" if part else name
