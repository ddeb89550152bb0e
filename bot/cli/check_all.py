"""`aksbot check all`: every cluster that may be read, some at a time, one line each as it ends."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from bot import settings
from bot.checks.clients import azure_access, clients, kube_access
from bot.checks.fleet import MOST, Checked, checked_fleet
from bot.checks.fleet_lines import FleetRow, Standing, counted
from bot.checks.library import load
from bot.checks.runner import azure_runner
from bot.checks.store.verdicts import PastVerdict
from bot.cli.history import row_line
from bot.render.clean import one_line
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.render.verdict import count, not_checked, only
from bot.report.events import Selection
from handlers.fleet.clusters import fleet
from handlers.model import State
from handlers.problem import Exit, Problem
from runbooks.library import Library


def check_all(scope: Selection, *, as_json: bool, timeout_s: float | None) -> int:
    """The exit code is the worst verdict: found before inconclusive before clear."""
    return asyncio.run(_check_all(scope, as_json=as_json, timeout_s=timeout_s))


async def _check_all(scope: Selection, *, as_json: bool, timeout_s: float | None) -> int:
    chosen = settings.load()
    library, ended = load(chosen), list[Checked]()
    async with clients(azure_access(chosen), kube_access(chosen)) as opened:
        run = azure_runner(opened, library, timeout_s or chosen.check_timeout_s)
        members = (await fleet(opened.arm))[:MOST]
        longest = max((len(one_line(member.name)) for member in members), default=0)
        async with aclosing(checked_fleet(members, run, "check-all", scope)) as checks:
            async for checked in checks:
                ended.append(checked)
                if not as_json:
                    show_lines([_line(checked, library, longest, only(scope))])
    if as_json:
        sys.stdout.write(json.dumps([_as_dict(checked) for checked in ended], indent=2) + "\n")
    else:
        show_lines([Line.of((_numbers(ended), "title"))])
    return int(_exit(ended))


def _line(checked: Checked, library: Library, longest: int, narrowed: str) -> Line:
    """`narrowed`: a healthy cluster is so only in what was asked."""
    if isinstance(checked.outcome, Problem):
        name = f"{one_line(checked.member.name):<{longest}}  "
        return Line.of((name, ""), ("could not be checked", "inconclusive"), (f" · {checked.outcome.why}", "dim"))
    return row_line(_row(checked), library, longest, narrowed)


def _row(checked: Checked) -> FleetRow:
    if isinstance(checked.outcome, Problem):
        return FleetRow(checked.member)
    diagnosis = checked.outcome.diagnosis
    verdict = PastVerdict.of(diagnosis, datetime.now(UTC), checked=not not_checked(diagnosis))
    return FleetRow(checked.member, verdict)


def _numbers(ended: list[Checked]) -> str:
    good = [_row(checked).standing for checked in ended if not isinstance(checked.outcome, Problem)]
    failed = [f"{len(ended) - len(good)} could not be checked"] if len(good) < len(ended) else []
    numbers = ", ".join(filter(None, [counted(good), *failed]))
    return f"{count(len(ended), 'cluster')}: {numbers}" if ended else "There is no cluster that may be read."


def _exit(ended: list[Checked]) -> Exit:
    if not ended:
        return Exit.INCONCLUSIVE
    standings = {_row(checked).standing for checked in ended}
    if standings & {Standing.UNHEALTHY, Standing.WARNING}:
        return Exit.FOUND
    return Exit.CLEAR if standings == {Standing.HEALTHY} else Exit.INCONCLUSIVE


def _as_dict(checked: Checked) -> dict[str, Any]:
    told: dict[str, Any] = {"cluster": checked.member.name, "id": checked.member.id}
    if isinstance(checked.outcome, Problem):
        problem = checked.outcome
        return told | {"state": State.INCONCLUSIVE.value, "error": {"why": problem.why, "do": problem.do}, "roots": []}
    diagnosis = checked.outcome.diagnosis
    roots = [ranked.finding for ranked in diagnosis.findings if ranked.root]
    named = [{"code": root.code, "subject": root.subject, "severity": root.severity.value} for root in roots]
    return told | {"state": diagnosis.state.value, "roots": named}
