"""What nobody wants to hear of for a while: `/aks mute <code> <cluster> until <date> <reason>`, read."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LONGEST_REASON = 200
_SPAN = re.compile(r"(\d{1,4})\s*(min|m|h|d)\b", re.IGNORECASE)
_UNITS = {"m": timedelta(minutes=1), "min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)Z?)?")


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing is said by itself about a code of a cluster. Who asks is answered all the same."""

    code: str
    cluster: str
    until_ms: int
    by: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.code.lower()} {self.cluster.lower()}"


class Unreadable(ValueError):
    """Why a request to mute cannot be understood, in words."""


def read_mute(rest: str, now: datetime, known: Container[str], longest: timedelta) -> Mute:
    """`<code> <cluster> until <date> <reason>`; the date is a day, a day and a time (UTC), or a span such as `4h`."""
    words = rest.replace("`", "").split(maxsplit=3)
    if len(words) < 4 or words[2].lower() != "until":
        raise Unreadable("something is missing")
    code, cluster, _, tail = words
    if code.lower() not in known:
        raise Unreadable(f"there is no runbook {code[:60]}")
    until, reason = _until(tail, now)
    if until <= now:
        raise Unreadable("that moment is over")
    if until > now + longest:
        raise Unreadable(f"the policy lets nobody mute for longer than {longest.total_seconds() / 3600:g} h")
    if not reason:
        raise Unreadable("the reason is missing, and others will ask for it")
    return Mute(code.lower(), cluster, int(until.timestamp() * 1000), reason=reason[:LONGEST_REASON])


def _until(tail: str, now: datetime) -> tuple[datetime, str]:
    if span := _SPAN.match(tail):
        return now + int(span[1]) * _UNITS[span[2].lower()], tail[span.end() :].strip()
    if date := _DATE.match(tail):
        try:
            # A day without a time: until it ends.
            day = datetime.fromisoformat(f"{date[1]}T{date[2] or '00:00'}:00").replace(tzinfo=UTC)
        except ValueError:
            raise Unreadable("there is no such date") from None
        return (day if date[2] else day + timedelta(days=1)), tail[date.end() :].strip()
    raise Unreadable("the end is neither a date (2026-01-31, 2026-01-31 08:00) nor a span (4h, 2d)")
