"""`aksbot serve`."""

from __future__ import annotations

import asyncio
import logging
import sys

from bot import settings
from bot.app import serve
from bot.log_redaction import quiet_clients

SWITCH_S = 0.001
"""How long a thread that computes keeps the interpreter. With Python's own 5 ms, the event loop would wait that long
each time that it comes back from RE2, or from a socket, while a message is recognised beside it."""


def serve_slack(role: str | None) -> int:
    """Run the bot until it is told to stop."""
    chosen = settings.load()
    if role:
        chosen = chosen.model_copy(update={"role": role})
    _log()
    sys.setswitchinterval(SWITCH_S)
    asyncio.run(serve(chosen))
    return 0


def _log() -> None:
    """Log at INFO, but keep the client libraries quiet."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    # One JSON object per line and nothing else, for log collectors.
    audit, lines = logging.getLogger("aksbot.audit"), logging.StreamHandler(sys.stdout)
    lines.setFormatter(logging.Formatter("%(message)s"))
    audit.addHandler(lines)
    audit.propagate = False
    quiet_clients()
