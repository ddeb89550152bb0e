"""Events in, changes out: accepted, started and succeeded are one line, and so is the same thing done again. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from handlers.changes.change import Change, Part, Result
from handlers.changes.row import HEALTH, Row
from handlers.changes.words import action_of, details_of, part_of, subject_of
from handlers.evidence.monitor import DENY_EVENT

AKS_ITSELF = "7319c514-987d-4e9b-ac3d-d38c4f427f4c"
"""AKS's application, the same in every tenant: what it writes below somebody's operation is part of that."""
AKS = "AKS"
_LONGEST_WHY = 1000


def changes_of(rows: Iterable[Row], node_group: str, callers: Mapping[str, str]) -> tuple[Change, ...]:
    """The changes, newest first. `callers` are ids that the cluster itself knows a name for."""
    return tuple(_repeated(operations_of(rows, node_group, callers)))


def operations_of(rows: Iterable[Row], node_group: str, callers: Mapping[str, str]) -> list[Change]:
    """The same, but what was done again and again is there each time."""
    requests: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.changes_something:
            event = row.event
            requests[event.request, row.operation, event.resource.lower()].append(row)
    known = {AKS_ITSELF: AKS, **callers}
    made = [_change(sorted(events, key=lambda row: row.event.at), node_group, known) for events in requests.values()]
    return sorted(_folded(made), key=lambda change: change.at, reverse=True)


def _change(events: list[Row], node_group: str, callers: Mapping[str, str]) -> Change:
    first, last = events[0], next((row for row in reversed(events) if row.event.ended), events[-1])
    error = last.event.error
    return Change(
        at=first.event.at,
        part=part_of(first, node_group),
        subject=max((subject_of(row) for row in events), key=len),
        action=max((action_of(row) for row in events), key=len),  # one of the events says to whom
        result=_result(last),
        caller=_caller(first, callers),
        resource=first.event.resource,
        operation=first.event.operation,
        until=last.event.at if last.event.ended else None,
        details=tuple(dict.fromkeys(said for row in events for said in details_of(row))),
        why=_why(last, str(error) if error else ""),
        correlation=first.event.correlation,
    )


def _caller(row: Row, callers: Mapping[str, str]) -> str:
    if row.operation.startswith(HEALTH):
        return "Azure"
    return callers.get(row.caller.lower(), row.caller)


def _result(row: Row) -> Result:
    event = row.event
    if row.operation.startswith(HEALTH):
        return Result.FAILED if event.status.lower() == "active" else Result.SUCCEEDED
    if row.operation == DENY_EVENT:
        return Result.DENIED
    if event.failed:
        return Result.FAILED if event.accepted else Result.REFUSED
    if event.status.lower().startswith("cancel"):
        return Result.CANCELED
    return Result.SUCCEEDED if event.succeeded else Result.RUNNING


def _why(row: Row, error: str) -> str:
    policies = [policy.title for policy in row.event.policies]
    said = f"policy {', '.join(policies)}" if policies else error
    return said if len(said) <= _LONGEST_WHY else f"{said[:_LONGEST_WHY]}…"


def _folded(changes: list[Change]) -> Iterator[Change]:
    """What AKS wrote to nodes for somebody's operation, and a policy's own entry, belong to that operation's line."""
    together: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        together[change.correlation].append(change)
    for change in changes:
        others = [other for other in together[change.correlation] if other is not change] if change.correlation else []
        if _is_denial(change):
            if not any(other.result.bad for other in others):
                yield change
        elif not any(_is_part_of(change, other) for other in others):
            yield _with_others(change, others)


def _is_denial(change: Change) -> bool:
    return change.operation.lower() == DENY_EVENT


def _is_part_of(change: Change, above: Change) -> bool:
    """A failure below an operation that succeeded, or that still runs, is told by itself."""
    belongs = change.part is Part.NODES and above.part is Part.CLUSTER and change.caller == AKS
    return belongs and (not change.result.bad or above.result.bad)


def _with_others(change: Change, others: Iterable[Change]) -> Change:
    below = sum(_is_part_of(other, change) for other in others)
    denial = next(filter(_is_denial, others), None) if change.result.bad else None
    if denial is None:
        return replace(change, below=below)
    return replace(change, below=below, result=Result.DENIED, why=denial.why or change.why)


def _repeated(changes: Iterable[Change]) -> Iterator[Change]:
    """The same again, one after the other, is one line with how often."""
    kept: Change | None = None
    for change in changes:
        if kept and _is_same(kept, change):
            kept = replace(kept, times=kept.times + 1, since=change.at, below=kept.below + change.below)
            continue
        if kept:
            yield kept
        kept = change
    if kept:
        yield kept


def _is_same(one: Change, other: Change) -> bool:
    return one.result is not Result.RUNNING and _as_told(one) == _as_told(other)


def _as_told(change: Change) -> tuple[object, ...]:
    told = change.subject, change.action, change.result, change.caller, change.details, change.why
    return (*told, change.resource.lower())
