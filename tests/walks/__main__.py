"""`python -m tests.walks`: the three traces as a table."""

from __future__ import annotations

import asyncio

from tests.walks.trace import PARSED
from tests.walks.walking import Walk, walks


def main() -> None:
    columns = ("modules", "of them narrow", "functions", "rooms", *PARSED)
    print("| walk |", " | ".join(columns), "|")
    print("|---|" + "---|" * len(columns))
    for walk in asyncio.run(walks()):
        print(f"| {walk.name} |", " | ".join(map(str, row(walk))), "|")


def row(walk: Walk) -> list[int]:
    trace = walk.trace
    return [len(trace.modules), len(trace.narrow), len(trace.functions), len(trace.rooms), *trace.parsed().values()]


if __name__ == "__main__":
    main()
