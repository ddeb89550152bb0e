"""Colours, letters and paper of all pictures. Only modules of this folder load matplotlib.

A picture is read on a phone at arm's length, on a light or a dark screen: opaque white paper, letters of at least 11
points on a sheet as wide as a phone, and no meaning that only a colour carries.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bot.render.pictures.picture import Tone

INK, FAINT, PAPER, RULE = "#1d1c1d", "#5f6368", "#ffffff", "#d5d7da"
COLOURS = ("#c1440e", "#0b62a4", "#7a3b9c", "#00704a")
"""Told apart also by who sees no red or green, and darker the one than the other."""
SMALL, TEXT, TITLE = 11.0, 12.5, 14.0
DPI = 150
SHEET_WIDE = 390.0
"""Points: 812 pixels, which a phone shows about as wide as it is."""
MARGIN = 16.0
_SHADES = 64


@dataclass(frozen=True, slots=True)
class Look:
    """How one tone looks: the sign and the shape say it to who cannot tell the colours."""

    colour: str
    paper: str
    sign: str
    shape: str
    """A marker of matplotlib."""


LOOKS = {
    Tone.BAD: Look("#b3261e", "#fdecea", "✖", "s"),
    Tone.UNSURE: Look("#8a5300", "#fff4e0", "▲", "^"),
    Tone.RUNNING: Look("#7a3b9c", "#f6edfa", "↻", "D"),
    Tone.PLAIN: Look("#0b62a4", "#e8f2fb", "?", "o"),
    Tone.GOOD: Look("#00704a", "#e6f4ee", "✔", "o"),
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
    """In few colours, which is a third of the bytes: so few need no three bytes for each pixel."""
    from PIL import Image

    figure.canvas.draw()
    size = figure.canvas.get_width_height()
    pixels = Image.frombuffer("RGBA", size, figure.canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    held = io.BytesIO()
    pixels.convert("RGB").quantize(_SHADES).save(held, format="png", optimize=True)
    return held.getvalue()


def write(
    axes: Any, x: float, y: float, text: str, *, size: float = TEXT, colour: str = INK, bold: bool = False
) -> None:
    """One line; `y` is its middle."""
    weight = "bold" if bold else "normal"
    axes.text(x, y, escaped(text), fontsize=size, color=colour, fontweight=weight, va="center", ha="left")


def lines(text: str, room: float, *, size: float = TEXT, bold: bool = False, most: int = 2) -> list[str]:
    """The text in lines that fit into so many points; what does not fit ends in an ellipsis."""
    made = [""]
    for word in text.split(" "):
        longer = f"{made[-1]} {word}" if made[-1] else word
        if not made[-1] or width(longer, size, bold=bold) <= room:
            made[-1] = longer
        else:
            made.append(word)
    kept = made[:most]
    if len(made) > most:
        kept[-1] += "…"
    return [_cut(line, room, size, bold=bold) for line in kept]


def _cut(line: str, room: float, size: float, *, bold: bool) -> str:
    """By its average letter first: each measuring takes as long as the line."""
    while len(line) > 1 and (wide := width(line, size, bold=bold)) > room:
        letters = line.rstrip("…")
        line = f"{letters[: min(len(letters) - 1, int(len(letters) * room / wide) + 1)].rstrip()}…"
    return line


def width(text: str, size: float = TEXT, *, bold: bool = False) -> float:
    """In points."""
    font = _font(bold)
    font.set_size(size, 72)
    font.set_text(text)
    wide: float = font.get_width_height()[0] / 64
    return wide


@lru_cache(maxsize=2)
def _font(bold: bool) -> Any:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties(weight="bold" if bold else "normal")))


def escaped(text: str) -> str:
    """A dollar sign would begin a formula."""
    return text.replace("$", r"\$")
