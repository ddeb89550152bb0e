"""What a pod asks of a node: everything that the scheduler looks at, from the pod's wire body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from handlers.evidence.cluster import workload
from handlers.evidence.quantities import Amounts, added, larger
from handlers.evidence.selectors import Labels, Requirement, Selector, equal_to, read_requirements, read_selector
from handlers.evidence.wire import dig, moment, need_text, number, rows, text, texts
from handlers.evidence.workloads.containers import resources
from handlers.evidence.workloads.pods import Toleration

ANY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 (it is compared with, nothing is bound)
NODE_NAMES = ("metadata.name", "kubernetes.io/hostname")
"""The field and the label that hold the name of one node."""
POD_LEVEL = ("cpu", "memory")
"""What a pod may ask for as a whole: it then counts instead of the sum over its containers."""


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One term of a node affinity: labels and fields that must all hold. An empty one chooses no node."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]

    def chooses(self, name: str, labels: Labels) -> bool:
        here = {"metadata.name": name}
        chosen = all(label.holds(labels) for label in self.labels) and all(field.holds(here) for field in self.fields)
        return chosen and bool(self.labels or self.fields)

    def __str__(self) -> str:
        return " and ".join(str(label) for label in (*self.labels, *self.fields)) or "an empty term"


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Other pods that this one must be near to, or away from, and what counts as near."""

    selector: Selector
    namespaces: tuple[str, ...]
    namespace_selector: Selector
    topology: str

    def chooses(self, namespace: str, labels: Labels, namespace_labels: Mapping[str, Labels]) -> bool:
        return self.selector.matches(labels) and self.covers(namespace, namespace_labels)

    def unseen(self, namespace_labels: Mapping[str, Labels]) -> bool:
        """Whether it is about namespaces by their labels, and no namespace's labels were seen."""
        return bool(self.namespace_selector.requirements) and not namespace_labels

    def covers(self, namespace: str, namespace_labels: Mapping[str, Labels]) -> bool:
        """Whether it is about pods of this namespace."""
        if namespace in self.namespaces or self.namespace_selector.everything:
            return True
        return namespace in namespace_labels and self.namespace_selector.matches(namespace_labels[namespace])


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread that forbids: how uneven the pods may lie over the values of a label."""

    max_skew: int
    topology: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool


@dataclass(frozen=True, slots=True, order=True)
class HostPort:
    """A port of the node that a container takes."""

    port: int
    protocol: str
    address: str
    """Of the node; empty for all that it has."""

    def meets(self, other: HostPort) -> bool:
        """Whether two pods cannot have both on one node."""
        anywhere = "" in (self.address, other.address)
        same_port = (self.port, self.protocol) == (other.port, other.protocol)
        return same_port and (anywhere or self.address == other.address)

    def __str__(self) -> str:
        return f"{self.protocol} {self.port}"


@dataclass(frozen=True, slots=True)
class Demand:
    """One pod that waits for a node, with all that it asks of it."""

    namespace: str
    name: str
    uid: str
    owner_kind: str
    owner: str
    labels: Labels
    created: datetime | None
    since: datetime | None
    """Since when the scheduler says that no node will do."""
    said: str
    """What the scheduler says."""
    gated: bool
    nominated: str
    """The node that the scheduler is making room on, by evicting pods of a lower priority."""
    scheduler: str
    node_name: str
    node_selector: tuple[Requirement, ...]
    node_terms: tuple[NodeTerm, ...] | None
    """None where it has no node affinity: any node is right. An empty list chooses no node."""
    near: tuple[PodTerm, ...]
    away: tuple[PodTerm, ...]
    spreads: tuple[Spread, ...]
    tolerations: tuple[Toleration, ...]
    requests: Amounts
    ports: tuple[HostPort, ...]
    volume_claims: tuple[str, ...]
    priority: int

    @property
    def names_its_node(self) -> bool:
        """Whether only nodes that it names will do, by field or by host name: no new node has such a name."""
        terms = self.node_terms or ()
        named = any(_is_a_name(label) for label in self.node_selector)
        return named or (bool(terms) and all(any(map(_is_a_name, (*term.labels, *term.fields))) for term in terms))

    def sees_namespaces(self, namespace_labels: Mapping[str, Labels]) -> bool:
        """Whether all is known of the namespaces that its rules are about."""
        return not any(term.unseen(namespace_labels) for term in (*self.near, *self.away))

    @property
    def workload(self) -> str:
        return workload(self.owner_kind, self.owner)

    @property
    def owner_id(self) -> str:
        """`namespace/Deployment/name`."""
        return f"{self.namespace}/{self.workload}"


def read_demand(body: Mapping[str, Any]) -> Demand:
    """A pod that waits for a node, from its wire body."""
    metadata, spec = body.get("metadata") or {}, body.get("spec") or {}
    owner = next(iter(rows(metadata, "ownerReferences")), {})
    name, namespace = need_text(metadata, "name"), need_text(metadata, "namespace")
    labels = dict(dig(metadata, "labels") or {})
    status, reason, said, since = _scheduled(body)
    return Demand(
        namespace=namespace,
        name=name,
        uid=text(metadata, "uid"),
        owner_kind=text(owner, "kind") or "Pod",
        owner=text(owner, "name") or name,
        labels=labels,
        created=moment(text(metadata, "creationTimestamp")),
        since=since,
        said=said if status == "False" else "",
        gated=reason == "SchedulingGated" or bool(rows(spec, "schedulingGates")),
        nominated=text(body, "status", "nominatedNodeName"),
        scheduler=text(spec, "schedulerName") or "default-scheduler",
        node_name=text(spec, "nodeName"),
        node_selector=equal_to(dig(spec, "nodeSelector")),
        node_terms=_node_terms(spec),
        near=tuple(pod_terms(spec, "podAffinity", namespace, labels)),
        away=tuple(pod_terms(spec, "podAntiAffinity", namespace, labels)),
        spreads=tuple(_spreads(spec, labels)),
        tolerations=tuple(_toleration(row) for row in rows(spec, "tolerations")),
        requests=requests(spec),
        ports=tuple(host_ports(spec)),
        volume_claims=tuple(_claims(spec, name)),
        priority=number(spec, "priority"),
    )


def _is_a_name(requirement: Requirement) -> bool:
    return requirement.key in NODE_NAMES and requirement.operator == "In"


def _scheduled(body: Mapping[str, Any]) -> tuple[str, str, str, datetime | None]:
    for row in rows(body, "status", "conditions"):
        if text(row, "type") == "PodScheduled":
            since = moment(text(row, "lastTransitionTime"))
            return text(row, "status"), text(row, "reason"), text(row, "message"), since
    return "", "", "", None


def _node_terms(spec: Mapping[str, Any]) -> tuple[NodeTerm, ...] | None:
    required = dig(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else read_node_terms(required)


def read_node_terms(required: Any) -> tuple[NodeTerm, ...]:
    """The terms of a NodeSelector, of which one must hold."""
    return tuple(
        NodeTerm(read_requirements(term, "matchExpressions"), read_requirements(term, "matchFields"))
        for term in rows(required, "nodeSelectorTerms")
    )


def pod_terms(spec: Mapping[str, Any], kind: str, namespace: str, labels: Labels) -> Iterator[PodTerm]:
    """The required terms of a pod's affinity or anti-affinity."""
    for term in rows(spec, "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"):
        theirs = tuple(texts(term, "namespaces"))
        others = read_selector(dig(term, "namespaceSelector"))
        selector = read_selector(dig(term, "labelSelector"))
        same = _of_labels(texts(term, "matchLabelKeys"), "In", labels)
        differing = _of_labels(texts(term, "mismatchLabelKeys"), "NotIn", labels)
        own = (namespace,) if not theirs and others.absent else ()
        yield PodTerm(selector.narrowed((*same, *differing)), theirs or own, others, text(term, "topologyKey"))


def _spreads(spec: Mapping[str, Any], labels: Labels) -> Iterator[Spread]:
    for row in rows(spec, "topologySpreadConstraints"):
        if text(row, "whenUnsatisfiable") != "DoNotSchedule":
            continue
        selector = read_selector(dig(row, "labelSelector"))
        yield Spread(
            max_skew=max(1, number(row, "maxSkew")),
            topology=text(row, "topologyKey"),
            selector=selector.narrowed(_of_labels(texts(row, "matchLabelKeys"), "In", labels)),
            min_domains=max(1, number(row, "minDomains")),
            honors_affinity=text(row, "nodeAffinityPolicy") != "Ignore",
            honors_taints=text(row, "nodeTaintsPolicy") == "Honor",
        )


def _of_labels(keys: tuple[str, ...], operator: str, labels: Labels) -> tuple[Requirement, ...]:
    """`matchLabelKeys`: the pod's own value of a label, as a requirement on others. A label it lacks says nothing."""
    return tuple(Requirement(key, operator, (labels[key],)) for key in keys if key in labels)


def _toleration(row: Mapping[str, Any]) -> Toleration:
    return Toleration(text(row, "key"), text(row, "operator") or "Equal", text(row, "value"), text(row, "effect"))


def requests(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """What a pod counts for on a node: its containers and sidecars together, or the init container that asks for most,
    and the overhead of its runtime class."""
    sidecars: dict[str, Decimal] = {}
    starting: dict[str, Decimal] = {}
    for box in rows(spec, "initContainers"):
        asked = resources(dig(box, "resources", "requests"))
        if text(box, "restartPolicy") == "Always":
            sidecars = added(sidecars, asked)
            starting = larger(starting, sidecars)
        else:
            starting = larger(starting, added(sidecars, asked))
    running = sidecars
    for box in rows(spec, "containers"):
        running = added(running, resources(dig(box, "resources", "requests")))
    whole = resources(dig(spec, "resources", "requests"))
    wanted = larger(running, starting) | {name: whole[name] for name in POD_LEVEL if name in whole}
    return added(wanted, resources(dig(spec, "overhead")))


def host_ports(spec: Mapping[str, Any]) -> Iterator[HostPort]:
    """The ports of the node that a pod takes. Kubernetes fills in hostPort where a pod is in the host's network."""
    sidecars = (box for box in rows(spec, "initContainers") if text(box, "restartPolicy") == "Always")
    for box in (*sidecars, *rows(spec, "containers")):
        for port in rows(box, "ports"):
            if number(port, "hostPort"):
                address = text(port, "hostIP")
                anywhere = address in ANY_ADDRESS
                yield HostPort(number(port, "hostPort"), text(port, "protocol") or "TCP", "" if anywhere else address)


def _claims(spec: Mapping[str, Any], pod: str) -> Iterator[str]:
    for volume in rows(spec, "volumes"):
        claim = text(volume, "persistentVolumeClaim", "claimName")
        if claim:
            yield claim
        elif dig(volume, "ephemeral") is not None:  # a generic ephemeral volume has a claim of the pod's name
            yield f"{pod}-{text(volume, 'name')}"
