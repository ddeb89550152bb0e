"""Gathers what the bot knows of a cluster's past: its verdicts, its incidents, and the fixes that ran there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.audit.record import Record, What
from bot.audit.store import Audit, AuditUnreadable
from bot.checks.fleet_lines import Standing, standing_of, title_of, verdict_said
from bot.checks.store.verdicts import PastVerdict, Verdicts
from bot.incidents.model import Incident
from bot.incidents.store import Incidents
from bot.report.past import History, Past, PastKind
from handlers.model import Target
from handlers.resource_id import same
from runbooks.library import Library

MOST_RECORDS = 5_000
"""How far back the audit is read: it may be long, and be of other clusters."""
FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Histories:
    """Where the past is kept. Every call may raise StoreAway."""

    verdicts: Verdicts
    incidents: Incidents
    audit: Audit
    library: Library

    async def of(self, target: Target, team: str) -> History:
        """Newest first. Incidents belong to a workspace; without one there are none."""
        cluster = str(target.id)
        past = list(_runs(await self.verdicts.of(cluster), self.library))
        if team:
            book = await self.incidents.book(team, target.name)
            past += [_incident(incident, self.library) for incident in book.incidents if not incident.merged_into]
        fixes, unread = await self._fixes(cluster)
        ordered = sorted([*past, *fixes], key=lambda item: item.at, reverse=True)
        return History(target.name, tuple(ordered), unread)

    async def fixes_since(self, since: datetime) -> list[tuple[str, Past]]:
        """Of any cluster, each with its id in small letters; none where the audit cannot be read."""
        found: list[tuple[str, Past]] = []
        try:
            async for _, record in self.audit.backwards():
                if record.at_ms < since.timestamp() * 1000:
                    return found
                if (cluster := _cluster_of(record)) and (fix := _fix(record, cluster)):
                    found.append((cluster.lower(), fix))
        except AuditUnreadable:
            return found
        return found

    async def _fixes(self, cluster: str) -> tuple[list[Past], tuple[str, ...]]:
        found: list[Past] = []
        looked_at = 0
        try:
            async for _, record in self.audit.backwards():
                if looked_at == MOST_RECORDS:
                    return found, (f"Fixes are from the last {MOST_RECORDS} records of the audit.",)
                looked_at += 1
                if fix := _fix(record, cluster):
                    found.append(fix)
        except AuditUnreadable:
            return found, ("The audit cannot be read, so fixes are missing: `aksbot audit verify` says why.",)
        return found, ()


def _runs(verdicts: Iterable[PastVerdict], library: Library) -> Iterator[Past]:
    """Verdicts alike, one after the other, are one line: from the first of them until the last. Newest first."""
    run: list[PastVerdict] = []
    for verdict in verdicts:
        if run and _as_told(run[0]) != _as_told(verdict):
            yield _run(run, library)
            run = []
        run.append(verdict)
    if run:
        yield _run(run, library)


def _as_told(verdict: PastVerdict) -> tuple[object, ...]:
    return verdict.state, verdict.severity, verdict.found, verdict.checked


def _run(run: list[PastVerdict], library: Library) -> Past:
    standing = standing_of(run[0])
    return Past(
        at=run[-1].at,
        kind=PastKind.VERDICT,
        said=verdict_said(run[0], library),
        bad=standing is Standing.UNHEALTHY,
        good=standing is Standing.HEALTHY,
        until=run[0].at if len(run) > 1 else None,
        times=len(run),
    )


def _incident(incident: Incident, library: Library) -> Past:
    code = incident.proved or next(iter(incident.codes), "")
    reports = f", reported {incident.count} times" if incident.count > 1 else ""
    proved = "" if incident.proved else ", not proved"
    over = _moment(incident.closed_ms) if incident.is_closed and incident.closed_ms else None
    still = "" if incident.is_closed else ", still open"
    said = f"{title_of(code, library) or 'an incident'}{proved}{reports}{still}"
    return Past(_moment(incident.opened_ms), PastKind.INCIDENT, said, bad=not incident.is_closed, until=over)


def _fix(record: Record, cluster: str) -> Past | None:
    """Only how a fix ended; what was tampered with is the audit's own matter."""
    try:
        entry = record.entry
    except ValueError:
        return None
    if entry.get("what") != What.ENDED or not same(str(entry.get("cluster", "")), cluster):
        return None
    details = entry.get("details")
    end = str(details.get("end", "")) if isinstance(details, dict) else ""
    said = " ".join(filter(None, [str(entry.get("remedy", "")), f"ended {end}" if end else "ended"]))
    return Past(_moment(record.at_ms), PastKind.FIX, said, bad=end not in ("", FIXED), good=end == FIXED)


def _cluster_of(record: Record) -> str:
    try:
        return str(record.entry.get("cluster", ""))
    except ValueError:
        return ""


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
