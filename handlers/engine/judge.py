"""Runs one diagnostic and decides its outcome.

Silence means clear only if nothing was missing or cut; otherwise the diagnostic must yield `Clear` with a reason.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from handlers.engine.declare import Diagnostic, Need
from handlers.model import (
    Check,
    Clear,
    Evidence,
    Finding,
    Judgement,
    NotApplicable,
    Outcome,
    Unavailable,
    Why,
)

log = logging.getLogger(__name__)


def judge(diagnostic: Diagnostic, arguments: Mapping[str, Any]) -> Check:
    """An isolation boundary: a diagnostic that raises has crashed, which is never clear."""
    arguments = {need.name: _not_asked_then(need, arguments[need.name]) for need in diagnostic.needs}
    absent = _absent(diagnostic.needs, arguments)
    if absent is not None:
        return _without_asking(diagnostic, absent)
    yielded: list[Judgement] = []
    try:
        for judgement in diagnostic.judge(**arguments):
            _must_be_declared(diagnostic, judgement)
            yielded.append(judgement)
    except Exception as error:
        log.exception("diagnostic %s crashed", diagnostic.id)
        why = f"a fault in this check: {type(error).__name__}: {error}"
        return _ended(diagnostic, Outcome.CRASHED, why, yielded, _unseen(arguments.values()))
    outcome, why = _verdict(diagnostic, yielded, arguments)
    if outcome is Outcome.CLEAR:
        outcome, why = _unless_unseen(diagnostic, arguments, why)
    return _ended(diagnostic, outcome, why, yielded, _unseen([*arguments.values(), *yielded]))


def _unless_unseen(diagnostic: Diagnostic, arguments: Mapping[str, Any], why: str) -> tuple[Outcome, str]:
    """Missing evidence is never "nothing found", unless the declaration says why the rest is proof enough."""
    for need in diagnostic.needs:
        value = arguments[need.name]
        excused = diagnostic.may_be_clear_without(need.kind)
        if isinstance(value, Unavailable) and value.why is not Why.NOT_ASKED and not excused:
            return Outcome.INCONCLUSIVE, str(value)
    return Outcome.CLEAR, why


def _not_asked_then(need: Need, value: Any) -> Any:
    """The recording is older than a fact: judge the question without it, if its declaration allows that."""
    not_asked = isinstance(value, Unavailable) and value.why is Why.NOT_ASKED
    return NotApplicable(value.detail) if not_asked and need.or_not_applicable else value


def _verdict(diagnostic: Diagnostic, yielded: list[Judgement], arguments: Mapping[str, Any]) -> tuple[Outcome, str]:
    findings = [result for result in yielded if isinstance(result, Finding)]
    open_questions = [result for result in yielded if isinstance(result, Unavailable)]
    clears = [result.because for result in yielded if isinstance(result, Clear)]
    pointless = [result.because for result in yielded if isinstance(result, NotApplicable)]
    if findings:
        return Outcome.FOUND, "; ".join(finding.because[0] for finding in findings)
    still_open = [question for question in open_questions if question.why is not Why.NOT_ASKED]
    if still_open:
        return Outcome.INCONCLUSIVE, str(still_open[0])
    if clears:
        return Outcome.CLEAR, "; ".join(clears)
    if open_questions:  # The recording is older than these facts.
        return Outcome.NOT_APPLICABLE, open_questions[0].detail
    if pointless:
        return Outcome.NOT_APPLICABLE, "; ".join(pointless)
    return _silence(diagnostic, arguments)


def _silence(diagnostic: Diagnostic, arguments: Mapping[str, Any]) -> tuple[Outcome, str]:
    facts = list(arguments.values())
    for missing in _unseen(facts):
        return Outcome.INCONCLUSIVE, str(missing)
    for fact in facts:
        if isinstance(fact, Evidence) and fact.truncated:
            return Outcome.INCONCLUSIVE, f"only a part could be read of {fact.source}"
    sources = dict.fromkeys(fact.source for fact in facts if isinstance(fact, Evidence) and fact.source)
    return Outcome.CLEAR, diagnostic.clear_says or f"nothing wrong in {', '.join(sources)}"


def _absent(needs: tuple[Need, ...], arguments: Mapping[str, Any]) -> Unavailable | NotApplicable | None:
    required = [arguments[need.name] for need in needs if not need.or_unavailable]
    by_design = [
        arguments[need.name]
        for need in needs
        if not need.or_not_applicable and isinstance(arguments[need.name], NotApplicable)
    ]
    return next(iter(by_design), None) or next((value for value in required if isinstance(value, Unavailable)), None)


def _without_asking(diagnostic: Diagnostic, absent: Unavailable | NotApplicable) -> Check:
    if isinstance(absent, NotApplicable):
        return _ended(diagnostic, Outcome.NOT_APPLICABLE, absent.because, [], ())
    if absent.why is Why.NOT_ASKED:
        return _ended(diagnostic, Outcome.NOT_APPLICABLE, absent.detail, [], ())
    return _ended(diagnostic, Outcome.INCONCLUSIVE, str(absent), [], (absent,))


def _unseen(values: Iterable[Any]) -> tuple[Unavailable, ...]:
    seen: dict[Unavailable, None] = {}
    for value in values:
        if isinstance(value, Unavailable) and value.why is not Why.NOT_ASKED:
            seen[value] = None
        if isinstance(value, Evidence):
            seen |= dict.fromkeys(value.gaps)
    return tuple(seen)


def _must_be_declared(diagnostic: Diagnostic, judgement: Judgement) -> None:
    if isinstance(judgement, Finding) and judgement.code not in diagnostic.codes:
        raise ValueError(f"{diagnostic.id} found {judgement.code!r}, which it does not declare")


def _ended(
    diagnostic: Diagnostic,
    outcome: Outcome,
    why: str,
    yielded: Iterable[Judgement],
    unseen: tuple[Unavailable, ...],
) -> Check:
    findings = tuple(result for result in yielded if isinstance(result, Finding))
    return Check(diagnostic.id, diagnostic.codes, outcome, why, 0.0, findings, unseen)
