"""The answer of a check in one line: a word, its style, and the numbers behind it."""

from __future__ import annotations

from bot.render.clean import one_line
from bot.render.line import Line
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.model import Diagnosis, Outcome, Severity, State

_ROOTS = {Severity.ERROR: "cause", Severity.WARNING: "warning", Severity.INFO: "note"}


def verdict(diagnosis: Diagnosis) -> Line:
    """The answer in one line."""
    word, style = label(diagnosis)
    rest = "dim" if style == "dim" else ""
    return Line.of((f"{one_line(diagnosis.target.name)}: ", "title"), (word, style), (f" · {summary(diagnosis)}", rest))


def label(diagnosis: Diagnosis) -> tuple[str, str]:
    """The verdict as a person reads it, and its style. What nobody looked at must not look like trouble."""
    if not_checked(diagnosis):
        return "NOT CHECKED", "dim"
    return diagnosis.state.value.upper(), diagnosis.state.value


def not_checked(diagnosis: Diagnosis) -> bool:
    """Whether no question at all was about this cluster. To a program that is inconclusive."""
    return not diagnosis.findings and all(check.outcome is Outcome.NOT_APPLICABLE for check in diagnosis.checks)


def summary(diagnosis: Diagnosis) -> str:
    """The verdict in numbers."""
    open_checks = [one for one in diagnosis.checks if one.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED)]
    if not_checked(diagnosis):
        known = diagnosis.target.id.is_a(MANAGED_CLUSTER)
        return "no check applies to it" if known else "no check knows this kind of cluster yet"
    if diagnosis.state is State.CLEAR:
        return f"nothing wrong in {count(len(diagnosis.checks), 'check')}"
    if diagnosis.state is State.INCONCLUSIVE:
        return f"{len(open_checks)} of {count(len(diagnosis.checks), 'check')} stayed open"
    roots = [ranked.finding.severity for ranked in diagnosis.findings if ranked.root]
    counts = [count(roots.count(severity), word) for severity, word in _ROOTS.items() if severity in roots]
    effects = len(diagnosis.findings) - len(roots)
    counts += [count(effects, "consequence")] if effects else []
    still_open = f" · {count(len(open_checks), 'check')} open" if open_checks else ""
    return ", ".join(counts) + still_open


def count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
