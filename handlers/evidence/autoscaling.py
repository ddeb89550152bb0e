"""What the two autoscalers say they cannot get: the cluster autoscaler's status, and the claims of Karpenter."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.errors import ErrorDetail, innermost
from handlers.evidence.node_groups import (
    NodeGroup,
    Unhealthy,
    counted,
    groups_of_text,
    groups_of_yaml,
    unhealthy_of_text,
    unhealthy_of_yaml,
)
from handlers.evidence.wire import dig, moment, need_text, number, rows, text, texts
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why

STATUS = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
STALE = timedelta(hours=1)
"""The cluster autoscaler writes its status every 10 s, but for the minutes in which AKS replaces it."""
LONGEST_STATUS = 128_000
"""Characters. AKS has at most a hundred node pools, and one takes 900; a config map may have a million."""
_MILLI = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<milli>m?)")


@dataclass(frozen=True, slots=True)
class BackedOff:
    """A node group that the cluster autoscaler does not scale up for a while, because the last try failed."""

    group: str
    """The name of a scale set, or of a pool of type VirtualMachines."""
    since: str
    """As it is written there, in UTC; empty where it is not."""
    error: ErrorDetail | None
    lacking: int
    """Nodes that it asked for and that did not come; at least the one that it tried."""
    named: bool = False
    """Whether the error is Azure's. The autoscaler's own (`cloudProviderError`) names no cause."""

    def __str__(self) -> str:
        since = f" since {self.since} UTC" if self.since else ""
        return f"cluster autoscaler: {self.group} is backed off{since}" + (f": {self.error}" if self.error else "")


@dataclass(frozen=True, kw_only=True)
class AutoscalerStatus(Evidence):
    """What the cluster autoscaler says of itself and of its node groups."""

    backed_off: tuple[BackedOff, ...]
    """The node groups that it cannot scale up."""
    groups: tuple[NodeGroup, ...] = ()
    unhealthy: Unhealthy | None = None
    written: datetime | None = None
    """None where there is no status at all, or one without a time."""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What stands in the status."""

    at: datetime | None
    backed_off: tuple[BackedOff, ...]
    groups: tuple[NodeGroup, ...]
    unhealthy: Unhealthy | None


@dataclass(frozen=True, slots=True)
class NodeClaim:
    """A node that Karpenter wants and that Azure has not begun to make."""

    name: str
    node_pool: str
    reason: str
    message: str
    cores: int
    """What the pods on it ask for, in whole cores: no machine for it has fewer."""
    spot: bool
    created: datetime | None

    @property
    def error(self) -> ErrorDetail:
        return ErrorDetail(self.reason, self.message)

    def __str__(self) -> str:
        told = f": {self.error}" if self.message else ""
        return f"NodeClaim {self.name} (NodePool {self.node_pool or 'unknown'}) was not launched{told}"


@dataclass(frozen=True, kw_only=True)
class NodeClaims(Evidence):
    """The claims of node auto-provisioning that wait for their machine."""

    waiting: tuple[NodeClaim, ...]


@collector(reads=(), sees=("list nodeclaims.karpenter.sh",), deadline_s=15)
async def node_claims(cluster: ManagedCluster, kube: KubeReader) -> NodeClaims | NotApplicable:
    """the node claims"""
    if not cluster.makes_own_nodes or cluster.stopped:
        return NotApplicable(f"{cluster.name} has no node auto-provisioning at work")
    listing = await kube.list(CLAIMS, read_claim)
    return NodeClaims(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, waiting=listing.items
    )


@collector(reads=(), sees=("get configmaps:cluster-autoscaler-status in kube-system",), deadline_s=15)
async def autoscaler_status(
    cluster: ManagedCluster, pools: AgentPools, kube: KubeReader
) -> AutoscalerStatus | NotApplicable:
    """the cluster autoscaler's status"""
    if cluster.stopped or not any(pool.autoscaled for pool in pools.pools):
        return NotApplicable(f"no node pool of {cluster.name} is scaled by the cluster autoscaler")
    try:
        answer = await kube.get(STATUS)
    except NotFound:  # it writes none before its first round
        return AutoscalerStatus(source=STATUS, taken_at=cluster.taken_at, backed_off=())
    told = await asyncio.to_thread(read_status, text(answer.body, "data", "status"))
    gaps: tuple[Unavailable, ...] = ()
    if told.at is None or answer.taken_at - told.at > STALE:
        written = f"it was last written at {told.at:%Y-%m-%d %H:%M} UTC" if told.at else ""
        detail = written or "it does not say when it was written"
        gaps = (Unavailable("the cluster autoscaler's status", Why.FAILED, detail),)
    return AutoscalerStatus(
        source=answer.source,
        taken_at=answer.taken_at,
        gaps=gaps,
        backed_off=told.backed_off,
        groups=told.groups,
        unhealthy=told.unhealthy,
        written=told.at,
        stale=told.at is not None and answer.taken_at - told.at > STALE,
    )


def read_claim(body: Mapping[str, Any]) -> NodeClaim | None:
    """A claim that is not launched; None for one that is, or that is going away."""
    said = next((row for row in rows(body, "status", "conditions") if text(row, "type") == "Launched"), None)
    if text(said, "status") == "True" or text(body, "metadata", "deletionTimestamp"):
        return None
    kinds = [row for row in rows(body, "spec", "requirements") if text(row, "key") == "karpenter.sh/capacity-type"]
    return NodeClaim(
        name=need_text(body, "metadata", "name"),
        node_pool=text(body, "metadata", "labels", "karpenter.sh/nodepool"),
        reason=text(said, "reason"),
        message=text(said, "message"),
        cores=_cores(dig(body, "spec", "resources", "requests", "cpu")),
        spot=bool(kinds) and texts(kinds[0], "values") == ("spot",),
        created=moment(text(body, "metadata", "creationTimestamp")),
    )


def read_status(told: str) -> Told:
    """YAML since cluster-autoscaler 1.30, a text for people before it; neither is no status at all."""
    if len(told) > LONGEST_STATUS:
        raise _unreadable()
    if "autoscalerStatus:" in told:
        import yaml

        from runbooks.yaml_text import load_yaml

        try:
            status = load_yaml(told)
        except yaml.YAMLError as broken:
            raise _unreadable() from broken
        at = _time(str(dig(status, "time") or ""))
        return Told(at, tuple(_of_yaml(status)), tuple(groups_of_yaml(status)), unhealthy_of_yaml(status))
    if "Cluster-wide:" not in told:
        raise _unreadable()
    at = _time(told.partition(" status at ")[2])
    return Told(at, tuple(_of_text(told)), tuple(groups_of_text(told)), unhealthy_of_text(told))


def _of_yaml(status: Any) -> Iterator[BackedOff]:
    for group in rows(status, "nodeGroups"):
        if text(group, "scaleUp", "status").lower() != "backoff":
            continue
        code = text(group, "scaleUp", "backoffInfo", "errorCode")
        message = text(group, "scaleUp", "backoffInfo", "errorMessage")
        inner = innermost(message) if message else None
        named = inner is not None and not inner.wraps
        error = inner if inner and named else ErrorDetail(code, message)
        there = number(group, "health", "nodeCounts", "registered", "total")
        yield BackedOff(
            group=text(group, "name"),
            since=str(dig(group, "scaleUp", "lastTransitionTime") or "")[:19],
            error=error if error.code or error.message else None,
            lacking=max(1, number(group, "health", "cloudProviderTarget") - there),
            named=named,
        )


def _of_text(told: str) -> Iterator[BackedOff]:
    name, there, target = "", 0, 0
    for line in told.partition("NodeGroups:")[2].splitlines():
        key, _, value = line.strip().partition(":")
        if key == "Name":
            name = value.strip().rsplit("/", 1)[-1]
        elif key == "Health":
            there, target = (counted(value, what) for what in ("registered", "cloudProviderTarget"))
        elif key == "ScaleUp" and value.split() and value.split()[0].lower() == "backoff":
            yield BackedOff(name, "", None, max(1, target - there))


def _time(told: str) -> datetime | None:
    """`2026-11-18 03:06:51.123456789 +0000 UTC`: only UTC is written."""
    return moment(told.strip()[:19] + "+00:00")


def _cores(asked: Any) -> int:
    """`3650m`, `4` or 4, rounded up."""
    found = _MILLI.match(str(asked or ""))
    if not found:
        return 0
    thousandths = float(found["number"]) * (1 if found["milli"] else 1000)
    return -(-int(thousandths) // 1000)


def _unreadable() -> CannotSee:
    detail = f"{STATUS} holds no status that could be understood"
    return CannotSee(Unavailable("the cluster autoscaler's status", Why.FAILED, detail))
