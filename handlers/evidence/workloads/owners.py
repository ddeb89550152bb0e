"""What keeps pods alive: deployments, replica sets, stateful and daemon sets, jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.cluster import workload
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, moment, need_text, number, rows, text
from handlers.evidence.workloads.lists import Listed, in_namespaces
from handlers.evidence.workloads.pods import PodCondition, PodSpec, read_condition, read_spec
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence

DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB = "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"
PATHS = {
    DEPLOYMENT: "/apis/apps/v1/namespaces/{}/deployments",
    REPLICA_SET: "/apis/apps/v1/namespaces/{}/replicasets",
    STATEFUL_SET: "/apis/apps/v1/namespaces/{}/statefulsets",
    DAEMON_SET: "/apis/apps/v1/namespaces/{}/daemonsets",
    JOB: "/apis/batch/v1/namespaces/{}/jobs",
}
_WANTED = {DAEMON_SET: ("status", "desiredNumberScheduled"), JOB: ("spec", "parallelism")}
_READY = {DAEMON_SET: "numberReady", JOB: "ready"}
_STANDING = {DAEMON_SET: "currentNumberScheduled", JOB: "active"}


@dataclass(frozen=True, slots=True)
class Owner:
    """One workload, or one replica set of a deployment."""

    kind: str
    namespace: str
    name: str
    wanted: int
    standing: int
    """How many pods it has, ready or not."""
    ready: int
    labels: Mapping[str, str]
    """Of the pods that it makes."""
    spec: PodSpec
    conditions: tuple[PodCondition, ...]
    owner_kind: str
    owner: str
    created: datetime | None
    claims: tuple[str, ...] = ()
    """The claim templates of a stateful set."""
    suspended: bool = False

    @property
    def subject(self) -> str:
        return f"{self.namespace}/{self.kind}/{self.name}"

    @property
    def workload(self) -> str:
        """The subject of what a person would change: of a replica set, its deployment."""
        owned = f"{self.owner_kind}/{self.owner}" if self.owner else workload(self.kind, self.name)
        return f"{self.namespace}/{owned}" if self.kind == REPLICA_SET else self.subject

    @property
    def lacks(self) -> int:
        return max(0, self.wanted - self.standing)

    def condition(self, kind: str) -> PodCondition | None:
        return next((condition for condition in self.conditions if condition.kind == kind), None)

    @property
    def refused(self) -> PodCondition | None:
        """Its pods cannot be created: ReplicaFailure, while it holds."""
        condition = self.condition("ReplicaFailure")
        return condition if condition and condition.status == "True" else None


@dataclass(frozen=True, kw_only=True)
class Owners(Evidence):
    """The workloads of the namespaces that are looked into; a replica set only while it wants pods."""

    owners: tuple[Owner, ...]

    def of_kind(self, *kinds: str) -> tuple[Owner, ...]:
        return tuple(owner for owner in self.owners if owner.kind in kinds)

    def named(self, subject: str) -> Owner | None:
        return next((owner for owner in self.owners if owner.subject == subject), None)

    @property
    def workloads(self) -> tuple[Owner, ...]:
        """What people change: replica sets that stand for themselves, but not those of deployments."""
        return tuple(owner for owner in self.owners if owner.kind != REPLICA_SET or not owner.owner)


@collector(
    reads=(),
    sees=(
        "list deployments.apps",
        "list replicasets.apps",
        "list statefulsets.apps",
        "list daemonsets.apps",
        "list jobs.batch",
    ),
    deadline_s=15,
)
async def owners(unwell: UnwellNamespaces, kube: KubeReader) -> Owners:
    """the workloads of the namespaces in which something is unwell"""

    async def of(kind: str) -> Listed[Owner]:
        return await in_namespaces(kube, unwell, PATHS[kind], partial(_kept, kind), owners.title)

    found, gaps = await each(list(PATHS), of)
    refused = [replace(gap, wanted=owners.title) for gap in gaps]
    return Owners(
        source="; ".join(listed.source for listed in found),
        taken_at=min(listed.taken_at for listed in found),
        truncated=any(listed.truncated for listed in found),
        gaps=tuple(dict.fromkeys((*refused, *(gap for listed in found for gap in listed.gaps)))),
        owners=tuple(owner for listed in found for owner in listed.items),
    )


def _kept(kind: str, body: Mapping[str, Any]) -> Owner | None:
    """Old replica sets of a deployment, ten of each, say nothing about today."""
    owner = read_owner(kind, body)
    return None if kind == REPLICA_SET and not owner.wanted and owner.owner else owner


def read_owner(kind: str, body: Mapping[str, Any]) -> Owner:
    """A workload from its wire body."""
    metadata, status, template = dig(body, "metadata"), dig(body, "status"), dig(body, "spec", "template")
    owner = next(iter(rows(metadata, "ownerReferences")), {})
    wanted = dig(body, *_WANTED.get(kind, ("spec", "replicas")))
    return Owner(
        kind=kind,
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        wanted=1 if wanted is None else int(wanted),
        standing=number(status, _STANDING.get(kind, "replicas")),
        ready=number(status, _READY.get(kind, "readyReplicas")),
        labels=dict(dig(template, "metadata", "labels") or {}),
        spec=read_spec(dig(template, "spec")),
        conditions=tuple(read_condition(row) for row in rows(status, "conditions")),
        owner_kind=text(owner, "kind"),
        owner=text(owner, "name"),
        created=moment(text(metadata, "creationTimestamp")),
        claims=tuple(text(row, "metadata", "name") for row in rows(body, "spec", "volumeClaimTemplates")),
        suspended=dig(body, "spec", "suspend") is True,
    )
