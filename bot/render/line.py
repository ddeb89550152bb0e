"""A line of a report: pieces of text with the names of their styles. What they look like is the terminal's matter."""

from __future__ import annotations

from dataclasses import dataclass

from bot.render.clean import clean


@dataclass(frozen=True, slots=True)
class Line:
    """One line. A line that is a command may be wider than the terminal: it is never wrapped."""

    pieces: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *pieces: tuple[str, str]) -> Line:
        """Whatever comes in is made safe here, once, for every report. `("text", "style")`; "" is plain."""
        return cls(tuple((clean(text).replace("\n", " "), style) for text, style in pieces))

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces).rstrip()
