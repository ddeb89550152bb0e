"""What the cluster says of itself: its API server, its nodes, the pods that stand out, and the disruption budgets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Any

from handlers.clients.errors import ServerFault, Unreachable
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.drains import named_nodes, speaks_of_drain
from handlers.evidence.memory_kills import MemoryKill, memory_kills
from handlers.evidence.quantity import in_bytes
from handlers.evidence.wire import dig, moment, need_text, number, rows, text, texts
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why

PROVIDER = "azure://"
DIRECTLY = "directly"
DEBUGGER = "node-debugger-"
"""How `kubectl debug node` begins the names of its pods."""
MANY_RESTARTS = 5
"""With the fifth, the kubelet's back-off (10 s, doubled each time) is at its longest, five minutes."""
NODE_IMAGE = "kubernetes.azure.com/node-image-version"
UPGRADE_STATUS = "kubernetes.azure.com/upgrade-status"
LEAVING = frozenset({"tobedeletedbyclusterautoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"})
"""Taints of nodes that an autoscaler is taking away."""

_HASH = re.compile(r"-[0-9a-z]{6,10}$")
"""What a Deployment's ReplicaSet has behind the Deployment's name."""


@dataclass(frozen=True, kw_only=True)
class ApiServer(Evidence):
    """Whether the API server answers from here, and what it says of itself."""

    reached: str
    trouble: str = ""
    """dns, refused, connect-timeout, tls, network, or the status of an answer that was a fault."""
    detail: str = ""
    failing: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        return bool(self.reached) and not self.trouble and not self.failing


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a node."""

    status: str
    reason: str
    message: str
    since: datetime | None


NO_CONDITION = Condition("Unknown", "", "the node has no Ready condition", None)
NO_TROUBLES: Mapping[str, Condition] = {}


@dataclass(frozen=True, slots=True)
class Node:
    """One node."""

    name: str
    pool: str
    machine: str
    """The ARM id of its virtual machine; empty for a virtual node."""
    ready: Condition
    troubles: Mapping[str, Condition]
    """The other conditions that hold, such as DiskPressure. Of 5,000 nodes only what is wrong is kept."""
    cordoned: bool
    leaving: bool
    quarantined: bool
    deleting: bool
    spot: bool
    virtual: bool
    """Made by a virtual kubelet: no machine stands behind it."""
    version: str
    image: str
    created: datetime | None
    memory: int | None = None
    """Bytes of its machine; None where nobody said."""
    memory_for_pods: int | None = None
    """What is left of them after what is reserved for the system and the kubelet (`allocatable`)."""
    system: str = "linux"

    @property
    def in_scale_set(self) -> bool:
        return "/virtualmachinescalesets/" in self.machine.lower()

    @property
    def subject(self) -> str:
        return f"Node/{self.name}"

    @property
    def is_ready(self) -> bool:
        return self.ready.status == "True"


@dataclass(frozen=True, kw_only=True)
class Nodes(Evidence):
    """The cluster's nodes."""

    nodes: tuple[Node, ...]

    @property
    def any_ready(self) -> bool:
        return any(node.is_ready for node in self.nodes)

    def of(self, pool: str) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.pool.lower() == pool.lower())


@dataclass(frozen=True, kw_only=True)
class NodeLeases(Evidence):
    """When each node's kubelet last reported."""

    renewed: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class LastEnd:
    """How a container that runs again ended before."""

    container: str
    reason: str
    exit_code: int
    at: datetime
    restarts: int


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod that stands out."""

    namespace: str
    name: str
    node: str
    phase: str
    ready: bool
    ready_since: datetime | None
    """Since when it is Ready, or is not."""
    owner_kind: str
    owner: str
    created: datetime | None
    deleting: datetime | None
    grace_s: int
    finalizers: tuple[str, ...]
    trouble: str
    """Why a container waits or ended, or why the pod was not given a node."""
    detail: str
    image: str
    restarts: int
    labels: Mapping[str, str] = field(default_factory=dict)
    uid: str = ""
    """Empty where it was not asked for (run-command)."""
    ended: LastEnd | None = None
    """The latest end of a container that was started again."""

    @property
    def subject(self) -> str:
        return f"{self.namespace}/Pod/{self.name}"

    @property
    def workload(self) -> str:
        """What keeps it alive, as a person knows it: `Deployment/coredns`, and not the ReplicaSet in between."""
        return workload(self.owner_kind, self.owner)

    @property
    def done(self) -> bool:
        """It has ended for good: its owner, if it is still wanted, has made another."""
        return self.phase == "Succeeded" or (self.phase == "Failed" and self.owner_kind != "Pod")

    @property
    def debugs_a_node(self) -> bool:
        """Made by `kubectl debug node`: a person's, in whatever namespace they were."""
        return self.owner_kind == "Pod" and self.name.startswith(DEBUGGER)

    @property
    def drained(self) -> bool:
        """Whether a drain has to make it go: DaemonSets' and static pods stay, ended ones are gone already."""
        return self.owner_kind not in ("DaemonSet", "Node") and self.phase not in ("Succeeded", "Failed")

    @property
    def budgeted(self) -> bool:
        """Whether its eviction asks the budgets: Kubernetes ignores them for pods that do not run or are leaving."""
        return self.drained and self.phase == "Running" and self.deleting is None


@dataclass(frozen=True, kw_only=True)
class Pods(Evidence):
    """The pods that stand out: not well, on their way out, on a node that is being emptied, or AKS's own and often
    restarted. Of the rest, counts."""

    pods: tuple[Pod, ...]
    total: int
    by_node: Mapping[str, int]
    system: Mapping[str, int]
    """How many pods each owner (`kube-system/Deployment/coredns`) has in AKS's own namespaces."""
    killed: tuple[MemoryKill, ...] = ()
    """Evicted, or killed by the kernel, for lack of memory; as far as their pods remember."""

    def on(self, node: str) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.node == node)


@collector(
    reads=("Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",),
    sees=("get /readyz",),
    deadline_s=10,
)
async def api_server(cluster: ManagedCluster, kube: KubeReader) -> ApiServer | NotApplicable:
    """the API server"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: its API server does not run")
    source = f"{cluster.name}: /readyz"
    try:
        told = await kube.text("/readyz", {"verbose": "true"}, also=(500,))
    except Unreachable as error:
        trouble = error.code or "network"
        detail = error.detail.partition(";")[0]  # behind it stands that run-command was not asked either
        return ApiServer(source=source, taken_at=cluster.taken_at, reached="", trouble=trouble, detail=detail)
    except ServerFault as error:
        if not kube.reached:  # Azure failed on the way there; the cluster's own server said nothing
            raise
        fault = str(error.status or "fault")
        return ApiServer(
            source=source, taken_at=cluster.taken_at, reached=kube.reached, trouble=fault, detail=error.detail
        )
    return ApiServer(source=source, taken_at=cluster.taken_at, reached=kube.reached or DIRECTLY, failing=_failing(told))


def _failing(told: str) -> tuple[str, ...]:
    """The checks that `/readyz` says failed. A text that says neither that nor that all passed is no answer."""
    lines = told.strip().splitlines()
    failing = tuple(line[3:].partition(" failed")[0] for line in lines if line.startswith("[-]"))
    if not failing and (not lines or lines[-1] != "readyz check passed"):
        raise CannotSee(Unavailable("/readyz", Why.FAILED, "the answer of /readyz could not be understood"))
    return failing


@collector(reads=(), sees=("list nodes",), deadline_s=15)
async def nodes(cluster: ManagedCluster, kube: KubeReader) -> Nodes | NotApplicable:
    """the nodes"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: it has no nodes")
    listing = await kube.list("/api/v1/nodes", read_node)
    return Nodes(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, nodes=listing.items)


@collector(reads=(), sees=("list leases.coordination.k8s.io",), deadline_s=15)
async def node_leases(nodes: Nodes, kube: KubeReader) -> NodeLeases:
    """the kubelets' leases"""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    listing = await kube.list(path, _renewal)
    renewed = {name: at for name, at in listing.items if at}
    return NodeLeases(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, renewed=renewed)


@dataclass
class Sweep:
    """What is kept while the pages of pods go by: a hundred and fifty thousand pods are not."""

    emptied: frozenset[str]
    systems: frozenset[str]
    """AKS's own namespaces."""
    pods: list[Pod] = field(default_factory=list)
    total: int = 0
    by_node: dict[str, int] = field(default_factory=dict)
    system: dict[str, int] = field(default_factory=dict)
    killed: list[MemoryKill] = field(default_factory=list)

    def add(self, body: Mapping[str, Any]) -> None:
        self.total += 1
        node = intern(text(body, "spec", "nodeName"))
        self.by_node[node] = self.by_node.get(node, 0) + 1
        ended = text(body, "status", "phase") in ("Succeeded", "Failed")
        namespace = text(body, "metadata", "namespace")
        of_system = namespace in self.systems
        if of_system and not ended:
            owner = intern(f"{namespace}/{workload_of(body)}")
            self.system[owner] = self.system.get(owner, 0) + 1
        if node in self.emptied or stands_out(body) or (of_system and _restarts(body) >= MANY_RESTARTS):
            self.pods.append(read_pod(body))
        self.killed.extend(memory_kills(body, lambda: workload_of(body)))


@collector(reads=(), sees=("list pods",), deadline_s=25)
async def pods(cluster: ManagedCluster, nodes: Nodes, complaints: Complaints | Unavailable, kube: KubeReader) -> Pods:
    """the pods"""
    emptied = {node.name for node in nodes.nodes if node.cordoned or not node.is_ready}
    if isinstance(complaints, Complaints):
        told = [complaint for complaint in complaints.all if speaks_of_drain(complaint.error)]
        emptied |= {name for complaint in told for name in named_nodes(complaint.error)}
    systems = cluster.all_system_namespaces
    swept = await kube.fold("/api/v1/pods", lambda: Sweep(frozenset(emptied), systems), Sweep.add)
    return Pods(
        source=swept.source,
        taken_at=swept.taken_at,
        truncated=swept.truncated,
        pods=tuple(swept.value.pods),
        total=swept.value.total,
        by_node=swept.value.by_node,
        system=swept.value.system,
        killed=tuple(swept.value.killed),
    )


def read_node(body: Mapping[str, Any]) -> Node:
    """A node from its wire body."""
    labels = dig(body, "metadata", "labels") or {}
    taints = [text(taint, "key").lower() for taint in rows(body, "spec", "taints")]
    said = {intern(text(row, "type")): row for row in rows(body, "status", "conditions")}
    ready = said.pop("Ready", None)
    provider = text(body, "spec", "providerID")
    return Node(
        name=intern(need_text(body, "metadata", "name")),
        pool=intern(text(labels, "agentpool") or text(labels, "kubernetes.azure.com/agentpool")),
        machine=provider.removeprefix(PROVIDER) if provider.startswith(PROVIDER) else "",
        ready=_condition(ready) if ready else NO_CONDITION,
        troubles={kind: _condition(row) for kind, row in said.items() if text(row, "status") == "True"} or NO_TROUBLES,
        cordoned=dig(body, "spec", "unschedulable") is True,
        leaving=any(taint in LEAVING for taint in taints),
        quarantined=text(labels, UPGRADE_STATUS).lower() == "quarantined",
        deleting=bool(text(body, "metadata", "deletionTimestamp")),
        spot=text(labels, "kubernetes.azure.com/scalesetpriority").lower() == "spot",
        virtual=text(labels, "type") == "virtual-kubelet",
        version=intern(text(body, "status", "nodeInfo", "kubeletVersion").removeprefix("v")),
        image=intern(text(labels, NODE_IMAGE)),
        created=moment(text(body, "metadata", "creationTimestamp")),
        memory=in_bytes(dig(body, "status", "capacity", "memory")),
        memory_for_pods=in_bytes(dig(body, "status", "allocatable", "memory")),
        system=intern(text(labels, "kubernetes.io/os").lower()) or "linux",
    )


def stands_out(body: Mapping[str, Any]) -> bool:
    """Whether a pod is of interest wherever it runs."""
    metadata, status = body.get("metadata") or {}, body.get("status") or {}
    if "deletionTimestamp" in metadata:
        return True
    phase = status.get("phase")
    if phase == "Succeeded":
        return False
    return phase != "Running" or not _is_ready(status)


def read_pod(body: Mapping[str, Any]) -> Pod:
    """A pod from its wire body."""
    metadata, status = dig(body, "metadata"), dig(body, "status")
    containers = [*rows(status, "initContainerStatuses"), *rows(status, "containerStatuses")]
    kind, owner = _owner(body)
    trouble, detail, image = _trouble(status, containers)
    return Pod(
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        node=text(body, "spec", "nodeName"),
        phase=text(status, "phase"),
        ready=_is_ready(status or {}),
        ready_since=_ready_since(status),
        owner_kind=kind,
        owner=owner,
        created=moment(text(metadata, "creationTimestamp")),
        deleting=moment(text(metadata, "deletionTimestamp")),
        grace_s=number(metadata, "deletionGracePeriodSeconds") or number(body, "spec", "terminationGracePeriodSeconds"),
        finalizers=texts(metadata, "finalizers"),
        trouble=trouble,
        detail=detail,
        image=image,
        restarts=sum(number(container, "restartCount") for container in containers),
        labels=dict(dig(metadata, "labels") or {}),
        uid=text(metadata, "uid"),
        ended=_last_end(containers),
    )


def workload(kind: str, name: str) -> str:
    return f"Deployment/{_HASH.sub('', name)}" if kind == "ReplicaSet" else f"{kind}/{name}"


def workload_of(body: Mapping[str, Any]) -> str:
    """What keeps a pod alive, from its wire body."""
    return workload(*_owner(body))


def _owner(body: Mapping[str, Any]) -> tuple[str, str]:
    """A pod without an owner stands for itself."""
    owner = next(iter(rows(body, "metadata", "ownerReferences")), {})
    return text(owner, "kind") or "Pod", text(owner, "name") or text(body, "metadata", "name")


def _condition(row: Mapping[str, Any]) -> Condition:
    status, reason, message = (intern(text(row, key)) for key in ("status", "reason", "message"))
    return Condition(status, reason, message, moment(text(row, "lastTransitionTime")))


def _renewal(body: Mapping[str, Any]) -> tuple[str, datetime | None]:
    return intern(need_text(body, "metadata", "name")), moment(text(body, "spec", "renewTime"))


def _is_ready(status: Mapping[str, Any]) -> bool:
    return any(row.get("type") == "Ready" and row.get("status") == "True" for row in status.get("conditions") or ())


def _ready_since(status: Any) -> datetime | None:
    said = next((row for row in rows(status, "conditions") if text(row, "type") == "Ready"), None)
    return moment(text(said, "lastTransitionTime"))


def _restarts(body: Mapping[str, Any]) -> int:
    boxes = (body.get("status") or {}).get("containerStatuses") or ()
    return max((number(box, "restartCount") for box in boxes), default=0)


def _last_end(containers: list[Mapping[str, Any]]) -> LastEnd | None:
    ends = []
    for container in containers:
        last = dig(container, "lastState", "terminated")
        at = moment(text(last, "finishedAt"))
        if at:
            ends.append(
                LastEnd(
                    text(container, "name"),
                    text(last, "reason"),
                    number(last, "exitCode"),
                    at,
                    number(container, "restartCount"),
                )
            )
    return max(ends, key=lambda end: end.at, default=None)


def _trouble(status: Any, containers: list[Mapping[str, Any]]) -> tuple[str, str, str]:
    """What is wrong with a pod, in Kubernetes' own word; its message; and the image it is about."""
    for container in containers:
        waiting, ended = dig(container, "state", "waiting"), dig(container, "state", "terminated")
        last = dig(container, "lastState", "terminated")
        reason = text(waiting, "reason")
        if reason and reason not in ("ContainerCreating", "PodInitializing"):
            return reason, text(waiting, "message") or text(last, "message"), text(container, "image")
        if text(ended, "reason") and number(ended, "exitCode"):
            return text(ended, "reason"), text(ended, "message"), text(container, "image")
    for row in rows(status, "conditions"):
        if text(row, "type") == "PodScheduled" and text(row, "status") == "False":
            return text(row, "reason"), text(row, "message"), ""
    return text(status, "reason"), text(status, "message"), ""
