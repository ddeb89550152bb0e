"""Measure everything, write `build/bench.json`, print a table; exit 1 if a limit is exceeded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import checks, inside, second_slack, slack, start, storm, triage, ways, workloads

OUT = Path("build/bench.json")


def main() -> int:
    figures = [
        *start.figures(),
        *checks.figures(),
        *inside.figures(),
        *slack.figures(),
        *triage.figures(),
        *storm.figures(),
        *ways.figures(),
        *second_slack.figures(),
        *workloads.figures(),
    ]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([figure.as_mapping() for figure in figures], indent=2) + "\n")
    table = Table("figure", "value", "bar", "", "detail", box=None)
    for figure in figures:
        mark = "ok" if figure.ok else "MISSED"
        table.add_row(figure.name, f"{figure.value:.3f}", f"≤ {figure.bar:g} {figure.unit}", mark, figure.detail)
    Console(width=130).print(table)
    return 0 if all(figure.ok for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
