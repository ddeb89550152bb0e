"""`aksbot drill`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from bot.playground.installed import needs_the_sandbox
from bot.render.clean import width, wrapped
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.render.verdict import count
from handlers.problem import Exit, Problem

if TYPE_CHECKING:
    from bot.drill.result import Played


def run_drill(name: str | None, *, all_of_them: bool, twins: bool, over_http: bool, as_json: bool) -> int:
    """Run one scenario or all of them; success only if every answer was as expected."""
    with needs_the_sandbox():
        from bot.drill.play import drill
        from bot.playground.scenarios import scenario_called, scenario_names
    if (name is None) != all_of_them:
        why = "both a scenario and --all were given" if name else "neither a scenario nor --all was given"
        raise Problem("cannot tell what to play", why, "name one of them, or say --all", code=Exit.USAGE)
    names = list(scenario_names()) if name is None else [name]
    if name is not None:
        scenario_called(name)  # Report a wrong name before anything starts.
    played = asyncio.run(
        drill(scenario_called, names, twins=twins, over_http=over_http, tell=_silence if as_json else _tell)
    )
    if as_json:
        sys.stdout.write(json.dumps([result.as_dict() for result in played], indent=2) + "\n")
    else:
        _sum_up(played)
    return Exit.CLEAR if all(result.ok for result in played) else Exit.FOUND


def _silence(played: Played) -> None:
    """Print no progress: a program reads the whole result at the end."""


def _tell(played: Played) -> None:
    word = ("ok    ", "clear") if played.ok else ("FAILED", "found")
    codes = ", ".join(dict.fromkeys(item.code for item in played.found if item.root)) or "nothing found"
    show_lines(
        [
            Line.of(word, (f"  {played.scenario}", ""), (f"  {codes} · {played.took_ms / 1000:.1f} s", "dim")),
            *(Line.of((text, "")) for why in played.why for text in wrapped(why, indent="        ", columns=width())),
        ]
    )
    sys.stdout.flush()


def _sum_up(played: list[Played]) -> None:
    failed = sum(not result.ok for result in played)
    text = f"{count(len(played), 'scenario')} played" + (f", {failed} failed" if failed else ", all as expected")
    show_lines([Line(), Line.of((text, "found" if failed else "clear"))])
