"""Network policies as values: whom each chooses, and whom its rules let through (networking.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from handlers.evidence.selectors import NOTHING, Labels, Selector, read_selector
from handlers.evidence.wire import dig, number, rows, text, texts
from handlers.evidence.workloads.wiring.routes import NetworkPolicy

INGRESS, EGRESS = "Ingress", "Egress"
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection: a pod, a node, or an address outside. Only pods have a namespace."""

    address: str
    namespace: str = ""
    name: str = ""
    labels: Labels = field(default_factory=dict)
    namespace_labels: Labels = field(default_factory=dict)
    node: str = ""
    host_network: bool = False
    """In the network of its node: policies do not choose it, and it speaks with the node's address."""
    ports: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The numbers of its named ports, by (name, protocol)."""

    @property
    def chosen_by_labels(self) -> bool:
        return bool(self.namespace) and not self.host_network


@dataclass(frozen=True, slots=True)
class Block:
    """An ipBlock: a range, without the ranges that are excepted."""

    cidr: Network | None
    excepted: tuple[Network, ...]
    means_pods: bool = True
    """Whether pods and nodes are meant by their addresses, too: to Cilium only what is outside of the cluster is."""

    def means(self, end: End) -> bool:
        return (self.means_pods or not (end.namespace or end.node)) and self.holds(end.address)

    def holds(self, address: str) -> bool:
        try:
            item = ip_address(address)
        except ValueError:
            return False
        inside = self.cidr is not None and item in self.cidr
        return inside and not any(item in other for other in self.excepted)


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is meant by one entry of `from` or `to`."""

    pods: Selector = NOTHING
    namespaces: Selector = NOTHING
    block: Block | None = None

    def means(self, end: End, namespace: str) -> bool:
        """Whether the other end is meant; `namespace` is the policy's own."""
        if self.block is not None:
            return self.block.means(end)
        if not end.chosen_by_labels:
            return False
        if self.namespaces.absent:
            return end.namespace == namespace and self.pods.matches(end.labels)
        return self.namespaces.matches(end.namespace_labels) and (self.pods.absent or self.pods.matches(end.labels))


@dataclass(frozen=True, slots=True)
class PortRule:
    """One entry of `ports`. Without a number and a name it means every port of its protocol."""

    protocol: str
    first: int = 0
    last: int = 0
    name: str = ""

    def means(self, port: int, protocol: str, target: End) -> bool:
        if protocol != self.protocol:
            return False
        if self.name:
            return target.ports.get((self.name, protocol)) == port
        return not self.first or self.first <= port <= self.last


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Without peers it means everybody, without ports every port."""

    peers: tuple[Peer, ...]
    ports: tuple[PortRule, ...]

    def lets(self, other: End, target: End, port: int, protocol: str, namespace: str) -> bool:
        """Whether it lets a connection through whose other end this is."""
        meant = not self.peers or any(peer.means(other, namespace) for peer in self.peers)
        return meant and (not self.ports or any(rule.means(port, protocol, target) for rule in self.ports))


@dataclass(frozen=True, slots=True)
class Policy:
    """One network policy."""

    namespace: str
    name: str
    selector: Selector
    kinds: tuple[str, ...]
    rules: Mapping[str, tuple[Rule, ...]]
    """By direction. A direction without rules lets nothing through."""

    @property
    def subject(self) -> str:
        return f"{self.namespace}/NetworkPolicy/{self.name}"

    def chooses(self, end: End, direction: str) -> bool:
        """Whether a pod is restricted by it in this direction."""
        same = end.chosen_by_labels and end.namespace == self.namespace
        return same and direction in self.kinds and self.selector.matches(end.labels)


def compiled(policies: Iterable[NetworkPolicy], *, blocks_mean_pods: bool = True) -> tuple[Policy, ...]:
    """Network policies as the API has them, made ready to be asked."""
    return tuple(_compiled(policy, blocks_mean_pods) for policy in policies)


def _compiled(policy: NetworkPolicy, blocks: bool) -> Policy:
    return Policy(
        namespace=policy.namespace,
        name=policy.name,
        selector=read_selector(policy.selector),
        kinds=policy.kinds,
        rules={
            INGRESS: tuple(_rule(row, "from", blocks) for row in policy.ingress),
            EGRESS: tuple(_rule(row, "to", blocks) for row in policy.egress),
        },
    )


def _rule(row: Mapping[str, Any], peers: str, blocks: bool) -> Rule:
    return Rule(
        tuple(_peer(item, blocks) for item in rows(row, peers)), tuple(_port(item) for item in rows(row, "ports"))
    )


def _peer(row: Mapping[str, Any], blocks: bool) -> Peer:
    block = dig(row, "ipBlock")
    if isinstance(block, Mapping):
        excepted = (_network(text) for text in texts(block, "except"))
        return Peer(block=Block(_network(text(block, "cidr")), tuple(item for item in excepted if item), blocks))
    return Peer(read_selector(dig(row, "podSelector")), read_selector(dig(row, "namespaceSelector")))


def _port(row: Mapping[str, Any]) -> PortRule:
    protocol, port = text(row, "protocol") or "TCP", dig(row, "port")
    if isinstance(port, str):
        return PortRule(protocol, name=port)
    first = number(row, "port")
    return PortRule(protocol, first, number(row, "endPort") or first)


def _network(cidr: str) -> Network | None:
    try:
        return ip_network(cidr, strict=False)
    except ValueError:
        return None
