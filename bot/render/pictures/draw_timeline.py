"""How a timeline is drawn: lanes above one axis, and below it the lines that the numbers stand for.

Imported by `draw.py` alone, in the process that draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.render.pictures.picture import Lane, Mark, Timeline, Tone
from bot.render.pictures.timeline import clock, numbered

_WIDE, _DPI = 6.4, 150
"""As wide as every picture; as high as it has lanes and lines."""
_AXIS, _ROW, _LINE = 0.95, 0.32, 0.25
"""Inches: the title and the axis, one row of marks, one line below."""
_INK, _FAINT, _PAPER = "#1d1c1d", "#6b6b6b", "#ffffff"
_COLOURS = {Tone.PLAIN: "#0b62a4", Tone.GOOD: "#00704a", Tone.BAD: "#b3261e", Tone.RUNNING: "#7a3b9c"}
_SHAPES = {Tone.PLAIN: "o", Tone.GOOD: "o", Tone.BAD: "s", Tone.RUNNING: "D"}
"""Squares failed, diamonds still run: read without their colours, too."""
_TOO_NEAR = 1 / 28
"""Of the axis: numbers that are nearer to each other would cover each other."""
_MOST_ROWS = 4
_SIZE, _SMALL = 150, 26
"""Square points: with a number in it, without."""


def timeline_figure(drawn: Timeline) -> Any:
    """The figure, for `draw.png` to save."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [_in_rows(drawn, lane.marks) for lane in drawn.lanes]
    listed = sorted(numbered(drawn), key=lambda pair: pair[1].number)
    lanes_high = sum(len(lane_rows) for lane_rows in rows) * _ROW
    high = _AXIS + lanes_high + 0.1 + len(listed) * _LINE
    figure = Figure(figsize=(_WIDE, high), dpi=_DPI, facecolor=_PAPER)
    FigureCanvasAgg(figure)
    below = 0.42 + len(listed) * _LINE
    axes = figure.add_axes((0.21, below / high, 0.76, (lanes_high + 0.1) / high))
    _dress(figure, axes, drawn, sum(map(len, rows)), high)
    _lanes(axes, drawn.lanes, rows)
    for number, (lane, mark) in enumerate(listed):
        _line(figure, drawn, lane, mark, (below - 0.44 - (number + 0.5) * _LINE) / high)
    return figure


def _in_rows(drawn: Timeline, marks: Sequence[Mark]) -> list[list[Mark]]:
    """Numbered marks that would cover each other stand below each other; those without a number share the first row."""
    apart = (drawn.ends - drawn.begins) * _TOO_NEAR
    rows: list[list[Mark]] = [[]]
    ends = [float("-inf")]
    for mark in marks:
        if not mark.number:
            rows[0].append(mark)
            continue
        at = next((number for number, end in enumerate(ends) if mark.at - end >= apart), None)
        if at is None:
            at = len(rows) if len(rows) < _MOST_ROWS else ends.index(min(ends))
        if at == len(rows):
            rows.append([])
            ends.append(0.0)
        rows[at].append(mark)
        ends[at] = mark.at
    return rows


def _lanes(axes: Any, lanes: Sequence[Lane], rows: Sequence[Sequence[Sequence[Mark]]]) -> None:
    top = 0
    for lane, lane_rows in zip(lanes, rows, strict=True):
        middle = top + (len(lane_rows) - 1) / 2
        axes.annotate(
            _escaped(lane.name), (0, middle), xycoords=("axes fraction", "data"), xytext=(-6, 0),
            textcoords="offset points", ha="right", va="center", fontsize=9, color=_INK,
        )  # fmt: skip
        if top:
            axes.axhline(top - 0.5, color="#d5d5d5", linewidth=0.8, zorder=1)
        for number, marks in enumerate(lane_rows):
            for mark in marks:
                _mark(axes, mark, top + number)
        top += len(lane_rows)


def _mark(axes: Any, mark: Mark, row: int) -> None:
    at, colour = _moment(mark.at), _COLOURS[mark.tone]
    if mark.until is not None and mark.until > mark.at:
        axes.plot([at, _moment(mark.until)], [row, row], color=colour, linewidth=4, alpha=0.35, zorder=2)
    if mark.root:
        axes.axvline(at, color=colour, linewidth=1.4, linestyle=(0, (4, 3)), zorder=1)
    size = _SIZE if mark.number else _SMALL
    edge, width = (_INK, 2.2) if mark.root else (_PAPER, 0.8)
    axes.scatter(
        [at], [row], s=size * (1.5 if mark.root else 1), marker=_SHAPES[mark.tone], color=colour,
        edgecolors=edge, linewidths=width, zorder=4 if mark.number else 3, clip_on=False,
    )  # fmt: skip
    if mark.number:
        axes.annotate(
            str(mark.number), (at, row), ha="center", va="center_baseline", fontsize=8.5,
            color=_PAPER, weight="bold", zorder=5, annotation_clip=False,
        )  # fmt: skip


def _line(figure: Any, drawn: Timeline, lane: str, mark: Mark, height: float) -> None:
    """`3  02:14  Upgrade to 1.35.6 failed`: in bold where it is the root."""
    root = "  ◀ root cause" if mark.root else ""
    colour = _COLOURS[mark.tone] if mark.tone is Tone.BAD else _INK
    weight = "bold" if mark.root else "normal"
    for x, said in ((0.02, str(mark.number)), (0.06, clock(drawn, mark.at)), (_text_at(drawn), mark.label + root)):
        figure.text(x, height, _escaped(said), fontsize=10, color=colour, weight=weight, va="center")


def _text_at(drawn: Timeline) -> float:
    return 0.15 if len(clock(drawn, drawn.begins)) == len("00:00") else 0.24


def _dress(figure: Any, axes: Any, drawn: Timeline, rows: int, high: float) -> None:
    from matplotlib.dates import AutoDateLocator, DateFormatter

    begins, ends = _moment(drawn.begins), _moment(drawn.ends)
    axes.set_xlim(begins, ends)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    within_a_day = ends - begins <= timedelta(hours=30)
    most, clocks = (6, "%H:%M") if within_a_day else (4, "%d %b %H:%M")
    axes.xaxis.set_major_locator(AutoDateLocator(tz=UTC, minticks=3, maxticks=most))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(DateFormatter(clocks, tz=UTC))  # type: ignore[no-untyped-call]
    axes.grid(axis="x", color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9, colors=_INK, length=0)
    figure.text(0.02, 1 - 0.2 / high, _escaped(drawn.title), fontsize=11, color=_INK, va="center")
    days = f"UTC, {' – '.join(dict.fromkeys(f'{day:%d %b}' for day in (begins, ends)))}"
    figure.text(0.97, 1 - 0.2 / high, days, fontsize=9, color=_FAINT, va="center", ha="right")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _escaped(text: str) -> str:
    """A dollar sign would begin a formula."""
    return text.replace("$", r"\$")
