"""`aksbot plan`: what a fix would do, or why there is none, also while Slack is down. Changes nothing."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from difflib import get_close_matches

from bot import settings
from bot.checks.check import check, engine_for
from bot.checks.clients import azure_access, clients, kube_access
from bot.checks.library import load
from bot.checks.remedies import remedies
from bot.cli.check import EXITS
from bot.render.clean import width
from bot.render.line import Line
from bot.render.plan import as_dict, offer_lines, plan_lines
from bot.render.terminal import show_lines
from bot.render.watched import watched
from bot.report.events import EVERYTHING, Report
from handlers.model import Ranked
from handlers.problem import Exit, Problem
from handlers.remedy.offers import distinct
from handlers.remedy.plan import Offer


def plan_fix(cluster: str, remedy: str, *, as_json: bool) -> int:
    """Print the plan: 0. Only reasons against it: 1."""
    _must_be_known(remedy)
    report = asyncio.run(_report(cluster))
    offers = distinct(offer for offer in report.offers if offer.remedy == remedy)
    if not offers:
        raise _not_for_this(report, remedy)
    if as_json:
        sys.stdout.write(json.dumps([as_dict(offer) for offer in offers], indent=2) + "\n")
    else:
        show_lines(_lines(offers, width()))
    return Exit.CLEAR if any(offer.plan for offer in offers) else Exit.FOUND


def list_fixes(cluster: str, *, as_json: bool) -> int:
    """Print what could be planned for what was found: 0. Where nothing can: as `aksbot check` ends."""
    report = asyncio.run(_report(cluster))
    offers = distinct(report.offers)
    if as_json:
        sys.stdout.write(json.dumps([as_dict(offer) for offer in offers], indent=2) + "\n")
    else:
        show_lines(_listed(report, offers, width()))
    return Exit.CLEAR if any(offer.plan for offer in offers) else EXITS[report.diagnosis.state]


def _listed(report: Report, offers: tuple[Offer, ...], columns: int) -> Iterator[Line]:
    name = report.diagnosis.target.name
    if not offers:
        found = "has no fix for what was found" if report.diagnosis.findings else "found nothing to fix"
        yield Line.of((f"{name}: aksbot {found}", "title"))
        yield Line.of((f"`aksbot check {name}` shows the verdict, and what to do", ""))
        return
    for offer in sorted(offers, key=lambda offer: offer.plan is None):
        yield from offer_lines(offer, columns)
    yield Line()
    yield Line.of((f"`aksbot plan {name} REMEDY` shows one of them call by call", ""))


async def _report(cluster: str) -> Report:
    chosen = settings.load()
    library, limit_s = load(chosen), chosen.check_timeout_s
    async with clients(azure_access(chosen), kube_access(chosen)) as opened:
        return await watched(
            cluster, check(cluster, opened, engine_for(library, EVERYTHING, limit_s), timeout_s=limit_s)
        )


def _lines(offers: tuple[Offer, ...], columns: int) -> Iterator[Line]:
    for number, offer in enumerate(offers):
        if number:
            yield Line()
        yield from plan_lines(offer, columns)


def _must_be_known(remedy: str) -> None:
    if remedies().named(remedy):
        return
    known = [remedy.name for remedy in remedies().all]
    near = get_close_matches(remedy, known, n=3, cutoff=0.4)
    do = f"perhaps you mean {' or '.join(near)}" if near else f"known are {', '.join(known)}"
    raise Problem("cannot plan that", f"no remedy is called {remedy[:80]!r}", do, code=Exit.USAGE)


def _not_for_this(report: Report, remedy: str) -> Problem:
    """The remedy fits no finding, or only findings that follow from another cause."""
    diagnosis = report.diagnosis
    known = remedies().named(remedy)
    codes = known.codes if known else ()
    meant = [
        ranked for ranked in diagnosis.findings if ranked.finding.code in codes and known and known.when(ranked.finding)
    ]
    what = f"cannot plan {remedy} for {diagnosis.target.name}"
    if meant:
        return Problem(what, _explained(meant[0]), "remove that cause first: `aksbot check` says how")
    found = ", ".join(dict.fromkeys(ranked.finding.code for ranked in diagnosis.findings)) or "nothing"
    why = f"it is for {' and '.join(codes)}; found was {found}"
    return Problem(what, why, f"`aksbot check {diagnosis.target.name}` shows what was found, and what to do about it")


def _explained(ranked: Ranked) -> str:
    causes = ", ".join(dict.fromkeys(code for code, _ in ranked.explained_by))
    return f"{ranked.finding.code} follows from {causes}"
