"""A relaxed budget is restored even if several bots die one after the other, along with their Redis data."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

import pytest

from bot.drill.repair import writes
from bot.fixes.proposal import End
from handlers.evidence.budgets import RELAXED_FROM
from tests.slack_app.fixes.steps import audited
from tests.slack_app.fixes.test_every_remedy import budgets
from tests.store.servers import until
from tests.whole_bot_killed.conftest import Another
from tests.whole_bot_killed.moments import EITHER, PATIENCE_S, SAVED, AtAzure, AtRedis, InTheCluster, Moment
from tests.whole_bot_killed.stage import Stage

pytestmark = pytest.mark.parametrize("scenario", ["pdb-blocks-drain"])
RELAXED = Moment(lambda: AtRedis(f'{SAVED}.*"step":1,"phase":"ready"', done=True), EITHER)


async def test_three_bots_die_one_after_the_other_and_the_fourth_ends_it(stage: Stage, another: Another) -> None:
    before = budgets(stage.arm)
    async with stage.serving(0.0) as process:
        await stage.approved_until(RELAXED, process)
        await stage.is_killed(process)
    for trap in (AtAzure("PUT"), InTheCluster()):
        stage.gate.reopen()
        trap.lay(stage.arm, stage.gate)
        async with stage.serving(0.0) as process:
            await trap.sprung()
            os.kill(process.pid, signal.SIGSTOP)
            await stage.is_killed(process)
    async with another():
        one = await stage.over()
    assert one.end in (End.FIXED, End.UNVERIFIED)
    await stage.assert_well_ended(RELAXED, before, deaths=3)


async def test_with_all_records_lost_the_next_bot_finds_the_relaxed_budget_and_puts_it_back(
    stage: Stage, another: Another
) -> None:
    before = budgets(stage.arm)
    async with stage.serving(None) as process:
        await stage.approved_until(RELAXED, process)
        assert RELAXED_FROM in json.dumps(budgets(stage.arm))
        await stage.is_killed(process)
    await stage.redis.redis.flushall()
    async with another():

        async def put_back() -> bool:
            return "restored" in await audited(stage.redis)

        await until(put_back, PATIENCE_S)
    assert budgets(stage.arm) == before
    assert Counter(method for method, _ in writes(stage.arm)) == {"PATCH": 2}
