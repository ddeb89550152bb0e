"""Reads what was done to a cluster: from the activity log of its resource group and of its node resource group.

Called by `aksbot changes` and `/aks changes`. What cannot be read is a value, and named in the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.changes.change import Change, Changes
from handlers.changes.coalesce import changes_of, operations_of
from handlers.changes.row import Row, read_rows
from handlers.clients.arm.reader import ArmReader
from handlers.evidence.wire import dig, text, whole
from handlers.fleet.kinds import AKS, CLUSTER_TYPES
from handlers.model import CannotSee, Target, Unavailable
from handlers.resource_id import BadResourceId, ResourceId, within

USUAL = timedelta(hours=24)
LONGEST = timedelta(days=14)
"""Of a quiet group that is a page or two; a node resource group is cut at `MOST`."""
MOST = 2000


@dataclass(frozen=True, slots=True)
class _Cluster:
    """What of the cluster itself is needed to read the logs, or why it is not known."""

    node_group: str = ""
    callers: Mapping[str, str] | None = None
    gap: Unavailable | None = None


@dataclass(frozen=True, slots=True)
class _Log:
    """The log of one resource group."""

    group: str
    rows: tuple[Row, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read: the rows are those about the cluster."""

    since: datetime
    cluster: _Cluster
    logs: tuple[_Log, ...]
    rows: tuple[Row, ...]
    gaps: tuple[Unavailable, ...]


async def read_changes(target: Target, arm: ArmReader, length: timedelta = USUAL) -> Changes:
    """What was done to the cluster in the last hours. It never raises CannotSee."""
    read = await _read(target, arm, target.asked_at - min(length, LONGEST))
    return Changes(
        cluster=target.name,
        since=read.since,
        until=target.asked_at,
        changes=changes_of(read.rows, read.cluster.node_group, read.cluster.callers or {}),
        groups=tuple(log.group for log in read.logs),
        gaps=(*([read.cluster.gap] if read.cluster.gap else []), *read.gaps),
        cut=any(log.cut for log in read.logs),
    )


async def read_operations(target: Target, arm: ArmReader) -> list[Change]:
    """Every single operation for as long as the log is read, newest first."""
    read = await _read(target, arm, target.asked_at - LONGEST)
    return operations_of(read.rows, read.cluster.node_group, read.cluster.callers or {})


async def _read(target: Target, arm: ArmReader, since: datetime) -> _Read:
    cluster = await _cluster(target, arm)
    groups = [group for group in (target.id.resource_group, cluster.node_group) if group]
    found = await asyncio.gather(*(_log(target, group, arm, since) for group in groups))
    logs = tuple(log for log in found if isinstance(log, _Log))
    rows = tuple(row for log in logs for row in log.rows if row.event.at >= since and _is_about(row, target.id))
    return _Read(since, cluster, logs, rows, tuple(log for log in found if isinstance(log, Unavailable)))


async def _cluster(target: Target, arm: ArmReader) -> _Cluster:
    """Only an AKS cluster has a node resource group."""
    if not target.id.is_a(AKS):
        return _Cluster()
    try:
        body = (await arm.managed_cluster(target.id)).body
    except CannotSee as blind:
        return _Cluster(gap=blind.unavailable)
    return _Cluster(text(body, "properties", "nodeResourceGroup"), _callers(body))


def _callers(body: Any) -> dict[str, str]:
    """Who the cluster's own identities are: the log has only their ids."""
    users = dig(body, "identity", "userAssignedIdentities")
    own = [text(item, "principalId") for item in (users.values() if isinstance(users, Mapping) else ())]
    own += [text(body, "identity", "principalId"), text(body, "properties", "servicePrincipalProfile", "clientId")]
    kubelet = text(body, "properties", "identityProfile", "kubeletidentity", "objectId")
    named = {item.lower(): "the cluster's identity" for item in own if item and item != "msi"}
    return {**({kubelet.lower(): "the kubelet's identity"} if kubelet else {}), **named}


async def _log(target: Target, group: str, arm: ArmReader, since: datetime) -> _Log | Unavailable:
    """In whole hours, so that everybody who asks within the hour shares the answer."""
    first, last = _hour(since), _hour(target.asked_at) + timedelta(hours=1)
    try:
        listing = await arm.activity(target.id.subscription, group=group, since=first, until=last, most=MOST)
        return _Log(group, read_rows(whole(listing.items)), listing.truncated)
    except CannotSee as blind:
        return blind.unavailable


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _is_about(row: Row, cluster: ResourceId) -> bool:
    """A group may hold other clusters, and not everybody may look at those."""
    resource = row.event.resource
    return within(str(cluster), resource) or not _is_below_another(resource, cluster)


def _is_below_another(resource: str, cluster: ResourceId) -> bool:
    """Whether a cluster other than this one stands in the id."""
    parts = resource.strip("/").split("/")
    for end in range(8, len(parts) + 1, 2):
        try:
            above = ResourceId.parse("/".join(parts[:end]))
        except BadResourceId:
            continue
        if any(above.is_a(kind) for kind in CLUSTER_TYPES):
            return above.key != cluster.key
    return False
