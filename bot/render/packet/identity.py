"""Which cluster a support packet is about: ids, groups and versions, and for Operator Nexus the site below it."""

from __future__ import annotations

from collections.abc import Iterator

from bot.render.clean import one_line
from bot.render.packet.material import Material
from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.azure import AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster
from handlers.evidence.nexus.sites import NexusSite
from handlers.evidence.support import NexusFabrics, Tenancy
from handlers.fleet.kinds import kind_in_words
from handlers.resource_id import last_name

Row = tuple[str, str]
NOT_SEEN = "could not be read"


def ids(material: Material) -> list[Row]:
    """Who and where: what the form of a support request asks for."""
    target = material.report.diagnosis.target.id
    return [
        *_tenant(material),
        ("Kind", kind_in_words(target)),
        ("Cluster", target.name),
        ("Resource group", target.resource_group or ""),
        ("Resource id", str(target)),
        *(row for part in (_aks, _hybrid, _bridge) for row in part(material) if row[1]),
    ]


def _tenant(material: Material) -> Iterator[Row]:
    tenancy = material.fact(Tenancy)
    target = material.report.diagnosis.target.id
    yield "Tenant", tenancy.tenant if tenancy else NOT_SEEN
    yield "Subscription", f"{target.subscription}{f' ({tenancy.name}, {tenancy.state})' if tenancy else ''}"


def _aks(material: Material) -> Iterator[Row]:
    cluster = material.fact(ManagedCluster)
    if cluster is None:
        return
    yield "Region", cluster.location
    yield "Node resource group", cluster.node_group
    yield "State", f"{cluster.state}, {cluster.power}"
    yield "Kubernetes version", _version(cluster.current_version, cluster.version)
    yield "API server", cluster.private_fqdn if cluster.private else cluster.fqdn
    network = material.fact(NetworkProfile)
    if network:
        plugin = " ".join(filter(None, (network.plugin, network.mode)))
        dataplane = network.dataplane and f", data plane {network.dataplane}"
        yield "Network", f"{plugin}{dataplane}, outbound {network.outbound_type}"
    pools = material.fact(AgentPools)
    for pool in pools.pools if pools else ():
        version = _version(pool.current_version, pool.version)
        about = (pool.state, pool.nodes_by_size, f"Kubernetes {version}", pool.node_image)
        yield f"Node pool {pool.name}", ", ".join(filter(None, about))


def _version(current: str, wanted: str) -> str:
    return f"{current}, asked for is {wanted}" if current and wanted and current != wanted else current or wanted


def _hybrid(material: Material) -> Iterator[Row]:
    cluster = material.fact(HybridCluster)
    if cluster is None:
        return
    yield "Region", cluster.location
    yield "State", ", ".join(filter(None, (cluster.state, cluster.status)))
    yield "Azure says", cluster.says
    yield "Custom location", _with_group(cluster.custom_location)
    connected = material.fact(ConnectedCluster)
    if connected:
        yield "Connected cluster", f"{_with_group(connected.id)}, {connected.status}"
    yield from _site(material, cluster)
    for network in cluster.networks:
        yield f"Network {last_name(network)}", _with_group(network)


def _site(material: Material, cluster: HybridCluster) -> Iterator[Row]:
    """Operator Nexus, from the top: fabric controller, fabrics, Nexus cluster, each with its group."""
    fabrics, site = material.fact(NexusFabrics), material.fact(NexusSite)
    if fabrics:
        yield "Network fabric controller", _with_group(fabrics.controller) or "the fabric names none"
        for fabric in fabrics.fabrics:
            own = fabric.lower() == fabrics.fabric.lower()
            state = f", {fabrics.state}, version {fabrics.version or 'unknown'}" if own else ""
            yield f"Network fabric {last_name(fabric)}", f"{_with_group(fabric)}{state}"
    elif site and site.fabric:
        yield "Network fabric controller", NOT_SEEN
        yield f"Network fabric {last_name(site.fabric)}", _with_group(site.fabric)
    if site:
        yield "Nexus cluster", f"{_with_group(site.id)}, {site.state}{site.status and f', {site.status}'}"
    elif cluster.site:
        yield "Nexus cluster", _with_group(cluster.site)


def _bridge(material: Material) -> Iterator[Row]:
    bridge = material.fact(ArcBridge)
    if bridge is None:
        return
    yield "Region", bridge.location
    yield "State", ", ".join(filter(None, (bridge.state, bridge.status)))
    yield "Deployed to", bridge.infrastructure
    yield "Appliance version", bridge.version


def _with_group(resource: str) -> str:
    """The id, and the group in words: nobody has to find it in there."""
    parts = resource.strip("/").split("/")
    in_group = len(parts) > 3 and parts[2].lower() == "resourcegroups"
    return f"{resource} (resource group {parts[3]})" if in_group else resource


def as_table(known: list[Row]) -> list[str]:
    """For Markdown."""
    cells = [(name.replace("|", "\\|"), one_line(value).replace("|", "\\|")) for name, value in known]
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in cells)]
