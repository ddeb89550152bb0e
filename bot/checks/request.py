"""What is asked of a worker: one check of one cluster, for one person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from bot.address import Address
from bot.report.events import EVERYTHING, Selection
from handlers.fleet.cluster_text import ClusterRef


def _read(kept: object) -> ClusterRef:
    if isinstance(kept, str | ClusterRef):
        return ClusterRef.of(kept)
    raise ValueError("a cluster is kept as text")


def _written(cluster: ClusterRef) -> str:
    return cluster.text


Cluster = Annotated[ClusterRef, PlainValidator(_read), PlainSerializer(_written)]
"""Kept as it was written, and read once in each process."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Somebody wants to know what is wrong with a cluster. The id names the job: the same id is never run twice."""

    id: str
    cluster: Cluster
    place: Address
    scope: Selection = EVERYTHING
    fresh: bool = False
    """*Check again*: an answer from before the question will not do."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    reported_by: str = ""
    """The person whose report began this check, whom the answer names; empty where somebody asked, or an app."""
    notify: tuple[str, ...] = ()
    """The people and user groups whom the answer to an alert calls, unless it is clear."""

    @property
    def question(self) -> str:
        """What is alike in two requests that one check answers."""
        about = [str(self.scope.about)] if self.scope.about else []
        detectors = ["detectors"] if self.scope.detectors else []
        scope = (self.scope.area or "", self.scope.only or "", *about, *detectors)
        return json.dumps([self.cluster.key, *(word.strip().lower() for word in scope)])
