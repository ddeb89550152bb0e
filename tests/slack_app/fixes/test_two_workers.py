"""A worker that was paused resumes after another one has taken over its fix."""

from __future__ import annotations

import pytest

from bot.fixes import moves
from bot.fixes.proposal import Proposal, State
from bot.fixes.store.executions import Executions
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from sandbox.arm.faults import Fault
from sandbox.arm.server import ArmServer
from sandbox.world import Change
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, audited, no_job_is_left, pool_of, ready
from tests.store.servers import until


@pytest.mark.parametrize("begun", [True, False], ids=["which has begun", "which looks, too"])
async def test_who_was_replaced_while_it_looked_ends_nothing(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer, redis: Connection, begun: bool
) -> None:
    """The other one may have written to Azure by now: "nothing was done" would be a lie."""
    executions, proposals = Executions(redis.redis), Proposals(redis.redis)

    async def looks() -> bool:
        return await executions.holder(left.plan.cluster) == left.id

    slow = Fault("slow", principal="reader", delay_s=2.0, times=30)
    arm.faults.append(slow)
    async with start(times=ShortenedPauses()):
        await until(looks, 30)
        await ready(redis, left)
        if begun:
            await proposals.move(left.id, moves.start)
        arm.world.apply(Change(pool_of(arm), {"properties": {"eTag": "another"}}))
        await until(lambda: no_job_is_left(redis), 60)
        one = await proposals.load(left.id)
    assert one
    assert one.state is (State.RUNNING if begun else State.APPROVED), (one.state, one.why)
    assert "ended" not in await audited(redis)
    assert [name async for name in executions.running()] == [left.id]
