"""What is written to Redis: JSON without secrets, whoever has put it together.

Plans and executions do not pass here. A plan's digest is over every letter of it, and a fix needs the very address of
its operation; neither holds anything that people type.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from bot.redaction import IDS, redacted
from handlers.clients.redact import LONG, redact_text

EXACT = IDS | {"plan", "clicks", "pressed", "view", "url", "proposal", "incident"}
"""Keys under which ids, addresses and plans stand: read again letter by letter, and typed by nobody."""


def kept(text: str) -> str:
    """JSON as it is kept: without secrets. What holds none is returned as it is."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return redact_text(text)
    clean = redacted(value, but=EXACT)
    return text if clean is value or clean == value else json.dumps(clean, separators=(",", ":"))


async def kept_aside(text: str) -> str:
    """The same; what is large does not hold up the event loop."""
    return kept(text) if len(text) <= LONG else await asyncio.to_thread(kept, text)
