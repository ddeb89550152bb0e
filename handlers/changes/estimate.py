"""How long what runs on a cluster will take: as long as the same has taken there before, by the activity log.

Called when somebody wants to hear of its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from handlers.changes.change import Change, Part, Result
from handlers.changes.read import LONGEST, read_operations
from handlers.clients.arm.reader import ArmReader
from handlers.evidence.upgrade_length import spoken
from handlers.model import Target
from handlers.resource_id import same

_MOST = 5
"""The latest ones: what took long a fortnight ago may have been of another size."""
_DAYS = LONGEST.days


@dataclass(frozen=True, slots=True)
class Estimate:
    """What runs since when, and how long the same took before, the latest first."""

    running: Change
    before: tuple[timedelta, ...]

    @property
    def longest(self) -> timedelta | None:
        return max(self.before, default=None)

    def said(self, now: datetime) -> str:
        """For people: the arithmetic, and a time of day."""
        began = f"{self.running.subject}: {self.running.action}, since {self.running.at:%H:%M} UTC"
        longest = self.longest
        if longest is None:
            return f"{began}. Nothing like it has ended here in the last {_DAYS} days, so its end cannot be estimated."
        times = "the last time" if len(self.before) == 1 else f"the last {len(self.before)} times"
        shortest = min(self.before)
        took = spoken(longest) if spoken(shortest) == spoken(longest) else f"{spoken(shortest)} to {spoken(longest)}"
        if now >= self.running.at + longest:
            return f"{began}. That is longer than {times}: {took}."
        return f"{began}. It took {took} {times}, so it should end by {self.running.at + longest:%H:%M} UTC."


async def estimate(target: Target, arm: ArmReader) -> Estimate | None:
    """None where the log does not say what runs. It never raises CannotSee."""
    return estimate_of(await read_operations(target, arm))


def estimate_of(operations: Sequence[Change]) -> Estimate | None:
    """Of operations, newest first."""
    own = [change for change in operations if change.part is Part.CLUSTER]
    running = next((change for change in own if change.result is Result.RUNNING), None)
    if running is None or any(_is_after(change, running) for change in own):
        return None
    before = [change.lasted for change in own if _is_like(change, running) and change.lasted]
    return Estimate(running, tuple(before[:_MOST]))


def _is_after(change: Change, running: Change) -> bool:
    """The end of what seems to run is missing in the log: something else has ended there since."""
    return change.until is not None and same(change.resource, running.resource) and change.at > running.at


def _is_like(change: Change, running: Change) -> bool:
    """The same operation on the same resource. One that rolls nodes takes longer than one that does not."""
    alike = change.operation.lower() == running.operation.lower() and same(change.resource, running.resource)
    return alike and change.result is Result.SUCCEEDED and bool(change.below) >= bool(running.below)
