"""Which finding explains which. The runbooks know it by code, the findings by subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from handlers.model import Finding, Ranked, Severity
from handlers.resource_id import same

Explains = Mapping[str, frozenset[str]]
"""Every finding code with the codes it can be the cause of."""
Key = tuple[str, str]

_LOUDEST_FIRST = tuple(Severity)


def rank(findings: Iterable[Finding], explains: Explains) -> tuple[Ranked, ...]:
    """Every finding with what explains it: roots first, then by severity and by what follows from each (errors before
    warnings), each cause before its effects."""
    unique = {finding.key: finding for finding in findings}
    causes = {
        key: [other for other in unique.values() if _explains(other, finding, explains)]
        for key, finding in unique.items()
    }
    causes = {key: _outside_circles(unique[key], above, causes) for key, above in causes.items()}

    def depth(finding: Finding) -> int:
        return 1 + max((depth(cause) for cause in causes[finding.key]), default=-1)

    def order(finding: Finding) -> tuple[int, int, tuple[int, ...], str, str]:
        effects = Counter(unique[key].severity for key, above in causes.items() if finding in above)
        follows = tuple(-effects[severity] for severity in _LOUDEST_FIRST)
        return depth(finding), _LOUDEST_FIRST.index(finding.severity), follows, *finding.key

    ordered = sorted(unique.values(), key=order)
    return tuple(
        Ranked(finding, tuple((cause.code, cause.subject) for cause in ordered if cause in causes[finding.key]))
        for finding in ordered
    )


def _explains(cause: Finding, effect: Finding, explains: Explains) -> bool:
    if cause.key == effect.key or effect.code not in explains.get(cause.code, frozenset()):
        return False
    return any(same(effect.subject, affected) for affected in cause.affects)


def _outside_circles(finding: Finding, above: list[Finding], causes: Mapping[Key, list[Finding]]) -> list[Finding]:
    """Of findings that would explain each other, the one that provably began first is the cause; else none is."""
    return [cause for cause in above if _began_before(cause, finding) or not _follows_from(cause, finding, causes)]


def _follows_from(effect: Finding, cause: Finding, causes: Mapping[Key, list[Finding]]) -> bool:
    """Whether one finding is explained by another, directly or through others."""
    seen: set[Key] = set()
    waiting = [effect]
    while waiting:
        for above in causes[waiting.pop().key]:
            if above.key == cause.key:
                return True
            if above.key not in seen:
                seen.add(above.key)
                waiting.append(above)
    return False


def _began_before(cause: Finding, effect: Finding) -> bool:
    return cause.began is not None and effect.began is not None and cause.began < effect.began
