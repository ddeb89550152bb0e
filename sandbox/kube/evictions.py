"""`pods/eviction`: a deletion that respects the disruption budgets."""

from __future__ import annotations

from typing import Any

from sandbox.kube import deletion, disruption, objects, reads, statuses
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld, stamp

Body = dict[str, Any]

_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_CAUSE = "DisruptionBudget"
_MORE_THAN_ONE = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def create(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    sent = objects.decoded(call)
    if not isinstance(sent, dict) or sent.get("kind", "Eviction") != "Eviction":
        raise statuses.bad_request("not a Eviction object")
    if sent.get("metadata", {}).get("name") != call.place.name:
        raise statuses.bad_request("name in URL does not match name in Eviction object")
    pod = reads.existing(world, kind, call)
    options = deletion.Options.of(sent.get("deleteOptions") or {}, dry=call.query.get("dryRun", ""))
    if not _past_caring(pod):
        budgets = disruption.budgets_of(world, pod)
        if len(budgets) > 1:
            raise statuses.refusal(500, "", _MORE_THAN_ONE)
        if budgets and not _needs_no_budget(pod, budgets[0]):
            _spend(world, pod, budgets[0], dry=options.dry)
    deletion.remove(world, kind, pod, options)
    return Answer(201, statuses.success() | {"code": 201})


def _past_caring(pod: Body) -> bool:
    """Whether eviction skips the budgets, because the pod is pending, finished or terminating."""
    phase = pod.get("status", {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


def _needs_no_budget(pod: Body, budget: Body) -> bool:
    if disruption.is_ready(pod):
        return False
    if budget.get("spec", {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _spend(world: KubeWorld, pod: Body, budget: Body, *, dry: bool) -> None:
    """Use up one allowed disruption, or raise the 429."""
    name, status = budget["metadata"]["name"], budget.get("status", {})
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        cause = {"reason": _CAUSE, "message": f"The disruption budget {name} is still being processed by the server."}
        raise statuses.too_many_requests(_REFUSED, [cause], 10)
    allowed = int(status.get("disruptionsAllowed", 0))
    if allowed < 1:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        cause = {
            "reason": _CAUSE,
            "message": f"The disruption budget {name} needs {needs} healthy pods and has {has} currently",
        }
        raise statuses.too_many_requests(_REFUSED, [cause])
    if dry:
        return
    going = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: stamp(world.clock())}
    changed = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": going}
    world.put({**budget, "metadata": dict(budget["metadata"]), "status": changed})
