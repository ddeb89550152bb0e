"""The reader and the writer against the sandbox's Azure, with Azure's own bodies and habits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from handlers.clients.arm.operation import State
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.errors import ArmError, Denied, Garbled, NotFound, ServerFault, Throttled
from handlers.engine.current import deadline
from handlers.fleet.names import fleet, resolve
from handlers.resource_id import ResourceId
from sandbox.arm.server import ArmServer, Fault
from sandbox.scenario import Scenario
from tests.clients.azure import QuickClock
from tests.clients.test_names import as_who

AKS = "2026-08-01"


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    async with ArmServer(Scenario.load("healthy-fleet").world) as server:
        yield server


@pytest.fixture
async def arm(azure: ArmServer, clock: QuickClock) -> AsyncIterator[ArmReader]:
    async with ArmReader(as_who(azure, "reader"), clock=clock) as reader:
        yield reader


@pytest.fixture
async def cluster(arm: ArmReader) -> ResourceId:
    return (await resolve("prod-weu", arm)).id


async def test_a_cluster_and_its_pools(arm: ArmReader, cluster: ResourceId) -> None:
    body = (await arm.managed_cluster(cluster)).body
    pools = await arm.agent_pools(cluster)
    assert {pool["name"] for pool in pools.items} == {one["name"] for one in body["properties"]["agentPoolProfiles"]}
    assert not pools.truncated


async def test_the_activity_log_of_a_group(arm: ArmReader, cluster: ResourceId) -> None:
    until = datetime.now(UTC)
    log = await arm.activity(
        cluster.subscription, group=cluster.resource_group or "", since=until - timedelta(days=7), until=until
    )
    stamps = [event["eventTimestamp"] for event in log.items]
    assert stamps == sorted(stamps, reverse=True)
    assert log.items
    assert not any("claims" in event for event in log.items)


async def test_a_log_older_than_ninety_days_is_refused_in_azures_words(arm: ArmReader, cluster: ResourceId) -> None:
    until = datetime.now(UTC)
    with pytest.raises(ArmError, match="90 days"):
        await arm.activity(cluster.subscription, group="x", since=until - timedelta(days=100), until=until)


async def test_a_missing_pool_and_a_missing_cluster(arm: ArmReader, cluster: ResourceId) -> None:
    with pytest.raises(NotFound) as bare:
        await arm.get(f"{cluster}/agentPools/nothere", AKS)
    assert bare.value.code == "NotFound"
    with pytest.raises(NotFound) as wrapped:
        await arm.managed_cluster(ResourceId.parse(f"{cluster}x"))
    assert wrapped.value.code == "ResourceNotFound"


async def test_a_denied_action_is_named(azure: ArmServer, arm: ArmReader, cluster: ResourceId) -> None:
    azure.deny("reader", "Microsoft.ContainerService/managedClusters/agentPools/read")
    with pytest.raises(Denied) as caught:
        await arm.agent_pools(cluster)
    assert caught.value.unavailable.grant == "Microsoft.ContainerService/managedClusters/agentPools/read"


@pytest.mark.parametrize(
    ("kind", "error"),
    [("500", ServerFault), ("reset", Garbled), ("half", Garbled), ("malformed", Garbled), ("empty", Garbled),
     ("html", ServerFault), ("429", Throttled), ("404", NotFound), ("403", Denied)],
)  # fmt: skip
async def test_a_fault_that_stays_has_its_own_name(
    azure: ArmServer, arm: ArmReader, cluster: ResourceId, clock: QuickClock, kind: str, error: type[ArmError]
) -> None:
    azure.faults.append(Fault(kind, action="Microsoft.ContainerService/managedClusters/read"))
    deadline.set(clock.now() + 20)
    with pytest.raises(error):
        await arm.managed_cluster(cluster)


@pytest.mark.parametrize("kind", ["500", "reset", "half", "html"])
async def test_a_fault_that_passes_is_not_noticed(
    azure: ArmServer, arm: ArmReader, cluster: ResourceId, kind: str
) -> None:
    azure.faults.append(Fault(kind, action="Microsoft.ContainerService/managedClusters/read", times=2))
    assert (await arm.managed_cluster(cluster)).body["name"] == "prod-weu"


async def test_a_reader_leaves_no_write_in_the_log(azure: ArmServer, arm: ArmReader, cluster: ResourceId) -> None:
    azure.faults.append(Fault("500", action="Microsoft.ContainerService/managedClusters/read", times=1))
    await arm.managed_cluster(cluster)
    await arm.agent_pools(cluster)
    assert not [one for one in azure.log if one.is_write]
    ids = {one.client_request_id for one in azure.log}
    assert {call.request_id for call in arm.calls} <= ids


async def test_a_reconcile_runs_to_its_end(azure: ArmServer, cluster: ResourceId, clock: QuickClock) -> None:
    async with ArmWriter(as_who(azure, "writer"), clock=clock) as writer:
        body = await writer.get(str(cluster), AKS)
        operation = await writer.put(str(cluster), AKS, body)
        assert (await operation.wait()).state is State.SUCCEEDED
        after = await writer.get(str(cluster), AKS)
    assert after["properties"]["provisioningState"] == "Succeeded"
    assert [one.method for one in azure.log if one.is_write] == ["PUT"]


async def test_thirty_calls_at_once_cost_little(azure: ArmServer) -> None:
    async with ArmReader(as_who(azure, "reader"), fresh_for_s=0) as arm:
        ids = [
            str(one) for one in list(azure.world.resources)[:400] if "managedclusters/" in one and "agentpools" in one
        ]
        await arm.get(ids[0], AKS)

        async def all_at_once() -> float:
            started = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for number in range(30):
                    group.create_task(arm.get(ids[number % len(ids)], AKS, params={"n": str(number)}))
            return time.perf_counter() - started

        await all_at_once()
        took = min([await all_at_once() for _ in range(3)])
    assert took < 1.0


@pytest.mark.parametrize("as_of", ["2024-06-30", "2022-12-31"])
async def test_a_cloud_that_lags_behind_shows_the_same_fleet_and_the_same_cluster(as_of: str) -> None:
    world = Scenario.load("healthy-fleet").world
    world.cloud_as_of = as_of
    async with ArmServer(world) as server, ArmReader(as_who(server, "reader")) as arm:
        server.deny("reader", "Microsoft.ResourceGraph/resources/read")
        assert "prod-weu" in [one.name for one in await fleet(arm)]
        cluster = (await resolve("prod-weu", arm)).id
        answer = await arm.managed_cluster(cluster)
        body, source = answer.body, answer.source
    assert body["name"] == "prod-weu"
    assert "this cloud does not offer" in source
    assert {one.status for one in server.calls} <= {200, 400, 403, 404}
