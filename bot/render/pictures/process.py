"""Has pictures drawn by a short-lived process: one that hangs or fails costs a picture, and never an answer."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from pathlib import Path

from bot.render.pictures.picture import Drawn

log = logging.getLogger(__name__)

WITHIN_S = 60.0
"""Half a second is usual; the first on a machine also looks for its fonts, a busy one is slow. The answer stands."""
LARGEST = 100_000
"""Bytes: what a phone loads at once on a poor line."""
_PNG = b"\x89PNG\r\n\x1a\n"
_COMMAND = (sys.executable, "-I", "-m", "bot.render.pictures.draw")


class Drawing:
    """One picture at a time: whoever answers many at once must not start as many processes."""

    def __init__(self, command: tuple[str, ...] = _COMMAND, within_s: float = WITHIN_S) -> None:
        self._command, self._within_s = command, within_s
        self._one_at_a_time = asyncio.Lock()

    async def png(self, chart: Drawn) -> bytes | None:
        """The picture; None where it could not be drawn in time, which is in the log."""
        try:
            async with asyncio.timeout(self._within_s), self._one_at_a_time:
                drawn, complaint, status = await self._run(json.dumps(chart.as_json()).encode())
        except TimeoutError:
            log.warning("a picture was not drawn within %g s", self._within_s)
            return None
        except OSError as error:
            log.warning("a picture was not drawn: %s", error)
            return None
        if status or not drawn.startswith(_PNG) or len(drawn) > LARGEST:
            log.warning("a picture was not drawn: status %d, %d bytes, %s", status, len(drawn), complaint[-300:])
            return None
        return drawn

    async def _run(self, chart: bytes) -> tuple[bytes, str, int]:
        """Nothing of the bot's environment goes along: it holds tokens."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(),
        )
        try:
            drawn, complaint = await process.communicate(chart)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return drawn, complaint.decode(errors="replace"), process.returncode or 0


def _environment() -> dict[str, str]:
    # matplotlib remembers there which fonts it has found, which takes it a second.
    remembered = Path(tempfile.gettempdir()) / f"aksbot-pictures-{os.getuid()}"
    kept = {name: value for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if (value := os.environ.get(name))}
    return {**kept, "MPLCONFIGDIR": str(remembered), "OPENBLAS_NUM_THREADS": "1", "HOME": tempfile.gettempdir()}
