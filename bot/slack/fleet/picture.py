"""The fleet as a picture: a cell for each cluster, by its last verdict. Shown in the thread of the list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.checks.fleet.lines import FleetRow, Standing, age_said, counted
from bot.render.clean import one_line
from bot.render.pictures.picture import Cell, Grid, Picture, Tone
from bot.render.verdict import count

FEWEST = 4
"""Of fewer the list says as much at a glance."""
MOST = 24
"""Twelve rows: more would be smaller than a phone shows well. What needs somebody comes first."""
_TONES = {
    Standing.UNHEALTHY: Tone.BAD,
    Standing.INCOMPLETE: Tone.UNSURE,
    Standing.WARNING: Tone.UNSURE,
    Standing.NEVER: Tone.PLAIN,
    Standing.NOT_CHECKED: Tone.PLAIN,
    Standing.HEALTHY: Tone.GOOD,
}


def pictures_of(rows: Sequence[FleetRow], now: datetime | None = None) -> tuple[Picture, ...]:
    """The grid of these clusters, as they are listed; none where the list is short."""
    if len(rows) < FEWEST:
        return ()
    at = now or datetime.now(UTC)
    title = f"{count(len(rows), 'cluster')}: {counted(row.standing for row in rows)}"
    grid = Grid(title, tuple(_cell(row, at) for row in rows[:MOST]), max(0, len(rows) - MOST))
    return (Picture("fleet.png", described(grid), grid),)


def described(grid: Grid) -> str:
    """The same in words."""
    cells = "; ".join(f"{cell.name}: {cell.says}" for cell in grid.cells)
    more = f"; and {grid.left_out} more" if grid.left_out else ""
    return f"{grid.title}. {cells}{more}."


def _cell(row: FleetRow, now: datetime) -> Cell:
    age = age_said(row.verdict, now).removeprefix("checked ")
    says = " · ".join(filter(None, [row.standing.said, age]))
    return Cell(one_line(row.member.name), _TONES[row.standing], says)
