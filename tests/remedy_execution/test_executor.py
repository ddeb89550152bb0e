"""Rules for every verb: which worker may continue, for how long, and what is recorded."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential

from handlers.clients.arm.transport import Wire
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.credential import credential
from handlers.remedy.acts.catalogue import ACTS
from handlers.remedy.execution import Execution, Outcome, Phase
from handlers.remedy.executor import Executor
from handlers.remedy.ledger import NotOurs
from handlers.remedy.plan import Verb
from sandbox.arm.server import Fault
from tests.remedy_execution.stage import ListLedger, Stage, access_of


@dataclass
class LostLedger(ListLedger):
    """Another worker has taken over after so many saves."""

    left: int = 0

    async def save(self, execution: Execution) -> None:
        if len(self.saved) == self.left:
            raise NotOurs
        await super().save(execution)


def test_every_verb_can_be_carried_out() -> None:
    assert set(ACTS) == set(Verb)


async def test_a_worker_that_was_replaced_sends_nothing(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.ledger = LostLedger()
    with pytest.raises(NotOurs):
        await stage.run(stage.plan(stage.put_pool("general")))
    assert stage.writes == []


async def test_a_worker_that_is_replaced_after_sending_says_nothing_more(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.ledger = LostLedger(left=1)
    with pytest.raises(NotOurs):
        await stage.run(stage.plan(stage.put_pool("general")))
    assert len(stage.writes) == 1
    assert stage.ledger.last.phase is Phase.INTENDED


async def test_a_worker_that_stood_still_does_not_send_what_others_may_have_given_up(failed_pool: Stage) -> None:
    """It begins again with a fresh read: nothing of what it meant to send was sent."""
    stage = failed_pool
    stood_still: list[str] = []

    async def stand_still(boundary: str) -> None:
        if boundary.endswith("intent recorded, not sent") and not stood_still:
            stood_still.append(boundary)
            stage.clock.wait(300)

    async def look(here: Execution) -> None:
        if len(stood_still) == 1 and here.phase is Phase.READY:
            stood_still.append(f"{len(stage.writes)} writes")

    ended = await stage.run(stage.plan(stage.put_pool("general")), stand_still, look)
    assert stood_still[1] == "0 writes"
    assert (ended.outcome, len(stage.writes)) == (Outcome.DONE, 1)


class SlowSignIn:
    """Gives tokens that last for one call; from a moment on, only when somebody lets it."""

    def __init__(self, real: AsyncTokenCredential) -> None:
        self.real, self.hangs = real, False
        self.asked, self.goes_on = asyncio.Event(), asyncio.Event()

    async def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        if self.hangs:
            self.asked.set()
            await self.goes_on.wait()
        return AccessToken((await self.real.get_token(*scopes)).token, int(time.time()) - 1)

    async def close(self) -> None:
        await self.real.close()

    async def __aenter__(self) -> SlowSignIn:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def test_a_write_whose_token_is_too_slow_in_coming_is_not_sent_later(failed_pool: Stage) -> None:
    """Another worker may have given up by then. What becomes of it is found out, as for any write without an answer."""
    stage, plan = failed_pool, failed_pool.plan(failed_pool.put_pool("general"))
    access = access_of(stage.doors().writer)
    wire = Wire(access.ca_bundle)
    async with wire, stage.doors().write_clients() as given:
        sign_in = SlowSignIn(credential(access, wire.session))

        async def hang(boundary: str) -> None:
            sign_in.hangs = sign_in.hangs or boundary.endswith("intent recorded, not sent")

        async with ArmWriter(access, credential=sign_in) as writer:
            write_clients = replace(given, arm=writer)
            slow = Executor(write_clients, checkpoint=hang, now=stage.clock.now, send_within=timedelta(seconds=0.2))
            async with asyncio.timeout(30):
                here = await slow.advance(Execution.begin("fix-1", plan), stage.ledger)
            assert sign_in.asked.is_set()
            sign_in.goes_on.set()
            assert (here.phase, len(here.calls)) == (Phase.INTENDED, 1)
            assert "not on its way" in here.calls[0].result
            ended = await stage.run(Execution.from_json(here.as_json()))
    assert stage.writes == []
    assert ended.outcome is Outcome.UNKNOWN
    assert ended.ask


async def test_a_write_that_is_on_its_way_is_waited_for(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("slow", method="PUT", principal="writer", times=1, delay_s=1.5))
    async with stage.doors().write_clients() as write_clients:
        quick = Executor(write_clients, now=stage.clock.now, send_within=timedelta(seconds=0.8))
        here = await quick.advance(Execution.begin("fix-1", stage.plan(stage.put_pool("general"))), stage.ledger)
    assert (here.phase, [call.result for call in here.calls]) == (Phase.RUNNING, ["200"])


async def test_what_nobody_knows_when_the_time_is_over_is_asked(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("504", method="PUT", principal="writer", times=1, executed=True))
    plan = replace(stage.plan(stage.put_pool("general")), limit=timedelta(seconds=5))

    async def late(here: Execution) -> None:
        stage.clock.wait(60)

    ended = await stage.run(plan, between=late)
    assert ended.outcome is Outcome.UNKNOWN
    assert "whether it was sent at all is not known" in ended.why
    assert ended.ask


async def test_azure_that_is_asked_too_much_is_not_asked_again(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("429", method="PUT", principal="writer", times=1))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "too much is asked" in ended.why) == (Outcome.FAILED, True)
    assert len(stage.writes) == 1


async def test_an_azure_that_cannot_be_read_at_first_is_read_again(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("503", method="GET", principal="writer", times=3))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, len(stage.writes)) == (Outcome.DONE, 1)


async def test_what_the_writer_may_not_read_is_not_written(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.deny("writer", "Microsoft.ContainerService/managedClusters/agentPools/read")
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "may not look at general" in ended.why, stage.writes) == (Outcome.FAILED, True, [])


async def test_a_resource_that_is_gone_makes_the_plan_stale(failed_pool: Stage) -> None:
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    del stage.azure.world.resources[stage.pool("general").lower()]
    ended = await stage.run(plan)
    assert (ended.outcome, stage.writes) == (Outcome.STALE, [])
