"""Plan steps inside a cluster, built from its current objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from handlers.remedy.plan import Plan, Step, Verb
from sandbox.objects import patch_object
from tests.remedy_execution.stage import Body, Stage, step

PROBE = "default/Pod/aksbot-probe"
BUDGET = "shop/PodDisruptionBudget/web"


def budget_steps(stage: Stage, identity: str = BUDGET) -> tuple[Step, Step]:
    """Relax a budget, and restore it in any case."""
    body = stage.inside(identity)
    assert body is not None
    metadata = body["metadata"]
    arguments = {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "resource_version": metadata["resourceVersion"],
        "spec": body["spec"],
        "max_unavailable": 1,
    }
    return (
        step(Verb.RELAX_BUDGET, identity, **arguments),
        step(Verb.RESTORE_BUDGET, identity, always=True, **arguments),
    )


def drain(stage: Stage) -> Plan:
    """Relax the budget, continue the upgrade of pool apps, restore the budget."""
    relax, restore = budget_steps(stage)
    return stage.plan(relax, stage.put_pool("apps"), restore)


def as_people_wrote_it(stage: Stage, identity: str = BUDGET) -> tuple[Any, Any, Any]:
    """The parts of a budget that must be restored: spec, labels, annotations."""
    body = stage.inside(identity)
    assert body is not None
    return body["spec"], body["metadata"].get("labels"), body["metadata"].get("annotations")


def change(stage: Stage, identity: str, patch: Body) -> None:
    patch_object(stage.azure.world.kubes[stage.cluster.lower()], identity, patch)


def a_pod(stage: Stage, identity: str, *, force: bool = False, grace_s: int = 30) -> Step:
    body = stage.inside(identity)
    assert body is not None
    metadata = body["metadata"]
    return step(
        Verb.DELETE_POD,
        identity,
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        grace_s=grace_s,
        force=force,
        node=body["spec"]["nodeName"],
    )


def probe(stage: Stage) -> Plan:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "aksbot-probe", "namespace": "default"},
        "spec": {"containers": [{"name": "probe", "image": "mcr.microsoft.com/probe"}], "restartPolicy": "Never"},
    }
    arguments: dict[str, Any] = {"namespace": "default", "name": "aksbot-probe", "manifest": manifest}
    return stage.plan(step(Verb.PROBE_FROM_POD, stage.cluster, **arguments))


def running(*names: str) -> Callable[[], Awaitable[tuple[str, ...]]]:
    """These fixes run."""

    async def known() -> tuple[str, ...]:
        return names

    return known
