"""`aksbot demo --once`: checks every cluster of the demo fleet in the terminal."""

from __future__ import annotations

from bot.checks.check import check_target, engine_for
from bot.checks.clients import clients
from bot.checks.library import load
from bot.playground.surroundings import azure, own_settings, reader_of
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.report import report_lines
from bot.render.terminal import show_lines
from bot.render.verdict import label, not_checked, summary, word
from bot.render.watched import watched
from bot.report.events import EVERYTHING, Report
from handlers.clients.kube.access import KubeAccess
from handlers.fleet.names import fleet
from handlers.model import State, Target
from handlers.resource_id import ResourceId
from sandbox.scenario import Scenario


async def check_fleet(scenario: Scenario) -> None:
    """Check all of them and print the results."""
    chosen = own_settings()
    library = load(chosen)
    engine = engine_for(library, EVERYTHING, chosen.check_timeout_s)
    reports: list[Report] = []
    async with azure(scenario.world) as arm, clients(reader_of(arm), KubeAccess()) as opened:
        for member in await fleet(opened.arm):
            target = Target(ResourceId.parse(member.id))
            reports.append(await watched(member.name, check_target(target, opened, engine)))
    columns = width()
    show_lines([Line.of((scenario.title, "title")), Line(), *_table(reports, columns)])
    for report in reports:
        if report.diagnosis.state is State.FOUND:
            show_lines([Line(), Line.of(("─" * columns, "dim")), *report_lines(report, library, columns)])
    show_lines([Line(), *_next_steps(scenario.name, columns)])


def _table(reports: list[Report], columns: int) -> list[Line]:
    """One line per cluster, with what a person asks first."""
    ordered = sorted(reports, key=_rank)
    longest = max((len(_name(report)) for report in ordered), default=0)
    lines = []
    for report in ordered:
        diagnosis = report.diagnosis
        roots = dict.fromkeys(ranked.finding.code for ranked in diagnosis.findings if ranked.root)
        text = ", ".join(roots) or summary(diagnosis)
        _, style = label(diagnosis)
        room = columns - longest - 16
        cut = text if len(text) <= room else text[: room - 1] + "…"
        rest = "dim" if not_checked(diagnosis) else ""
        name, verdict = f"{_name(report):<{longest}}  ", f"{word(diagnosis):<12}"
        lines.append(Line.of((name, rest), (verdict, style), (f"  {cut}", rest)))
    return lines


def _rank(report: Report) -> tuple[bool, int, str]:
    """Problems first; what was not checked comes last."""
    diagnosis = report.diagnosis
    return not_checked(diagnosis), list(State).index(diagnosis.state), _name(report)


def _name(report: Report) -> str:
    return one_line(report.diagnosis.target.name)


def _next_steps(name: str, columns: int) -> list[Line]:
    text = "This fleet exists on this machine only. To query it yourself, with aksbot or az:"
    return [
        *(Line.of((line, "")) for line in wrapped(text, columns=columns)),
        Line.of((f"  aksbot sandbox {name}", "command")),
    ]
