"""A span of text that holds a secret, and how spans are replaced by marks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from handlers.clients.secret_keys import mark
from runbooks.linear import compile_linear

MARK = "[redacted:"
_MARK = compile_linear(r"\[redacted:[a-z0-9-]+\]")


class Span(NamedTuple):
    start: int
    end: int
    kind: str


def literal(word: str) -> str:
    """A word as an RE2 pattern."""
    return "".join(letter if letter.isalnum() else "\\" + letter for letter in word)


def is_marked(text: str) -> bool:
    """Whether a value is nothing but a mark (and the quotes, brackets or full stop around it)."""
    if not text.startswith(MARK):
        return False
    _, closed, rest = text.partition("]")
    return bool(closed) and not rest.strip(TRAILING)


TRAILING = ".,;:!?)]}>\"'`\\\u201c\u201d\u2018\u2019\xbb"
"""What stands behind a value more often than in it."""


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark for each span. Overlapping spans become one mark, of the kind that begins first."""
    pieces: list[str] = []
    done = 0
    for start, end, kind in _merged(_beside_marks(text, spans)):
        pieces += (text[done:start], mark(kind))
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _beside_marks(text: str, spans: Iterable[Span]) -> Iterable[Span]:
    """A span that starts or ends inside a mark takes the whole mark; one that lies inside a mark is dropped."""
    if MARK not in text:
        return spans
    marks = [found.span() for found in _MARK.finditer(text)]
    ends = [end for _, end in marks]
    return [span for part in spans if (span := _around_marks(part, marks, ends))]


def _around_marks(span: Span, marks: list[tuple[int, int]], ends: list[int]) -> Span | None:
    start, end, kind = span
    first = bisect_right(ends, start)
    if first < len(marks) and marks[first][0] < start:
        if end <= marks[first][1]:
            return None
        start = marks[first][0]
    last = bisect_left(ends, end)
    if last < len(marks) and marks[last][0] < end:
        end = marks[last][1]
    return Span(start, end, kind)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        elif span.end > span.start:
            merged.append(span)
    return merged
