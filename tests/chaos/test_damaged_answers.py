"""Every route × everything that can happen to an answer: the check ends in time, says what it could not see, and
never calls clear what it has not seen."""

import asyncio
import logging

import pytest

from handlers.clients.arm import ArmReader
from handlers.engine.run import Engine
from handlers.model import Diagnosis, Outcome, Target
from sandbox.arm.faults import Fault, Kind
from sandbox.scenario import Scenario
from tests.checking import GRAPH, LIBRARY, access, azure, check, cluster_id, collectors_that, needing

DEADLINE_S = 2.0
KINDS: tuple[Kind, ...] = ("500", "429", "403", "timeout", "reset", "empty", "malformed", "half", "html")
CLUSTER = "prod-eus2"


@pytest.mark.parametrize("kind", KINDS)
async def test_no_damaged_answer_is_ever_clear(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        target = Target(cluster_id(world, CLUSTER))
        async with ArmReader(access(server), fresh_for_s=0) as arm:
            await Engine(GRAPH, LIBRARY.explains).diagnose(target, {ArmReader: arm})
            kind_by_request = {call.request_id: call.kind for call in arm.calls}
        kinds_by_route: dict[str, set[str]] = {}
        for request in server.log:
            if asked_for := kind_by_request.get(request.client_request_id or ""):
                kinds_by_route.setdefault(request.route, set()).add(asked_for)
    assert len(kinds_by_route) >= 14

    async def one(route: str, collecting: set[str]) -> None:
        async with azure(world) as server:
            server.faults.append(Fault(kind, route=route, retry_after_s=60 if kind == "429" else None))
            async with asyncio.timeout(DEADLINE_S + 3):
                diagnosis = await check(server, CLUSTER, deadline_s=DEADLINE_S)
            judge(diagnosis, route, collecting)

    for routes in _threes(sorted(kinds_by_route.items())):
        await asyncio.gather(*(one(route, collecting) for route, collecting in routes))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def judge(diagnosis: Diagnosis, route: str, collecting: set[str]) -> None:
    assert diagnosis.unseen, f"{route}: nothing was said"
    lost = needing(collectors_that(lambda collector: collector.name in collecting))
    for one in diagnosis.checks:
        assert one.outcome is not Outcome.CRASHED, f"{route}: {one.id}: {one.why}"
        assert not (one.id in lost and one.outcome is Outcome.CLEAR), f"{route}: {one.id} is clear, unseen"
        assert one.outcome is not Outcome.FOUND, f"{route}: {one.id}: a false alarm: {one.why}"
        assert "Traceback" not in one.why


def _threes(items: list[tuple[str, set[str]]]) -> list[list[tuple[str, set[str]]]]:
    return [items[at : at + 3] for at in range(0, len(items), 3)]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_list_of_which_only_the_first_page_comes_is_no_list(kind: Kind) -> None:
    """The second page is damaged: half a list must not acquit."""
    world = Scenario.load("healthy-fleet").world
    route = "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ContainerService/managedClusters/{}/agentPools"
    world.page_size = 1
    async with azure(world) as server:
        server.faults.append(Fault(kind, route=route, skip=1, retry_after_s=60 if kind == "429" else None))
        diagnosis = await check(server, CLUSTER, deadline_s=DEADLINE_S)
    judge(diagnosis, route, {"AgentPools"})
    outcomes = {one.id: one.outcome for one in diagnosis.checks}
    assert outcomes["nodepool-failed"] is Outcome.INCONCLUSIVE


async def test_a_fault_that_passes_is_retried_and_the_check_is_whole() -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        server.faults.append(Fault("500", action="Microsoft.Compute/virtualMachineScaleSets/read", times=1))
        server.faults.append(Fault("429", action="Microsoft.Compute/skus/read", times=1, retry_after_s=1))
        server.faults.append(Fault("reset", action="Microsoft.Authorization/locks/read", times=1))
        diagnosis = await check(server, CLUSTER)
    assert diagnosis.unseen == ()
    assert {one.outcome for one in diagnosis.checks} == {Outcome.CLEAR}


async def test_an_expired_token_is_renewed_once_and_the_check_is_whole() -> None:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server, ArmReader(access(server), fresh_for_s=0) as arm:
        engine, target = Engine(GRAPH, LIBRARY.explains), Target(cluster_id(world, CLUSTER))
        await engine.diagnose(target, {ArmReader: arm})
        server.expire_tokens()
        diagnosis = await engine.diagnose(target, {ArmReader: arm})
    assert diagnosis.unseen == ()
