"""A worker dies or stands still while it holds a cluster: the cluster comes free, and nothing is sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot.fixes.proposal import End, State
from bot.fixes.recheck import Unknown
from bot.fixes.runner import Piece
from bot.fixes.store.executions import Executions
from bot.fixes.store.proposals import Proposals
from bot.store.connect import Connection
from handlers.remedy.execution import Execution, Phase
from handlers.remedy.plan import Plan
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.fixes.chain import Worker, approved, bench_of
from tests.remedy_execution.plans import CASES
from tests.remedy_execution.stage import Stage

CASE = CASES["register-provider"]


@dataclass(frozen=True)
class Site:
    """A sandbox, a plan for it, and workers."""

    stage: Stage
    plan: Plan
    connection: Connection
    bench: Any

    def worker(self, **more: Any) -> Worker:
        return Worker(self.connection, self.bench, self.plan, **more)

    @property
    def executions(self) -> Executions:
        return Executions(self.connection.redis)

    def forgets(self) -> None:
        """Azure shows the state from before the write, as it may for a moment."""
        step = self.plan.steps[0]
        path = f"{step.target}/providers/{step.arguments['namespace']}"
        self.stage.resource(path)["registrationState"] = "NotRegistered"


@pytest.fixture
async def site(connection: Connection) -> AsyncIterator[Site]:
    async with azure(Scenario.load(CASE.scenario).world) as arm, bench_of(arm) as bench:
        stage = Stage(arm, CASE.cluster)
        yield Site(stage, CASE.make(stage), connection, bench)


async def test_what_may_not_begin_any_more_frees_what_a_killed_worker_has_held_for_it(site: Site) -> None:
    one = await approved(site.connection, site.plan)
    await site.executions.hold(Execution.begin(one.id, one.plan))
    await site.worker(askers={"U02": Unknown("has left")}).run(Piece(one.id))
    ended = await Proposals(site.connection.redis).load(one.id)
    assert ended
    assert ended.end is End.CANCELLED
    assert await site.executions.holder(one.plan.cluster) is None


async def test_a_look_that_fails_again_and_again_frees_the_cluster(site: Site) -> None:
    one = await approved(site.connection, site.plan)
    worker = site.worker(broken="it cannot look")
    await worker.run(Piece(one.id))
    assert await site.executions.holder(one.plan.cluster) == one.id
    await worker.run_all()
    ended = await Proposals(site.connection.redis).load(one.id)
    assert ended
    assert (ended.end, len(worker.jobs)) == (End.FAILED, 0)
    assert "it cannot look" in ended.why
    assert await site.executions.holder(one.plan.cluster) is None


async def test_what_gives_way_to_another_fix_leaves_that_one_its_cluster(site: Site) -> None:
    one = await approved(site.connection, site.plan)
    await site.executions.hold(Execution.begin("another", one.plan))
    await site.worker().run(Piece(one.id))
    ended = await Proposals(site.connection.redis).load(one.id)
    assert ended
    assert ended.end is End.CANCELLED
    assert await site.executions.holder(one.plan.cluster) == "another"


async def test_who_stood_still_before_it_held_the_cluster_begins_nothing_anew(site: Site) -> None:
    """It has read that nobody has begun; meanwhile another one has sent the write."""
    one = await approved(site.connection, site.plan)
    other, late = site.worker(), site.worker()
    late.asks.open.clear()
    stalled = asyncio.create_task(late.run(Piece(one.id)))
    await late.asks.reached.wait()
    await other.run(Piece(one.id))
    await other.run(other.jobs.pop(0))
    assert len(site.stage.writes) == 1
    before = await site.executions.load(one.id)
    assert before
    assert before.phase is Phase.RUNNING
    site.forgets()
    late.asks.open.set()
    await stalled
    await late.run_all()
    assert await site.executions.load(one.id) == before
    assert len(site.stage.writes) == 1


async def test_who_was_replaced_between_its_hold_and_its_first_write_sends_one_with_the_other(site: Site) -> None:
    """The first looks at the cluster, the second takes the job, the first goes on."""
    one = await approved(site.connection, site.plan)
    first, second = site.worker(), site.worker()
    first.looks.open.clear()
    second.holds.open.clear()
    slow = asyncio.create_task(first.run(Piece(one.id)))
    await first.looks.reached.wait()
    taken = asyncio.create_task(second.run(Piece(one.id)))
    await second.holds.reached.wait()
    first.looks.open.set()
    await slow
    await first.run(first.jobs.pop(0))
    site.forgets()
    second.holds.open.set()
    await taken
    await second.run_all()
    await first.run_all()
    assert len(site.stage.writes) == 1


async def test_who_stood_still_with_what_was_ready_does_not_send_it_again(site: Site) -> None:
    """It has read that nothing was sent; before it holds the cluster, another one has sent it."""
    one = await approved(site.connection, site.plan)
    other, late = site.worker(), site.worker()
    await other.run(Piece(one.id))
    (piece,) = other.jobs
    late.holds.open.clear()
    stalled = asyncio.create_task(late.run(piece))
    await late.holds.reached.wait()
    await other.run(other.jobs.pop(0))
    site.forgets()
    late.holds.open.set()
    await stalled
    await late.run_all()
    assert len(site.stage.writes) == 1


async def test_who_stood_still_until_it_was_over_goes_on_with_nothing_and_holds_nothing(site: Site) -> None:
    one = await approved(site.connection, site.plan)
    other, late = site.worker(), site.worker()
    await other.run(Piece(one.id))
    (piece,) = other.jobs
    late.holds.open.clear()
    stalled = asyncio.create_task(late.run(piece))
    await late.holds.reached.wait()
    proposals = Proposals(site.connection.redis)
    await proposals.move(one.id, lambda before, _: replace(before, state=State.ENDED, end=End.UNVERIFIED))
    await site.executions.let_go(one.id, one.plan.cluster)
    late.holds.open.set()
    await stalled
    assert late.jobs == []
    assert site.stage.writes == []
    assert await site.executions.holder(one.plan.cluster) is None


async def test_a_piece_that_is_found_before_its_pause_is_over_goes_back_with_the_rest_of_it(site: Site) -> None:
    """By a worker whose clock is ahead; the queue goes by the clock of whoever looks into it."""
    one = await approved(site.connection, site.plan)
    worker = site.worker(broken="it cannot look", pace=1.0)
    await worker.run(Piece(one.id))
    (piece,) = worker.jobs
    assert worker.delays_s == [10.0]
    worker.broken = ""
    await worker.run(worker.jobs.pop())
    (again,) = worker.jobs
    assert again == replace(piece, number=piece.number + 1)
    assert 1.0 < worker.delays_s[-1] <= 10.0
    assert worker.looked == 1
    await worker.run(replace(worker.jobs.pop(), due_ms=await Proposals(site.connection.redis).now_ms()))
    assert worker.looked == 2


async def test_the_rest_of_a_pause_is_waited_once(site: Site) -> None:
    """Its job comes once more, because its worker was killed at its very end."""
    one = await approved(site.connection, site.plan)
    worker = site.worker(broken="it cannot look", pace=1.0)
    await worker.run(Piece(one.id))
    await worker.run(Piece(one.id))
    first, again = worker.jobs
    assert again == first
    assert worker.delays_s[1] < worker.delays_s[0] == 10.0
