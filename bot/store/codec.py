"""What is written to Redis: records as JSON and back, without secrets, whoever has put them together.

`encode` and `decode` go by the annotations of a record's dataclass. A field that an older record does not have yet gets
its default; one that this version does not know is passed over.

Plans and executions do not pass here. A plan's digest is over every letter of it, and a fix needs the very address of
its operation; neither holds anything that people type.
"""

from __future__ import annotations

import asyncio
import json
import logging
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.redaction import IDS, redacted
from handlers.clients.redact import LONG, redact_text

log = logging.getLogger(__name__)

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
    """Raises ValueError, whatever a record's own reader stumbles over."""
    whole: Any = kind
    try:
        found: T = _adapter(whole).validate_python(json.loads(text))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return found


def decode_or_none(kind: type[T], text: str, what: str) -> T | None:
    """For records that one can do without: one that cannot be read is not there, and the log says so once.

    It was damaged, or a version wrote it that this one does not know; to fail over it again and again helps nobody.
    """
    try:
        return decode(kind, text)
    except ValueError as error:
        unreadable(what, text, error)
        return None


def unreadable(what: str, text: str, error: Exception) -> None:
    """Say in the log that a record cannot be read; of the same record once."""
    _say_once(what, sha256(text.encode(errors="replace")).hexdigest()[:12], f"{error}".partition("\n")[0][:200])


@lru_cache(maxsize=1000)
def _say_once(what: str, digest: str, why: str) -> None:
    log.error("%s cannot be read and counts as not there (record %s): %s", what, digest, why)


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
