"""Do the authorized IP ranges of the API server let in who needs it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network

from handlers.diagnose.node_cannot_reach_api_server import SUBJECT
from handlers.egress.packet import is_public
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.asked.ranges import LOAD_BALANCER, NodeEgress, OwnAddress
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import ApiServer, Nodes
from handlers.evidence.compute import ScaleSets
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.way_out import PacketFilters
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Target, Unavailable, Why
from handlers.question import Word

CODE = "api-server-unreachable-ip-ranges"
ONLY_OWN_EGRESS = "0.0.0.0/32"
"""Azure: nobody from outside, only the outbound address of the cluster's load balancer."""
MOST_RANGES = 200
MOST_WITH_VNET_INTEGRATION = 2000
LET_IN = "whether the ranges let nodes in"
_SHOWN = 6

Network = IPv4Network | IPv6Network


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (
            AgentPools,
            ScaleSets,
            NodeNetworks,
            PacketFilters,
            NodeEgress,
            ApiServer,
            Nodes,
        ),
        "an address inside a range is let in whatever else is unseen, and Ready nodes prove that they are",
    ),
)
def api_server_unreachable_ip_ranges(
    target: Target,
    cluster: ManagedCluster,
    egress: NodeEgress | Unavailable | NotApplicable,
    own: OwnAddress | NotApplicable,
    api: ApiServer | Unavailable | NotApplicable,
    nodes: Nodes | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The API server's authorized IP ranges keep out an address that needs it."""
    asked = target.about.values[0] if target.about and target.about.word is Word.FROM else ""
    if cluster.private:
        yield NotApplicable(f"{cluster.name} is private: authorized IP ranges do not apply")
    elif not cluster.authorized_ranges:
        said = f"{cluster.name} has no authorized IP ranges: every address may reach its API server"
        yield Clear(f"{said}, {asked} too") if asked else NotApplicable(said)
    elif asked:
        yield _of_client(cluster, asked, egress)
    else:
        yield from _of_cluster(cluster, egress, own, api, nodes)


def _of_client(cluster: ManagedCluster, client: str, egress: NodeEgress | Unavailable | NotApplicable) -> Judgement:
    holding = _holding(cluster.authorized_ranges, client)
    if holding:
        return Clear(f"{client} is inside {holding}, one of the authorized IP ranges of {cluster.name}")
    if not _public(client):
        return Unavailable(
            f"whether {client} may reach the API server",
            Why.ABSENT,
            f"{client} is not a public address; the API server sees the public address behind it "
            "(`curl -s https://api.ipify.org` on that machine shows it)",
        )
    if isinstance(egress, Unavailable):
        return egress
    if isinstance(egress, NodeEgress) and egress.kind == LOAD_BALANCER:
        if egress.let_in_unseen:
            return egress.let_in_unseen[0]
        if _holding(egress.let_in, client):
            return Clear(f"{client} is the outbound address of {cluster.name}'s own load balancer, which AKS lets in")
    return _finding(
        cluster,
        (client,),
        egress,
        f"{client} is in none of the authorized IP ranges of {cluster.name} ({_few(cluster.authorized_ranges)})",
        "from there nothing answers: it looks like a timeout, never like a refusal",
    )


def _public(client: str) -> bool:
    address = ip_address(client)
    return is_public(address) if isinstance(address, IPv4Address) else address.is_global


def _of_cluster(
    cluster: ManagedCluster,
    egress: NodeEgress | Unavailable | NotApplicable,
    own: OwnAddress | NotApplicable,
    api: ApiServer | Unavailable | NotApplicable,
    nodes: Nodes | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """Without a question: who is known to need it, and does not get there."""
    if cluster.stopped:
        yield NotApplicable(f"{cluster.name} is stopped: its API server does not run")
        return
    reached = isinstance(api, ApiServer) and bool(api.reached)
    if isinstance(own, OwnAddress) and not reached:
        outside = _outside(cluster, own.addresses, egress)
        if outside:
            yield _finding(
                cluster,
                outside,
                egress,
                f"aksbot leaves from {_few(outside)}, which is in none of the authorized IP ranges of {cluster.name} "
                f"({_few(cluster.authorized_ranges)})",
                "so it sees nothing inside the cluster; people inside the ranges may well get there",
                severity=Severity.WARNING,
            )
            return
    if not isinstance(nodes, Nodes):
        yield nodes if isinstance(nodes, Unavailable) else NotApplicable(nodes.because)
        return
    if cluster.vnet_integrated:
        where = f"nodes of {cluster.name} go to its API server's private address (VNet integration)"
        yield NotApplicable(f"{where}: the ranges do not touch them")
        return
    standing = [node for node in nodes.nodes if not node.virtual]
    ready = [node for node in standing if node.is_ready]
    if not standing:
        yield Unavailable(LET_IN, Why.ABSENT, f"no node of {cluster.name} has registered")
    elif ready:
        yield Clear(f"{len(ready)} of {len(standing)} nodes are Ready, so the ranges let them in")
    elif isinstance(egress, Unavailable):
        yield egress
    elif isinstance(egress, NodeEgress):
        yield from _of_nodes(cluster, egress, len(standing))


def _of_nodes(cluster: ManagedCluster, egress: NodeEgress, silent: int) -> Iterator[Judgement]:
    """No node is Ready: may they come in at all?"""
    if egress.implicit:
        why = "AKS lets in the address of the load balancer that they leave through; no node is Ready to prove it"
        yield Unavailable(LET_IN, Why.ABSENT, why)
        return
    yield from egress.gaps
    if egress.hidden or not egress.addresses:
        why = "they leave through a firewall or proxy of yours, and Azure does not name its public address here"
        yield Unavailable("the public address that nodes leave from", Why.ABSENT, why)
        return
    outside = _outside(cluster, egress.addresses, egress)
    if not outside:
        why = f"they leave from {_few(egress.addresses)}, which the ranges hold; no node is Ready to prove it"
        yield Unavailable(LET_IN, Why.ABSENT, why)
        return
    yield _finding(
        cluster,
        outside,
        egress,
        f"nodes of {cluster.name} leave from {_few(outside)}, which is in none of its authorized IP ranges "
        f"({_few(cluster.authorized_ranges)})",
        f"none of its {silent} nodes is Ready",
        affects=(cluster.id, SUBJECT),
    )


def _finding(
    cluster: ManagedCluster,
    missing: tuple[str, ...],
    egress: NodeEgress | Unavailable | NotApplicable,
    *because: str,
    severity: Severity = Severity.ERROR,
    affects: tuple[str, ...] = (),
) -> Finding:
    """`missing`: what the list lacks."""
    nodes_too = _forgotten(cluster, egress)
    ranges = _new_list(cluster.authorized_ranges, (*missing, *nodes_too))
    own = [f"{ONLY_OWN_EGRESS} in the list means: only the cluster's own outbound address"]
    forgotten = [f"nodes leave from {_few(nodes_too)}, which is not in the list either"] if nodes_too else []
    return Finding(
        code=CODE,
        subject=cluster.id,
        severity=severity,
        affects=affects,
        because=(*because, *(own if ONLY_OWN_EGRESS in cluster.authorized_ranges else []), *forgotten),
        facts={
            "client_ip": missing[0].partition("/")[0],
            "ranges": list(cluster.authorized_ranges),
            "new_ranges": ",".join(ranges),
            "too_many": len(ranges) > (MOST_WITH_VNET_INTEGRATION if cluster.vnet_integrated else MOST_RANGES),
            "node_egress": list(egress.addresses) if isinstance(egress, NodeEgress) else [],
            "hidden_egress": isinstance(egress, NodeEgress) and egress.hidden,
            "api_server": cluster.fqdn,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _forgotten(cluster: ManagedCluster, egress: NodeEgress | Unavailable | NotApplicable) -> tuple[str, ...]:
    """Addresses of the nodes that the new list must hold, or they would lose the API server."""
    if not isinstance(egress, NodeEgress) or egress.implicit or egress.direct:
        return ()
    return _outside(cluster, egress.addresses, egress)


def _new_list(present: Iterable[str], missing: Iterable[str]) -> list[str]:
    """The whole list to set: what is there, without the mark that shuts everybody out, and what it lacks."""
    kept = [item for item in present if item != ONLY_OWN_EGRESS]
    return list(dict.fromkeys((*kept, *(str(network) for item in missing if (network := _network(item))))))


def _outside(
    cluster: ManagedCluster, addresses: Iterable[str], egress: NodeEgress | Unavailable | NotApplicable
) -> tuple[str, ...]:
    let_in = egress.let_in if isinstance(egress, NodeEgress) else ()
    ranges = (*cluster.authorized_ranges, *let_in)
    return tuple(address for address in addresses if not _holding(ranges, address))


def _holding(ranges: Iterable[str], address: str) -> str:
    """The range that holds an address or a prefix; empty where none does."""
    wanted = _network(address)
    return next((item for item in ranges if wanted and _is_inside(wanted, _network(item))), "")


def _is_inside(wanted: Network, network: Network | None) -> bool:
    if isinstance(wanted, IPv4Network) and isinstance(network, IPv4Network):
        return wanted.subnet_of(network)
    if isinstance(wanted, IPv6Network) and isinstance(network, IPv6Network):
        return wanted.subnet_of(network)
    return False


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return None


def _few(items: Iterable[str]) -> str:
    known = list(items)
    rest = len(known) - _SHOWN
    return ", ".join(known[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
