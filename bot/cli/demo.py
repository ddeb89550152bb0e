"""`aksbot demo`."""

from __future__ import annotations

import asyncio
import sys

from bot.playground.installed import needs_the_sandbox


def demonstrate(*, once: bool, port: int, stay: bool) -> int:
    """Run the demo in a local Slack, or with `once` in the terminal."""
    with needs_the_sandbox():
        from bot.playground import demo, survey
        from bot.playground.scenarios import scenario_called
    if once:
        asyncio.run(survey.survey(scenario_called(demo.FLEET)))
    else:
        asyncio.run(demo.demonstrate(port=port, stay=stay or sys.stdout.isatty()))
    return 0
