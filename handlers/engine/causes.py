"""Verdicts as evidence: which checks must end before a diagnostic that asks for `Causes` can be judged.

The runbooks know what explains what, so no diagnostic keeps a list of its causes. A code without a check stays open.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from handlers.engine.declare import Diagnostic
from handlers.engine.rank import Explains
from handlers.model import Causes, Check, Outcome, Verdict

log = logging.getLogger(__name__)

_WORST_FIRST = (Outcome.CRASHED, Outcome.INCONCLUSIVE, Outcome.CLEAR, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class CausePlan:
    """For each diagnostic, the codes whose verdicts it gets; those that would form a cycle are left out."""

    codes: Mapping[str, tuple[str, ...]]
    asked_by_code: Mapping[str, tuple[Diagnostic, ...]]
    skipped: tuple[str, ...]

    @classmethod
    def of(cls, diagnostics: Iterable[Diagnostic], explains: Explains) -> CausePlan:
        known = tuple(diagnostics)
        by_code: dict[str, tuple[Diagnostic, ...]] = {}
        for diagnostic in known:
            for code in diagnostic.codes:
                by_code[code] = (*by_code.get(code, ()), diagnostic)
        asking = [diagnostic for diagnostic in known if diagnostic.causes_of]
        wanted = {diagnostic.id: _causes(diagnostic, explains) for diagnostic in asking}
        skipped = tuple(_without_circles(wanted, by_code))
        for text in skipped:
            log.warning("%s", text)
        return cls({name: tuple(codes) for name, codes in wanted.items()}, by_code, skipped)

    def before(self, diagnostic: Diagnostic) -> tuple[Diagnostic, ...]:
        """The diagnostics whose verdicts this one waits for."""
        codes = self.codes.get(diagnostic.id, ())
        found = {
            cause.id: cause for code in codes for cause in self.asked_by_code.get(code, ()) if cause.id != diagnostic.id
        }
        return tuple(found.values())

    def behind(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """All diagnostics that must be judged before these, directly or not."""
        found: dict[str, Diagnostic] = {}
        waiting = list(diagnostics)
        while waiting:
            for diagnostic in self.before(waiting.pop()):
                if diagnostic.id not in found:
                    found[diagnostic.id] = diagnostic
                    waiting.append(diagnostic)
        return tuple(found.values())

    def causes(self, diagnostic: Diagnostic, checks: Mapping[str, Check]) -> Causes:
        """The verdicts for a diagnostic, once the checks before it have ended."""
        return Causes(
            tuple(
                _verdict(
                    code,
                    [checks[cause.id] for cause in self.asked_by_code.get(code, ()) if cause.id != diagnostic.id],
                )
                for code in self.codes.get(diagnostic.id, ())
            )
        )


def _causes(diagnostic: Diagnostic, explains: Explains) -> list[str]:
    """Every code that explains one it asks about, except its own codes and those it explains itself."""
    asked = frozenset(diagnostic.causes_of)
    below = frozenset(diagnostic.codes).union(*(explains.get(code, frozenset()) for code in diagnostic.codes))
    return sorted(code for code, explained in explains.items() if explained & asked and code not in below)


def _without_circles(wanted: dict[str, list[str]], by_code: Mapping[str, tuple[Diagnostic, ...]]) -> Iterator[str]:
    """Remove every code by which a diagnostic would wait for itself, and log it: a team's runbook may close a cycle."""

    def follow(name: str, path: tuple[str, ...]) -> Iterator[str]:
        for code in list(wanted.get(name, ())):
            for diagnostic in by_code.get(code, ()):
                if diagnostic.id in path:
                    wanted[name].remove(code)
                    circle = " -> ".join((*path[path.index(diagnostic.id) :], diagnostic.id))
                    yield f"{name} does not hear about {code}: the runbooks' `explains` go in a circle ({circle})"
                    break
                if diagnostic.id != name:
                    yield from follow(diagnostic.id, (*path, diagnostic.id))

    for name in sorted(wanted):
        yield from follow(name, (name,))


def _verdict(code: str, checks: list[Check]) -> Verdict:
    if not checks:
        return Verdict(code, None, "no check asks about it yet")
    findings = tuple(finding for check in checks for finding in check.findings if finding.code == code)
    if findings:
        return Verdict(code, Outcome.FOUND, findings[0].because[0], findings)
    outcomes = {_apart_from_findings(check, code): check.why for check in checks}
    worst = next(outcome for outcome in _WORST_FIRST if outcome in outcomes)
    return Verdict(code, worst, outcomes[worst])


def _apart_from_findings(check: Check, code: str) -> Outcome:
    """A check with several codes may have found another one; then it is unknown whether it saw everything about this
    one.
    """
    if check.outcome is not Outcome.FOUND:
        return check.outcome
    return Outcome.INCONCLUSIVE if check.unseen else Outcome.CLEAR
