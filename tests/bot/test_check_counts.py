from __future__ import annotations

import asyncio

from bot.checks.check import check, engine_for
from bot.checks.clients import clients
from bot.report.events import Report, Selection
from handlers.clients.kube.access import KubeAccess
from sandbox.scenario import Scenario
from tests.checking import LIBRARY, access, azure


async def test_checks_that_share_a_reader_count_their_own_calls() -> None:
    engine = engine_for(LIBRARY, Selection(), 30.0)
    async with azure(Scenario.load("healthy-fleet").world) as server, clients(access(server), KubeAccess()) as opened:

        async def calls(cluster: str) -> int:
            events = [one async for one in check(cluster, opened, engine, timeout_s=30.0)]
            assert isinstance(events[-1], Report)
            return events[-1].arm_calls

        counted = await asyncio.gather(*map(calls, ("prod-weu", "payments-prod", "staging-neu")))
        assert sum(counted) == len(opened.arm.calls)
        assert all(0 < one < len(opened.arm.calls) for one in counted)
