"""The verdict of a check in one line: a word, its style, and the numbers behind it.

"Clear" covers only what was checked: a narrowed check says which part, a whole one how many problems have no check.
"""

from __future__ import annotations

from bot.render.clean import one_line
from bot.render.line import Line
from bot.report.events import EVERYTHING, Selection
from bot.report.scope import Scope, scope_of, selection_of
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.fleet.kinds import kind_in_words
from handlers.model import Diagnosis, Outcome, Severity, State, Why
from runbooks.library import Library

_ROOTS = {Severity.ERROR: "cause", Severity.WARNING: "warning", Severity.INFO: "note"}
_FOUND = {Severity.ERROR: "UNHEALTHY", Severity.WARNING: "AT RISK", Severity.INFO: "FYI"}
_NOTHING_FOUND = {State.CLEAR: "HEALTHY", State.INCONCLUSIVE: "INCOMPLETE"}
_EARLIER = {"FOUND": "UNHEALTHY", "CLEAR": "HEALTHY", "INCONCLUSIVE": "INCOMPLETE"}
"""How records of earlier versions call a verdict."""


def verdict(diagnosis: Diagnosis, library: Library) -> Line:
    """The verdict in one line."""
    text, style = label(diagnosis)
    rest = "dim" if style == "dim" else ""
    numbers = f" · {summary(diagnosis, library)}"
    return Line.of((f"{one_line(diagnosis.target.name)}: ", "title"), (text, style), (numbers, rest))


def label(diagnosis: Diagnosis) -> tuple[str, str]:
    """The verdict for people, and its style. A cluster that nobody checked must look neither broken nor healthy, and
    it is healthy only as far as it was asked about.
    """
    if not_checked(diagnosis):
        return word(diagnosis), "dim"
    if clear_in_part(diagnosis):
        return f"{word(diagnosis)} {only(selection_of(diagnosis))}", "part"
    if diagnosis.state is State.CLEAR:
        return f"{word(diagnosis)} in what was asked", diagnosis.state.value
    return word(diagnosis), diagnosis.state.value


def word(diagnosis: Diagnosis) -> str:
    """The verdict in a word that people use; for programs it is `Diagnosis.state`."""
    if not_checked(diagnosis):
        return "NOT CHECKED"
    roots = {ranked.finding.severity for ranked in diagnosis.findings if ranked.root}
    worst = next((said for severity, said in _FOUND.items() if severity in roots), _FOUND[Severity.ERROR])
    return worst if diagnosis.state is State.FOUND else _NOTHING_FOUND[diagnosis.state]


def in_words(noted: str) -> str:
    """The word of a verdict that was noted, perhaps by an earlier version."""
    return _EARLIER.get(noted, noted)


def only(selection: Selection) -> str:
    """`in network only`, `for subnet-full only`; empty for a whole check."""
    if selection.about:
        return f"{selection.about.said} only"
    if selection.only:
        return f"for {selection.only} only"
    return f"in {selection.area} only" if selection.area else ""


def answers(diagnosis: Diagnosis) -> list[str]:
    """What a question about something in particular is answered with, where nothing was found."""
    about = diagnosis.target.about
    if about is None or diagnosis.findings:
        return []
    asked = [check for check in diagnosis.checks if not (about.narrows and check.codes)]
    return [check.why for check in asked if check.outcome is Outcome.CLEAR]


def clear_in_part(diagnosis: Diagnosis) -> bool:
    """Nothing was found, but only a part was checked."""
    return diagnosis.state is State.CLEAR and selection_of(diagnosis) != EVERYTHING


def not_checked(diagnosis: Diagnosis) -> bool:
    """Whether no check applied to this cluster. For programs that is inconclusive."""
    return not diagnosis.findings and all(check.outcome is Outcome.NOT_APPLICABLE for check in diagnosis.checks)


def summary(diagnosis: Diagnosis, library: Library | None = None) -> str:
    """The verdict in numbers; with the runbooks also the problems that no check covers. Of another kind than an AKS
    cluster it begins with the kind that was looked at.
    """
    numbers = _numbers(diagnosis, library)
    return numbers if diagnosis.target.id.is_a(MANAGED_CLUSTER) else f"{kind_in_words(diagnosis.target.id)}, {numbers}"


def _numbers(diagnosis: Diagnosis, library: Library | None) -> str:
    open_checks = [check for check in diagnosis.checks if check.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED)]
    if not_checked(diagnosis):
        return f"no check applies to it{_looked(diagnosis)}"
    if diagnosis.state is State.CLEAR:
        return "; ".join([found_nothing(diagnosis), *_beyond(diagnosis, library)])
    if diagnosis.state is State.INCONCLUSIVE:
        applied = [check for check in diagnosis.checks if check.outcome is not Outcome.NOT_APPLICABLE]
        have = "has" if len(open_checks) == 1 else "have"
        return f"{len(open_checks)} of {count(len(applied), 'check')} {have} no result{_looked(diagnosis)}"
    roots = [ranked.finding.severity for ranked in diagnosis.findings if ranked.root]
    counts = [count(roots.count(severity), name) for severity, name in _ROOTS.items() if severity in roots]
    effects = len(diagnosis.findings) - len(roots)
    counts += [count(effects, "consequence")] if effects else []
    still_open = f" · {count(len(open_checks), 'check')} without a result" if open_checks else ""
    return ", ".join(counts) + still_open


def what_would_help(diagnosis: Diagnosis) -> str:
    """What to do about what could not be seen; nothing where nobody knows."""
    missing = tuple(dict.fromkeys(unseen.grant for unseen in diagnosis.unseen if unseen.grant))
    if missing:
        others = f" (and {len(missing) - 1} more, see below)" if len(missing) > 1 else ""
        return f"Grant aksbot `{missing[0]}`{others}, then check again"
    slow = any(unseen.why in (Why.TIMEOUT, Why.THROTTLED) for unseen in diagnosis.unseen)
    return "Check again in a minute" if slow else ""


def found_nothing(diagnosis: Diagnosis) -> str:
    """How many checks ran and found nothing; those that do not apply did not run."""
    return f"{count(sum(check.outcome is Outcome.CLEAR for check in diagnosis.checks), 'check')} found nothing"


def _beyond(diagnosis: Diagnosis, library: Library | None) -> list[str]:
    """What a clear answer does not cover."""
    if clear_in_part(diagnosis):
        return ["the rest was not looked at"]
    without = len(scope_of(diagnosis, library).cannot_ask) if library is not None else 0
    return [f"{count(without, 'kind')} of problem {'has' if without == 1 else 'have'} no check"] if without else []


def _looked(diagnosis: Diagnosis) -> str:
    narrowed = only(selection_of(diagnosis))
    return f"; looked {narrowed}" if narrowed else ""


def not_looked_at(scope: Scope) -> list[str]:
    """What a narrowed check has left out: whole areas, and the rest of an area checked in part."""
    return [f"the rest of {area}" if area in scope.areas else area for area in scope.left_out]


def count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
