"""Timestamps relative to now (`now-3h10m`), resolved when a scenario is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_SPAN = re.compile(r"^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$")
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)


class BadMoment(ValueError):
    """Not a valid relative timestamp or duration."""


def span(text: str) -> timedelta:
    """`3h10m` as a duration."""
    found = _SPAN.match(text)
    if not text or not found:
        raise BadMoment(f"{text!r} is not a span such as 2d, 3h10m or 45s")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


@dataclass(frozen=True, slots=True)
class Clock:
    """The value of `now` for one load of a scenario."""

    now: datetime

    def at(self, text: str) -> datetime:
        """`now-35m` as a moment."""
        if text == "now":
            return self.now
        if not text.startswith("now-"):
            raise BadMoment(f"{text!r} is not a moment such as now, now-35m or now-2d4h")
        return self.now - span(text.removeprefix("now-"))


def wire(moment: datetime) -> str:
    """In Azure's format: Z suffix, no trailing zeros in the fraction."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}".rstrip("0").rstrip(".") + "Z"


def wire_offset(moment: datetime) -> str:
    """In Compute's format, with an offset."""
    return moment.astimezone(UTC).isoformat()


def ticks(moment: datetime) -> int:
    """.NET ticks (100 ns since year 1), as in event ids."""
    return ((moment - _EPOCH) // timedelta(microseconds=1)) * 10
