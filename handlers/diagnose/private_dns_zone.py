"""Does the private DNS zone lead nodes to their API server?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from handlers.diagnose.node_ways import failed_alike
from handlers.egress.packet import network as prefix_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import Instance, Instances, ScaleSets
from handlers.evidence.governance import RoleAssignments
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import Network, NodeNetworks
from handlers.evidence.private_zone import PrivateZone
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why
from handlers.resource_id import last_name
from runbooks.linear import compile_linear

CODE = "private-dns-zone"
WRITERS = {
    "b12aa53e-6015-4669-85d0-8515ebb3ae7f": "Private DNS Zone Contributor",
    "4d97b98b-1d4f-4787-a291-c67834d212e7": "Network Contributor",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
}
"""Azure's own roles that let an identity write a zone's records and links."""
READERS = frozenset({"acdd72a7-3385-48ef-bd42-f606fba81ae7"})
"""Azure's Reader. What another role allows, its name does not tell."""
_PLATFORM_DNS = "168.63.129.16"
_UNRESOLVED = compile_linear(r"DNSLookupFail|exit(?: status| code)?[=: ]{1,3}52\b", ignore_case=True)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the zone: fact `cause`, the line that proves it, and the network that it is about."""

    cause: str
    says: str
    network: str = ""
    breaks_names: bool = True
    """Nodes do not find their API server now. Else only the next write of AKS fails."""


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, Instances),
        "the zone, its links and its record prove it; errors only tell whom it has hit",
    ),
)
def private_dns_zone(
    cluster: ManagedCluster,
    pools: AgentPools,
    zone: PrivateZone | Unavailable | NotApplicable,
    networks: NodeNetworks | Unavailable,
    roles: RoleAssignments | Unavailable,
    complaints: Complaints,
    instances: Instances | Unavailable,
) -> Iterator[Judgement]:
    """The private DNS zone of the API server is missing, not linked, empty or not permitted."""
    if isinstance(zone, NotApplicable):
        yield zone
        return
    if isinstance(zone, Unavailable):
        yield zone
        return
    faults = [*_faults(cluster, zone, networks), *_not_permitted(cluster, zone, roles)]
    if faults:
        yield _finding(cluster, pools, zone, faults, complaints, _without_name(instances))
        return
    yield from zone.gaps
    yield from _unseen(cluster, networks, roles)
    yield from _unsure(zone, networks, complaints)
    yield Clear(f"zone {zone.name} exists{_says_links(zone, networks)} and holds {', '.join(zone.record or ())}")


def _faults(cluster: ManagedCluster, zone: PrivateZone, networks: NodeNetworks | Unavailable) -> Iterator[Fault]:
    if not zone.exists:
        yield Fault("missing", f"private DNS zone {zone.name} does not exist, and {cluster.private_fqdn} lives in it")
        return
    if zone.links is not None and isinstance(networks, NodeNetworks):
        # With Azure's own DNS a network resolves only what is linked to it; with other servers it depends on these.
        yield from (
            _not_linked(zone, network)
            for network in networks.networks
            if _asks_azure(network) and _lacks(zone, network)
        )
    if zone.record == ():
        yield Fault("no-record", f"zone {zone.name} holds no A record for {cluster.private_fqdn.partition('.')[0]}")
    elif zone.record and zone.endpoint and not set(zone.record) & set(zone.endpoint):
        points, stands = ", ".join(zone.record), ", ".join(zone.endpoint)
        yield Fault(
            "wrong-record", f"the record of {cluster.private_fqdn} is {points}, its private endpoint is {stands}"
        )


def _not_linked(zone: PrivateZone, network: Network) -> Fault:
    half = [link for link in zone.links or () if link.network.lower() == network.id.lower()]
    why = "its link to it is not completed" if half else "it is not linked to it"
    says = f"nodes stand in network {network.name}, which asks Azure's DNS for zone {zone.name}: {why}"
    return Fault("not-linked", says, network.id)


def _lacks(zone: PrivateZone, network: Network) -> bool:
    return not zone.linked_to(network.id)


def _servers(network: Network) -> tuple[str, ...]:
    return tuple(server for server in network.name_servers if server != _PLATFORM_DNS)


def _asks_azure(network: Network) -> bool:
    return not _servers(network)


def _homes(network: Network) -> tuple[str, ...]:
    """The networks in which its custom DNS servers stand, as far as peerings show them."""
    spaces = [(network.id, network.space), *((peering.network, peering.space) for peering in network.peerings)]
    return tuple(
        dict.fromkeys(
            home for server in _servers(network) for home, space in spaces if any(_holds(p, server) for p in space)
        )
    )


def _holds(prefix: str, address: str) -> bool:
    known = prefix_of(prefix)
    try:
        return known is not None and ip_address(address) in known
    except ValueError:
        return False


def _not_permitted(cluster: ManagedCluster, zone: PrivateZone, roles: RoleAssignments | Unavailable) -> Iterator[Fault]:
    """Only for a zone that people brought: AKS owns the one that it made itself."""
    if not zone.exists or not cluster.private_zone.startswith("/") or isinstance(roles, Unavailable):
        return
    held = {_definition(role.definition) for role in roles.roles if role.covers(zone.id)}
    if cluster.control_plane_identities and roles.complete and held <= READERS:
        says = (
            f"the cluster's identity has no role on zone {zone.name} that lets it write: Private DNS Zone Contributor"
        )
        yield Fault("not-permitted", says, breaks_names=False)


def _definition(role: str) -> str:
    return last_name(role).lower()


def _unseen(
    cluster: ManagedCluster, networks: NodeNetworks | Unavailable, roles: RoleAssignments | Unavailable
) -> Iterator[Unavailable]:
    yield from [networks] if isinstance(networks, Unavailable) else networks.gaps
    if cluster.private_zone.startswith("/") and cluster.identities:  # who signs in as a service principal is not known
        yield from [roles] if isinstance(roles, Unavailable) else roles.gaps


def _unsure(zone: PrivateZone, networks: NodeNetworks | Unavailable, complaints: Complaints) -> Iterator[Unavailable]:
    """Custom DNS servers that a failure makes suspect, and in whose networks the zone may not be known."""
    suspect = complaints.standing(CODE) or [failure for failure in complaints.failures if _unresolved(failure.error)]
    if not suspect or isinstance(networks, Unavailable):
        return
    for network in networks.networks:
        if _servers(network) and not any(zone.linked_to(home) for home in _homes(network)):
            servers = ", ".join(_servers(network))
            detail = f"network {network.name} asks DNS servers {servers}: whether they know it is not visible"
            yield Unavailable(f"who resolves zone {zone.name}", Why.ABSENT, detail)


def _unresolved(error: object) -> bool:
    return error is not None and _UNRESOLVED.search(str(error)) is not None


def _without_name(instances: Instances | Unavailable) -> tuple[Instance, ...]:
    """The machines whose set-up script did not resolve the API server's name."""
    machines = instances.machines if isinstance(instances, Instances) else ()
    return tuple(machine for machine in machines if any(map(_unresolved, machine.extension_errors)))


def _says_links(zone: PrivateZone, networks: NodeNetworks | Unavailable) -> str:
    if isinstance(networks, Unavailable):
        return ""
    linked = [network.name for network in networks.networks if zone.linked_to(network.id)]
    asked = [server for network in networks.networks for server in _servers(network)]
    told = f", is linked to {', '.join(linked)}" if linked else ""
    return f"{told}, is asked through DNS servers {', '.join(asked)}" if asked else told


def _finding(
    cluster: ManagedCluster,
    pools: AgentPools,
    zone: PrivateZone,
    faults: list[Fault],
    complaints: Complaints,
    hit: tuple[Instance, ...],
) -> Finding:
    subjects = (cluster.id, *(pool.id for pool in pools.pools))
    first = faults[0]
    lookups = (
        [failure.subject for failure in complaints.failures if _unresolved(failure.error)] if first.breaks_names else []
    )
    stuck = [name for machine in hit for name in (machine.id, f"Node/{machine.computer or machine.name}")]
    stuck += complaints.affected(failed_alike(hit, pools.pools), (CODE,))
    harmed = [*stuck, zone.id] if first.breaks_names else []  # what else is wrong with the zone follows from this
    claimed = dict.fromkeys((*complaints.claimed(subjects, (CODE,)), *lookups, *harmed))
    parts = zone.id.split("/")
    return Finding(
        code=CODE,
        subject=zone.id,
        severity=Severity.ERROR if claimed or first.breaks_names else Severity.WARNING,
        affects=tuple(claimed),
        because=(*(fault.says for fault in faults), *(str(complaint) for complaint in complaints.standing(CODE)[:1])),
        facts={
            "cause": first.cause,
            "causes": [fault.cause for fault in faults],
            "zone_name": zone.name,
            "zone_id": zone.id,
            "zone_group": parts[4],
            "zone_subscription": parts[2],
            "brought": cluster.private_zone.startswith("/"),
            "permission": "Microsoft.Network/privateDnsZones/A/write" if first.cause == "not-permitted" else "",
            "identity": next(iter(cluster.control_plane_identities), ""),
            "network": last_name(first.network) if first.network else "",
            "network_id": first.network,
            "host": cluster.private_fqdn,
            "record": list(zone.record or ()),
            "endpoint": list(zone.endpoint),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
            "cluster_id": cluster.id,
        },
    )
