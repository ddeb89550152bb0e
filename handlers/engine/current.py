"""What is being collected now, and its deadline, so that clients know for whom they call and when to stop."""

from contextvars import ContextVar
from dataclasses import dataclass, field

collecting: ContextVar[str] = ContextVar("collecting", default="")

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""The running loop's time at which the collector is cut off."""


@dataclass(slots=True)
class Lateness:
    """The facts that a check ran out of time for, by name; they are stored with its recording.

    A replay is faster: what was late must be late again, or it would see more than the original check.
    """

    names: set[str] = field(default_factory=set)
    replayed: bool = False

    def was_late(self, name: str) -> bool:
        return self.replayed and name in self.names

    def note(self, name: str) -> None:
        if not self.replayed:
            self.names.add(name)
