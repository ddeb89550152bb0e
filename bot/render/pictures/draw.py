"""Draws one picture: JSON comes in at stdin, a PNG goes out at stdout. Run as a process by `process.py` alone.

matplotlib is imported here and in `draw_timeline.py`, and nowhere else: it takes 60 MB and half a second, which the
bot's own process never pays.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.render.pictures.draw_timeline import timeline_figure
from bot.render.pictures.picture import Chart, Curve, Drawn, Timeline, read_drawn

LARGEST_MEMORY = 2 * 1024**3
LONGEST_CPU_S = 20
_WIDE, _HIGH, _DPI = 6.4, 3.9, 150
"""960 × 585 pixels: what Slack shows on a phone without scaling it up, with letters that can be read there."""
_COLOURS = ("#c1440e", "#0b62a4", "#7a3b9c", "#00704a")
"""Told apart also by who sees no red or green, and darker the one than the other."""
_SHADES = 64
_INK, _FAINT, _PAPER = "#1d1c1d", "#8a8a8a", "#ffffff"


def png(drawn: Drawn) -> bytes:
    """The picture on opaque white: it is read on a light and on a dark screen."""
    figure = timeline_figure(drawn) if isinstance(drawn, Timeline) else _chart_figure(drawn)
    return _small(figure)


def _small(figure: Any) -> bytes:
    """A third of the bytes: so few colours need no three bytes for each pixel."""
    from PIL import Image

    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    pixels = Image.frombuffer("RGBA", (width, height), figure.canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    held = io.BytesIO()
    pixels.convert("RGB").quantize(_SHADES).save(held, format="png", optimize=True)
    return held.getvalue()


def _chart_figure(chart: Chart) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDE, _HIGH), dpi=_DPI, facecolor=_PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    moments = [datetime.fromtimestamp(chart.begins, UTC) + timedelta(seconds=second) for second in chart.seconds]
    foreground = 0
    for curve in chart.curves:
        colour = _FAINT if curve.background else _COLOURS[foreground % len(_COLOURS)]
        foreground += not curve.background
        _plot(axes, moments, curve, colour)
    axes.axhline(chart.limit, color=_INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        chart.limit_label, (0.01, chart.limit), xycoords=("axes fraction", "data"), xytext=(0, 3),
        textcoords="offset points", color=_INK, fontsize=9, va="bottom",
    )  # fmt: skip
    _dress(axes, chart, moments)
    figure.legend(loc="outside lower left", ncols=1, frameon=False, fontsize=10, labelcolor=_INK)
    return figure


def _plot(axes: Any, moments: list[datetime], curve: Curve, colour: str) -> None:
    values = [float("nan") if value is None else value for value in curve.values]
    axes.plot(moments, values, color=colour, linewidth=1.6 if curve.background else 2.6, label=_labelled(curve))


def _labelled(curve: Curve) -> str:
    """With its last value, so that nobody has to read it off the axis."""
    last = next((value for value in reversed(curve.values) if value is not None), None)
    # A label that begins with an underscore would be left out.
    return curve.label.lstrip("_") if last is None else f"{curve.label.lstrip('_')}: {last:.0f} %"


def _dress(axes: Any, chart: Chart, moments: list[datetime]) -> None:
    from matplotlib.dates import AutoDateLocator, DateFormatter

    highest = max((value for curve in chart.curves for value in curve.values if value is not None), default=0.0)
    axes.set_ylim(0, max(chart.limit, highest) * 1.14)
    axes.set_xlim(moments[0], moments[-1])
    axes.xaxis.set_major_locator(AutoDateLocator(tz=UTC, minticks=3, maxticks=6))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M", tz=UTC))  # type: ignore[no-untyped-call]
    axes.set_title(_escaped(chart.title), fontsize=11, color=_INK, loc="left")
    axes.set_xlabel(f"UTC, {moments[-1]:%Y-%m-%d}", fontsize=9, color=_INK)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
    axes.tick_params(labelsize=10, colors=_INK, length=0)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _escaped(text: str) -> str:
    """A dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def main() -> None:
    """Within its limits: a chart that wants more memory or time than any chart should have is not drawn."""
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S))
    sys.stdout.buffer.write(png(read_drawn(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
