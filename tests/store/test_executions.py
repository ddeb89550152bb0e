from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.fixes.store.executions import Executions, HeldBy, RedisLedger
from bot.store import keys
from bot.store.away import StoreAway
from bot.store.connect import Connection
from handlers.remedy.execution import Execution, Outcome, Phase
from handlers.remedy.ledger import NotOurs
from handlers.remedy.plan import Plan, Risk, Step, Verb, Verify

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu"


def execution(name: str, cluster: str = CLUSTER) -> Execution:
    step = Step(Verb.ABORT_LATEST, cluster, "abort", "POST …/abort", "az aks operation-abort")
    plan = Plan(
        "abort-operation",
        "Abort",
        cluster,
        cluster,
        (step,),
        {"state": "Updating"},
        "start it again",
        Verify("provisioning-in-progress", cluster),
        Risk.HIGH,
        ("half done",),
        timedelta(minutes=1),
        timedelta(minutes=10),
    )
    return Execution.begin(name, plan)


@pytest.fixture
def executions(connection: Connection) -> Executions:
    return Executions(connection.redis)


async def held(executions: Executions, one: Execution) -> RedisLedger:
    ledger = await executions.hold(one)
    assert isinstance(ledger, RedisLedger)
    return ledger


async def test_what_was_saved_is_loaded_as_it_was(executions: Executions) -> None:
    one = replace(execution("a"), phase=Phase.RUNNING, data={"url": "https://x"}, outcome=Outcome.UNKNOWN)
    await (await held(executions, one)).save(one)
    assert await executions.load("a") == one
    assert [name async for name in executions.running()] == ["a"]


async def test_two_fixes_never_hold_one_cluster_in_whatever_spelling(executions: Executions) -> None:
    await held(executions, execution("a"))
    assert await executions.hold(execution("b", CLUSTER.upper())) == HeldBy("a")


async def test_of_many_who_want_a_cluster_at_once_one_gets_it(executions: Executions) -> None:
    taken = await asyncio.gather(*(executions.hold(execution(f"fix-{number}")) for number in range(20)))
    assert sum(isinstance(one, RedisLedger) for one in taken) == 1


async def test_a_worker_that_was_replaced_cannot_save(executions: Executions) -> None:
    slow = await held(executions, execution("a"))
    after = await held(executions, execution("a"))
    await after.save(execution("a"))
    with pytest.raises(NotOurs):
        await slow.save(execution("a"))


async def test_a_worker_that_was_replaced_cannot_free_the_cluster(executions: Executions) -> None:
    slow = await held(executions, execution("a"))
    await held(executions, execution("a"))
    await executions.free(slow)
    assert await executions.holder(CLUSTER) == "a"


async def test_a_cluster_is_free_once_its_fix_has_ended(executions: Executions) -> None:
    ledger = await held(executions, execution("a"))
    await ledger.save(execution("a"))
    await executions.free(ledger)
    assert [name async for name in executions.running()] == []
    assert isinstance(await executions.hold(execution("b")), RedisLedger)
    with pytest.raises(NotOurs):
        await ledger.save(execution("a"))


async def test_an_intent_that_is_not_on_the_disk_is_not_acted_on(
    connection: Connection, executions: Executions
) -> None:
    """A server that is killed would forget it, and the write would be sent a second time."""
    ledger = await held(executions, execution("a"))
    await connection.redis.config_set("appendfsync", "no")
    await ledger.save(execution("a"))
    with pytest.raises(StoreAway, match="not on disk"):
        await ledger.save(replace(execution("a"), phase=Phase.INTENDED))


async def test_an_intent_is_on_the_disk_whoever_else_uses_the_server(executions: Executions) -> None:
    ledger = await held(executions, execution("a"))
    one = replace(execution("a"), phase=Phase.INTENDED)
    await asyncio.gather(*(ledger.save(one) for _ in range(20)), *(executions.load("a") for _ in range(50)))
    assert await executions.load("a") == one


async def test_how_far_a_fix_is_is_lost_where_it_cannot_be_read(executions: Executions, connection: Connection) -> None:
    await (await held(executions, execution("a"))).save(execution("a"))
    await connection.redis.set(keys.execution("a"), '{"id": "a", "future": 1}')
    assert await executions.load("a") is None


async def test_what_has_lost_its_cluster_does_not_run_any_more(executions: Executions, connection: Connection) -> None:
    """Nobody can save it: a budget that it has relaxed would never be put back."""
    await (await held(executions, execution("a"))).save(execution("a"))
    await connection.redis.delete(keys.held(CLUSTER))
    assert [name async for name in executions.running()] == []
    await (await held(executions, execution("b"))).save(execution("b"))
    assert [name async for name in executions.running()] == ["b"]


async def test_what_cannot_be_read_does_not_run_any_more(executions: Executions, connection: Connection) -> None:
    await (await held(executions, execution("a"))).save(execution("a"))
    await connection.redis.set(keys.execution("a"), '{"id": "a", "future": 1}')
    assert [name async for name in executions.running()] == []


async def test_an_ended_fix_lets_go_of_its_own_cluster_and_of_no_other(executions: Executions) -> None:
    await (await held(executions, execution("a"))).save(execution("a"))
    await executions.let_go("b", CLUSTER)
    assert await executions.holder(CLUSTER) == "a"
    await executions.let_go("a", CLUSTER)
    assert await executions.holder(CLUSTER) is None
    assert [name async for name in executions.running()] == []
