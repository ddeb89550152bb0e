"""What is written to Redis: records as JSON and back, without secrets, whoever has put them together.

`encode` and `decode` go by the annotations of a record's dataclass. A field that an older record does not have yet gets
its default; one that this version does not know is passed over.

Plans and executions do not pass here. A plan's digest is over every letter of it, and a fix needs the very address of
its operation; neither holds anything that people type.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.redaction import IDS, redacted
from handlers.clients.redact import LONG, redact_text

EXACT = IDS | {"plan", "clicks", "pressed", "view", "url", "proposal", "incident"}
"""Keys under which ids, addresses and plans stand: read again letter by letter, and typed by nobody."""


T = TypeVar("T")


def encode(value: object, kind: Any = None) -> str:
    """`kind`: what it is, where its type alone does not say so (`tuple[Incident, ...]`)."""
    # Not dump_json: it refuses the halves of characters that people's messages are cut into.
    whole: Any = kind or type(value)
    plain = _adapter(whole).dump_python(value, mode="json")
    return json.dumps(plain, separators=(",", ":"))


def decode(kind: type[T], text: str) -> T:
    """Raises ValueError."""
    whole: Any = kind
    found: T = _adapter(whole).validate_python(json.loads(text))
    return found


def prepare(*kinds: Any) -> None:
    """For the constructors of those who keep records: the first one takes a while, in which nobody should wait."""
    for kind in kinds:
        _adapter(kind)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


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
