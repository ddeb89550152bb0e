"""Finding a cluster by name despite damaged responses: either the right one, or a message that explains why not."""

import asyncio
import logging
from collections.abc import Sequence

import pytest

from bot.checks.check import find
from handlers.clients.arm.reader import ArmReader
from handlers.fleet.names import fleet, resolve
from handlers.model import Target
from handlers.problem import Problem
from sandbox.arm.faults import Fault
from sandbox.scenario import Scenario
from tests.chaos.damage import DAMAGES, world_of
from tests.checking import access, azure, cluster_id

SCENARIO, NAME = "healthy-fleet", "staging-neu"
TIMEOUT_S = 1.5
GRAPH = "/providers/Microsoft.ResourceGraph/resources"
SUBSCRIPTIONS = "/subscriptions"
LISTS = (
    "/subscriptions/{}/providers/Microsoft.ContainerService/managedClusters",
    "/subscriptions/{}/providers/Microsoft.Kubernetes/connectedClusters",
    "/subscriptions/{}/providers/Microsoft.ResourceConnector/appliances",
)
ROUTES = (GRAPH, SUBSCRIPTIONS, *LISTS)
ROWS = ('{"data": 7, "value": 7}', '{"data": [7], "value": [7]}', '{"data": [{"id": 7}], "value": [{"id": 7}]}')
"""Answers that hold a list, of what is no cluster."""
NO_CLUSTER = '{"data": [{"id": "/subscriptions/x/y", "name": "%s"}], "value": [{"id": "/x", "name": "%s"}]}'


def faults(damage: str, routes: Sequence[str]) -> list[Fault]:
    return [Fault(**DAMAGES[damage], route=route) for route in routes]


def shapes(body: str, routes: Sequence[str]) -> list[Fault]:
    return [Fault("shape", body=body, route=route) for route in routes]


async def finds_it_or_says_why(struck: list[Fault]) -> None:
    world = world_of(SCENARIO)
    right = cluster_id(world, NAME)
    async with azure(world) as server:
        server.faults.extend(struck)
        async with ArmReader(access(server), fresh_for_s=0) as arm:
            told = await asyncio.gather(find(NAME, arm, timeout_s=TIMEOUT_S), return_exceptions=True)
    if isinstance(told[0], Target):
        assert told[0].id.key == right.key
    else:
        outcome_is_reported(told[0])


def outcome_is_reported(problem: BaseException) -> None:
    """In three parts: what, why, what to do."""
    assert isinstance(problem, Problem), repr(problem)
    assert problem.what
    assert problem.why
    assert problem.do
    assert "Traceback" not in str(problem)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_one_damaged_route_loses_nobody(damage: str) -> None:
    """The graph is asked first, and the lists only where it does not know the name: one of both is enough."""
    world = world_of(SCENARIO)
    for route in ROUTES:
        async with azure(world) as server:
            server.faults.extend(faults(damage, [route]))
            async with ArmReader(access(server), fresh_for_s=0) as arm:
                if route == GRAPH and damage == "timeout":
                    with pytest.raises(Problem, match="did not answer within"):
                        await find(NAME, arm, timeout_s=TIMEOUT_S)
                    continue
                assert (await resolve(NAME, arm)).id.key == cluster_id(world, NAME).key


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("also", [SUBSCRIPTIONS, *LISTS])
async def test_the_fallback_may_be_damaged_too(also: str, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    await finds_it_or_says_why([Fault("403", route=GRAPH), *faults(damage, [also])])
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("damage", DAMAGES)
async def test_where_everything_is_damaged_a_person_is_told(damage: str) -> None:
    world = world_of(SCENARIO)
    async with azure(world) as server:
        server.faults.extend(faults(damage, ROUTES))
        async with ArmReader(access(server), fresh_for_s=0) as arm:
            with pytest.raises(Problem) as told:
                await find(NAME, arm, timeout_s=TIMEOUT_S)
    outcome_is_reported(told.value)
    assert "no cluster in" not in told.value.why, "not to see is not to know that there is none"


@pytest.mark.parametrize("body", [*ROWS, NO_CLUSTER % (NAME, NAME)])
@pytest.mark.parametrize("struck", [[GRAPH], [GRAPH, SUBSCRIPTIONS], [GRAPH, LISTS[0]], list(ROUTES)])
async def test_rows_that_are_no_clusters_are_none(struck: list[str], body: str) -> None:
    await finds_it_or_says_why(shapes(body, struck))


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name != "timeout"])
async def test_the_second_page_of_the_graph_is_damaged(damage: str) -> None:
    """Half of a fleet is not the fleet: the lists are asked then."""
    world = world_of(SCENARIO)
    async with azure(world) as server, ArmReader(access(server), fresh_for_s=0) as arm:
        whole = await fleet(arm)
    async with azure(world, page_size=2) as server:
        server.faults.extend([Fault(**DAMAGES[damage], route=GRAPH, skip=1)])
        async with ArmReader(access(server), fresh_for_s=0) as arm:
            assert await fleet(arm) == whole


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name not in ("403", "timeout")])
async def test_of_two_clusters_of_one_name_none_is_chosen_because_the_other_was_out_of_sight(damage: str) -> None:
    """The graph may not be asked, and one subscription's list is damaged: whichever that is, it hides a twin."""
    world = Scenario.load(SCENARIO).world
    first = cluster_id(world, NAME)
    elsewhere = next(
        key.split("/")[2] for key in world.resources if key.count("/") == 2 and first.subscription not in key
    )
    twin = str(first).replace(first.subscription, elsewhere).replace(first.resource_group or "", "rg-twin")
    group = {"id": twin.split("/providers/")[0], "name": "rg-twin", "location": "northeurope", "properties": {}}
    world.put({**group, "type": "Microsoft.Resources/resourceGroups"})
    world.put({**world.resources[first.key], "id": twin})
    async with azure(world) as server:
        server.faults.extend([Fault("403", route=GRAPH), Fault(**DAMAGES[damage], route=LISTS[0], times=4)])
        async with ArmReader(access(server), fresh_for_s=0) as arm:
            with pytest.raises(Problem) as told:
                await find(NAME, arm, timeout_s=TIMEOUT_S)
    outcome_is_reported(told.value)
