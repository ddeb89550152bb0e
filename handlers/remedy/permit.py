"""Whether a fix may still begin, asked right before its first write. `bot` implements it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The approval no longer holds."""

    why: str


@dataclass(frozen=True, slots=True)
class NotKnown:
    """It cannot be found out now. Asked again a few times; nothing is sent on a guess."""

    why: str


Permit = Callable[[], Awaitable[Withdrawn | NotKnown | None]]
"""None: it may begin."""


async def granted() -> None:
    """The default: no permission needed."""
