"""What stands between nodes or pods and their API server: ranges, rules and routes, private DNS, policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network

from handlers.diagnose.network_policies.doubt import doubt
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
from handlers.resource_id import last_name

HTTPS = 443


@dataclass(frozen=True, slots=True)
class Obstruction:
    """One thing that provably stands in the way."""

    cause: str
    """`ranges`, `firewall`, `private-dns` or `policy`."""
    says: str
    subject: str = ""
    facts: dict[str, object] = field(default_factory=dict)
    pools: tuple[str, ...] = ()
    """The ids of the pools that it holds up; none where it may be all."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The names, in lower case, of the pools with silent nodes and with nodes that report; empty where unknown."""

    silent: frozenset[str]
    reporting: frozenset[str]

    def none_of(self, pools: Iterable[str] = ()) -> bool:
        """Whether nodes of these pools, or of all, are silent and none reports: one that reports proves the way."""
        named = {last_name(pool).lower() for pool in pools}
        mine = {*named, ""} if named else self.silent | self.reporting
        return bool(mine & self.silent) and not mine & self.reporting


def by_ranges(cluster: ManagedCluster, egress: EgressAddresses, reports: Reports) -> Iterator[Obstruction]:
    """Nodes leave from an address that the API server does not take."""
    if cluster.vnet_integrated:
        return
    ranges = [found for text in cluster.authorized_ranges if (found := _range(text))]
    outside = [address for address in egress.addresses if not _listed(address.range, ranges)]
    lost = [address for address in outside if reports.none_of(address.pools)]
    if lost:
        first = lost[0]
        wanted = [*cluster.authorized_ranges, *dict.fromkeys(_with_length(address.range) for address in lost)]
        yield Obstruction(
            "ranges",
            f"nodes leave from {first.range} ({first.of}), and the API server takes only "
            f"{', '.join(cluster.authorized_ranges)}",
            facts={"address": first.range, "ranges": wanted},
            pools=tuple(pool for address in lost for pool in address.pools) if all(of.pools for of in lost) else (),
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


def by_way_out(
    cluster: ManagedCluster, ways: Iterable[NodeWay | Unavailable], reports: Reports
) -> Iterator[Obstruction | Unavailable]:
    """A rule or a route on the nodes' way to the public address of the API server."""
    if cluster.private or cluster.vnet_integrated or not cluster.fqdn:
        return
    for way in ways:
        if isinstance(way, Unavailable):
            yield way
            continue
        pools = tuple(pool.id for pool in way.pools)
        if not reports.none_of(pools):
            continue
        found = way.of(Packet(cluster.fqdn, HTTPS))
        if found.passage is Passage.DENIED:
            yield Obstruction("firewall", f"{way.named}: {found.says}", found.subject, {"rule": found.says}, pools)
        elif found.passage is not Passage.OPEN:
            wanted = f"the nodes' way to {cluster.fqdn}"
            yield Unavailable(wanted, Why.ABSENT, f"{way.named}: {found.says}")


def by_zone(
    cluster: ManagedCluster, zone: PrivateZone, networks: Mapping[str, tuple[str, ...]], reports: Reports
) -> Iterator[Obstruction]:
    """The private name of the API server leads nowhere. `networks` that ask Azure's DNS, each with its pools."""
    if cluster.vnet_integrated:
        return
    if told := _broken(cluster, zone):
        if reports.none_of():
            yield Obstruction("private-dns", told, zone.id)
        return
    lost = [name for name, pools in networks.items() if not zone.linked_to(name) and reports.none_of(pools)]
    if zone.links is not None and lost:
        told = f"zone {zone.name} is not linked to network {last_name(lost[0])}, in which nodes stand"
        yield Obstruction("private-dns", told, zone.id, pools=networks[lost[0]])


def _broken(cluster: ManagedCluster, zone: PrivateZone) -> str:
    """What keeps all nodes from finding the API server's address; empty where nothing does."""
    if not zone.exists:
        return f"private DNS zone {zone.name} of {cluster.private_fqdn} does not exist"
    if zone.record == ():
        return f"zone {zone.name} holds no A record for {cluster.private_fqdn}"
    if zone.record and zone.endpoint and not set(zone.record) & set(zone.endpoint):
        told = f"the record of {cluster.private_fqdn} is {', '.join(zone.record)}, its private endpoint is "
        return told + ", ".join(zone.endpoint)
    return ""


def by_policies(way: KubernetesService, held: HeldPods) -> Iterator[Obstruction | Unavailable]:
    """A network policy drops what system pods that are not Ready send to the API server."""
    if way.service is None:
        return
    rules = compiled(held.policies)
    target = to_api_server(way.service.address, way.addresses, HTTPS)
    for pod in held.pods:
        for path in dropped(rules, pod, [target], {}):
            if doubtful := doubt(path, held.others, all_read=not held.truncated):
                yield doubtful
                return
            side = path.decision.blocking or path.decision.egress
            names = ", ".join(policy.subject for policy in side.choosing[:3])
            what = f"allows nothing to {path.end.address}:{path.port}"
            told = f"{names} restricts what {pod.workload} may send, and {what}"
            yield Obstruction("policy", told, facts={"policy": names, "pod": pod.name, "owner": pod.owned_by})
            return
