"""Draws limits as bars: what is in use, what is wanted beyond it, and the line that nothing passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.render.pictures.drawing import style
from bot.render.pictures.drawing.style import MARGIN, SHEET_WIDE, SMALL, TITLE
from bot.render.pictures.picture import Bar, Bars, Part

_LINE, _BAR, _GAP = 18.0, 30.0, 22.0
_HELD = ("#6b7480", "#9aa3ad", "#c3c9cf")
_WANTED = "#c1440e"
_THINNEST = 5.0
_ROOM = SHEET_WIDE - 2 * MARGIN


def figure_of(bars: Bars) -> Any:
    title = style.lines(bars.title, _ROOM, size=TITLE, bold=True)
    high = 2 * MARGIN + _LINE * len(title) + sum(_high(bar) for bar in bars.bars)
    figure, axes = style.sheet(high)
    y = MARGIN + _LINE / 2
    for line in title:
        style.write(axes, MARGIN, y, line, size=TITLE, bold=True)
        y += _LINE
    for bar in bars.bars:
        _draw(axes, bar, y + 4)
        y += _high(bar)
    return figure


def _high(bar: Bar) -> float:
    return _LINE * (len(_label(bar)) + 1 + len(bar.parts) + len(_arithmetic(bar))) + _BAR + _GAP


def _label(bar: Bar) -> list[str]:
    return style.lines(bar.label, _ROOM)


def _arithmetic(bar: Bar) -> list[str]:
    return style.lines(bar.arithmetic, _ROOM, bold=True, most=3)


def _draw(axes: Any, bar: Bar, y: float) -> None:
    for line in _label(bar):
        style.write(axes, MARGIN, y, line)
        y += _LINE
    most = max(bar.limit, sum(part.count for part in bar.parts), 1)
    y = _limit(axes, bar, MARGIN + _ROOM * bar.limit / most, y)
    x = MARGIN
    for part, look in zip(bar.parts, _looks(bar.parts), strict=True):
        wide = _wide(part, most)
        _box(axes, x, y, wide, _BAR, look)
        x += wide
    y += _BAR + _LINE / 2 + 4
    for part, look in zip(bar.parts, _looks(bar.parts), strict=True):
        _box(axes, MARGIN, y - 6, 12, 12, look)
        style.write(axes, MARGIN + 20, y, style.lines(f"{part.count} {part.label}", _ROOM - 20, most=1)[0])
        y += _LINE
    for line in _arithmetic(bar):
        style.write(axes, MARGIN, y, line, bold=True)
        y += _LINE


def _wide(part: Part, most: int) -> float:
    """What is wanted is seen, however little it is beside the rest."""
    return max(_ROOM * part.count / most, _THINNEST if part.wanted else 0.0)


def _limit(axes: Any, bar: Bar, x: float, y: float) -> float:
    """The line of the limit, through the bar, with its number; and where the bar begins."""
    says = f"limit {bar.limit}"
    wide = style.width(says, SMALL, bold=True)
    left = max(MARGIN, min(x - wide / 2, SHEET_WIDE - MARGIN - wide))
    style.write(axes, left, y, says, size=SMALL, bold=True)
    top = y + _LINE / 2
    axes.plot([x, x], [top, top + _BAR + 5], color=style.INK, linewidth=2.4, zorder=5)
    return top + 2


def _looks(parts: tuple[Part, ...]) -> Iterator[dict[str, Any]]:
    held = 0
    for part in parts:
        if part.wanted:
            yield {"facecolor": style.PAPER, "edgecolor": _WANTED, "hatch": "////", "linewidth": 1.4}
        else:
            yield {"facecolor": _HELD[min(held, len(_HELD) - 1)], "edgecolor": style.PAPER, "linewidth": 0.8}
            held += 1


def _box(axes: Any, x: float, y: float, wide: float, high: float, look: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), wide, high, **look))
