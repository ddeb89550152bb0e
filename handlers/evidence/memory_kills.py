"""Who was killed or evicted for lack of memory, read from pods: last states outlive the events of the last hour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.evidence.quantity import memory_of
from handlers.evidence.wire import dig, moment, rows, text

EVICTED, OOM_KILLED = "evicted", "oom-killed"
_LOW_ON_MEMORY = "low on resource: memory"
"""The kubelet's message of an eviction; for a full disk it says `ephemeral-storage` there."""
LONGEST = 300

Owner = Callable[[], str]
"""Asked for the few pods that have something to say: `Deployment/api`, and not the ReplicaSet in between."""


@dataclass(frozen=True, slots=True)
class MemoryKill:
    """A pod that was evicted, or a container that the kernel killed, for lack of memory."""

    kind: str
    namespace: str
    pod: str
    owner: str
    node: str
    container: str
    at: datetime
    own_limit: bool
    """Whether it may have been its own limit that it ran into: then it says nothing about the node."""
    says: str = ""

    @property
    def of_node(self) -> bool:
        """An eviction is always the node's; a container without a limit can only be killed where the node is full."""
        return self.kind == EVICTED or not self.own_limit


def memory_kills(body: Mapping[str, Any], owner: Owner) -> Iterator[MemoryKill]:
    """What a pod's wire body says of it. Called for every pod of a cluster: most have nothing to say."""
    status = body.get("status") or {}
    if status.get("reason") == "Evicted":
        yield from _evicted(body, owner)
    for key in ("containerStatuses", "initContainerStatuses"):
        for item in status.get(key) or ():
            for state in ("state", "lastState"):
                ended = (item.get(state) or {}).get("terminated")
                if ended and ended.get("reason") == "OOMKilled":
                    yield from _killed(body, owner, text(item, "name"), ended)


def _evicted(body: Mapping[str, Any], owner: Owner) -> Iterator[MemoryKill]:
    said = text(body, "status", "message")
    at = _evicted_at(body)
    if _LOW_ON_MEMORY in said and at:
        yield MemoryKill(EVICTED, *_where(body, owner), "", at, own_limit=False, says=said[:LONGEST])


def _evicted_at(body: Mapping[str, Any]) -> datetime | None:
    """The kubelet writes the condition DisruptionTarget with an eviction; its containers end then, too."""
    for row in rows(body, "status", "conditions"):
        if text(row, "type") == "DisruptionTarget":
            return moment(text(row, "lastTransitionTime"))
    ends = [
        at
        for row in rows(body, "status", "containerStatuses")
        if (at := moment(text(row, "state", "terminated", "finishedAt")))
    ]
    return max(ends, default=None)


def _killed(body: Mapping[str, Any], owner: Owner, container: str, ended: Mapping[str, Any]) -> Iterator[MemoryKill]:
    at = moment(text(ended, "finishedAt"))
    if at:
        yield MemoryKill(OOM_KILLED, *_where(body, owner), container, at, own_limit=_limited(body, container))


def _limited(body: Mapping[str, Any], container: str) -> bool:
    """Also where nobody knows: a projection of run-command does not hold the containers."""
    spec = body.get("spec") or {}
    if memory_of(dig(spec, "resources"), "limits"):
        return True
    named = (row for row in (*rows(spec, "containers"), *rows(spec, "initContainers")) if row.get("name") == container)
    found = next(named, None)
    return found is None or memory_of(dig(found, "resources"), "limits") is not None


def _where(body: Mapping[str, Any], owner: Owner) -> tuple[str, str, str, str]:
    return text(body, "metadata", "namespace"), text(body, "metadata", "name"), owner(), text(body, "spec", "nodeName")
