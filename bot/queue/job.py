"""The one envelope for all that goes through the queue, and what is known of each kind of payload.

A payload is a frozen dataclass. The worker finds out by its type what is to be done with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.queue.priority import Priority
from bot.store.codec import decode, encode, prepare
from handlers.problem import Problem

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Job(Generic[P]):
    """Something to do. One with the same id that waits or runs already stays as it is."""

    id: str
    payload: P
    priority: Priority
    delay_s: float = 0.0
    """It is not begun before that."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[P]):
    """A kind of job: its payload, what is done with it, and what is said when the last try has failed.

    `run` gets an event that is set when the job must let go; it then returns False.
    """

    name: str
    """What the queue calls it. Jobs that an earlier version left there are found by it: it never changes."""
    payload: type[P]
    run: Callable[[P, asyncio.Event], Awaitable[bool]]
    give_up: Callable[[P, Problem], Awaitable[None]]
    can_be_done_here: Callable[[P], bool] = lambda payload: False
    """Whether the process that takes it in can do it by itself while the bot's memory is away."""

    def __post_init__(self) -> None:
        prepare(self.payload)

    def write(self, payload: P) -> str:
        return encode(payload)

    def read(self, text: str) -> P:
        """Raises ValueError where another version of the bot wrote what this one does not know."""
        return decode(self.payload, text)


class Kinds:
    """All kinds of one process."""

    def __init__(self, kinds: Iterable[Kind[Any]]) -> None:
        self._by_payload: dict[type, Kind[Any]] = {}
        for kind in kinds:
            if self._by_payload.setdefault(kind.payload, kind) is not kind:
                raise ValueError(f"two kinds of jobs have the payload {kind.payload.__name__}")

    def __iter__(self) -> Iterator[Kind[Any]]:
        return iter(self._by_payload.values())

    def of(self, payload: object) -> Kind[Any]:
        return self._by_payload[type(payload)]
