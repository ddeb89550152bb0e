"""Unescapes JSON inside JSON: quotes and line ends that were escaped once per layer."""

from __future__ import annotations

from runbooks.linear import Match, compile_linear

_QUOTE = compile_linear(r"\\{1,16}([\"'/])")
_BREAK = compile_linear(r"\\{1,16}r?\\{0,16}n")
_SAYS_MORE = compile_linear(r"[^a-z]|[a-z]{1,12}[ :=]")
"""What follows a line end: `C:\\new\\folder` has none."""
_AHEAD = 13


def unescaped(text: str) -> str:
    """The text with its escaped quotes and line ends restored."""
    return _BREAK.sub(_line_end, _QUOTE.sub(r"\1", text)) if "\\" in text else text


def _line_end(found: Match) -> str:
    end = found.end()
    return "\n" if _SAYS_MORE.match(found.string[end : end + _AHEAD]) else found[0]
