"""Which finding explains which. The runbooks know it by code; the findings know it by subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from handlers.model import Finding, Ranked, Severity
from handlers.resource_id import same, within

Explains = Callable[[str], frozenset[str]]
"""From a finding code to the codes it can be the cause of."""

_LOUDEST_FIRST = tuple(Severity)


def rank(findings: Iterable[Finding], explains: Explains) -> tuple[Ranked, ...]:
    """Every finding with what explains it: roots first, loud before quiet, each cause before what follows from it."""
    unique = {finding.key: finding for finding in findings}
    causes = {
        key: [other for other in unique.values() if _explains(other, finding, explains)]
        for key, finding in unique.items()
    }

    def depth(finding: Finding, path: frozenset[tuple[str, str]] = frozenset()) -> int:
        above = [cause for cause in causes[finding.key] if cause.key not in path]
        return 1 + max((depth(cause, path | {finding.key}) for cause in above), default=-1)

    def order(finding: Finding) -> tuple[int, int, int, str, str]:
        explained = sum(finding in above for above in causes.values())
        return depth(finding), _LOUDEST_FIRST.index(finding.severity), -explained, *finding.key

    ordered = sorted(unique.values(), key=order)
    return tuple(
        Ranked(finding, tuple((cause.code, cause.subject) for cause in ordered if cause in causes[finding.key]))
        for finding in ordered
    )


def _explains(cause: Finding, effect: Finding, explains: Explains) -> bool:
    if cause.key == effect.key or effect.code not in explains(cause.code):
        return False
    named = any(same(effect.subject, affected) for affected in cause.affects)
    return named or _is_parent(effect.subject, cause.subject)


def _is_parent(above: str, below: str) -> bool:
    """A lock on a cluster is written below it, and is no part of it."""
    part = below[len(above) :].lower()
    return above.startswith("/") and within(above, below) and not same(above, below) and "/providers/" not in part
