"""Draws a fleet as cells, two in a row: each with its sign, its name and its state in words."""

from __future__ import annotations

from typing import Any

from bot.render.pictures.drawing import style
from bot.render.pictures.drawing.style import LOOKS, MARGIN, SHEET_WIDE, SMALL, TEXT, TITLE
from bot.render.pictures.picture import Cell, Grid

_COLUMNS, _GAP, _CELL, _LINE = 2, 8.0, 46.0, 18.0
_WIDE = (SHEET_WIDE - 2 * MARGIN - _GAP * (_COLUMNS - 1)) / _COLUMNS


def figure_of(grid: Grid) -> Any:
    title = style.lines(grid.title, SHEET_WIDE - 2 * MARGIN, size=TITLE, bold=True)
    rows = -(-len(grid.cells) // _COLUMNS)
    top = MARGIN + _LINE * len(title) + _GAP
    high = top + rows * (_CELL + _GAP) + (_LINE if grid.left_out else 0) + MARGIN - _GAP
    figure, axes = style.sheet(high)
    for number, line in enumerate(title):
        style.write(axes, MARGIN, MARGIN + _LINE * (number + 0.5), line, size=TITLE, bold=True)
    for number, cell in enumerate(grid.cells):
        row, column = divmod(number, _COLUMNS)
        _cell(axes, cell, MARGIN + column * (_WIDE + _GAP), top + row * (_CELL + _GAP))
    if grid.left_out:
        style.write(axes, MARGIN, high - MARGIN, f"and {grid.left_out} more", size=SMALL, colour=style.FAINT)
    return figure


def _cell(axes: Any, cell: Cell, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    tone = LOOKS[cell.tone]
    axes.add_patch(Rectangle((x, y), _WIDE, _CELL, facecolor=tone.paper, edgecolor=tone.colour, linewidth=1.0))
    style.write(axes, x + 8, y + _CELL / 2, tone.sign, size=TITLE, colour=tone.colour, bold=True)
    room = _WIDE - 34
    style.write(
        axes, x + 28, y + _CELL * 0.32, style.lines(cell.name, room, bold=True, most=1)[0], size=TEXT, bold=True
    )
    said = style.lines(cell.says, room, size=SMALL, most=1)[0]
    style.write(axes, x + 28, y + _CELL * 0.7, said, size=SMALL, colour=tone.colour)
