"""Draws root causes and what follows from them, from top to bottom: a phone is higher than wide."""

from __future__ import annotations

from typing import Any

from bot.render.pictures.drawing import style
from bot.render.pictures.drawing.style import MARGIN, SHEET_WIDE, SMALL, TEXT, TITLE
from bot.render.pictures.picture import Branch, Tree

_LINE, _PAD, _GAP, _INDENT = 17.0, 7.0, 9.0, 22.0
ROOT = "ROOT CAUSE"
_ROOT_COLOUR, _ROOT_PAPER = "#b3261e", "#fdecea"
_PAPER = "#f4f5f6"


def figure_of(tree: Tree) -> Any:
    title = style.lines(tree.title, SHEET_WIDE - 2 * MARGIN, size=TITLE, bold=True)
    top = MARGIN + _LINE * len(title) + _GAP
    figure, axes = style.sheet(top + sum(_high(branch) + _GAP for branch in tree.branches) + MARGIN - _GAP)
    for number, line in enumerate(title):
        style.write(axes, MARGIN, MARGIN + _LINE * (number + 0.5), line, size=TITLE, bold=True)
    above: dict[int, float] = {}
    y = top
    for branch in tree.branches:
        _connect(axes, branch, above, y)
        _box(axes, branch, y)
        y += _high(branch)
        above[branch.depth] = y
        y += _GAP
    return figure


def _left(branch: Branch) -> float:
    return MARGIN + _INDENT * branch.depth


def _title(branch: Branch) -> list[str]:
    return style.lines(branch.title, SHEET_WIDE - MARGIN - _left(branch) - 3 * _PAD, bold=True)


def _subject(branch: Branch) -> list[str]:
    room = SHEET_WIDE - MARGIN - _left(branch) - 3 * _PAD
    return style.lines(branch.subject, room, size=SMALL) if branch.subject else []


def _high(branch: Branch) -> float:
    return _LINE * (len(_title(branch)) + len(_subject(branch)) + (branch.depth == 0)) + 2 * _PAD


def _connect(axes: Any, branch: Branch, above: dict[int, float], y: float) -> None:
    """An elbow from the cause down to the middle of what follows."""
    if branch.depth == 0:
        return
    x, middle = _left(branch) - _INDENT / 2, y + _high(branch) / 2
    axes.plot([x, x, _left(branch) - 2], [above[branch.depth - 1], middle, middle], color=style.FAINT, linewidth=1.6)
    axes.plot([_left(branch) - 3], [middle], marker=">", markersize=6, color=style.FAINT)


def _box(axes: Any, branch: Branch, y: float) -> None:
    from matplotlib.patches import Rectangle

    root, left = branch.depth == 0, _left(branch)
    wide = SHEET_WIDE - MARGIN - left
    colour = _ROOT_COLOUR if root else style.FAINT
    paper = _ROOT_PAPER if root else _PAPER
    axes.add_patch(Rectangle((left, y), wide, _high(branch), facecolor=paper, edgecolor=colour, linewidth=1.0))
    axes.add_patch(Rectangle((left, y), 5 if root else 2, _high(branch), facecolor=colour, edgecolor=colour))
    x, at = left + 1.6 * _PAD, y + _PAD + _LINE / 2
    if root:
        style.write(axes, x, at, ROOT, size=SMALL, colour=_ROOT_COLOUR, bold=True)
        at += _LINE
    for line in _title(branch):
        style.write(axes, x, at, line, size=TEXT, bold=True)
        at += _LINE
    for line in _subject(branch):
        style.write(axes, x, at, line, size=SMALL, colour=style.FAINT)
        at += _LINE
