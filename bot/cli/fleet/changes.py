"""`aksbot changes`: who did what to a cluster, from Azure's activity log."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from bot import settings
from bot.checks.check import find
from bot.checks.clients import azure_access, clients, kube_access
from bot.render.clean import width
from bot.render.over_time.changes import as_json as json_changes
from bot.render.over_time.changes import changes_lines
from bot.render.terminal import show_lines
from handlers.changes.change import Changes
from handlers.changes.length import read_length
from handlers.changes.read import LONGEST, USUAL, read_changes
from handlers.problem import Exit


def show_changes(cluster: str, back: str | None, *, as_json: bool) -> int:
    """Print them: 0. Where part of the log could not be read: 2."""
    length = read_length(back, LONGEST) if back else USUAL
    found = asyncio.run(_read(cluster, length))
    if as_json:
        sys.stdout.write(json_changes(found) + "\n")
    else:
        show_lines(changes_lines(found, width()))
    return int(Exit.INCONCLUSIVE if found.gaps else Exit.CLEAR)


async def _read(cluster: str, length: timedelta) -> Changes:
    chosen = settings.load()
    async with clients(azure_access(chosen), kube_access(chosen)) as opened:
        return await read_changes(await find(cluster, opened.arm), opened.arm, length)
