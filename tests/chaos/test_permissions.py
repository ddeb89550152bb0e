"""Each declared action is taken away in turn; none is declared that is never used."""

import pytest

from handlers.model import Outcome
from sandbox.scenario import Scenario
from tests.checking import GRAPH, azure, check, collectors_that, needing

ACTIONS = sorted({action for collector in GRAPH.wanted for action in collector.reads})
NOT_A_COLLECTORS = {"Microsoft.ResourceGraph/resources/read", "Microsoft.Resources/subscriptions/read"}


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_missing_permission_is_named_and_nothing_unseen_is_clear(action: str) -> None:
    world = Scenario.load("healthy-fleet").world
    for name in ("prod-eus2", "dev-shared"):
        async with azure(world) as server:
            server.deny("reader", action)
            diagnosis = await check(server, name)
            asked = any(request.action == action for request in server.log)
        lost = needing(collectors_that(lambda collector: action in collector.reads))
        outcomes = {one.id: one.outcome for one in diagnosis.checks}
        named = {one.grant for one in diagnosis.unseen}
        if asked:
            assert action in named
            assert not [one for one in lost if outcomes[one] is Outcome.CLEAR]
        assert Outcome.CRASHED not in outcomes.values()
        assert Outcome.FOUND not in outcomes.values()


async def test_what_is_declared_is_used_and_what_is_used_is_declared() -> None:
    used = set()
    for scenario in ("healthy-fleet", "quota-blocks-upgrade"):
        world = Scenario.load(scenario).world
        names = [body["name"] for key, body in world.resources.items() if is_cluster(key)]
        async with azure(world) as server:
            for name in names:
                await check(server, name)
            used |= {request.action for request in server.log if request.principal == "reader" and request.action}
    assert used - NOT_A_COLLECTORS == set(ACTIONS)


async def test_nobody_sees_nothing_and_is_told_what_to_grant() -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        for action in ACTIONS:
            server.deny("reader", action)
        diagnosis = await check(server, "prod-weu")
    assert {one.outcome for one in diagnosis.checks} == {Outcome.INCONCLUSIVE}
    assert "Microsoft.ContainerService/managedClusters/read" in {one.grant for one in diagnosis.unseen}


def is_cluster(key: str) -> bool:
    return "/managedclusters/" in key and key.count("/") == 8
