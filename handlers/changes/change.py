"""What somebody did to a cluster, as one value for the two or three events that Azure logs for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from handlers.model import Unavailable


class Result(StrEnum):
    """How an operation ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    """Azure turned the request down at once: nothing was begun."""
    DENIED = "denied"
    """A policy turned it down."""
    CANCELED = "canceled"
    RUNNING = "running"

    @property
    def bad(self) -> bool:
        return self in (Result.FAILED, Result.REFUSED, Result.DENIED, Result.CANCELED)


class Part(StrEnum):
    """What of a cluster was changed."""

    CLUSTER = "Cluster and pools"
    NODES = "Node resource group"
    RULES = "Locks, roles, policy"
    GROUP = "Its resource group"
    HEALTH = "Azure's health"


@dataclass(frozen=True, slots=True)
class Change:
    """One line of an answer."""

    at: datetime
    """When it began."""
    part: Part
    subject: str
    """`node pool apps`, `lock keep`."""
    action: str
    """`node image upgrade`, `set on the resource group`."""
    result: Result
    caller: str
    resource: str
    operation: str
    until: datetime | None = None
    details: tuple[str, ...] = ()
    """What it changed to, as far as the record says so."""
    why: str = ""
    """Azure's error, or the policy."""
    times: int = 1
    """How often it was done so, with this one the latest."""
    since: datetime | None = None
    """Of several: when the first of them began."""
    below: int = 0
    """Writes of AKS itself that belong to it."""
    correlation: str = ""

    @property
    def lasted(self) -> timedelta | None:
        return self.until - self.at if self.until else None


@dataclass(frozen=True, slots=True)
class Changes:
    """What was done in a span of time, newest first; and what of the record could not be read."""

    cluster: str
    since: datetime
    until: datetime
    changes: tuple[Change, ...]
    groups: tuple[str, ...]
    """The resource groups whose activity log was read."""
    gaps: tuple[Unavailable, ...] = ()
    cut: bool = False
    """More was done than the log was read for: the oldest is missing."""
