"""What a check of a cluster means for its incidents: proved, not proved, changed, over, or two that are one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.incidents.model import Book, Cause, Incident, State, Verdict
from bot.render.headline import for_cluster, headline
from handlers.model import Check, Diagnosis, Finding, Outcome
from runbooks.library import Library

NO_PAGES = Library(())
_UNSURE = frozenset({Outcome.INCONCLUSIVE, Outcome.CRASHED})


class Changed(StrEnum):
    """What a check has changed about an incident."""

    SETTLED = "settled"
    """It has its first outcome."""
    FACTS = "facts"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Change:
    incident: Incident
    what: Changed


@dataclass(frozen=True, slots=True)
class Observation:
    """What is true of a cluster at a moment, as far as incidents care."""

    at_ms: int
    roots: tuple[Cause, ...] = ()
    found: frozenset[tuple[str, str]] = frozenset()
    """Everything that was found: code and subject."""
    because_of: tuple[tuple[str, str], ...] = ()
    """Code of a finding, code of what explains it."""
    unsure: frozenset[str] = frozenset()
    """Codes that nobody could rule out."""
    checked: frozenset[str] = frozenset()
    """Codes that some check asks about."""
    by: str = ""
    """Who asked for the check; empty where nobody did."""
    asked_ms: int = 0
    """When the check began to look."""

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(code for code, _ in self.found)


def observation(diagnosis: Diagnosis, at_ms: int, by: str = "", library: Library = NO_PAGES) -> Observation:
    findings = [ranked.finding for ranked in diagnosis.findings]
    return Observation(
        at_ms,
        tuple(_cause(ranked.finding, library, diagnosis.target.name) for ranked in diagnosis.findings if ranked.root),
        frozenset(finding.key for finding in findings),
        tuple((ranked.finding.code, code) for ranked in diagnosis.findings for code, _ in ranked.explained_by),
        _codes(check for check in diagnosis.checks if check.outcome in _UNSURE or check.unseen),
        _codes(diagnosis.checks),
        by,
        int(diagnosis.target.asked_at.timestamp() * 1000),
    )


def nothing_seen(at_ms: int, codes: Iterable[str]) -> Observation:
    """The check itself failed."""
    return Observation(at_ms, unsure=frozenset(codes), checked=frozenset(codes))


def observe(book: Book, seen: Observation) -> tuple[Book, tuple[Change, ...]]:
    """Enter a check of the whole cluster."""
    changes = []
    for incident in book.incidents:
        if incident.is_closed:
            continue
        after, what = _after(incident, seen)
        book = book.put(after)
        if what:
            changes.append(Change(after, what))
    book, merged = _one_of_each(book)
    gone = {change.incident.id for change in merged}
    return book, (*(_latest(book, change) for change in changes if change.incident.id not in gone), *merged)


def _latest(book: Book, change: Change) -> Change:
    return Change(book.get(change.incident.id) or change.incident, change.what)


def _after(incident: Incident, seen: Observation) -> tuple[Incident, Changed | None]:
    first = incident.state is State.CHECKING
    causes = _causes(incident, seen, first=first)
    verdict = _verdict(incident, seen)
    unsure = _is_unsure(incident, seen)
    changed_ms = max(incident.changed_ms, seen.at_ms)
    if not causes and not first and not unsure and verdict is not Verdict.CONFIRMED:
        if 0 < seen.asked_ms <= incident.settled_ms:
            return incident, None  # the very check that did not confirm it, entered once more
        closed = replace(incident, state=State.CLOSED, verdict=verdict, changed_ms=changed_ms)
        return replace(closed, closed_ms=seen.at_ms, closed_by=seen.by), Changed.CLOSED
    if not causes and not first and unsure:
        # Could not look is never gone: what was proved stays until it is seen to be over.
        return incident, None
    # The first answer speaks of all that was found, so a message about any of it belongs there.
    known = tuple(sorted({*incident.known, *seen.codes})) if first else _known(incident, causes, seen)
    found = tuple(code for code in incident.codes if code in seen.codes)
    after = replace(incident, state=State.OPEN, verdict=verdict, causes=causes, known=known, found=found)
    if first:
        settled = tuple(cause.code for cause in causes)
        return replace(after, changed_ms=changed_ms, settled_ms=seen.asked_ms, settled=settled), Changed.SETTLED
    if [cause.key for cause in causes] != [cause.key for cause in incident.causes] or verdict is not incident.verdict:
        return replace(after, changed_ms=changed_ms), Changed.FACTS
    return after, None


def _known(incident: Incident, causes: tuple[Cause, ...], seen: Observation) -> tuple[str, ...]:
    roots = {cause.code for cause in causes}
    follows = {code for code, _ in seen.because_of if roots & _with_what_explains({code}, seen)}
    return tuple(sorted({*incident.known, *roots, *follows}))


def _causes(incident: Incident, seen: Observation, *, first: bool) -> tuple[Cause, ...]:
    """The roots that are this incident's; where a first check finds others only, those. Beside one that is found stays
    what was proved and could not be looked at this time."""
    suspects = {*incident.codes, *(cause.code for cause in incident.causes)}
    wanted = _with_what_explains(suspects, seen)
    own = tuple(root for root in seen.roots if root.code in wanted)
    if own:
        codes = {root.code for root in own}
        unseen = (cause for cause in incident.causes if cause.code in seen.unsure and cause.code not in codes)
        return (*own, *unseen)
    return () if not first and incident.causes else seen.roots


def _with_what_explains(codes: set[str], seen: Observation) -> set[str]:
    while more := {by for code, by in seen.because_of if code in codes} - codes:
        codes = codes | more
    return codes


def _verdict(incident: Incident, seen: Observation) -> Verdict:
    suspects = set(incident.codes)
    if suspects & seen.codes:
        return Verdict.CONFIRMED
    if suspects and not suspects & seen.checked:
        return Verdict.NO_CHECK
    return Verdict.COULD_NOT_CHECK if suspects & seen.unsure else Verdict.NOT_CONFIRMED


def _is_unsure(incident: Incident, seen: Observation) -> bool:
    """Whether nobody can say that it is over: a check that would know did not see enough, or there is none."""
    watched = {cause.code for cause in incident.causes} or set(incident.codes)
    return bool(watched & seen.unsure or watched - seen.checked)


def _one_of_each(book: Book) -> tuple[Book, tuple[Change, ...]]:
    """Two incidents with one cause are one: the later goes on in the thread of the earlier."""
    merged: list[Change] = []
    kept: list[Incident] = []
    for incident in book.incidents:
        same = next(
            (other for other in kept if not incident.is_closed and incident.fingerprints & other.fingerprints), None
        )
        if same is None:
            kept += [] if incident.is_closed else [incident]
            continue
        gone = replace(incident, state=State.CLOSED, merged_into=same.id)
        whole = replace(
            same,
            codes=tuple(dict.fromkeys((*same.codes, *incident.codes))),
            known=tuple(sorted({*same.known, *incident.known})),
            count=same.count + incident.count,
            elsewhere=tuple(dict.fromkeys((*same.elsewhere, incident.home, *incident.elsewhere))),
        )
        kept = [whole if other.id == whole.id else other for other in kept]
        book = book.put(gone).put(whole)
        merged.append(Change(gone, Changed.MERGED))
    return book, tuple(merged)


def _cause(finding: Finding, library: Library, cluster: str) -> Cause:
    said = headline(finding, library, cluster)
    effect = for_cluster(said.effect, cluster) if said.do else ""
    return Cause(finding.code, finding.subject, finding.because[0], effect, said.do)


def _codes(checks: Iterable[Check]) -> frozenset[str]:
    return frozenset(code for check in checks for code in check.codes)
