"""Pod disruption budgets: which ones cover a pod, and the status that the disruption controller computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sandbox.kube import labels
from sandbox.kube.world import KubeWorld, stamp

Body = dict[str, Any]

_SCALED = ("ReplicaSet", "StatefulSet", "ReplicationController")


def budgets_of(world: KubeWorld, pod: Body) -> list[Body]:
    """The budgets whose selector matches a pod. An empty selector matches every pod, a missing one none."""
    found = []
    for budget in world.every("poddisruptionbudgets", pod["metadata"].get("namespace", ""), group="policy"):
        selector = labels.of_spec(budget.get("spec", {}).get("selector"))
        if selector is not None and selector.matches(pod["metadata"].get("labels")):
            found.append(budget)
    return found


def is_ready(pod: Body) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


@dataclass(frozen=True, slots=True)
class _Count:
    expected: int
    desired: int


def refresh(world: KubeWorld, namespace: str) -> None:
    """Update the budgets of a namespace after its pods or budgets changed, as the disruption controller does."""
    for budget in world.every("poddisruptionbudgets", namespace, group="policy"):
        status = counted(world, budget)
        if status != budget.get("status"):
            world.put({**budget, "metadata": dict(budget["metadata"]), "status": status})


def counted(world: KubeWorld, budget: Body) -> Body:
    """A budget's status for its current pods."""
    selector = labels.of_spec(budget.get("spec", {}).get("selector"))
    namespace = budget["metadata"].get("namespace", "")
    pods = [
        pod
        for pod in world.every("pods", namespace, group="")
        if selector is not None and selector.matches(pod["metadata"].get("labels"))
    ]
    before = budget.get("status", {})
    there = {pod["metadata"]["name"] for pod in pods if not pod["metadata"].get("deletionTimestamp")}
    going = {name: since for name, since in (before.get("disruptedPods") or {}).items() if name in there}
    healthy = sum(
        is_ready(pod) and not pod["metadata"].get("deletionTimestamp") and pod["metadata"]["name"] not in going
        for pod in pods
    )
    count = _count(world, budget.get("spec", {}), pods)
    lost = _not_scaled(world, budget.get("spec", {}), pods)
    if lost is not None:
        return {**before, "disruptionsAllowed": 0, "conditions": _conditions(world, budget, 0, lost)}
    allowed = max(0, healthy - count.desired) if count.expected > 0 else 0
    status: Body = {
        "conditions": _conditions(world, budget, allowed),
        "currentHealthy": healthy,
        "desiredHealthy": count.desired,
        "disruptionsAllowed": allowed,
        "expectedPods": count.expected,
        "observedGeneration": budget["metadata"].get("generation", 1),
    }
    return status | ({"disruptedPods": going} if going else {})


def _count(world: KubeWorld, spec: Body, pods: list[Body]) -> _Count:
    if "maxUnavailable" in spec:
        expected = _expected(world, pods)
        return _Count(expected, max(0, expected - _share(spec["maxUnavailable"], expected)))
    least = spec.get("minAvailable", 1)
    if isinstance(least, int):
        return _Count(len(pods), least)
    expected = _expected(world, pods)
    return _Count(expected, _share(least, expected))


def _not_scaled(world: KubeWorld, spec: Body, pods: list[Body]) -> str | None:
    """The error if the desired pod count is needed, but a pod's controller has no `scale` subresource."""
    least = spec.get("minAvailable", 1)
    if "maxUnavailable" not in spec and isinstance(least, int):
        return None
    for pod in pods:
        owner = next(
            (reference for reference in pod["metadata"].get("ownerReferences") or () if reference.get("controller")),
            None,
        )
        kind = world.kinds.by_word(owner["kind"].lower()) if owner else None
        if kind is not None and "scale" not in kind.subresources:
            return f'found no controllers for pod "{pod["metadata"]["name"]}"'
    return None


def _share(value: Any, of: int) -> int:
    """An int-or-percent value; percentages are rounded up."""
    if isinstance(value, int):
        return value
    return math.ceil(int(str(value).rstrip("%")) * of / 100)


def _expected(world: KubeWorld, pods: list[Body]) -> int:
    """How many pods their controllers want; for a controller not in the world, the number of its existing pods."""
    wanted: dict[str, int] = {}
    loose: dict[str, int] = {}
    for pod in pods:
        owner = next(
            (reference for reference in pod["metadata"].get("ownerReferences") or () if reference.get("controller")),
            None,
        )
        stored = _owner(world, owner, pod) if owner else None
        if owner and stored is not None:
            wanted[owner["uid"]] = int(stored.get("spec", {}).get("replicas", 1))
        else:
            key = owner["uid"] if owner else pod["metadata"]["uid"]
            loose[key] = loose.get(key, 0) + 1
    return sum(wanted.values()) + sum(loose.values())


def _owner(world: KubeWorld, owner: Body, pod: Body) -> Body | None:
    if owner["kind"] not in _SCALED:
        return None
    return world.find(f"{owner['kind'].lower()}s", owner["name"], pod["metadata"].get("namespace", ""))


def _conditions(world: KubeWorld, budget: Body, allowed: int, failed: str = "") -> list[Body]:
    before: Body = next(
        (
            condition
            for condition in budget.get("status", {}).get("conditions") or ()
            if condition["type"] == "DisruptionAllowed"
        ),
        {},
    )
    word = "True" if allowed > 0 else "False"
    since = before.get("lastTransitionTime") if before.get("status") == word else None
    return [
        {
            "lastTransitionTime": since or stamp(world.clock()),
            "message": failed,
            "observedGeneration": budget["metadata"].get("generation", 1),
            "reason": "SyncFailed" if failed else "SufficientPods" if allowed > 0 else "InsufficientPods",
            "status": word,
            "type": "DisruptionAllowed",
        }
    ]
