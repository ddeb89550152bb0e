"""Regular expressions for untrusted text: RE2, whose time grows linearly with the text.

Python's own `re` backtracks, and holds the interpreter's lock while it does, so one hostile line can block the whole
process. RE2 has no lookaround and no backreferences: check a match's neighbours in Python. `\\w`, `\\d`, `\\s` and
`\\b` mean ASCII here. A loop over matches can still be quadratic, if a search restarts at every letter and reads to the
end each time. `tests/linear` measures every pattern that is compiled here.

A search costs about a microsecond, ten times as much as with `re`: prefer one alternation to many patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import re2

_SURROGATE = re.compile("[\ud800-\udfff]")
_GROUP = re.compile(r"\\(?:(\d)|g<(\w+)>)")
_ANYWHERE, _AT_START, _WHOLE = re2._Anchor.UNANCHORED, re2._Anchor.ANCHOR_START, re2._Anchor.ANCHOR_BOTH


class NotLinear(ValueError):
    """Why RE2 refuses a pattern, in its own words."""


class Match:
    """A match; the used part of `re.Match`. Positions count characters."""

    __slots__ = ("_names", "_spans", "string")

    def __init__(self, string: str, spans: list[tuple[int, int]], names: dict[str, int]) -> None:
        self.string, self._spans, self._names = string, spans, names

    def __getitem__(self, group: int | str) -> str:
        start, end = self._spans[self._names[group] if isinstance(group, str) else group]
        # As in `re`, a group that did not take part is None; callers of this type use `or`.
        return self.string[start:end] if start >= 0 else None  # type: ignore[return-value]

    def start(self, group: int = 0) -> int:
        return self._spans[group][0]

    def end(self, group: int = 0) -> int:
        return self._spans[group][1]

    def span(self, group: int = 0) -> tuple[int, int]:
        return self._spans[group]

    def groups(self) -> tuple[str | None, ...]:
        return tuple(self[number] for number in range(1, len(self._spans)))

    def groupdict(self) -> dict[str, str | None]:
        return {name: self[number] for name, number in self._names.items()}

    @property
    def lastgroup(self) -> str | None:
        """The name of the last group; the outermost of those that end together."""
        last = max(range(1, len(self._spans)), key=lambda group: (self._spans[group][1], -group), default=0)
        return next((name for name, number in self._names.items() if number == last), None)


class Pattern:
    """A compiled pattern. `pos` and `end` count characters, as everywhere in Python."""

    __slots__ = ("__weakref__", "_match", "_names", "groups", "pattern")

    def __init__(self, pattern: str, options: Any) -> None:
        self.pattern = pattern
        try:
            compiled = re2.compile(pattern, options)
        except re2.error as refused:
            text = refused.args[0] if refused.args else refused
            raise NotLinear(text.decode() if isinstance(text, bytes) else str(text)) from None
        self.groups: int = compiled.groups
        self._names: dict[str, int] = compiled.groupindex
        # Below the package's own search, which takes four times as long for what is used here.
        self._match: Callable[[Any, bytes, int, int], list[tuple[int, int]]] = compiled._regexp.Match

    def search(self, text: str, pos: int = 0, end: int | None = None) -> Match | None:
        return next(self._found(_ANYWHERE, text, pos, end), None)

    def match(self, text: str, pos: int = 0) -> Match | None:
        return next(self._found(_AT_START, text, pos, None), None)

    def fullmatch(self, text: str) -> Match | None:
        return next(self._found(_WHOLE, text, 0, None), None)

    def finditer(self, text: str, pos: int = 0, end: int | None = None) -> Iterator[Match]:
        return self._found(_ANYWHERE, text, pos, end)

    def findall(self, text: str, most: int | None = None) -> list[str]:
        """The text of each match, or of its first group; at most `most` matches."""
        group, raw = min(self.groups, 1), _readable(text)[1]
        found = islice(self._spans(_ANYWHERE, raw, 0, len(raw)), most)
        return [_part(raw, spans[group]).decode() for spans in found]

    def split(self, text: str) -> list[str]:
        """The text between the matches, with the groups of each match in between."""
        raw = _readable(text)[1]
        pieces, at = list[bytes](), 0
        for spans in self._spans(_ANYWHERE, raw, 0, len(raw)):
            pieces += (raw[at : spans[0][0]], *(_part(raw, span) for span in spans[1:]))
            at = spans[0][1]
        return [piece.decode() for piece in (*pieces, raw[at:])]

    def sub(self, replacement: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        """Replace every match, or the first `count`; `\\1` and `\\g<name>` refer to its groups."""
        if callable(replacement):
            return self._sub_said(replacement, text, count)
        raw = _readable(text)[1]
        parts = self._template(replacement)
        pieces, at = list[bytes](), 0
        for number, spans in enumerate(self._spans(_ANYWHERE, raw, 0, len(raw)), 1):
            pieces.append(raw[at : spans[0][0]])
            pieces += (part if isinstance(part, bytes) else _part(raw, spans[part]) for part in parts)
            at = spans[0][1]
            if number == count:
                break
        return b"".join((*pieces, raw[at:])).decode() if pieces else text

    def _sub_said(self, replacement: Callable[[Match], str], text: str, count: int) -> str:
        pieces, at = list[str](), 0
        for number, match in enumerate(self._found(_ANYWHERE, text, 0, None), 1):
            pieces += (match.string[at : match.start()], replacement(match))
            text, at = match.string, match.end()
            if number == count:
                break
        return "".join((*pieces, text[at:])) if pieces else text

    def _template(self, replacement: str) -> list[bytes | int]:
        """The parts of a replacement: texts, and numbers of groups."""
        words = iter(_GROUP.split(replacement))
        parts: list[bytes | int] = [next(words).encode()]
        for number, name, following in zip(words, words, words, strict=True):
            parts += (self._names[name] if name in self._names else int(number or name), following.encode())
        return parts

    def _found(self, anchor: Any, text: str, pos: int, end: int | None) -> Iterator[Match]:
        text, raw = _readable(text)
        last = len(text) if end is None else min(end, len(text))
        if len(raw) == len(text):
            return (Match(text, spans, self._names) for spans in self._spans(anchor, raw, pos, last))
        return self._found_in_letters(anchor, text, raw, (pos, last))

    def _found_in_letters(self, anchor: Any, text: str, raw: bytes, within: tuple[int, int]) -> Iterator[Match]:
        """Search text with characters of more than one byte."""
        places = _Places(raw)
        first, last = map(places.in_bytes, within)
        for spans in self._spans(anchor, raw, first, last):
            yield Match(text, places.in_letters(spans), self._names)

    def _spans(self, anchor: Any, raw: bytes, first: int, last: int) -> Iterator[list[tuple[int, int]]]:
        """The start and end of each match and its groups."""
        while first <= last:
            spans = self._match(anchor, raw, first, last)
            start, end = spans[0]
            if start < 0:
                return
            yield spans
            first = end if end > start else _behind(raw, end)


class _Places:
    """Converts between character and byte positions. If queried in ascending order, it reads the text once."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._byte = self._letter = 0

    def in_bytes(self, letters: int) -> int:
        return int(re2._re2.CharLenToBytes(self._raw, 0, letters))

    def in_letters(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        known = {-1: -1}
        for place in sorted(set(chain.from_iterable(spans)) - {-1}):
            if place < self._byte:  # Cannot happen: a match never begins before the previous one.
                self._byte = self._letter = 0
            self._letter += re2._re2.BytesToCharLen(self._raw, self._byte, place)
            self._byte = place
            known[place] = self._letter
        return [(known[start], known[end]) for start, end in spans]


def compile_linear(pattern: str, *, ignore_case: bool = False, dot_all: bool = False) -> Pattern:
    """Compile a pattern, or raise `NotLinear`. It may contain flags such as `(?m)`."""
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.dot_nl = dot_all
    options.log_errors = False
    return Pattern(pattern, options)


def _behind(raw: bytes, place: int) -> int:
    """The position of the next character."""
    place += 1
    while place < len(raw) and raw[place] & 0xC0 == 0x80:
        place += 1
    return place


def _part(raw: bytes, span: tuple[int, int]) -> bytes:
    """The text of a group; empty if it did not take part."""
    return raw[span[0] : span[1]] if span[0] >= 0 else b""


def _readable(text: str) -> tuple[str, bytes]:
    """JSON may hold half a surrogate pair, which UTF-8 cannot encode: replace it by one character, so that positions
    stay.
    """
    try:
        return text, text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
        return text, text.encode()
