"""The subnets that a cluster takes its addresses from."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.answers import Answer, Listing
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.wire import need_number, need_text, number, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why

NETWORK_API = "2024-05-01"
NODE_CLASSES = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses"
RESERVED = 5
"""Azure keeps the first four addresses and the last one of every subnet for itself."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """One subnet: its size, and how many of its addresses are taken."""

    id: str
    name: str
    prefixes: tuple[str, ...]
    size: int
    used: int
    route_table: str = ""

    @property
    def usable(self) -> int:
        return self.size - RESERVED * len(self.prefixes)

    @property
    def free(self) -> int:
        return self.usable - self.used


@dataclass(frozen=True, kw_only=True)
class PoolSubnets(Evidence):
    """The subnets that the node pools, node auto-provisioning and the API server name."""

    subnets: tuple[Subnet, ...]

    def of(self, subnet_id: str) -> Subnet | None:
        return next((subnet for subnet in self.subnets if subnet.id.lower() == subnet_id.lower()), None)


@dataclass(frozen=True, slots=True)
class NodeClass:
    """What Karpenter makes nodes from. Without a subnet of its own they stand in that of the cluster."""

    name: str
    subnet: str
    max_pods: int
    """0 where it does not say."""


@dataclass(frozen=True, kw_only=True)
class NodeClasses(Evidence):
    """The node classes of node auto-provisioning."""

    classes: tuple[NodeClass, ...]


@collector(reads=(), sees=("list aksnodeclasses.karpenter.azure.com",), deadline_s=15)
async def node_classes(cluster: ManagedCluster, kube: KubeReader) -> NodeClasses | NotApplicable:
    """the node classes"""
    if not cluster.makes_own_nodes or cluster.stopped:
        return NotApplicable(f"{cluster.name} has no node auto-provisioning at work")
    listing = await kube.list(NODE_CLASSES, read_node_class)
    return NodeClasses(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, classes=listing.items
    )


def read_node_class(body: Mapping[str, Any]) -> NodeClass:
    """An AKSNodeClass from its wire body."""
    name = need_text(body, "metadata", "name")
    return NodeClass(name, text(body, "spec", "vnetSubnetID"), number(body, "spec", "maxPods"))


@collector(reads=("Microsoft.Network/virtualNetworks/subnets/read", "Microsoft.Network/virtualNetworks/usages/read"))
async def pool_subnets(
    cluster: ManagedCluster, pools: AgentPools, classes: NodeClasses | NotApplicable | Unavailable, arm: ArmReader
) -> PoolSubnets | NotApplicable:
    """the node pools' subnets"""
    ids = [item for pool in pools.pools for item in (pool.subnet, pool.pod_subnet)]
    ids += [class_.subnet for class_ in classes.classes] if isinstance(classes, NodeClasses) else []
    named = {item.lower(): item for item in (*ids, cluster.api_server_subnet) if item}
    if not named:
        return NotApplicable("AKS manages the network: no node pool names a subnet of its own")
    vnets = {item.lower(): item for item in (subnet.rsplit("/", 2)[0] for subnet in named.values())}

    async def ask(path: str) -> Answer | Listing:
        if path.lower() in vnets:
            return await arm.list(f"{path}/usages", NETWORK_API)
        return await arm.get(path, NETWORK_API)

    told, gaps = await each([*named.values(), *vnets.values()], ask)
    answers = [item for item in told if isinstance(item, Answer)]
    listings = [item for item in told if isinstance(item, Listing)]
    if not answers or not listings:
        raise CannotSee(gaps[0])
    used = {
        text(row, "id").lower(): need_number(row, "currentValue")
        for listing in listings
        for row in whole(listing.items)
    }
    known = [answer for answer in answers if need_text(answer.body, "id").lower() in used]
    return PoolSubnets(
        source=", ".join(answer.source for answer in answers),
        taken_at=min(answer.taken_at for answer in answers),
        truncated=any(listing.truncated for listing in listings),
        gaps=(
            *gaps,
            *(_uncounted(answer.body) for answer in answers if answer not in known),
            *([classes] if isinstance(classes, Unavailable) else []),
        ),
        subnets=tuple(read_subnet(answer.body, used[need_text(answer.body, "id").lower()]) for answer in known),
    )


def _uncounted(body: Mapping[str, Any]) -> Unavailable:
    detail = "the virtual network's usages hold no row for it"
    return Unavailable(f"the addresses in use in {text(body, 'name')}", Why.ABSENT, detail)


def read_subnet(body: Mapping[str, Any], used: int) -> Subnet:
    """A subnet from its wire body: one prefix, or a list of them (IPv6 ones never run out)."""
    prefixes = texts(body, "properties", "addressPrefixes") or (need_text(body, "properties", "addressPrefix"),)
    try:
        networks = [ipaddress.ip_network(prefix) for prefix in prefixes]
    except ValueError as wrong:
        detail = f"{text(body, 'id')}: {wrong}"
        raise CannotSee(Unavailable("a subnet's prefix", Why.FAILED, detail)) from wrong
    v4 = [network for network in networks if network.version == 4]
    return Subnet(
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        prefixes=tuple(str(network) for network in v4),
        size=sum(network.num_addresses for network in v4),
        used=used,
        route_table=text(body, "properties", "routeTable", "id"),
    )
