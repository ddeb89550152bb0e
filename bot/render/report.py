"""The report of a check for somebody who was asleep a minute ago: verdict, cause, what to do, then the rest."""

from __future__ import annotations

from collections.abc import Iterator

from bot.render.clean import wrapped
from bot.render.detectors import TITLE, detector_lines
from bot.render.headline import first_lines, plain
from bot.render.line import Line
from bot.render.markdown import paragraphs
from bot.render.proof import own_proof_lines, proof_lines
from bot.render.subject import short
from bot.render.verdict import answers, count, label, not_looked_at, summary, verdict, what_would_help
from bot.report.events import Report
from bot.report.scope import scope_of
from handlers.model import Check, Diagnosis, Outcome, Ranked, Severity, State, Unavailable, Why
from runbooks.head import BadRunbook
from runbooks.library import FIX, Library

_MARKS = {Severity.ERROR: ("✗", "error"), Severity.WARNING: ("!", "warning"), Severity.INFO: ("i", "info")}
_DO = {Why.TIMEOUT: "try again, or give it longer with --timeout", Why.THROTTLED: "try again in a minute"}


def report_lines(report: Report, library: Library, columns: int) -> list[Line]:
    """The whole report. Only commands and ids may be wider than `columns`."""
    diagnosis = report.diagnosis
    lines = _first(diagnosis, library, columns)
    for said in answers(diagnosis):
        lines += [Line(), *(Line.of((text, "")) for text in wrapped(said, columns=columns))]
    for ranked in diagnosis.findings:
        if ranked.root:
            lines += [Line(), *_cause(ranked, library, columns)]
    lines += _titled("What follows from it", _consequences(diagnosis, columns))
    lines += _titled(TITLE, _detectors(report, columns))
    lines += _titled("Could not see", _unseen(diagnosis, columns))
    ends = (*_ruled_out(diagnosis, columns), *_beyond(diagnosis, library, columns), *_cost(report, columns))
    return [*lines, Line(), *ends]


def _first(diagnosis: Diagnosis, library: Library, columns: int) -> list[Line]:
    """What does not work and why, what to do, and the verdict in numbers."""
    said = first_lines(diagnosis, library)
    if said is None:
        helps = plain(what_would_help(diagnosis)) if diagnosis.state is State.INCONCLUSIVE else ""
        return [verdict(diagnosis, library), *_do(helps, columns)]
    word, style = label(diagnosis)
    return [
        *(Line.of((text, style)) for text in wrapped(plain(said.effect), columns=columns)),
        *_do(plain(said.do), columns),
        *(Line.of((text, "dim")) for text in wrapped(f"{word} · {summary(diagnosis, library)}", columns=columns)),
    ]


def _do(said: str, columns: int) -> Iterator[Line]:
    yield from (Line.of((text, "")) for text in wrapped(said, indent="→ ", hang="  ", columns=columns))


def _cause(ranked: Ranked, library: Library, columns: int) -> Iterator[Line]:
    finding = ranked.finding
    mark, style = _MARKS[finding.severity]
    runbook = library.get(finding.code)
    title = wrapped(runbook.title if runbook else finding.code, indent=f"{mark} ", hang="  ", columns=columns)
    yield from (Line.of((text, style)) for text in title)
    about = wrapped(f"{short(finding.subject)} · {finding.code}", indent="  ", columns=columns)
    yield from (Line.of((text, "dim")) for text in about)
    yield from proof_lines(finding, columns)
    yield Line()
    yield Line.of(("  What to do", "heading"))
    yield from _fix(ranked, library, columns)


def _fix(ranked: Ranked, library: Library, columns: int) -> Iterator[Line]:
    finding = ranked.finding
    runbook = library.get(finding.code)
    if runbook is None:
        text = f"There is no runbook for {finding.code}."
        yield from (Line.of((line, "")) for line in wrapped(text, indent="  ", columns=columns))
        return
    try:
        yield from paragraphs(runbook.render(FIX, finding.facts), columns, indent="  ")
    except BadRunbook as bad:
        # Show a finding even if its runbook cannot be rendered; `<name>` marks what is not filled in.
        yield from paragraphs(runbook.outline(FIX), columns, indent="  ")
        text = f"({bad.file.name}, line {bad.line}, could not be filled in: {bad.what})"
        yield from (Line.of((line, "dim")) for line in wrapped(text, indent="  ", columns=columns))


def _consequences(diagnosis: Diagnosis, columns: int) -> Iterator[Line]:
    roots = {ranked.finding.key for ranked in diagnosis.findings if ranked.root}
    for ranked in diagnosis.findings:
        if not ranked.root:
            finding = ranked.finding
            above = [code for code, subject in ranked.explained_by if (code, subject.lower()) in roots]
            causes = ", ".join(dict.fromkeys(above or (code for code, _ in ranked.explained_by)))
            text = f"{short(finding.subject)}: {finding.code} ← {causes}"
            for line in wrapped(text, indent="  → ", hang="    ", columns=columns):
                yield Line.of((line, ""))
            yield from own_proof_lines(finding, columns)


def _detectors(report: Report, columns: int) -> Iterator[Line]:
    for line in detector_lines(report.detectors, report.diagnosis):
        said = f"{line.name}: {line.says}" if line.name else line.says
        yield from _hanging(said, f"  {line.mark} " if line.mark else "    ", line.style, columns)


def _unseen(diagnosis: Diagnosis, columns: int) -> Iterator[Line]:
    for (why, detail, grant), wanted in _grouped(diagnosis.unseen).items():
        yield from _hanging(f"{', '.join(wanted)}: {why}", "  ? ", "unsure", columns)
        yield from _hanging(detail, "    ", "dim", columns)
        do = f"grant {grant}" if grant else _DO.get(why)
        if do:
            yield from _hanging(do, "    ", "", columns)
    for check in diagnosis.checks:
        if check.outcome is Outcome.CRASHED:
            yield from _hanging(f"{_name(check)}: {check.why}", "  ? ", "unsure", columns)
            yield from _hanging("run it again with --debug and report the traceback", "    ", "", columns)
        elif check.outcome is Outcome.INCONCLUSIVE and not check.unseen:
            yield from _hanging(f"{_name(check)}: {check.why}", "  ? ", "unsure", columns)
    still_open = _ids(diagnosis, Outcome.INCONCLUSIVE, Outcome.CRASHED)
    if still_open:
        yield from _hanging(f"so these checks have no result: {', '.join(still_open)}", "  ", "", columns)


def _grouped(unseen: tuple[Unavailable, ...]) -> dict[tuple[Why, str, str | None], list[str]]:
    """One reason often makes several checks inconclusive: print it once."""
    groups: dict[tuple[Why, str, str | None], list[str]] = {}
    for unavailable in unseen:
        groups.setdefault((unavailable.why, unavailable.detail, unavailable.grant), []).append(unavailable.wanted)
    return groups


def _ruled_out(diagnosis: Diagnosis, columns: int) -> Iterator[Line]:
    ruled_out = _ids(diagnosis, Outcome.CLEAR)
    if ruled_out:
        yield Line.of((_as_many_as_fit("Ruled out: ", ruled_out, columns), "right"))


def _beyond(diagnosis: Diagnosis, library: Library, columns: int) -> Iterator[Line]:
    """What a clear answer does not cover, in short; JSON has all of it."""
    if diagnosis.state is not State.CLEAR:
        return
    scope = scope_of(diagnosis, library)
    if scope.narrowed:
        yield from _hanging(f"Not looked at: {', '.join(not_looked_at(scope))}", "", "dim", columns)
    elif scope.cannot_ask:
        line = _as_many_as_fit("No check for: ", list(scope.cannot_ask), columns, " in --output json")
        yield Line.of((line, "dim"))


def _as_many_as_fit(label: str, names: list[str], columns: int, where: str = "") -> str:
    for shown in range(len(names), 0, -1):
        rest = f" +{len(names) - shown} more{where}" if shown < len(names) else ""
        text = label + ", ".join(names[:shown]) + rest
        if len(text) <= columns:
            return text
    return f"{label}{len(names)}{where or ' checks'}"


def _cost(report: Report, columns: int) -> Iterator[Line]:
    parts = [count(report.arm_calls, "Azure call")]
    if report.kube_calls:
        parts.append(count(report.kube_calls, "Kubernetes call"))
    parts.append(f"{report.took_ms / 1000:.1f} s" if report.took_ms >= 950 else f"{report.took_ms:.0f} ms")
    beside = len(_ids(report.diagnosis, Outcome.NOT_APPLICABLE))
    if beside:
        parts.append(f"{count(beside, 'check')} not applicable")
    if report.recorded_at:
        parts.append(f"replay of {report.recorded_at:%Y-%m-%d %H:%M %Z}")
    yield from (Line.of((text, "dim")) for text in wrapped(" · ".join(parts), columns=columns))


def _titled(title: str, lines: Iterator[Line]) -> list[Line]:
    below = list(lines)
    return [Line(), Line.of((title, "heading")), *below] if below else []


def _hanging(text: str, indent: str, style: str, columns: int) -> Iterator[Line]:
    for line in wrapped(text, indent=indent, hang="    ", columns=columns):
        yield Line.of((line, style))


def _ids(diagnosis: Diagnosis, *outcomes: Outcome) -> list[str]:
    return [_name(check) for check in diagnosis.checks if check.outcome in outcomes]


def _name(check: Check) -> str:
    return check.codes[0] if len(check.codes) == 1 else check.id
