"""Where something is unwell: a sweep over the whole cluster that keeps little, so that the rest asks only there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Pods
from handlers.evidence.wire import dig, moment, number, rows, text
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Evidence, NotApplicable, Target, Unavailable

MOST_NAMESPACES = 8
"""Each costs a dozen lists. More are unwell at once only where one thing, a node or the network, harms them all."""
RECENT = timedelta(minutes=20)
"""Refused creations are tried again after 16 minutes at most: the back-off of Kubernetes' controllers ends there."""

SLICES_A_PAGE = 100
"""An endpoint slice holds up to a hundred endpoints: a page of 500 would be as long as one of 50,000 pods."""

LATELY = timedelta(hours=1)
"""How long a rollout is looked at although every pod is Ready."""


@dataclass(frozen=True, kw_only=True)
class ShortWorkloads(Evidence):
    """The deployments and stateful sets of the whole cluster that have fewer pods available than they want, or 0."""

    short: tuple[tuple[str, str], ...]
    """(namespace, name)."""
    at_zero: tuple[tuple[str, str], ...]
    changed: tuple[str, ...] = ()
    """Namespaces in which one was rolled out lately: what went wrong since then need not show as an unready pod."""


@dataclass(frozen=True, kw_only=True)
class EmptyServices(Evidence):
    """The services of the whole cluster behind which no endpoint is ready."""

    empty: tuple[tuple[str, str], ...]
    """(namespace, name)."""


@dataclass(frozen=True, kw_only=True)
class UnwellNamespaces(Evidence):
    """The namespaces that are looked into, AKS's own first."""

    namespaces: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Unwell too, but beyond what one check looks into."""


@dataclass
class _Short:
    short: set[tuple[str, str]] = field(default_factory=set)
    at_zero: set[tuple[str, str]] = field(default_factory=set)
    rolled_out: dict[str, datetime] = field(default_factory=dict)

    def add(self, body: Mapping[str, Any]) -> None:
        replicas = dig(body, "spec", "replicas")
        wanted = 1 if replicas is None else int(replicas)
        name = text(body, "metadata", "namespace"), text(body, "metadata", "name")
        if not wanted:
            self.at_zero.add(name)
        elif number(body, "status", "readyReplicas") < wanted:
            self.short.add(name)
        for row in rows(body, "status", "conditions"):
            at = moment(text(row, "lastUpdateTime")) if text(row, "type") == "Progressing" else None
            if at:
                self.rolled_out[name[0]] = max(at, self.rolled_out.get(name[0], at))


@dataclass
class _Behind:
    ready: set[tuple[str, str]] = field(default_factory=set)

    def add(self, body: Mapping[str, Any]) -> None:
        # Of a port that no container has, the slice holds the addresses and no port.
        if rows(body, "ports") and any(dig(row, "conditions", "ready") is not False for row in rows(body, "endpoints")):
            name = text(body, "metadata", "labels", "kubernetes.io/service-name")
            self.ready.add((text(body, "metadata", "namespace"), name))


@collector(reads=(), sees=("list deployments.apps", "list statefulsets.apps"), deadline_s=20)
async def short_workloads(cluster: ManagedCluster, kube: KubeReader) -> ShortWorkloads | NotApplicable:
    """the deployments and stateful sets that lack pods"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    first = await kube.fold("/apis/apps/v1/deployments", _Short, _Short.add)
    second = await kube.fold("/apis/apps/v1/statefulsets", _Short, _Short.add)
    return ShortWorkloads(
        source=f"{first.source}; {second.source}",
        taken_at=first.taken_at,
        truncated=first.truncated or second.truncated,
        short=tuple(sorted(first.value.short | second.value.short)),
        at_zero=tuple(sorted(first.value.at_zero | second.value.at_zero)),
        changed=tuple(name for name, at in sorted(first.value.rolled_out.items()) if at >= first.taken_at - LATELY),
    )


@collector(reads=(), sees=("list services", "list endpointslices.discovery.k8s.io"), deadline_s=20)
async def empty_services(cluster: ManagedCluster, kube: KubeReader) -> EmptyServices | NotApplicable:
    """the services without a ready endpoint"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    services = await kube.list("/api/v1/services", _selecting)
    behind = await kube.fold("/apis/discovery.k8s.io/v1/endpointslices", _Behind, _Behind.add, page=SLICES_A_PAGE)
    # Of a list that was cut, what is missing might stand in the rest.
    unsure = behind.truncated
    empty = () if unsure else tuple(sorted(set(services.items) - behind.value.ready))
    return EmptyServices(
        source=f"{services.source}; {behind.source}",
        taken_at=services.taken_at,
        truncated=services.truncated or behind.truncated,
        empty=empty,
    )


@collector(reads=())
async def unwell_namespaces(
    target: Target,
    cluster: ManagedCluster,
    pods: Pods,
    warnings: WarningEvents | Unavailable,
    short: ShortWorkloads | Unavailable,
    empty: EmptyServices | Unavailable,
) -> UnwellNamespaces:
    """the namespaces in which something is unwell"""
    others = [item for item in (warnings, short, empty) if isinstance(item, Evidence)]
    systems = cluster.all_system_namespaces
    sure = sorted(dict.fromkeys(_without_pods(pods, short)), key=lambda name: name not in systems)
    wished = target.about.namespaces if target.about else ()  # asked about, well or not
    ordered = tuple(dict.fromkeys((*wished, *sure, *_others(warnings, short, empty))))
    return UnwellNamespaces(
        source=pods.source,
        taken_at=pods.taken_at,
        truncated=pods.truncated or any(other.truncated for other in others) or len(sure) > MOST_NAMESPACES,
        gaps=(*pods.gaps, *(item for item in (warnings, short, empty) if isinstance(item, Unavailable))),
        namespaces=ordered[:MOST_NAMESPACES],
        left_out=ordered[MOST_NAMESPACES:],
    )


def _without_pods(pods: Pods, short: ShortWorkloads | Unavailable) -> Iterator[str]:
    """Namespaces in which a pod does not run or is missing."""
    yield from (pod.namespace for pod in pods.pods if not pod.ready and not pod.done)
    if isinstance(short, ShortWorkloads):
        yield from (namespace for namespace, _ in short.short)


def _others(
    warnings: WarningEvents | Unavailable, short: ShortWorkloads | Unavailable, empty: EmptyServices | Unavailable
) -> Iterator[str]:
    """Namespaces in which something may be wrong: much of this is how people want it, so it is no gap to leave some
    of them out."""
    if isinstance(warnings, WarningEvents):
        since = warnings.taken_at - RECENT
        recent = sorted((event for event in warnings.events if event.last >= since), key=lambda warned: -warned.count)
        yield from (warned.namespace for warned in recent if warned.namespace and warned.kind != "Node")
    if isinstance(empty, EmptyServices):
        yield from (namespace for namespace, _ in empty.empty)
    if isinstance(short, ShortWorkloads):
        yield from short.changed
        yield from (namespace for namespace, _ in short.at_zero)


def _selecting(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """A service that looks for pods: of the others somebody else keeps the endpoints."""
    if not dig(body, "spec", "selector") or text(body, "spec", "type") == "ExternalName":
        return None
    return text(body, "metadata", "namespace"), text(body, "metadata", "name")
