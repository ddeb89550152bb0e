"""A line of a report: pieces of text with style names. The terminal decides what the styles look like."""

from __future__ import annotations

from dataclasses import dataclass

from bot.render.clean import clean


@dataclass(frozen=True, slots=True)
class Line:
    """One line. A command may be wider than the terminal: it is never wrapped."""

    pieces: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *pieces: tuple[str, str]) -> Line:
        """Build a line from `("text", "style")` pieces ("" is plain). The text is cleaned here, for every report."""
        return cls(tuple((clean(text).replace("\n", " "), style) for text, style in pieces))

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces).rstrip()
