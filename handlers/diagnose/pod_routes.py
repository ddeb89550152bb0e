"""kubenet: does a route of the nodes' subnet lead to every node's pods?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Network

from handlers.egress.routes import Hop, Route, RouteTable
from handlers.evidence.node_networks import NodeNetworks, NodeSubnet
from handlers.evidence.pod_ranges import PodRange, PodRanges
from handlers.evidence.way_out import PacketFilters
from handlers.model import Unavailable, Why

ROUTE_COMES = timedelta(minutes=10)
"""AKS makes a new node's route within a minute or two."""


@dataclass(frozen=True, slots=True)
class RouteFault:
    """A subnet whose routes do not lead to the pods of some nodes."""

    subnet: NodeSubnet
    table: RouteTable | None
    """None where the subnet has none."""
    lost: tuple[PodRange, ...]
    """Nodes without a route, or with one that leads elsewhere."""
    wrong: tuple[str, ...] = ()


def route_faults(
    ranges: PodRanges, ready: frozenset[str], networks: NodeNetworks, filters: PacketFilters
) -> Iterator[RouteFault | Unavailable]:
    """Every subnet of the nodes. Each Ready node needs a route from each of them."""
    named = [node for node in ranges.ranges if node.node in ready and not _is_new(node, ranges)]
    known = [node for node in named if node.range and node.address]
    for subnet in networks.subnets:
        table = filters.tables.get(subnet.route_table.lower())
        if not subnet.route_table and known:
            yield RouteFault(subnet, None, tuple(known))
        elif table is None and subnet.route_table:
            yield from filters.gaps or (_unseen(subnet),)
        elif table and (lost := [node for node in known if _leads_elsewhere(table, node)]):
            wrong = tuple(word for node in lost if (word := _leads_elsewhere(table, node)))
            yield RouteFault(subnet, table, tuple(lost), wrong)


def _unseen(subnet: NodeSubnet) -> Unavailable:
    return Unavailable(f"the route table of {subnet.name}", Why.ABSENT, f"{subnet.route_table} was not seen")


def _is_new(node: PodRange, ranges: PodRanges) -> bool:
    return node.created is not None and ranges.taken_at - node.created < ROUTE_COMES


def _leads_elsewhere(table: RouteTable, node: PodRange) -> str:
    """What is wrong with the way to a node's pods; empty where nothing is."""
    route = _longest(table, node)
    if route is None:
        return f"no route of {table.name} leads to {node.range}, the pods of {node.node} ({node.address})"
    if route.hop is Hop.APPLIANCE and route.address == node.address:
        return ""
    to = route.address or route.hop.value
    return f"route {route.name} sends {node.range} to {to}, and its pods are on {node.node} ({node.address})"


def _longest(table: RouteTable, node: PodRange) -> Route | None:
    """The route that Azure takes. A default route to an appliance leads nowhere near the pods."""
    wanted = _network(node.range)
    known = [(network, route) for route in table.routes if (network := _network(route.prefix))]
    held = [
        (network.prefixlen, route)
        for network, route in known
        if wanted and network.prefixlen and wanted.subnet_of(network)
    ]
    return max(held, key=lambda pair: pair[0])[1] if held else None


def _network(prefix: str) -> IPv4Network | None:
    """None for a service tag and for IPv6."""
    try:
        return IPv4Network(prefix)
    except ValueError:
        return None
