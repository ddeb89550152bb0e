"""Have nodes a way out to what they need?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.blocked_way import ADMIN_RULES, blocker_facts, free_priority, only_there
from handlers.diagnose.node_ways import (
    NodeWay,
    Symptoms,
    failed_alike,
    failures_that_name_nothing,
    is_isolated,
    machines_of,
    node_ways,
    outbound_type,
    worst,
)
from handlers.egress.packet import Packet
from handlers.egress.rules import Passage
from handlers.egress.way import Way
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import Instances, ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.way_out import PacketFilters, RequiredEndpoints
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable, Why
from handlers.resource_id import last_name

CODE = "outbound-conn-fail"


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (RequiredEndpoints, ActivityLog, NodeActivityLog),
        "nothing has failed, so no log holds a reason; the published list stands for the cluster's own",
        in_health_only=True,
    ),
)
def outbound_conn_fail(
    cluster: ManagedCluster,
    pools: AgentPools,
    networks: NodeNetworks,
    filters: PacketFilters,
    sets: ScaleSets,
    needed: RequiredEndpoints | Unavailable,
    complaints: Complaints,
    instances: Instances | Unavailable,
) -> Iterator[Judgement]:
    """Nodes have no way out to what they need to start."""
    if isinstance(needed, Unavailable):
        yield needed
        return
    yield from [instances] if isinstance(instances, Unavailable) else instances.gaps
    yield from (*complaints.gaps, *needed.gaps) if complaints.failures else ()
    for way in node_ways(cluster, pools, networks, filters, sets):
        if isinstance(way, Unavailable):
            yield way
        else:
            yield from _of_subnet(cluster, way, needed, complaints, _symptoms(cluster, way, complaints, instances))


def _symptoms(
    cluster: ManagedCluster, way: NodeWay, complaints: Complaints, instances: Instances | Unavailable
) -> Symptoms:
    """Exit code 50, or what Azure makes of it."""
    subjects = {cluster.id.lower(), *(pool.id.lower() for pool in way.pools)}
    told = [complaint for complaint in complaints.standing(CODE) if complaint.about.lower() in subjects]
    hit = [
        instance
        for instance in machines_of(instances, way)
        if any(error.names == CODE for error in instance.extension_errors)
    ]
    return Symptoms(tuple(told), tuple(hit))


def _of_subnet(
    cluster: ManagedCluster, way: NodeWay, needed: RequiredEndpoints, complaints: Complaints, seen: Symptoms
) -> Iterator[Judgement]:
    ways = [(packet, _way(cluster, way, packet)) for packet in needed.packets]
    passage = worst(ways)
    if passage is Passage.DENIED:
        yield from _denied(cluster, way, ways, needed, complaints, seen)
    elif seen and passage is Passage.BEYOND:
        yield _finding(cluster, way, [way for way in ways if way[1].passage is passage], needed, complaints, seen)
    elif passage is Passage.OPEN:
        yield Clear(f"{way.named}: no rule or route stops {ways[0][0]}; {ways[0][1].says}")
    else:
        says = next(way.says for _, way in ways if way.passage is passage)
        unsure = seen or failures_that_name_nothing(complaints, cluster, way)
        quiet = Clear(f"{way.named}: {says}; nothing shows that it stops nodes")
        yield Unavailable(f"the way out of subnet {way.subnet.name}", Why.ABSENT, says) if unsure else quiet


def _way(cluster: ManagedCluster, way: NodeWay, packet: Packet) -> Way:
    """What a node's packet meets; where nodes leave by a proxy, or not at all, only that counts."""
    if cluster.proxy:
        says = f"goes to HTTP proxy {cluster.proxy}: what it lets through is not visible from here"
        return Way(Passage.BEYOND, says, cluster.id)
    if is_isolated(cluster):
        return Way(Passage.BEYOND, _isolated(cluster), cluster.id)
    found = way.of(packet)
    if found.open and way.name_servers:
        named = ", ".join(way.name_servers)
        return Way(Passage.BEYOND, f"{found.says}; what DNS servers {named} answer is not visible from here", _dns(way))
    return found


def _dns(way: NodeWay) -> str:
    return way.subnet.network.id


def _isolated(cluster: ManagedCluster) -> str:
    kind = outbound_type(cluster)
    if cluster.node_registry:
        registry = last_name(cluster.node_registry)
        return f"outbound type is {kind}: nodes take images from private registry {registry}, whose network is not read"
    return f"outbound type is {kind}, and no private registry stands in for mcr.microsoft.com"


def _denied(
    cluster: ManagedCluster,
    way: NodeWay,
    ways: list[tuple[Packet, Way]],
    needed: RequiredEndpoints,
    complaints: Complaints,
    seen: Symptoms,
) -> Iterator[Judgement]:
    """One finding for each rule or route that stands in the way."""
    by_subject: dict[str, list[tuple[Packet, Way]]] = {}
    for packet, each_way in ways:
        if each_way.passage is Passage.DENIED:
            by_subject.setdefault(each_way.subject.lower(), []).append((packet, each_way))
    for blocked in by_subject.values():
        # Only a failure shows that no admin rule (AlwaysAllow) lets the traffic past the security groups.
        if blocked[0][1].rule and not seen and not failures_that_name_nothing(complaints, cluster, way):
            yield Unavailable(
                f"the way out of subnet {way.subnet.name}", Why.ABSENT, f"{_proof(blocked)}; {ADMIN_RULES}"
            )
        else:
            yield _finding(cluster, way, blocked, needed, complaints, seen)


def _proof(blocked: list[tuple[Packet, Way]]) -> str:
    return f"{blocked[0][1].says}; {only_there([packet.to for packet, _ in blocked])}"


def _finding(
    cluster: ManagedCluster,
    way: NodeWay,
    blocked: list[tuple[Packet, Way]],
    needed: RequiredEndpoints,
    complaints: Complaints,
    seen: Symptoms,
) -> Finding:
    first = blocked[0][1]
    proven = first.passage is Passage.DENIED
    claimed = complaints.claimed((*(pool.id for pool in way.pools), cluster.id), (CODE,))
    alike = complaints.affected(failed_alike(seen.machines, way.pools), (CODE,))
    return Finding(
        code=CODE,
        subject=first.subject or way.subnet.id,
        severity=Severity.ERROR if claimed or seen.machines else Severity.WARNING,
        affects=tuple(dict.fromkeys((*claimed, *seen.subjects, *alike))),
        because=(_proof(blocked) if proven else first.says, f"nodes of {way.named} leave this way", *seen.lines),
        facts={
            **blocker_facts(first, way),
            "proven": proven,
            "hosts": list(dict.fromkeys(packet.to for packet, _ in blocked)),
            "ports": sorted({packet.port for packet, _ in blocked}),
            "listed": not needed.published,
            "new_priority": free_priority(first),
            "proxy": cluster.proxy,
            "isolated": is_isolated(cluster),
            "registry": cluster.node_registry,
            "outbound": outbound_type(cluster),
            "blocks": bool(claimed or seen.machines),
            "pools": [pool.name for pool in way.pools],
            "pool_ids": [pool.id for pool in way.pools if pool.failed],
            "cluster_id": cluster.id,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )
