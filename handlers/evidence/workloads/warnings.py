"""Events other than Normal, of the whole cluster: grouped by what they are about and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import DIRECTLY, ApiServer
from handlers.evidence.wire import moment, number, text
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why

MOST_GROUPS = 5_000
"""Kubernetes keeps events for an hour; more kinds of trouble in one hour than these are one trouble."""
LONGEST_MESSAGE = 1_000


@dataclass(frozen=True, slots=True)
class Warned:
    """What Kubernetes said about one object, as often as it said it."""

    namespace: str
    kind: str
    name: str
    reason: str
    message: str
    first: datetime
    last: datetime
    count: int
    field_path: str = ""
    """Which container, where the kubelet speaks of one: `spec.containers{web}`."""
    component: str = ""

    @property
    def subject(self) -> str:
        return f"{self.namespace}/{self.kind}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"

    @property
    def container(self) -> str:
        return self.field_path.partition("{")[2].rstrip("}")


@dataclass(frozen=True, kw_only=True)
class WarningEvents(Evidence):
    """The events other than Normal, grouped."""

    events: tuple[Warned, ...]

    def about(self, subject: str) -> tuple[Warned, ...]:
        return tuple(event for event in self.events if event.subject == subject)

    def saying(self, *reasons: str) -> Iterator[Warned]:
        return (event for event in self.events if event.reason in reasons)


@dataclass
class _Grouped:
    groups: dict[tuple[str, ...], tuple[datetime, datetime, int]] = field(default_factory=dict)
    cut: bool = False

    def add(self, body: Mapping[str, Any]) -> None:
        about = body.get("involvedObject") or {}
        last = moment(text(body, "lastTimestamp") or text(body, "eventTime") or text(body, "firstTimestamp"))
        last = last or moment(text(body, "metadata", "creationTimestamp"))
        if text(body, "type") == "Normal" or last is None:
            return
        key = _key(body, about)
        first = moment(text(body, "firstTimestamp") or text(body, "eventTime")) or last
        count = max(1, number(body, "count") or number(body, "series", "count"))
        known = self.groups.get(key)
        if known:
            self.groups[key] = min(known[0], first), max(known[1], last), known[2] + count
        elif len(self.groups) < MOST_GROUPS:
            self.groups[key] = first, last, count
        else:
            self.cut = True


@collector(reads=(), sees=("list events",), deadline_s=20)
async def warning_events(cluster: ManagedCluster, api: ApiServer, kube: KubeReader) -> WarningEvents | NotApplicable:
    """the warning events"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    if api.reached and api.reached != DIRECTLY:
        # One command more, for nothing: what the events are about cannot be asked for there.
        raise CannotSee(Unavailable(warning_events.title, Why.FAILED, f"workloads are not read {api.reached}"))
    folded = await kube.fold("/api/v1/events", _Grouped, _Grouped.add, fields="type!=Normal")
    return WarningEvents(
        source=folded.source,
        taken_at=folded.taken_at,
        truncated=folded.truncated or folded.value.cut,
        events=tuple(
            Warned(key[0], key[1], key[2], key[3], key[4], first, last, count, key[5], key[6])
            for key, (first, last, count) in folded.value.groups.items()
        ),
    )


def _key(body: Mapping[str, Any], about: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        intern(text(about, "namespace")),
        intern(text(about, "kind")),
        intern(text(about, "name")),
        intern(text(body, "reason")),
        text(body, "message")[:LONGEST_MESSAGE],
        intern(text(about, "fieldPath")),
        intern(text(body, "source", "component") or text(body, "reportingComponent")),
    )
