"""Reconcile is offered only after the blocker named by Azure is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handlers.engine.run import Engine, Finished
from handlers.remedy.plan import Offer
from tests.handlers.diagnose import test_precedence as scenes
from tests.handlers.diagnose.bodies import CLUSTER, usage
from tests.handlers.diagnose.wire import GRAPH, LIBRARY, Azure
from tests.handlers.remedy.asking import REMEDIES, clients_of

IMAGE = "AKSUbuntu-2204gen2containerd-202610.27.0"


def in_order(azure: Azure) -> Azure:
    """Its machines are well, and its nodes are all there, Ready, and as the pool wants them."""
    pool = azure.pools["apps"]
    pool |= {"nodeImageVersion": IMAGE, "count": len(azure.machines["apps"])}
    for number, machine in enumerate(azure.machines["apps"]):
        machine["properties"] |= {"provisioningState": "Succeeded", "instanceView": {}}
        labels = azure.node(f"node-{number}", machine=number)["metadata"]["labels"]
        labels["kubernetes.azure.com/node-image-version"] = IMAGE
    return azure


def without_the_rule(azure: Azure) -> None:
    azure.rules = []


def without_the_lock(azure: Azure) -> None:
    azure.locks = []


def with_more_quota(azure: Azure) -> None:
    azure.usages[2] = usage("standardDSv5Family", 12, 100)


async def offers(azure: Azure) -> dict[str, Offer]:
    """What all checks together make of it, and what may be done about that, by remedy."""
    async with clients_of(azure) as (target, clients):
        async for event in Engine(GRAPH, LIBRARY.explains).check(target, clients):
            if isinstance(event, Finished):
                diagnosis, facts = event.diagnosis, event.facts
        missing = REMEDIES.missing(diagnosis, facts)
        facts = await Engine(GRAPH.facts(missing), {}).gather(target, clients, facts) if missing else facts
        return {one.remedy: one for one in REMEDIES.offers(diagnosis, facts)}


@pytest.mark.parametrize(
    ("scene", "solve"),
    [
        (scenes.rule, without_the_rule),
        (scenes.lock, without_the_lock),
        (scenes.quota, with_more_quota),
    ],
    ids=["rule", "lock", "quota"],
)
async def test_the_pool_can_be_reconciled_once_its_blocker_is_gone(
    scene: Callable[[], Azure], solve: Callable[[Azure], None]
) -> None:
    azure = in_order(scene())
    assert "reconcile-pool" not in await offers(azure)  # the blocker is the root, and the pool follows from it
    solve(azure)
    offered = (await offers(azure))["reconcile-pool"]
    assert offered.plan is not None, offered.forbidden
    assert offered.plan.target == azure.answers()[f"{CLUSTER}/agentPools"]["value"][0]["id"]


async def test_while_the_blockers_check_is_denied_there_is_a_reason_instead_of_a_button() -> None:
    azure = in_order(scenes.lock())
    azure.locks = []
    azure.denied = {"/Microsoft.Authorization/locks"}
    offered = (await offers(azure))["reconcile-pool"]
    assert offered.plan is None
    assert any("scope(s) are locked" in one.because for one in offered.forbidden)
