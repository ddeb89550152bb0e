"""What is asked of a worker: one check of one cluster, for one person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.address import Address
from bot.report.events import EVERYTHING, Selection
from handlers.fleet.cluster_text import read_cluster
from handlers.problem import Problem
from handlers.resource_id import ResourceId


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Somebody wants to know what is wrong with a cluster. The id names the job: the same id is never run twice."""

    id: str
    cluster: str
    place: Address
    scope: Selection = EVERYTHING
    fresh: bool = False
    """*Check again*: an answer from before the question will not do."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def question(self) -> str:
        """What is alike in two requests that one check answers."""
        scope = (self.scope.area or "", self.scope.only or "")
        return json.dumps([_cluster_key(self.cluster), *(word.strip().lower() for word in scope)])


def _cluster_key(text: str) -> str:
    """A link and an id of one cluster are alike; a name stays a name until Azure is asked."""
    try:
        cluster = read_cluster(text)
    except Problem:
        return text.strip().lower()
    return cluster.key if isinstance(cluster, ResourceId) else cluster.lower()
