"""How long ago something was, as people say it. Findings use it: exact seconds would differ with every look."""

from __future__ import annotations

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_TWO = 2
"""Below two of the larger unit the smaller one is said: 90 s, 100 min."""


def ago(then: datetime, now: datetime) -> str:
    seconds = max(0, int((now - then).total_seconds()))
    if seconds < _TWO * _MINUTE:
        return f"{seconds} s ago"
    if seconds < _TWO * _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _TWO * _DAY:
        return f"{seconds // _HOUR} h ago"
    return f"{seconds // _DAY} days ago"
