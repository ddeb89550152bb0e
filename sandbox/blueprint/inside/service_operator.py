"""Azure Service Operator in a cluster: its definitions, and its controller.

Its custom resources are written in scenarios: what ARM answers about them is the story.
"""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload
from sandbox.blueprint.operator_kinds import KINDS
from sandbox.kube.world import stamp
from sandbox.world import Body

NAMESPACE = "azureserviceoperator-system"
VERSION = "v2.17.0"
GROUPS = tuple(dict.fromkeys(f"{group}.azure.com" for group, _, _ in KINDS.values()))

_SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
_COLUMNS = [
    {"name": name, "type": "string", "jsonPath": f".status.conditions[?(@.type=='Ready')].{field}"}
    for name, field in (("Ready", "status"), ("Severity", "severity"), ("Reason", "reason"), ("Message", "message"))
]


def operator_definitions(scene: Scene) -> Iterator[Body]:
    """The CustomResourceDefinitions that the operator has installed."""
    for kind in scene.places.spec.service_operator:
        yield _definition(scene, kind, *KINDS[kind])


def operator_workloads(scene: Scene) -> Iterator[Workload]:
    """Its controller, in the namespace that its chart suggests."""
    if scene.places.spec.service_operator:
        yield Workload(
            NAMESPACE,
            "azureserviceoperator-controller-manager",
            f"mcr.microsoft.com/k8s/azureserviceoperator:{VERSION}",
            replicas=2,
            cpu="200m",
            memory="256Mi",
            limit="512Mi",
            budget={"minAvailable": 1},
            port=9443,
        )


def _definition(scene: Scene, kind: str, service: str, date: str, plural: str) -> Body:
    group = f"{service}.azure.com"
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    labels = {"app.kubernetes.io/name": "azure-service-operator", "app.kubernetes.io/version": VERSION}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": scene.meta("CustomResourceDefinition", f"{plural}.{group}", labels=labels),
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {**names, "categories": ["azure", service]},
            "versions": [_version(f"v1api{date}"), _version(f"v1api{date}storage", storage=True)],
        },
        "status": {
            "acceptedNames": names,
            "storedVersions": [f"v1api{date}storage"],
            "conditions": [_holds(scene, name) for name in ("NamesAccepted", "Established")],
        },
    }


def _version(name: str, *, storage: bool = False) -> Body:
    """Each is served twice: as people write it, and as the operator stores it."""
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": _SCHEMA,
        "subresources": {"status": {}},
        "additionalPrinterColumns": _COLUMNS,
    }


def _holds(scene: Scene, name: str) -> Body:
    return {"type": name, "status": "True", "reason": name, "message": "", "lastTransitionTime": stamp(scene.created)}
