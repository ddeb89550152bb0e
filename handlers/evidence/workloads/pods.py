"""The pods of the namespaces that are looked into, whole: what each asks for, and how it fares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.cluster import workload
from handlers.evidence.quantities import added
from handlers.evidence.wire import dig, moment, need_text, number, rows, text, texts
from handlers.evidence.workloads.containers import Container, Reference, read_containers, resources
from handlers.evidence.workloads.lists import in_namespaces
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence

_SOURCES = {"persistentVolumeClaim": "claimName", "secret": "secretName", "configMap": "name", "csi": "driver"}


@dataclass(frozen=True, slots=True)
class PodVolume:
    """A volume of a pod, and where it comes from."""

    name: str
    kind: str
    """persistentVolumeClaim, secret, configMap, csi, hostPath, emptyDir, projected …"""
    source: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint that a pod puts up with."""

    key: str
    operator: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Scheduling:
    """What a pod asks of the node that it is put on. Rules as the API has them."""

    selector: Mapping[str, str]
    affinity: Mapping[str, Any]
    tolerations: tuple[Toleration, ...]
    spread: tuple[Mapping[str, Any], ...]
    gates: tuple[str, ...]
    scheduler: str
    priority: int
    host_network: bool
    requests: Mapping[str, Decimal]
    """Of the whole pod: its containers together, or its largest init container, and its overhead."""


@dataclass(frozen=True, slots=True)
class PodCondition:
    """One condition of a pod."""

    kind: str
    status: str
    reason: str
    message: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What a pod asks for, also in the template of its owner."""

    containers: tuple[Container, ...]
    volumes: tuple[PodVolume, ...]
    scheduling: Scheduling
    service_account: str
    pull_secrets: tuple[str, ...]
    dns_policy: str = ""
    nameservers: tuple[str, ...] = ()
    """Its own, beside or in place of the cluster's DNS."""

    @property
    def claims(self) -> tuple[str, ...]:
        return tuple(volume.source for volume in self.volumes if volume.kind == "persistentVolumeClaim")

    @property
    def references(self) -> tuple[Reference, ...]:
        """Every config map and secret that it names, volumes too."""
        mounted = tuple(
            Reference({"secret": "Secret", "configMap": "ConfigMap"}[volume.kind], volume.source, "", volume.optional)
            for volume in self.volumes
            if volume.kind in ("secret", "configMap")
        )
        return (*mounted, *(reference for container in self.containers for reference in container.references))


@dataclass(frozen=True, slots=True)
class WorkloadPod:
    """One pod, whole."""

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    owner_kind: str
    owner: str
    node: str
    address: str
    phase: str
    reason: str
    message: str
    conditions: tuple[PodCondition, ...]
    created: datetime | None
    deleting: datetime | None
    spec: PodSpec

    @property
    def subject(self) -> str:
        return f"{self.namespace}/Pod/{self.name}"

    @property
    def workload(self) -> str:
        """What keeps it alive, as a person knows it: `Deployment/web`, and not the ReplicaSet in between."""
        return workload(self.owner_kind, self.owner)

    @property
    def owned_by(self) -> str:
        """The subject of its workload: `shop/Deployment/web`."""
        return f"{self.namespace}/{self.workload}"

    @property
    def containers(self) -> tuple[Container, ...]:
        return self.spec.containers

    @property
    def done(self) -> bool:
        return self.phase == "Succeeded" or (self.phase == "Failed" and self.owner_kind != "Pod")

    @property
    def ready(self) -> bool:
        condition = self.condition("Ready")
        return condition is not None and condition.status == "True"

    @property
    def unscheduled(self) -> bool:
        """It waits for a node."""
        return self.phase == "Pending" and not self.node and self.deleting is None

    def condition(self, kind: str) -> PodCondition | None:
        return next((condition for condition in self.conditions if condition.kind == kind), None)


@dataclass(frozen=True, kw_only=True)
class WorkloadPods(Evidence):
    """The pods of the namespaces that are looked into."""

    pods: tuple[WorkloadPod, ...]

    def selected(self, namespace: str, selector: Mapping[str, str]) -> tuple[WorkloadPod, ...]:
        """Those that a service's selector takes. An empty selector takes none: somebody else keeps its endpoints."""
        wanted = selector.items()
        return tuple(
            pod for pod in self.pods if selector and pod.namespace == namespace and wanted <= pod.labels.items()
        )

    def called(self, namespace: str, name: str) -> tuple[WorkloadPod, ...]:
        """The pod of this name, or the pods of the workload that is called so, those that run first."""
        mine = [pod for pod in self.pods if pod.namespace == namespace and not pod.done]
        exact = [pod for pod in self.pods if (pod.namespace, pod.name) == (namespace, name)]
        return tuple(exact or sorted((pod for pod in mine if _is_called(pod, name)), key=lambda pod: not pod.ready))

    def of(self, owner: str) -> tuple[WorkloadPod, ...]:
        """Those of one workload (`shop/Deployment/web`)."""
        return tuple(pod for pod in self.pods if pod.owned_by == owner)


def _is_called(pod: WorkloadPod, workload: str) -> bool:
    return pod.workload.partition("/")[2] == workload


@collector(reads=(), sees=("list pods",), deadline_s=15)
async def workload_pods(unwell: UnwellNamespaces, kube: KubeReader) -> WorkloadPods:
    """the pods of the namespaces in which something is unwell"""
    listed = await in_namespaces(kube, unwell, "/api/v1/namespaces/{}/pods", read_workload_pod, workload_pods.title)
    return WorkloadPods(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        pods=listed.items,
    )


def read_workload_pod(body: Mapping[str, Any]) -> WorkloadPod:
    """A pod from its wire body."""
    metadata, status = dig(body, "metadata"), dig(body, "status")
    owner = next(iter(rows(metadata, "ownerReferences")), {})
    return WorkloadPod(
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        uid=text(metadata, "uid"),
        labels=dict(dig(metadata, "labels") or {}),
        owner_kind=text(owner, "kind") or "Pod",
        owner=text(owner, "name") or need_text(metadata, "name"),
        node=text(body, "spec", "nodeName"),
        address=text(status, "podIP"),
        phase=text(status, "phase"),
        reason=text(status, "reason"),
        message=text(status, "message"),
        conditions=tuple(read_condition(row) for row in rows(status, "conditions")),
        created=moment(text(metadata, "creationTimestamp")),
        deleting=moment(text(metadata, "deletionTimestamp")),
        spec=read_spec(dig(body, "spec"), status),
    )


def read_spec(spec: Any, status: Any = None) -> PodSpec:
    """What a pod asks for, from its spec or its owner's template."""
    containers = read_containers(spec, status)
    return PodSpec(
        containers=containers,
        volumes=tuple(_volume(row) for row in rows(spec, "volumes")),
        scheduling=_scheduling(spec, containers),
        service_account=text(spec, "serviceAccountName"),
        pull_secrets=tuple(text(row, "name") for row in rows(spec, "imagePullSecrets")),
        dns_policy=text(spec, "dnsPolicy") or "ClusterFirst",
        nameservers=texts(spec, "dnsConfig", "nameservers"),
    )


def read_condition(row: Mapping[str, Any]) -> PodCondition:
    kind, status, reason, message = (text(row, key) for key in ("type", "status", "reason", "message"))
    return PodCondition(kind, status, reason, message, moment(text(row, "lastTransitionTime")))


def requests_of(spec: Any, containers: tuple[Container, ...]) -> dict[str, Decimal]:
    """What the scheduler counts: init containers run one after the other, beside the sidecars started before them."""
    sidecars: dict[str, Decimal] = {}
    peak: dict[str, Decimal] = {}
    for each_container in (container for container in containers if container.init):
        needed = added(sidecars, each_container.requests)
        peak = {name: max(peak.get(name, Decimal(0)), value) for name, value in {**peak, **needed}.items()}
        if each_container.sidecar:
            sidecars = needed
    running = added(sidecars, *(container.requests for container in containers if not container.init))
    largest = {name: max(running.get(name, Decimal(0)), peak.get(name, Decimal(0))) for name in {**running, **peak}}
    return added(largest, resources(dig(spec, "overhead")))


def _scheduling(spec: Any, containers: tuple[Container, ...]) -> Scheduling:
    return Scheduling(
        selector=dict(dig(spec, "nodeSelector") or {}),
        affinity=dict(dig(spec, "affinity") or {}),
        tolerations=tuple(_toleration(row) for row in rows(spec, "tolerations")),
        spread=tuple(dict(row) for row in rows(spec, "topologySpreadConstraints")),
        gates=tuple(text(row, "name") for row in rows(spec, "schedulingGates")),
        scheduler=text(spec, "schedulerName"),
        priority=number(spec, "priority"),
        host_network=dig(spec, "hostNetwork") is True,
        requests=requests_of(spec, containers),
    )


def _toleration(row: Mapping[str, Any]) -> Toleration:
    return Toleration(text(row, "key"), text(row, "operator") or "Equal", text(row, "value"), text(row, "effect"))


def _volume(row: Mapping[str, Any]) -> PodVolume:
    kind = next((key for key in row if key != "name"), "")
    source = text(row, kind, _SOURCES.get(kind, "")) if kind in _SOURCES else ""
    return PodVolume(text(row, "name"), kind, source, dig(row, kind, "optional") is True)
