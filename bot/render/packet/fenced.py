"""Texts of others in Markdown: nothing in them ends the block that they stand in."""

from __future__ import annotations

from bot.render.clean import clean
from runbooks.linear import compile_linear

_TICKS = compile_linear(r"`+")
_FEWEST = 3


def fenced(said: str, language: str = "") -> list[str]:
    """The lines of a code block."""
    longest = max((len(found[0]) for found in _TICKS.finditer(said)), default=0)
    fence = "`" * max(_FEWEST, longest + 1)
    return [f"{fence}{language}", *clean(said).splitlines(), fence]
