"""Every call that went over the wire."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Call:
    """One call: on whose behalf, what, and how it ended. Times are monotonic seconds; no status: no answer."""

    kind: str
    method: str
    path: str
    status: int | None
    request_id: str
    started: float
    ended: float


class CallLog:
    """The calls of one reader or writer, in the order in which they ended. Old ones are only counted."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=REMEMBERED)
        self._count = 0

    def add(self, call: Call) -> None:
        self._calls.append(call)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls))

    @property
    def count(self) -> int:
        return self._count
