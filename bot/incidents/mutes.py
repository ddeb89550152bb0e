"""What nobody wants to hear of for a while: `/aks mute <code> <cluster> until <date> <reason>`, read in any order."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LONGEST_REASON = 200
NO_END = "it has no end: neither a date (2026-01-31, 2026-01-31 08:00) nor a span (4h, 2d)"
_UNITS = {"m": timedelta(minutes=1), "min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_WHEN = (
    r"(?:(?P<span>\d{1,4})\s?(?P<unit>min|m|h|d)|(?P<day>\d{4}-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d)Z?)?)(?=[\s,;:.]|$)"
)
_NAMED_END = re.compile(rf"\b(?:until|till|for)\s+{_WHEN}", re.IGNORECASE)
_BARE_END = re.compile(rf"(?:^|(?<=\s)){_WHEN}", re.IGNORECASE)
_AROUND_REASON = " ,;:-"
_BEFORE_A_NAME = frozenset({"on", "of", "for", "in", "at"})


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


def read_mute(
    rest: str, now: datetime, known: Container[str], longest: timedelta, clusters: Container[str] = ()
) -> Mute:
    """`<code> <cluster> until <date> <reason>`, in whatever order; the date is a day, a day and a time (UTC), or a span
    such as `4h`. `clusters`: the fleet in lower case, which tells a name from the words of the reason."""
    text = rest.replace("`", "")
    end = _end(text)
    words = f"{text[: end.start()]} {text[end.end() :]}".split() if end else text.split()
    code = _taken(words, known)
    if code is None:
        raise Unreadable(f"there is no runbook {words[0][:60]}" if words else "the code is missing")
    words = [word for word in words if word.strip(_AROUND_REASON)]
    cluster = _taken(words, clusters) or _first(words)
    if cluster is None:
        raise Unreadable("the cluster is missing")
    if end is None:
        raise Unreadable(NO_END)
    until, reason = _moment(end, now), " ".join(words).strip(_AROUND_REASON)
    if until <= now:
        raise Unreadable("that moment is over")
    if until > now + longest:
        raise Unreadable(f"the policy lets nobody mute for longer than {longest.total_seconds() / 3600:g} h")
    if not reason:
        raise Unreadable("the reason is missing, and others will ask for it")
    return Mute(code.lower(), cluster, int(until.timestamp() * 1000), reason=reason[:LONGEST_REASON])


def _taken(words: list[str], known: Container[str]) -> str | None:
    """The first of these words that is known, which is then no longer among them, nor the `on` before it."""
    at = next((at for at, word in enumerate(words) if word.strip(_AROUND_REASON).lower() in known), None)
    if at is None:
        return None
    found = words.pop(at).strip(_AROUND_REASON)
    if at and words[at - 1].lower() in _BEFORE_A_NAME:
        del words[at - 1]
    return found


def _first(words: list[str]) -> str | None:
    while words and words[0].lower() in _BEFORE_A_NAME:
        del words[0]
    return words.pop(0) if words else None


def _end(text: str) -> re.Match[str] | None:
    """When it ends: rather what stands behind `until` than another span, which the reason may hold."""
    return _NAMED_END.search(text) or _BARE_END.search(text)


def _moment(end: re.Match[str], now: datetime) -> datetime:
    if end["span"]:
        return now + int(end["span"]) * _UNITS[end["unit"].lower()]
    try:
        # A day without a time: until it ends.
        day = datetime.fromisoformat(f"{end['day']}T{end['time'] or '00:00'}:00").replace(tzinfo=UTC)
    except ValueError:
        raise Unreadable("there is no such date") from None
    return day if end["time"] else day + timedelta(days=1)
