"""What AKS itself runs in a cluster: the deployments and daemon sets of its namespaces, and their pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from handlers.clients.kube.listing import Folded, KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes, Pod, Pods, Sweep
from handlers.evidence.gather import each
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.wire import dig, moment, need_text, number, rows, text
from handlers.model import Evidence, NotApplicable, Unavailable

DEPLOYMENT, DAEMON_SET = "Deployment", "DaemonSet"
PLURALS = {DEPLOYMENT: "deployments", DAEMON_SET: "daemonsets"}


@dataclass(frozen=True, slots=True)
class SystemWorkload:
    """A deployment or a daemon set, and what its controller says of it."""

    kind: str
    namespace: str
    name: str
    wanted: int
    """How many pods it wants: of a daemon set, one for each node that it is meant for."""
    ready: int
    created: datetime | None
    settled: bool
    """Whether its controller has seen its newest spec."""
    refused: str = ""
    """Why its pods cannot be created (ReplicaFailure), if they cannot."""
    complaint: str = ""
    """What else its controller complains of: Available or Progressing is False."""
    complains_since: datetime | None = None

    @property
    def owner(self) -> str:
        return f"{self.namespace}/{self.kind}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class SystemWorkloads(Evidence):
    """The deployments and daemon sets in AKS's own namespaces."""

    workloads: tuple[SystemWorkload, ...]

    def named(self, *names: str) -> tuple[SystemWorkload, ...]:
        """Those of kube-system with these names."""
        return tuple(
            workload for workload in self.workloads if workload.namespace == KUBE_SYSTEM and workload.name in names
        )


@dataclass(frozen=True, kw_only=True)
class SystemPods(Evidence):
    """The pods in AKS's own namespaces that stand out, and how many each of their owners has."""

    pods: tuple[Pod, ...]
    counts: Mapping[str, int]
    """By `namespace/kind/name` of the owner; what has ended does not count."""


@collector(reads=(), sees=("list deployments.apps", "list daemonsets.apps"), deadline_s=15)
async def system_workloads(cluster: ManagedCluster, kube: KubeReader) -> SystemWorkloads | NotApplicable:
    """the deployments and daemon sets of kube-system"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")

    async def of(place: tuple[str, str]) -> KubeListing[SystemWorkload]:
        namespace, kind = place
        path = f"/apis/apps/v1/namespaces/{namespace}/{PLURALS[kind]}"
        return await kube.list(path, lambda body: read_workload(body, kind))

    places = [(namespace, kind) for namespace in cluster.system_namespaces for kind in PLURALS]
    found, gaps = await each(places, of)
    return SystemWorkloads(
        source="; ".join(dict.fromkeys(listing.source for listing in found)),
        taken_at=min(listing.taken_at for listing in found),
        truncated=any(listing.truncated for listing in found),
        gaps=tuple(dict.fromkeys(replace(gap, wanted=system_workloads.title) for gap in gaps)),
        workloads=tuple(workload for listing in found for workload in listing.items),
    )


@collector(reads=(), sees=("list pods",), deadline_s=15)
async def system_pods(cluster: ManagedCluster, nodes: Nodes, pods: Pods | Unavailable, kube: KubeReader) -> SystemPods:
    """the pods of kube-system"""
    if isinstance(pods, Pods) and pods.complete:
        return SystemPods(
            source=pods.source,
            taken_at=pods.taken_at,
            pods=tuple(pod for pod in pods.pods if pod.namespace in cluster.all_system_namespaces),
            counts=pods.system,
        )

    # The sweep of all was cut (a huge cluster, or run-command, which brings a part): these few are asked for alone.
    async def of(namespace: str) -> Folded[Sweep]:
        path = f"/api/v1/namespaces/{namespace}/pods"
        return await kube.fold(path, lambda: Sweep(frozenset(), cluster.all_system_namespaces), Sweep.add)

    swept, gaps = await each(cluster.system_namespaces, of)
    return SystemPods(
        source="; ".join(dict.fromkeys(folded.source for folded in swept)),
        taken_at=min(folded.taken_at for folded in swept),
        truncated=any(folded.truncated for folded in swept),
        gaps=gaps,
        pods=tuple(pod for folded in swept for pod in folded.value.pods),
        counts={owner: count for folded in swept for owner, count in folded.value.system.items()},
    )


def read_workload(body: Mapping[str, Any], kind: str) -> SystemWorkload:
    """A deployment or a daemon set from its wire body."""
    metadata, status = dig(body, "metadata"), dig(body, "status")
    said = {text(row, "type"): row for row in rows(status, "conditions")}
    refused = said.get("ReplicaFailure", {})
    wrong = [said[name] for name in ("Available", "Progressing") if text(said.get(name), "status") == "False"]
    replicas = dig(body, "spec", "replicas")
    wanted = (
        number(status, "desiredNumberScheduled") if kind == DAEMON_SET else 1 if replicas is None else int(replicas)
    )
    return SystemWorkload(
        kind=kind,
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        wanted=wanted,
        ready=number(status, "numberReady" if kind == DAEMON_SET else "readyReplicas"),
        created=moment(text(metadata, "creationTimestamp")),
        settled=number(status, "observedGeneration") in (0, number(metadata, "generation")),
        refused=_said(refused) if text(refused, "status") == "True" else "",
        complaint=_said(wrong[0]) if wrong else "",
        complains_since=moment(text(wrong[0], "lastTransitionTime")) if wrong else None,
    )


def _said(condition: Mapping[str, Any]) -> str:
    reason, message = text(condition, "reason"), text(condition, "message")
    return ": ".join(item for item in (reason, message) if item) or text(condition, "type")
