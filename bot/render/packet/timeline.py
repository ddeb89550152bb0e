"""The timeline of a support packet: one axis of time for the activity log, Kubernetes and aksbot itself."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.render.clean import one_line
from bot.render.packet.material import Happened, Material
from bot.render.packet.recorded import happened
from handlers.resource_id import last_name

COLUMNS = ("utc", "until_utc", "times", "source", "what", "about", "says", "correlation_id")
MOST_ROWS = 300
"""In the page that people read; the table holds all."""
_LONGEST_SAID = 200
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is computed by a spreadsheet, and the texts come from whoever writes to the cluster."""


def rows(material: Material) -> list[Happened]:
    """All that is known, in order of time."""
    return sorted((*happened(material.recording), *material.done), key=lambda row: row.at)


def as_csv(known: Sequence[Happened]) -> str:
    """All of it, with exact times and ids."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in known:
        until = utc(row.until) if row.until else ""
        cells = (row.source, row.what, row.about, row.says, row.correlation)
        writer.writerow([utc(row.at), until, row.times, *map(_cell, cells)])
    return out.getvalue()


def as_markdown(cluster: str, known: Sequence[Happened]) -> str:
    """What people read: the latest rows, oldest first."""
    shown = known[-MOST_ROWS:]
    lines = [f"# What happened to {cluster}", ""]
    if not known:
        return "\n".join([*lines, "Neither Azure nor the cluster reported anything in the time that was read.", ""])
    if len(shown) < len(known):
        lines += [f"The latest {len(shown)} of {len(known)} entries; `timeline.csv` has all of them.", ""]
    lines += ["All times are UTC. A cross marks what failed or warns.", "", "| UTC | source | what |", "|---|---|---|"]
    return "\n".join([*lines, *map(_line, shown), ""])


def utc(at: datetime) -> str:
    """Exactly, as Azure's own logs are searched."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def _line(row: Happened) -> str:
    often = f" (×{row.times}, until {row.until:%H:%M:%S})" if row.until else ""
    said = one_line(row.says)
    said = said if len(said) <= _LONGEST_SAID else f"{said[:_LONGEST_SAID]} …"
    mark = "✗ " if row.failed else ""
    told = mark + " · ".join(filter(None, [f"{row.what}{often}", last_name(row.about), said]))
    return f"| {row.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} | {row.source} | {_in_table(told)} |"


def _in_table(said: str) -> str:
    return one_line(said).replace("|", "\\|")


def _cell(said: str) -> str:
    plain = one_line(said)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain
