"""Whole checks of a cluster in which nothing from before counts, for whoever acts on what they find."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from uuid import uuid4

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.runner import LIMIT_S, Runner
from bot.report.events import Report
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem

Check = Callable[[str], Awaitable[Report | Problem]]
Telling = Callable[[Report, str], Awaitable[None]]
"""Tells others what a check has found, and who had it made; empty where nobody did."""


def fresh_checks(run: Runner) -> Check:
    """Whole checks of a cluster in which nothing from before counts."""

    async def check(cluster: str) -> Report | Problem:
        request = CheckRequest(f"fix-check-{uuid4().hex}", ClusterRef.of(cluster), Address(), fresh=True)
        try:
            async with asyncio.timeout(LIMIT_S), aclosing(run(request)) as events:
                async for event in events:
                    if isinstance(event, Report):
                        return event
        except Problem as problem:
            return problem
        except TimeoutError:
            return Problem(f"cannot check {cluster}", f"no answer within {LIMIT_S:g} s", "check again")
        raise AssertionError("a check ends with a report")

    return check


def progress_of_fix(check: Check, seen: Telling) -> Check:
    """The same checks, and somebody else hears at once what they have found."""

    async def told(cluster: str) -> Report | Problem:
        report = await check(cluster)
        if isinstance(report, Report):
            await seen(report, "")
        return report

    return told
