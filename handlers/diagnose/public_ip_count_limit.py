"""Is there a public IP address left for whoever needs the next one?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.growth import Growth, Wanted
from handlers.evidence.public_addresses import NetworkUsages, PublicAddress, PublicAddresses
from handlers.evidence.quotas import Usage
from handlers.evidence.wire import dig, number, rows
from handlers.headroom import HEADROOM, headroom
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable, Why
from handlers.resource_id import last_name

CODE = "public-ip-count-limit"
ALL, STANDARD = "PublicIPAddresses", "StandardSkuPublicIpAddresses"
"""Every address counts in the first row; one of the Standard SKU counts in the second, too."""
SHOWN = 5
"""Addresses in the proof; the steps name all of them."""
_OUTBOUND = {
    "loadbalancer": ("load balancer", "loadBalancerProfile", "managedOutboundIPs"),
    "managednatgateway": ("NAT gateway", "natGatewayProfile", "managedOutboundIPProfile"),
}
"""Where AKS makes the addresses that nodes leave from: by outbound type, its name and the parts of its profile."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Public addresses that somebody wants and does not have."""

    who: str
    addresses: int
    counted: str
    """How they are counted, for the proof."""
    about: str
    """The id of the pool, the cluster or the machine."""
    pool: AgentPool | None = None
    waits: bool = True
    """They are missing now. Else Azure refused them, and nothing is worse than before."""
    told: tuple[Complaint, ...] = ()

    def __str__(self) -> str:
        return f"{self.who} wants {_addresses(self.addresses)} ({self.counted})"


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (PublicAddresses,), "the quota tells whether there is room; the addresses only tell what could be given back"
    ),
)
def public_ip_count_limit(
    cluster: ManagedCluster,
    usages: NetworkUsages,
    growth: Growth,
    complaints: Complaints,
    addresses: PublicAddresses | Unavailable,
) -> Iterator[Judgement]:
    """The subscription may have no more public IP addresses for nodes or outbound traffic in the region."""
    demands = [*_of_pools(growth, complaints), *_of_outbound(cluster, complaints)]
    demands += _of_others(cluster, growth, complaints, demands)
    unseen = next(iter((*growth.gaps, *complaints.gaps)), None)  # more may be missing, or was asked for
    if not demands:
        yield unseen or complaints.blind_spot() or Clear(_nobody_waits(complaints))
        return
    if unseen:
        yield unseen
    wanted = sum(demand.addresses for demand in demands)
    for name in _rows_of(cluster):
        usage = usages.row(name)
        if usage is None:
            yield Unavailable(f"the quota {name}", Why.ABSENT, f"{usages.source} has no such row")
        elif wanted > usage.free:
            yield from [addresses] if isinstance(addresses, Unavailable) else []
            yield _reached(cluster, usages, usage, demands, complaints, addresses)
        else:
            yield Clear(f"{usage.title or name}: {usage.used} of {usage.limit} used, {wanted} wanted: there is room")


def _nobody_waits(complaints: Complaints) -> str:
    until = f"the 24 hours up to {complaints.until}"
    return f"no node pool and no outbound profile lacks public addresses, and none was refused in {until}"


def _rows_of(cluster: ManagedCluster) -> tuple[str, ...]:
    basic = str(dig(cluster.network, "loadBalancerSku")).lower() == "basic"
    return (ALL,) if basic else (STANDARD, ALL)


def _of_pools(growth: Growth, complaints: Complaints) -> Iterator[Demand]:
    """Pools whose nodes have addresses of their own: those of missing nodes, else of the ones an upgrade adds."""
    for pool in growth.pools:
        told = _told(complaints, pool.pool.id)
        nodes = pool.missing or (pool.surge if pool.pool.upgrading else 0)
        if pool.pool.node_addresses and nodes and (told or _lacks_nodes(pool, complaints)):
            counted = f"{nodes} {'node' if pool.missing else 'surge node'}{'' if nodes == 1 else 's'}, one address each"
            waits = bool(pool.missing) or pool.pool.failed
            yield Demand(f"pool {pool.pool.name}", nodes, counted, pool.pool.id, pool.pool, waits, told)


def _lacks_nodes(wanted: Wanted, complaints: Complaints) -> bool:
    failure = complaints.failure(wanted.pool.id)
    return bool(wanted.missing) and not wanted.pool.busy and (failure is None or not failure.named)


def _of_outbound(cluster: ManagedCluster, complaints: Complaints) -> Iterator[Demand]:
    """What AKS was told to make for outbound traffic, without what it has made."""
    kind = str(dig(cluster.network, "outboundType") or "loadBalancer").lower()
    if kind not in _OUTBOUND or cluster.stopped:
        return
    name, profile, managed = _OUTBOUND[kind]
    told, failure = _told(complaints, cluster.id), complaints.failure(cluster.id)
    asked = number(cluster.network, profile, managed, "count") + number(cluster.network, profile, managed, "countIPv6")
    has = len(rows(cluster.network, profile, "effectiveOutboundIPs"))
    blamed = failure is not None and failure.named and not told
    if asked > has and not cluster.busy and not blamed:
        counted = f"its {name} was told to have {asked} outbound addresses, and has {has}"
        yield Demand(f"cluster {cluster.name}", asked - has, counted, cluster.id, told=told)


def _of_others(
    cluster: ManagedCluster, growth: Growth, complaints: Complaints, demands: list[Demand]
) -> Iterator[Demand]:
    """Whoever Azure refused an address, or failed without a word, although nothing tells how many it wants."""
    known = {demand.about for demand in demands}
    refused = dict.fromkeys(complaint.about for complaint in complaints.standing(CODE))
    silent = [
        failure.subject
        for failure in complaints.failures
        if failure.complaint is None and failure.state.lower() == "failed"
    ]
    pools = {pool_growth.pool.id: pool_growth.pool for pool_growth in growth.pools}
    for about in sorted({*refused, *silent} - known, key=lambda name: (name == cluster.id, name)):
        # The cluster repeats what one of its pools was refused.
        if about == cluster.id and (known or len(refused) > 1):
            continue
        pool = pools.get(about)
        why = "at least: Azure refused one" if about in refused else "if that is why it failed: Azure gives no error"
        who = f"pool {pool.name}" if pool else last_name(about)
        yield Demand(who, 1, why, about, pool, complaints.failure(about) is not None, _told(complaints, about))


def _told(complaints: Complaints, about: str) -> tuple[Complaint, ...]:
    return tuple(complaint for complaint in complaints.standing(CODE) if complaint.about.lower() == about.lower())


def _reached(
    cluster: ManagedCluster,
    usages: NetworkUsages,
    usage: Usage,
    demands: list[Demand],
    complaints: Complaints,
    addresses: PublicAddresses | Unavailable,
) -> Finding:
    wanted = sum(demand.addresses for demand in demands)
    short, title = wanted - usage.free, usage.title or usage.name
    spare = _spare(usage, addresses)
    # Nothing tells since when a quota is full: unless Azure names it, a failure may have filled it with its own nodes.
    claimed = complaints.claimed([*(demand.about for demand in demands), cluster.id], (CODE,))
    waiting = dict.fromkeys(demand.about for demand in demands if demand.waits and not complaints.failure(demand.about))
    told = [str(complaint) for demand in demands for complaint in demand.told]
    return Finding(
        code=CODE,
        subject=usages.id_of(usage),
        severity=Severity.ERROR if claimed or waiting else Severity.WARNING,
        affects=(*claimed, *waiting),
        because=(
            f"{title} in {usages.location}: {usage.used} of {usage.limit} used, {usage.room}",
            *map(str, demands),
            f"{usage.used} + {wanted} = {usage.used + wanted} > {usage.limit}: {_addresses(short)} short",
            _says_spare(spare),
            *told[:1],
        ),
        facts={
            "quota": usage.name,
            "title": title,
            "location": usages.location,
            "subscription": cluster.subscription,
            "used": usage.used,
            "limit": usage.limit,
            "needed": wanted,
            "short": short,
            "new_limit": usage.used + wanted,
            "wanted_by": [demand.who for demand in demands],
            "seen": spare is not None,
            "unattached": [
                {
                    "name": address.name,
                    "group": address.group,
                    "address": address.address or address.fqdn or "no address",
                    "id": address.id,
                }
                for address in spare or ()
            ],
            "pool_ids": [demand.pool.id for demand in demands if demand.pool and demand.pool.failed],
            "cluster_id": cluster.id if cluster.failed or any(demand.about == cluster.id for demand in demands) else "",
            "refused": not any(demand.waits for demand in demands),
            HEADROOM: headroom(
                f"{title} in {usages.location}",
                "addresses",
                usage.limit,
                [("in use", usage.used)],
                [(demand.who, demand.addresses) for demand in demands],
            ),
        },
    )


def _spare(usage: Usage, addresses: PublicAddresses | Unavailable) -> tuple[PublicAddress, ...] | None:
    """Addresses that count in this row and that nothing uses; None where they were not seen."""
    if isinstance(addresses, Unavailable):
        return None
    return tuple(
        address for address in addresses.unattached if usage.name.lower() != STANDARD.lower() or address.standard
    )


def _says_spare(spare: tuple[PublicAddress, ...] | None) -> str:
    if spare is None:
        return "which addresses are attached to nothing was not seen"
    more = f" and {len(spare) - SHOWN} more" if len(spare) > SHOWN else ""
    named = ", ".join(map(str, spare[:SHOWN]))
    return f"attached to nothing: {named}{more}" if spare else "every address of people's is attached to something"


def _addresses(count: int) -> str:
    return f"{count} public address{'' if count == 1 else 'es'}"
