"""The objects of node auto-provisioning: CRDs, NodePools, and a NodeClaim for each node it created."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from sandbox.blueprint.inside.nodes import provider_id
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.node_model import Machine
from sandbox.kube.world import stamp
from sandbox.world import Body

GROUP = "karpenter.sh"
_KINDS = (
    (GROUP, "v1", "nodepools", "NodePool"),
    (GROUP, "v1", "nodeclaims", "NodeClaim"),
    ("karpenter.azure.com", "v1beta1", "aksnodeclasses", "AKSNodeClass"),
)


def karpenter_bodies(scene: Scene) -> Iterator[Body]:
    if not scene.places.spec.auto:
        return
    for group, version, plural, kind in _KINDS:
        yield _definition(scene, group, version, plural, kind)
    yield {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": scene.meta("AKSNodeClass", "default"),
        "spec": {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 128},
        "status": {"conditions": [_condition("Ready", stamp(scene.created))]},
    }
    for pool in scene.places.spec.auto:
        yield _node_pool(scene, pool)
    for machine in scene.machines:
        if machine.pool in scene.places.spec.auto:
            yield _claim(scene, machine)


def _definition(scene: Scene, group: str, version: str, plural: str, kind: str) -> Body:
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": scene.meta("CustomResourceDefinition", f"{plural}.{group}"),
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": names,
            "versions": [
                {"name": version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
            ],
        },
        "status": {
            "acceptedNames": names,
            "storedVersions": [version],
            "conditions": [
                {**_condition(name, stamp(scene.created)), "message": ""} for name in ("NamesAccepted", "Established")
            ],
        },
    }


def _node_pool(scene: Scene, name: str) -> Body:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "NodePool",
        "metadata": scene.meta("NodePool", name, generation=1),
        "spec": {
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"},
            "template": {"spec": {"nodeClassRef": _class_of()}},
        },
        "status": {"conditions": [_condition("Ready", stamp(scene.created))]},
    }


def _claim(scene: Scene, machine: Machine) -> Body:
    name = f"{machine.pool}-{machine.name.rsplit('-', 1)[-1]}"
    ready = stamp(machine.born + timedelta(seconds=90))
    pool = {**scene.owner(f"{GROUP}/v1", "NodePool", machine.pool), "controller": False}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "NodeClaim",
        "metadata": scene.meta(
            "NodeClaim", name, born=machine.born, labels={"karpenter.sh/nodepool": machine.pool}, owner=pool
        ),
        "spec": {"nodeClassRef": _class_of(), "requirements": []},
        "status": {
            "nodeName": machine.name,
            "providerID": provider_id(machine.id),
            "conditions": [_condition(name, ready) for name in ("Launched", "Registered", "Initialized", "Ready")],
        },
    }


def _class_of() -> Body:
    return {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}


def _condition(name: str, since: str) -> Body:
    return {"type": name, "status": "True", "reason": name, "message": "", "lastTransitionTime": since}
