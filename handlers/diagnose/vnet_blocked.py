"""Do a firewall, a rule or the network's name servers keep nodes from their API server?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address

from handlers.diagnose.blocked_way import ADMIN_RULES, blocker_facts, free_priority
from handlers.diagnose.node_ways import (
    NodeWay,
    Symptoms,
    failed_alike,
    failures_that_name_nothing,
    machines_of,
    node_ways,
    outbound_type,
)
from handlers.egress.packet import Packet
from handlers.egress.rules import Passage
from handlers.egress.way import Way
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import Instances, ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.private_zone import PrivateZone
from handlers.evidence.way_out import PacketFilters, RequiredEndpoints
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why
from runbooks.linear import compile_linear

CODE = "vnet-blocked"
SCRIPT = "cse-error"
"""What a node's script that does not reach the API server is called: its exit codes 51 and 52 name no way out."""
_UNREACHED = compile_linear(r"K8SAPIServer\w*Fail|exit(?: status| code)?[=: ]{1,3}5[12]\b", ignore_case=True)
_UNRESOLVED = compile_linear(r"DNSLookupFail|exit(?: status| code)?[=: ]{1,3}52\b", ignore_case=True)


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (RequiredEndpoints, ActivityLog, NodeActivityLog, PrivateZone),
        "nothing has failed, so no log holds a reason; what the rest of the list needs, and the zone, are asked apart",
        in_health_only=True,
    ),
)
def vnet_blocked(
    cluster: ManagedCluster,
    pools: AgentPools,
    networks: NodeNetworks,
    filters: PacketFilters,
    sets: ScaleSets,
    needed: RequiredEndpoints | Unavailable,
    zone: PrivateZone | NotApplicable | Unavailable,
    complaints: Complaints,
    instances: Instances | Unavailable,
) -> Iterator[Judgement]:
    """A firewall, a rule or custom DNS servers keep nodes from their API server."""
    if isinstance(needed, Unavailable):
        yield needed
        return
    yield from [instances] if isinstance(instances, Unavailable) else instances.gaps
    yield from (*complaints.gaps, *needed.gaps) if complaints.failures else ()
    yield from _unseen_of(zone) if complaints.failures else ()
    for way in node_ways(cluster, pools, networks, filters, sets):
        if isinstance(way, Unavailable):
            yield way
        else:
            case = Case(cluster, way, complaints, symptoms(cluster, way, complaints, instances))
            yield from _of_subnet(case, needed, zone)


def _unseen_of(zone: PrivateZone | NotApplicable | Unavailable) -> Iterator[Unavailable]:
    if isinstance(zone, Unavailable):
        yield zone
    elif isinstance(zone, PrivateZone):
        yield from zone.gaps


@dataclass(frozen=True, slots=True)
class Case:
    """One subnet of nodes, and what says that they do not reach their API server."""

    cluster: ManagedCluster
    way: NodeWay
    complaints: Complaints
    seen: Symptoms

    @property
    def unresolved(self) -> bool:
        """Whether a node could not resolve the name."""
        told = [complaint.error for complaint in self.seen.complaints]
        told += [error for machine in self.seen.machines for error in machine.extension_errors]
        return any(_UNRESOLVED.search(f"{detail.code} {detail.message}") for detail in told)

    @property
    def unsure(self) -> bool:
        return bool(self.seen) or failures_that_name_nothing(self.complaints, self.cluster, self.way)


def symptoms(
    cluster: ManagedCluster, way: NodeWay, complaints: Complaints, instances: Instances | Unavailable
) -> Symptoms:
    """A node's script that did not reach the API server, or did not resolve its name."""
    subjects = {cluster.id.lower(), *(pool.id.lower() for pool in way.pools)}
    told = [
        complaint
        for complaint in complaints.standing(SCRIPT)
        if complaint.about.lower() in subjects and _is_unreached(complaint.error)
    ]
    hit = [instance for instance in machines_of(instances, way) if any(map(_is_unreached, instance.extension_errors))]
    return Symptoms(tuple(told), tuple(hit))


def _is_unreached(error: ErrorDetail) -> bool:
    return _UNREACHED.search(f"{error.code} {error.message}") is not None


def _of_subnet(
    case: Case, needed: RequiredEndpoints, zone: PrivateZone | NotApplicable | Unavailable
) -> Iterator[Judgement]:
    names = [(packet, case.way.of(packet)) for packet in _name_packets(case.way)]
    servers = [(packet, case.way.of(packet)) for packet in _api_packets(case.cluster, zone)]
    of_all = {case.way.of(packet).subject.lower() for packet in needed.packets if _is_denied(case.way.of(packet))}
    denied = [(name, way) for name, way in (*names, *servers) if _is_denied(way)]
    own = [(packet, way) for packet, way in denied if way.subject.lower() not in of_all]
    if own:
        yield _denied(case, *own[0])
    elif denied and denied[0][1].rule and not case.complaints.failures:
        yield _denied(case, *denied[0])
    elif denied:
        yield Clear(f"{case.way.named}: {denied[0][1].says}, and more than the API server: see outbound-conn-fail")
    elif case.seen and case.unresolved and case.way.name_servers:
        yield _finding(case, _by_name(case.way), proven=False)
    elif case.seen and (beyond := _beyond(case, servers)):
        yield _finding(case, beyond, proven=False)
    elif case.unsure and (unknown := _unknown(case, (*names, *servers))):
        yield Unavailable(f"the way of subnet {case.way.subnet.name} to the API server", Why.ABSENT, unknown)
    else:
        yield Clear(f"{case.way.named}: {_quiet(case.way, [*names, *servers])}")


def _is_denied(way: Way) -> bool:
    return way.passage is Passage.DENIED


def _name_packets(way: NodeWay) -> Iterator[Packet]:
    for server in way.name_servers:
        address = _address(server)
        if address:
            yield Packet(server, 53, "UDP", address)


def _api_packets(cluster: ManagedCluster, zone: PrivateZone | NotApplicable | Unavailable) -> Iterator[Packet]:
    """The API server by its public name, or by the address that its private name has."""
    if not cluster.private:
        yield from [Packet(cluster.fqdn, 443)] if cluster.fqdn else []
        return
    held = (zone.endpoint or zone.record or ()) if isinstance(zone, PrivateZone) else ()
    yield from (Packet(cluster.private_fqdn, 443, address=found) for item in held if (found := _address(item)))


def _address(text: str) -> IPv4Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found if isinstance(found, IPv4Address) else None


def _denied(case: Case, packet: Packet, way: Way) -> Judgement:
    if way.rule and not case.unsure:
        detail = f"{way.says}, which holds {packet.to}; {ADMIN_RULES}"
        return Unavailable(f"the way of subnet {case.way.subnet.name} to {packet.to}", Why.ABSENT, detail)
    return _finding(case, way, proven=True, packet=packet)


def _by_name(way: NodeWay) -> Way:
    named = ", ".join(way.name_servers)
    says = (
        f"network {way.subnet.network.name} asks DNS servers {named} instead of Azure's: what they answer is not "
        "visible from here, and a node could not resolve its API server"
    )
    return Way(Passage.BEYOND, says, way.subnet.network.id)


def _beyond(case: Case, servers: list[tuple[Packet, Way]]) -> Way | None:
    """A firewall on the way. What goes through a proxy, or to a private endpoint in the network, meets none."""
    if case.cluster.proxy and not case.cluster.private:
        says = f"goes to HTTP proxy {case.cluster.proxy}: what it lets through is not visible from here"
        return Way(Passage.BEYOND, says, case.cluster.id)
    return next((way for _, way in servers if way.passage is Passage.BEYOND), None)


def _unknown(case: Case, ways: tuple[tuple[Packet, Way], ...]) -> str:
    if case.cluster.private and not any(packet.port == 443 for packet, _ in ways):
        return "the address of the private API server was not seen"
    if case.way.name_servers:
        return f"what DNS servers {', '.join(case.way.name_servers)} answer is not visible from here"
    return next((way.says for _, way in ways if not way.open), "")


def _quiet(way: NodeWay, ways: list[tuple[Packet, Way]]) -> str:
    told = [f"names are asked of {', '.join(way.name_servers)}"] if way.name_servers else []
    told += [f"{packet}: {way.says}" for packet, way in ways if packet.port != 53][:1]
    return "; ".join((*told, "no node set-up script reports that it failed to reach the API server"))


def _finding(case: Case, way: Way, *, proven: bool, packet: Packet | None = None) -> Finding:
    cluster, subjects = case.cluster, (*(pool.id for pool in case.way.pools), case.cluster.id)
    hit = {complaint.about.lower() for complaint in case.seen.complaints}
    codes = (CODE, SCRIPT)
    claimed = tuple(item for item in case.complaints.claimed(subjects, codes) if item.lower() in hit)
    alike = case.complaints.affected(failed_alike(case.seen.machines, case.way.pools), codes)
    to_names = packet is not None and packet.port == 53
    what = f"; DNS server {packet.to} does not hear the nodes" if packet and to_names else ""
    what = f"; API server {packet.to} is only reachable there" if packet and not to_names else what
    server = cluster.private_fqdn if cluster.private else cluster.fqdn
    return Finding(
        code=CODE,
        subject=way.subject or case.way.subnet.id,
        severity=Severity.ERROR if claimed or case.seen.machines else Severity.WARNING,
        affects=tuple(dict.fromkeys((*claimed, *case.seen.subjects, *alike))),
        because=(f"{way.says}{what}", f"nodes of {case.way.named} go this way", *case.seen.lines),
        facts={
            **blocker_facts(way, case.way),
            "proven": proven,
            "names": to_names or (not proven and way.subject == case.way.subnet.network.id),
            "dns_server": packet.to if packet and to_names else ", ".join(case.way.name_servers),
            "new_priority": free_priority(way),
            "proxy": cluster.proxy,
            "host": server,
            "private": cluster.private,
            "outbound": outbound_type(cluster),
            "pools": [pool.name for pool in case.way.pools],
            "pool_ids": [pool.id for pool in case.way.pools if pool.failed],
            "cluster_id": cluster.id,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )
