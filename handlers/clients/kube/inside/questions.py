"""The fixed kubectl lines that run-command may send, and how to parse their output.

Each line projects the fields inside the cluster, because output is cut at 512 kB. A first and a last line of its own
show where a cut happened. A record begins with `@`, cells are separated by tabs, and free text is the last cell,
because it may hold tabs and line breaks itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.inside.projections import (
    budget,
    config_map,
    lease,
    node,
    pod,
    provisioning,
    service_or_slice,
    warning,
    workload,
)

BEGIN, END = "#begin", "#end"
OTHER_SYSTEMS = ("calico-system", "tigera-operator", "gatekeeper-system", "app-routing-system", "aks-istio-system")
"""The namespaces, beside kube-system, in which AKS may run pods of its own."""
_NODE_LABELS = (
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "kubernetes.azure.com/mode",
    "kubernetes.azure.com/node-image-version",
    "kubernetes.azure.com/scalesetpriority",
    "kubernetes.azure.com/upgrade-status",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "karpenter.sh/nodepool",
)


def _label(name: str) -> str:
    escaped = name.replace(".", "\\.")
    return "{.metadata.labels." + escaped + "}"


def _each(path: str, *fields: str) -> str:
    """One cell for a list of small rows: `name=value=value,`."""
    return "{range " + path + "}" + "=".join("{" + field + "}" for field in fields) + ",{end}"


def _records(path: str, *cells: str) -> str:
    return "{range " + path + '}{"@\\t"}' + '{"\\t"}'.join(cells) + '{"\\n"}{end}'


def _in(namespace: str) -> str:
    return f'.items[?(@.metadata.namespace=="{namespace}")]'


def _line(what: str, *records: str) -> str:
    begin, end = '{"' + BEGIN + '\\n"}', '{"' + END + '\\n"}'
    return f"kubectl get {what} -o jsonpath='{begin}{''.join(records)}{end}'"


_CONDITION = (".type", ".status", ".reason", ".lastHeartbeatTime", ".lastTransitionTime")
_STATE = (
    ".name",
    ".ready",
    ".restartCount",
    ".image",
    ".state.waiting.reason",
    ".state.terminated.reason",
    ".state.terminated.exitCode",
    ".lastState.terminated.reason",
    ".lastState.terminated.exitCode",
    ".lastState.terminated.finishedAt",
)
_NODE = (
    "{.metadata.name}",
    "{.metadata.creationTimestamp}",
    "{.metadata.deletionTimestamp}",
    "{.spec.providerID}",
    "{.spec.unschedulable}",
    "{.spec.taints}",
    "{.status.nodeInfo.kubeletVersion}",
    "{.status.capacity.memory}",
    "{.status.allocatable.memory}",
    *map(_label, _NODE_LABELS),
    # Most conditions are False and cost 100 bytes each, so only True ones are printed; Ready always is.
    _each('.status.conditions[?(@.type=="Ready")]', *_CONDITION)
    + _each('.status.conditions[?(@.status!="False")]', *_CONDITION),
    '{.status.conditions[?(@.type=="Ready")].message}',
)
_POD = (
    "{.metadata.namespace}",
    "{.metadata.name}",
    "{.metadata.creationTimestamp}",
    "{.metadata.deletionTimestamp}",
    "{.metadata.deletionGracePeriodSeconds}",
    "{.metadata.finalizers}",
    "{.metadata.labels}",
    "{.metadata.ownerReferences[0].kind}",
    "{.metadata.ownerReferences[0].name}",
    "{.spec.nodeName}",
    "{.spec.priorityClassName}",
    "{.status.phase}",
    "{.status.reason}",
    _each(".status.initContainerStatuses[*]", *_STATE),
    _each(".status.containerStatuses[*]", *_STATE),
    _each(".status.conditions[*]", *_CONDITION),
    # A pod without a node has no waiting containers: only one of the two has a message.
    (
        '{.status.conditions[?(@.type=="PodScheduled")].message}'
        "{.status.initContainerStatuses[*].state.waiting.message}"
        "{.status.containerStatuses[*].state.waiting.message}"
    ),
)
_BUDGET = (
    "{.metadata.namespace}",
    "{.metadata.name}",
    "{.metadata.creationTimestamp}",
    "{.metadata.generation}",
    "{.metadata.labels}",
    "{.metadata.ownerReferences[0].kind}",
    "{.metadata.ownerReferences[0].name}",
    "{.metadata.annotations.argocd\\.argoproj\\.io/tracking-id}",
    "{.spec.minAvailable}",
    "{.spec.maxUnavailable}",
    "{.spec.selector}",
    "{.spec.unhealthyPodEvictionPolicy}",
    "{.status.disruptionsAllowed}",
    "{.status.currentHealthy}",
    "{.status.desiredHealthy}",
    "{.status.expectedPods}",
    "{.status.observedGeneration}",
    _each(".status.conditions[*]", *_CONDITION),
)
_WARNING = (
    "{.metadata.namespace}",
    "{.metadata.name}",
    "{.involvedObject.kind}",
    "{.involvedObject.namespace}",
    "{.involvedObject.name}",
    "{.reason}",
    "{.count}",
    "{.firstTimestamp}",
    "{.lastTimestamp}",
    "{.eventTime}",
    "{.series.count}",
    "{.series.lastObservedTime}",
    "{.source.component}",
    "{.message}",
)
_WORKLOAD = (
    "{.kind}",
    "{.metadata.namespace}",
    "{.metadata.name}",
    "{.metadata.creationTimestamp}",
    "{.metadata.generation}",
    "{.spec.replicas}",
    "{.status.observedGeneration}",
    "{.status.readyReplicas}",
    "{.status.desiredNumberScheduled}",
    "{.status.numberReady}",
    _each(".status.conditions[*]", *_CONDITION),
    '{.status.conditions[?(@.type=="ReplicaFailure")].message}',
)
_LEASE = ("{.metadata.namespace}", "{.metadata.name}", "{.spec.renewTime}")
_WAY = (
    "{.kind}",
    "{.metadata.namespace}",
    "{.metadata.name}",
    "{.spec.clusterIP}",
    "{.spec.selector}",
    _each(".spec.ports[*]", ".name", ".port"),
    _each(".endpoints[*]", ".addresses[*]", ".conditions.ready"),
    _each(".ports[*]", ".name", ".port"),
)
_OF_THE_API_SERVER = (
    '.items[?(@.metadata.name=="kubernetes")]',
    r'.items[?(@.metadata.labels.kubernetes\.io/service-name=="kubernetes")]',
)
_PROVISIONING = (
    "{.kind}",
    "{.metadata.name}",
    "{.metadata.creationTimestamp}",
    "{.metadata.deletionTimestamp}",
    _label("karpenter.sh/nodepool"),
    "{.spec.requirements}",
    "{.spec.resources.requests.cpu}",
    "{.spec.vnetSubnetID}",
    "{.spec.maxPods}",
    _each('.status.conditions[?(@.type=="Launched")]', *_CONDITION),
    '{.status.conditions[?(@.type=="Launched")].message}',
)
_CONFIG_MAP = ("{.metadata.namespace}", "{.metadata.name}", "{.data.status}")
_NOT_FINE = (
    '.items[?(@.status.phase=="Pending")]',
    '.items[?(@.status.phase=="Failed")]',
    '.items[?(@.status.phase=="Unknown")]',
    ".items[?(@.status.containerStatuses[*].state.waiting)]",
)


@dataclass(frozen=True, slots=True)
class Question:
    """One kubectl line, the kind of list it stands for, and how to read one of its records."""

    about: str
    command: str
    kind: str
    cells: int
    read: Callable[[list[str]], dict[str, Any]]


NODES = Question(
    "nodes", _line("nodes", _records(".items[*]", *_NODE)), "NodeList", len(_NODE), lambda row: node(row, _NODE_LABELS)
)
BAD_PODS = Question(
    "pods that wait, failed or are lost",
    _line("pods --all-namespaces", *(_records(path, *_POD) for path in _NOT_FINE)),
    "PodList",
    len(_POD),
    pod,
)
SYSTEM_PODS = Question(
    "pods of kube-system",
    _line("pods --namespace kube-system", _records(".items[*]", *_POD)),
    "PodList",
    len(_POD),
    pod,
)
BUDGETS = Question(
    "disruption budgets",
    _line("poddisruptionbudgets --all-namespaces", _records(".items[*]", *_BUDGET)),
    "PodDisruptionBudgetList",
    len(_BUDGET),
    budget,
)
# A cluster keeps its events for an hour.
WARNINGS = Question(
    "warning events of the last hour",
    _line("events --all-namespaces --field-selector type=Warning", _records(".items[*]", *_WARNING)),
    "EventList",
    len(_WARNING),
    warning,
)
SYSTEM_WORKLOADS = Question(
    "deployments and daemon sets of kube-system",
    _line("deployments,daemonsets --namespace kube-system", _records(".items[*]", *_WORKLOAD)),
    "List",
    len(_WORKLOAD),
    workload,
)
# For clusters that have these namespaces: one command for all of them.
OTHER_PODS = Question(
    "pods of AKS's other namespaces",
    _line("pods --all-namespaces", *(_records(_in(system), *_POD) for system in OTHER_SYSTEMS)),
    "PodList",
    len(_POD),
    pod,
)
OTHER_WORKLOADS = Question(
    "deployments and daemon sets of AKS's other namespaces",
    _line("deployments,daemonsets --all-namespaces", *(_records(_in(system), *_WORKLOAD) for system in OTHER_SYSTEMS)),
    "List",
    len(_WORKLOAD),
    workload,
)
LEASES = Question(
    "the nodes' leases",
    _line("leases --namespace kube-node-lease", _records(".items[*]", *_LEASE)),
    "LeaseList",
    len(_LEASE),
    lease,
)
API_SERVICE = Question(
    "the service of the API server",
    _line("services,endpointslices --namespace default", *(_records(path, *_WAY) for path in _OF_THE_API_SERVER)),
    "List",
    len(_WAY),
    service_or_slice,
)
# Only clusters with node auto-provisioning have these kinds; the others are not asked.
PROVISIONING = Question(
    "node claims and node classes",
    _line("nodeclaims,aksnodeclasses", _records(".items[*]", *_PROVISIONING)),
    "List",
    len(_PROVISIONING),
    provisioning,
)
AUTOSCALER = Question(
    "the cluster autoscaler's status",
    _line(
        "configmaps --namespace kube-system --field-selector metadata.name=cluster-autoscaler-status",
        _records(".items[*]", *_CONFIG_MAP),
    ),
    "ConfigMapList",
    len(_CONFIG_MAP),
    config_map,
)
QUESTIONS = (
    NODES,
    BAD_PODS,
    SYSTEM_PODS,
    BUDGETS,
    WARNINGS,
    SYSTEM_WORKLOADS,
    OTHER_PODS,
    OTHER_WORKLOADS,
    LEASES,
    API_SERVICE,
    PROVISIONING,
    AUTOSCALER,
)


def objects(question: Question, output: str) -> tuple[list[dict[str, Any]], bool]:
    """The objects in an output, as far as they are projected, and whether it was cut."""
    start, end = output.find(f"{BEGIN}\n"), output.rfind(f"\n{END}")
    records = output[start + len(BEGIN) if start >= 0 else 0 : end if end >= 0 else None].split("\n@\t")[1:]
    cut = start < 0 or end < 0
    if end < 0:
        records = records[:-1]
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record in records:
        cells = record.split("\t", question.cells - 1)
        if len(cells) < question.cells:
            cut = True
            continue
        item = question.read(["" if cell == "<nil>" else cell for cell in cells])
        found[key_of(item)] = item
    return list(found.values()), cut


def key_of(body: dict[str, Any]) -> tuple[str, str, str]:
    """The key of an object in an answer that may hold several kinds."""
    return body.get("kind", ""), body["metadata"].get("namespace", ""), body["metadata"]["name"]
