"""Inserts a fact into a page: on one line, and unable to end or start a block.

Facts hold text of Azure, a kubelet or a person. A line break and three backticks in one of them would end the code
block around it, and the rest would read like part of the runbook.
"""

from __future__ import annotations

import re
import unicodedata

from jinja2 import Undefined

from runbooks.linear import compile_linear

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_BREAKS = compile_linear(r"[\s\v]*[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}][\s\v]*")
_ENDS_OF_LINES = re.compile(r"[\n\r\x85\u2028\u2029]+")
_STEERING = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\ue002]")
"""What begins a terminal's sequence, which may swallow the rest of a page, and what `runbooks/conditions.py` lays a
page out with."""
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Control characters and the like. What shows a page drops them, and what stood on both sides would come together."""
_BLOCK = re.compile(r"\d*(?=(?:#{1,6}|[-*+.)])(?:\s|$)|~{3}|>)")
"""A heading, an item, a block of code, a quote; behind the digits, where it is a numbered item."""
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")


def on_one_line(text: str) -> str:
    """The text on one line, without terminal control characters: for a command."""
    return _STEERING.sub("", _ENDS_OF_LINES.sub(" ", text))


def in_prose(value: object) -> object:
    """Between words, or in inline code, which a backtick would end."""
    return value if _is_harmless(value) else _visible(value).replace("`", "'")


def in_prose_first(value: object) -> object:
    """At the start of a line, where a `#` makes a heading."""
    if _is_harmless(value):
        return value
    text = _visible(value).replace("`", "'").lstrip()
    return _escaped(text, _BLOCK.match(text))


def in_code(value: object) -> object:
    """Inside a block of code."""
    return value if _is_harmless(value) else _visible(value)


def in_code_first(value: object) -> object:
    """At the start of a code line, where three backticks end the block."""
    if _is_harmless(value):
        return value
    text = _visible(value)
    return f"\\{text.lstrip()}" if _FENCE.match(text) else text


def _is_harmless(value: object) -> bool:
    """Numbers are harmless; missing values raise elsewhere."""
    return isinstance(value, Undefined | int | float)


def _visible(value: object) -> str:
    text = _BREAKS.sub(" ", _SEQUENCE.sub("", str(value)))
    return "".join(char for char in text if char == "\t" or unicodedata.category(char) not in _UNSEEN)


def _escaped(text: str, mark: re.Match[str] | None) -> str:
    return text if mark is None else f"{text[: mark.end()]}\\{text[mark.end() :]}"
