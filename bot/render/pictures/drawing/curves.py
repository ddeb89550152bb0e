"""Draws curves over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.render.pictures.drawing import style
from bot.render.pictures.drawing.style import COLOURS, FAINT, INK, PAPER
from bot.render.pictures.picture import Chart, Curve

_WIDE, _HIGH = 6.4, 3.9
"""960 × 585 pixels: what Slack shows on a phone without scaling it up, with letters that can be read there."""


def figure_of(chart: Chart) -> Any:
    """The chart on opaque white: it is read on a light and on a dark screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDE, _HIGH), dpi=style.DPI, facecolor=PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    moments = [datetime.fromtimestamp(chart.begins, UTC) + timedelta(seconds=second) for second in chart.seconds]
    foreground = 0
    for curve in chart.curves:
        colour = FAINT if curve.background else COLOURS[foreground % len(COLOURS)]
        foreground += not curve.background
        _plot(axes, moments, curve, colour)
    axes.axhline(chart.limit, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        chart.limit_label, (0.01, chart.limit), xycoords=("axes fraction", "data"), xytext=(0, 3),
        textcoords="offset points", color=INK, fontsize=style.SMALL, va="bottom",
    )  # fmt: skip
    _dress(axes, chart, moments)
    figure.legend(loc="outside lower left", ncols=1, frameon=False, fontsize=style.TEXT, labelcolor=INK)
    return figure


def _plot(axes: Any, moments: list[datetime], curve: Curve, colour: str) -> None:
    values = [float("nan") if value is None else value for value in curve.values]
    axes.plot(moments, values, color=colour, linewidth=1.6 if curve.background else 2.6, label=_labelled(curve))


def _labelled(curve: Curve) -> str:
    """With its last value, so that nobody has to read it off the axis."""
    last = next((value for value in reversed(curve.values) if value is not None), None)
    # A label that begins with an underscore would be left out.
    label = style.escaped(curve.label.lstrip("_"))
    return label if last is None else f"{label}: {last:.0f} %"


def _dress(axes: Any, chart: Chart, moments: list[datetime]) -> None:
    from matplotlib.dates import AutoDateLocator, DateFormatter

    highest = max((value for curve in chart.curves for value in curve.values if value is not None), default=0.0)
    axes.set_ylim(0, max(chart.limit, highest) * 1.14)
    axes.set_xlim(moments[0], moments[-1])
    axes.xaxis.set_major_locator(AutoDateLocator(tz=UTC, minticks=3, maxticks=6))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M", tz=UTC))  # type: ignore[no-untyped-call]
    axes.set_title(style.escaped(chart.title), fontsize=style.TEXT, color=INK, loc="left")
    axes.set_xlabel(f"UTC, {moments[-1]:%Y-%m-%d}", fontsize=style.SMALL, color=INK)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
    axes.tick_params(labelsize=style.SMALL, colors=INK, length=0)
    axes.grid(axis="y", color=style.RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
