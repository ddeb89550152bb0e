"""Colours, letters and paper of all pictures. Only modules of this folder load matplotlib.

A picture is read on a phone at arm's length, on a light or a dark screen: opaque white paper, letters of at least 11 points
on a sheet as wide as a phone, and no meaning that only a colour carries.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

INK, FAINT, PAPER, RULE = "#1d1c1d", "#5f6368", "#ffffff", "#d5d7da"
COLOURS = ("#c1440e", "#0b62a4", "#7a3b9c", "#00704a")
"""Told apart also by who sees no red or green, and darker the one than the other."""
SMALL, TEXT, TITLE = 11.0, 12.5, 14.0
DPI = 150
SHEET_WIDE = 390.0
"""Points: 812 pixels, which a phone shows about as wide as it is."""
MARGIN = 16.0
_LETTER = 0.56
"""How wide a letter is on average, in parts of its height (DejaVu Sans)."""
_LETTER_BOLD = 0.64


@dataclass(frozen=True, slots=True)
class Tone:
    """How one state looks: the sign says it to who cannot tell the colours."""

    colour: str
    paper: str
    sign: str


TONES = {
    "bad": Tone("#b3261e", "#fdecea", "✖"),
    "warning": Tone("#8a5300", "#fff4e0", "▲"),
    "moving": Tone("#0b62a4", "#e8f2fb", "↻"),
    "unknown": Tone("#5f6368", "#f1f3f4", "?"),
    "well": Tone("#00704a", "#e6f4ee", "✔"),
}


def sheet(high: float) -> tuple[Any, Any]:
    """A figure and its axes, whose units are points: x to the right, y downwards."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SHEET_WIDE / 72, high / 72), dpi=DPI, facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, SHEET_WIDE)
    axes.set_ylim(high, 0)
    axes.axis("off")
    return figure, axes


def png(figure: Any) -> bytes:
    held = io.BytesIO()
    figure.savefig(held, format="png", facecolor=PAPER, transparent=False)
    return held.getvalue()


def write(axes: Any, x: float, y: float, text: str, *, size: float = TEXT, colour: str = INK, bold: bool = False) -> None:
    """One line; `y` is its middle."""
    weight = "bold" if bold else "normal"
    axes.text(x, y, escaped(text), fontsize=size, color=colour, fontweight=weight, va="center", ha="left")


def lines(text: str, room: float, *, size: float = TEXT, bold: bool = False, most: int = 2) -> list[str]:
    """The text in lines that fit into so many points; what does not fit ends in an ellipsis."""
    letters = max(4, int(room / (size * (_LETTER_BOLD if bold else _LETTER))))
    broken = wrap(text, letters, break_long_words=True, break_on_hyphens=False) or [""]
    if len(broken) > most:
        broken = [*broken[: most - 1], f"{broken[most - 1][: letters - 1].rstrip()}…"]
    return broken


def width(text: str, size: float = TEXT) -> float:
    """About how wide this is."""
    return len(text) * size * _LETTER


def escaped(text: str) -> str:
    """A dollar sign would begin a formula."""
    return text.replace("$", r"\$")
