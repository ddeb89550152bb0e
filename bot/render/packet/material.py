"""What a support packet is made of: values alone, collected by `bot.checks.support.packets`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from bot.report.events import Report
from handlers.model import Evidence, NotApplicable, Unavailable

if TYPE_CHECKING:
    from handlers.clients.recording.case import Recording

Kind = TypeVar("Kind", bound=Evidence)


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened at a moment; `until`, where it was said more than once."""

    at: datetime
    source: str
    what: str
    about: str
    says: str = ""
    correlation: str = ""
    failed: bool = False
    until: datetime | None = None
    times: int = 1


@dataclass(frozen=True)
class Material:
    """A report, the answers that it was made from, and what was read beside it for a packet."""

    report: Report
    recording: Recording
    facts: Mapping[type, Any]
    version: str
    """Of aksbot."""
    made_at: datetime
    done: tuple[Happened, ...] = ()
    """What aksbot itself did to the cluster."""
    unseen: tuple[Unavailable, ...] = field(default=())
    """What should be in the packet and could not be read, beside what the report could not see."""

    def fact(self, kind: type[Kind]) -> Kind | None:
        """The evidence of this kind, where it was seen."""
        found = self.facts.get(kind)
        return found if isinstance(found, kind) else None

    def why_not(self, kind: type[Evidence]) -> Unavailable | NotApplicable | None:
        """Why there is no evidence of this kind."""
        found = self.facts.get(kind)
        return found if isinstance(found, Unavailable | NotApplicable) else None

    @property
    def cluster(self) -> str:
        return self.report.diagnosis.target.name
