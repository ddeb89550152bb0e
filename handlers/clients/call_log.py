"""The log of every call that went over the wire."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Call:
    """One call: for whom, what, and how it ended. Times are monotonic seconds; status None means no answer."""

    kind: str
    method: str
    path: str
    status: int | None
    request_id: str
    started: float
    ended: float


class CallLog:
    """The calls of one reader or writer, in the order they ended. Old ones are only counted."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=REMEMBERED)
        self._count = 0

    def add(self, call: Call) -> None:
        self._calls.append(call)
        self._count += 1
        tally = _tally.get()
        if tally is not None and tally.log is self:
            tally.calls.append(call)

    def tally(self) -> Tally:
        """Start counting the calls made by this task and the tasks it starts."""
        begun = Tally(self)
        _tally.set(begun)
        return begun

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls))

    @property
    def count(self) -> int:
        return self._count


@dataclass(slots=True)
class Tally:
    """The calls one task has made, out of a log that it shares with others."""

    log: CallLog
    calls: list[Call] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.calls)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)
