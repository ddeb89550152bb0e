"""A length of time as people type it: `90m`, `2h`, `3d`."""

from __future__ import annotations

import re
from datetime import timedelta

from handlers.problem import Exit, Problem

_LENGTH = re.compile(r"(\d{1,4})(min|m|h|d)", re.IGNORECASE)
FORM = "say a cluster, and how far back if it matters: `<cluster> 2h`"
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


def read_length(word: str, longest: timedelta) -> timedelta:
    """Raises Problem."""
    found = _LENGTH.fullmatch(word.strip("`"))
    length = timedelta(**{_UNITS[found[2].lower()]: int(found[1])}) if found else timedelta()
    if not length:
        raise _unreadable(f"{word[:40]!r} is no length of time")
    if length > longest:
        raise _unreadable(f"{word[:40]} is longer than {longest.days} days")
    return length


def cluster_and_length(text: str, usual: timedelta, longest: timedelta) -> tuple[str | None, timedelta]:
    """`prod-weu 2h`, `prod-weu`, `2h`: whatever is missing is the caller's to know. Raises Problem."""
    words = text.replace("`", "").split()
    if len(words) > 2:
        raise Problem("cannot tell what is asked", f"there are {len(words)} words", FORM, code=Exit.USAGE)
    if len(words) == 2 or (words and _LENGTH.fullmatch(words[0])):
        return (words[0] if len(words) == 2 else None), read_length(words[-1], longest)
    return (words[0] if words else None), usual


def _unreadable(why: str) -> Problem:
    return Problem("cannot tell how far back to look", why, "say it like 90m, 2h or 3d", code=Exit.USAGE)
