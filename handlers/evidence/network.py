"""The subnets that node pools take their addresses from."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.answers import Answer, Listing
from handlers.clients.arm import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools
from handlers.evidence.gather import each
from handlers.evidence.wire import need_number, need_text, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why

NETWORK_API = "2024-05-01"
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
    """The subnets that the node pools name."""

    subnets: tuple[Subnet, ...]

    def of(self, subnet_id: str) -> Subnet | None:
        return next((one for one in self.subnets if one.id.lower() == subnet_id.lower()), None)


@collector(reads=("Microsoft.Network/virtualNetworks/subnets/read", "Microsoft.Network/virtualNetworks/usages/read"))
async def pool_subnets(pools: AgentPools, arm: ArmReader) -> PoolSubnets | NotApplicable:
    """the node pools' subnets"""
    named = {one.lower(): one for pool in pools.pools for one in (pool.subnet, pool.pod_subnet) if one}
    if not named:
        return NotApplicable("AKS manages the network: no node pool names a subnet of its own")
    vnets = {one.lower(): one for one in (subnet.rsplit("/", 2)[0] for subnet in named.values())}

    async def ask(path: str) -> Answer | Listing:
        if path.lower() in vnets:
            return await arm.list(f"{path}/usages", NETWORK_API)
        return await arm.get(path, NETWORK_API)

    told, gaps = await each([*named.values(), *vnets.values()], ask)
    answers = [one for one in told if isinstance(one, Answer)]
    listings = [one for one in told if isinstance(one, Listing)]
    if not answers or not listings:
        raise CannotSee(gaps[0])
    used = {text(row, "id").lower(): need_number(row, "currentValue") for one in listings for row in whole(one.items)}
    known = [answer for answer in answers if need_text(answer.body, "id").lower() in used]
    return PoolSubnets(
        source=", ".join(answer.source for answer in answers),
        taken_at=min(answer.taken_at for answer in answers),
        truncated=any(listing.truncated for listing in listings),
        gaps=(*gaps, *(_uncounted(answer.body) for answer in answers if answer not in known)),
        subnets=tuple(read_subnet(one.body, used[need_text(one.body, "id").lower()]) for one in known),
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
