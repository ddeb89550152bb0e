"""What is asked of a worker, as JSON on its way through the queue."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.report.events import EVERYTHING, Selection
from handlers.fleet.cluster_text import read_cluster
from handlers.problem import Problem
from handlers.resource_id import ResourceId


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody asked and is answered. A test or a page fills in what it needs."""

    team: str
    channel: str
    user: str
    thread_ts: str | None = None
    message_ts: str | None = None
    """A message that is there already and shall become the answer's head."""
    response_url: str | None = None
    """The only way to answer where the bot is not a member."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Somebody wants to know what is wrong with a cluster. The id names the job: the same id is never run twice."""

    id: str
    cluster: str
    place: Place
    scope: Selection = EVERYTHING
    fresh: bool = False
    """*Check again*: an answer from before the question will not do."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def question(self) -> str:
        """What is alike in two requests that one check answers."""
        scope = (self.scope.area or "", self.scope.only or "")
        return json.dumps([_cluster_key(self.cluster), *(word.strip().lower() for word in scope)])

    def as_json(self) -> str:
        return json.dumps(self, default=plain)

    @classmethod
    def from_json(cls, text: str) -> CheckRequest:
        values: dict[str, Any] = json.loads(text)
        place, scope = Place(**values.pop("place")), Selection(**values.pop("scope"))
        asked_at = datetime.fromisoformat(values.pop("asked_at"))
        return cls(**values, place=place, scope=scope, asked_at=asked_at)


def _cluster_key(text: str) -> str:
    """A link and an id of one cluster are alike; a name stays a name until Azure is asked."""
    try:
        cluster = read_cluster(text)
    except Problem:
        return text.strip().lower()
    return cluster.key if isinstance(cluster, ResourceId) else cluster.lower()


def plain(value: Any) -> Any:
    """For `json.dumps`: a dataclass with slots by its fields, a time as ISO text."""
    if isinstance(value, datetime):
        return value.isoformat()
    return {name: getattr(value, name) for name in type(value).__slots__}
