"""`aksbot sandbox`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.playground.installed import needs_the_sandbox


def serve_scenario(name: str, *, env_file: Path | None, port: int) -> int:
    """Serve one scenario until Ctrl-C or SIGTERM."""
    with needs_the_sandbox():
        from bot.playground import serving
        from bot.playground.scenarios import scenario_called
    asyncio.run(serving.serve(scenario_called(name), env_file, port))
    return 0
