"""A card of an alert bot may tell of several alerts: what is over says nothing of what still fires."""

from __future__ import annotations

import re

_SPAN = r"(?! ?(?:s|m|h|d|min|sec|hour|day|week)\w*\b)"
"""How long it fired or was open is no count."""
_OPEN = re.compile(
    r"\[(?:firing(?!: ?0)|open\]|triggered\])|^\W{0,3}\[alert(?:ing)?\]"
    rf"|\bfiring:? ?[1-9]\d*\b{_SPAN}|\bopen:? [1-9]\d?\b{_SPAN}"
    r"|^\W{0,6}(?:firing|fired|triggered)\b\W{0,4}(?:$|: ?(?!none\b|no\b|\d)\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""`[FIRING:1]` (Alertmanager), `**Firing**` over a block (Grafana), `[Alerting]` (its older
ones, and first in the line: nginx logs `[alert]`, too), `[Triggered]` (Datadog), `open 1` (digests)."""
_OVER = r"\b(?:resolved|closed|recovered)\b"
_HEADED_OVER = re.compile(rf"\W{{0,6}}{_OVER}(?=\W{{0,2}}(?:[\]:*]|$|\d|[→–]))", re.IGNORECASE)
_TOLD_OVER = re.compile(rf"\[?{_OVER}(?: ?[:x×]? ?\d{{1,4}}(?![.:]?\d))?\]?[→ ,·|]{{0,3}}", re.IGNORECASE)
_IS_TOLD = re.compile(_OVER, re.IGNORECASE)


def still_open(text: str) -> str:
    """Without the alerts that are over, where others are not: their heading and what stands below it, and their count
    in a line that has both."""
    if not _IS_TOLD.search(text) or not _OPEN.search(text):
        return text
    kept, over = list[str](), False
    for line in text.splitlines():
        if _OPEN.search(line):
            over = False
            kept.append(_TOLD_OVER.sub("", line))
            continue
        over = over or bool(_HEADED_OVER.match(line))
        if not over:
            kept.append(line)
    return "\n".join(kept)
