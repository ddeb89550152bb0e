"""Whether a fix may still begin, asked in the last moment before its first write. Who knows that is not known here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """It may not begin any more."""

    why: str


@dataclass(frozen=True, slots=True)
class NotKnown:
    """Nobody can say at this moment. It is asked again a few times; nothing is sent on a guess."""

    why: str


Permit = Callable[[], Awaitable[Withdrawn | NotKnown | None]]
"""None: it may begin."""


async def granted() -> None:
    """Nobody has to be asked."""
