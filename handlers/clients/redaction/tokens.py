"""Finds the tokens of providers: first the prefix, then the whole format, then the neighbours."""

from __future__ import annotations

from handlers.clients.redaction.formats import FORMATS, Format
from handlers.clients.redaction.span import Span, literal
from runbooks.linear import Pattern, compile_linear

LONGEST = 4096
"""Characters of a text that are compared with one format at a time; a token that is longer is followed to its end."""
_WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"


def _by_prefix() -> dict[str, list[tuple[Format, Pattern]]]:
    found: dict[str, list[tuple[Format, Pattern]]] = {}
    for known in FORMATS:
        look = compile_linear(known.rest)
        for prefix in known.prefixes:
            found.setdefault(prefix, []).append((known, look))
    return found


_FORMATS = _by_prefix()
PREFIXES = tuple(_FORMATS)
LETTERED = tuple(prefix for prefix in PREFIXES if prefix[0].isalnum())
SIGNED = tuple(prefix for prefix in PREFIXES if not prefix[0].isalnum())
WHOLE = "|".join(f"(?:{'|'.join(map(literal, item.prefixes))}){item.rest}" for item in FORMATS)
"""Any token of any provider, as one pattern."""


def token_at(text: str, start: int, prefix: str) -> Span | None:
    """The token that begins with this prefix, if one does."""
    if start and text[start - 1] in _WORD:
        return None
    begin = start + len(prefix)
    window = text[begin : begin + LONGEST]
    for known, look in _FORMATS[prefix]:
        if found := look.match(window):
            end = begin + found.end()
            if found.end() == len(window):
                end = _word_end(text, end)
            return Span(start, end, known.kind)
    return None


def _word_end(text: str, start: int) -> int:
    """Where a run of letters ends that fills the window."""
    while window := text[start : start + LONGEST]:
        rest = window.lstrip(_WORD + "-.+/=")
        start += len(window) - len(rest)
        if rest:
            break
    return start
