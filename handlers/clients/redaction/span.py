"""A part of a text that holds a secret, and how such parts become marks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from handlers.clients.secret_keys import mark

MARK = "[redacted:"


class Span(NamedTuple):
    start: int
    end: int
    kind: str


def literal(word: str) -> str:
    """A word as an RE2 pattern."""
    return "".join(letter if letter.isalnum() else "\\" + letter for letter in word)


def is_marked(text: str) -> bool:
    """Whether nothing but a mark is left of a value (and what stands around one: quotes, brackets, a full stop)."""
    if not text.startswith(MARK):
        return False
    _, closed, rest = text.partition("]")
    return bool(closed) and not rest.strip(TRAILING)


TRAILING = ".,;:!?)]}>\"'`\\"
"""What stands behind a value more often than in it."""


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark for each part. Parts that overlap become one mark, of the kind that begins first."""
    pieces: list[str] = []
    done = 0
    for start, end, kind in _merged(spans):
        pieces += (text[done:start], mark(kind))
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        elif span.end > span.start:
            merged.append(span)
    return merged
