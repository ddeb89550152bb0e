"""A card of an alert bot may tell of several alerts: what is over says nothing of what still fires."""

from __future__ import annotations

import re

_OPEN = re.compile(
    r"\[(?:firing|open)|\bfiring(?:: ?[1-9a-z]| [1-9]\d*(?![\dhms]))|(?-i:\bFIRING\b)(?! ?(?:→|->|=>))"
    r"|\bre-?opened\b|\bopen:? [1-9]\d?\b",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:resolved|closed|recovered)\b", re.IGNORECASE)
_HEADED_OVER = re.compile(r"\W{0,6}(?:resolved|closed|recovered)\b", re.IGNORECASE)
_TOLD_OVER = re.compile(r"\b(?:resolved|closed|recovered)\b(?: ?[:x×]? ?\d{1,4}\b)?[\]→ ,·|]{0,3}", re.IGNORECASE)


def still_open(text: str) -> str:
    """Without the alerts that are over, where others are not: their lines, and their count in a line that has both."""
    if not _OVER.search(text) or not _OPEN.search(text):
        return text
    lines = [line for line in text.splitlines() if _OPEN.search(line) or not _HEADED_OVER.match(line)]
    return "\n".join(_TOLD_OVER.sub("", line) if _OPEN.search(line) else line for line in lines)
