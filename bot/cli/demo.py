"""`aksbot demo`."""

from __future__ import annotations

import asyncio
import sys

from bot.playground.installed import needs_the_sandbox


def run_demo(*, once: bool, port: int, stay: bool) -> int:
    """Run the demo in a local Slack, or with `once` in the terminal."""
    with needs_the_sandbox():
        from bot.playground import demo, survey
        from bot.playground.scenarios import scenario_called
    if once:
        asyncio.run(survey.check_fleet(scenario_called(demo.FLEET)))
    else:
        asyncio.run(demo.run_demo(port=port, stay=stay or sys.stdout.isatty()))
    return 0
