"""Draws one picture: JSON comes in at stdin, a PNG goes out at stdout. Run as a process by `process.py` alone.

matplotlib is imported under `drawing/` and nowhere else: it takes 60 MB and half a second, which the bot's own process
never pays.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

from bot.render.pictures.drawing import bars, curves, grid, style, timeline, tree
from bot.render.pictures.picture import Bars, Chart, Drawn, Grid, Timeline, Tree, read_drawn

LARGEST_MEMORY = 2 * 1024**3
LONGEST_CPU_S = 20
_BY_KIND: dict[type[Drawn], Callable[[Any], Any]] = {
    Chart: curves.figure_of,
    Timeline: timeline.figure_of,
    Bars: bars.figure_of,
    Tree: tree.figure_of,
    Grid: grid.figure_of,
}


def png(drawn: Drawn) -> bytes:
    """On opaque white: it is read on a light and on a dark screen."""
    return style.png(_BY_KIND[type(drawn)](drawn))


def main() -> None:
    """Within its limits: a picture that wants more memory or time than any should have is not drawn."""
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU_S, LONGEST_CPU_S))
    sys.stdout.buffer.write(png(read_drawn(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
