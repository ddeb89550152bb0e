"""What stands between nodes or pods and their API server: ranges, rules and routes, private DNS, policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network

from handlers.diagnose.network_policies.paths import dropped, to_api_server
from handlers.diagnose.network_policies.rules import compiled
from handlers.diagnose.node_ways import NodeWay
from handlers.egress.packet import Packet
from handlers.egress.rules import Passage
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.egress_addresses import EgressAddresses
from handlers.evidence.endpoints import KubernetesService
from handlers.evidence.held_pods import HeldPods
from handlers.evidence.private_zone import PrivateZone
from handlers.model import Unavailable, Why

HTTPS = 443


@dataclass(frozen=True, slots=True)
class Obstruction:
    """One thing that provably stands in the way."""

    cause: str
    """`ranges`, `firewall`, `private-dns` or `policy`."""
    says: str
    subject: str = ""
    facts: dict[str, object] = field(default_factory=dict)


def by_ranges(cluster: ManagedCluster, egress: EgressAddresses) -> Iterator[Obstruction]:
    """Nodes leave from an address that the API server does not take."""
    if cluster.vnet_integrated:
        return
    ranges = [found for text in cluster.authorized_ranges if (found := _range(text))]
    lost = [address for address in egress.addresses if not _listed(address.range, ranges)]
    if lost:
        first = lost[0]
        wanted = [*cluster.authorized_ranges, *dict.fromkeys(_with_length(address.range) for address in lost)]
        yield Obstruction(
            "ranges",
            f"nodes leave from {first.range} ({first.of}), and the API server takes only "
            f"{', '.join(cluster.authorized_ranges)}",
            facts={"address": first.range, "ranges": wanted},
        )


def _range(text: str) -> object:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _listed(address: str, ranges: Iterable[object]) -> bool:
    wanted = _range(address)
    return any(
        wanted.version == known.version and wanted.subnet_of(known)  # type: ignore[attr-defined]
        for known in ranges
        if wanted is not None
    )


def _with_length(address: str) -> str:
    return address if "/" in address else f"{address}/32"


def by_way_out(cluster: ManagedCluster, ways: Iterable[NodeWay | Unavailable]) -> Iterator[Obstruction | Unavailable]:
    """A rule or a route on the nodes' way to the public address of the API server."""
    if cluster.private or cluster.vnet_integrated or not cluster.fqdn:
        return
    for way in ways:
        if isinstance(way, Unavailable):
            yield way
            continue
        found = way.of(Packet(cluster.fqdn, HTTPS))
        if found.passage is Passage.DENIED:
            yield Obstruction("firewall", f"{way.named}: {found.says}", found.subject, {"rule": found.says})
        elif found.passage is not Passage.OPEN:
            wanted = f"the nodes' way to {cluster.fqdn}"
            yield Unavailable(wanted, Why.ABSENT, f"{way.named}: {found.says}")


def by_zone(cluster: ManagedCluster, zone: PrivateZone, networks: Iterable[str]) -> Iterator[Obstruction]:
    """The private name of the API server leads nowhere."""
    if cluster.vnet_integrated:
        return
    if not zone.exists:
        yield Obstruction(
            "private-dns", f"private DNS zone {zone.name} of {cluster.private_fqdn} does not exist", zone.id
        )
    elif zone.record == ():
        yield Obstruction("private-dns", f"zone {zone.name} holds no A record for {cluster.private_fqdn}", zone.id)
    elif zone.record and zone.endpoint and not set(zone.record) & set(zone.endpoint):
        told = f"the record of {cluster.private_fqdn} is {', '.join(zone.record)}, its private endpoint is "
        yield Obstruction("private-dns", told + ", ".join(zone.endpoint), zone.id)
    elif zone.links is not None and (lost := [network for network in networks if not zone.linked_to(network)]):
        told = f"zone {zone.name} is not linked to network {lost[0].rpartition('/')[2]}, in which nodes stand"
        yield Obstruction("private-dns", told, zone.id)


def by_policies(way: KubernetesService, held: HeldPods) -> Iterator[Obstruction]:
    """A network policy drops what system pods that are not Ready send to the API server."""
    if way.service is None:
        return
    rules = compiled(held.policies)
    target = to_api_server(way.service.address, way.addresses, HTTPS)
    for pod in held.pods:
        for path in dropped(rules, pod, [target], {}):
            side = path.decision.blocking or path.decision.egress
            names = ", ".join(policy.subject for policy in side.choosing[:3])
            what = f"allows nothing to {path.end.address}:{path.port}"
            told = f"{names} restricts what {pod.workload} may send, and {what}"
            yield Obstruction("policy", told, facts={"policy": names, "pod": pod.name, "owner": pod.owned_by})
            return
