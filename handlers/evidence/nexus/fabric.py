"""The isolation domains of the network fabric that the networks of a cluster stand on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import NotFound
from handlers.engine.declare import collector
from handlers.evidence.azure import ended_badly, still_runs
from handlers.evidence.gather import each
from handlers.evidence.lookups import ABSENT
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.networks import L3Networks, NexusNetwork, OtherNetworks
from handlers.evidence.wire import dig, need_text, number, rows, text, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable
from handlers.resource_id import ResourceId, last_name, same

FABRIC_API = "2023-06-15"
L3_DOMAINS = "Microsoft.ManagedNetworkFabric/l3IsolationDomains"
L2_DOMAINS = "Microsoft.ManagedNetworkFabric/l2IsolationDomains"


@dataclass(frozen=True, slots=True)
class InternalNetwork:
    """One internal network of an L3 isolation domain."""

    id: str
    name: str
    vlan: int
    prefixes: tuple[str, ...]
    state: str
    administrative: str

    def __str__(self) -> str:
        return f"{self.name} (VLAN {self.vlan}, {', '.join(self.prefixes) or 'no prefix'})"


@dataclass(frozen=True, slots=True)
class IsolationDomain:
    """One isolation domain."""

    id: str
    name: str
    layer: str
    """L2 or L3."""
    state: str
    administrative: str
    configuration: str
    fabric: str
    internal: tuple[InternalNetwork, ...] | None
    """None where they could not be listed; an L2 domain has none."""

    @property
    def enabled(self) -> bool:
        return self.administrative.lower() == "enabled"

    @property
    def busy(self) -> bool:
        return still_runs(self.state)

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    @property
    def in_words(self) -> str:
        return f"{self.layer} isolation domain {self.name}"


@dataclass(frozen=True, kw_only=True)
class IsolationDomains(Evidence):
    """The isolation domains that the cluster's networks name, and those of them that do not exist."""

    domains: tuple[IsolationDomain, ...]
    missing: tuple[str, ...]

    def named(self, domain: str) -> IsolationDomain | None:
        return next((known for known in self.domains if same(known.id, domain)), None)


@collector(
    reads=(
        "Microsoft.ManagedNetworkFabric/l2IsolationDomains/read",
        "Microsoft.ManagedNetworkFabric/l3IsolationDomains/read",
        "Microsoft.ManagedNetworkFabric/l3IsolationDomains/internalNetworks/read",
    )
)
async def isolation_domains(
    cluster: HybridCluster, l3: L3Networks, others: OtherNetworks | NotApplicable | Unavailable, arm: ArmReader
) -> IsolationDomains | NotApplicable:
    """the isolation domains of the cluster's networks"""
    named = domains_of(networks_of(cluster, l3, others))
    if not named and isinstance(others, NotApplicable) and l3.complete:
        return NotApplicable(f"no network of {cluster.name} names an isolation domain")
    answers, gaps = await each(named, lambda name: _look_up(arm, name))
    found = [answer for answer in answers if isinstance(answer, _Seen)]
    sources = [answer.source for answer in found] or [l3.source]
    return IsolationDomains(
        source=", ".join(sources),
        taken_at=l3.taken_at,
        gaps=(*gaps, *(gap for answer in found for gap in answer.gaps), *_gaps(l3, others)),
        truncated=l3.truncated,
        domains=tuple(answer.domain for answer in found),
        missing=tuple(answer for answer in answers if isinstance(answer, str)),
    )


def networks_of(
    cluster: HybridCluster, l3: L3Networks, others: OtherNetworks | NotApplicable | Unavailable
) -> tuple[NexusNetwork, ...]:
    """The networks of the cluster that stand on the fabric."""
    more = others.of(cluster) if isinstance(others, OtherNetworks) else ()
    return (*l3.of(cluster), *more)


def domains_of(networks: Iterable[NexusNetwork]) -> list[str]:
    """The isolation domains that they name, each once."""
    return [*{name.lower(): name for network in networks for name in network.domains}.values()]


@dataclass(frozen=True, slots=True)
class _Seen:
    domain: IsolationDomain
    source: str
    gaps: tuple[Unavailable, ...]


async def _look_up(arm: ArmReader, name: str) -> _Seen | str:
    """The domain; its id where Azure says that it does not exist."""
    try:
        answer = await arm.get(name, FABRIC_API)
    except NotFound as absent:
        if absent.code.lower() not in ABSENT:
            raise
        return name
    if not ResourceId.parse(name).is_a(L3_DOMAINS):
        return _Seen(_domain(answer.body, None), answer.source, ())
    try:
        listing = await arm.list(f"{name}/internalNetworks", FABRIC_API)
    except CannotSee as error:
        wanted = f"the internal networks of {last_name(name)}"
        return _Seen(_domain(answer.body, None), answer.source, (replace(error.unavailable, wanted=wanted),))
    internal = tuple(_internal(body) for body in whole(listing.items))
    return _Seen(_domain(answer.body, internal), answer.source, ())


def _domain(body: Mapping[str, Any], internal: tuple[InternalNetwork, ...] | None) -> IsolationDomain:
    properties = dig(body, "properties")
    return IsolationDomain(
        id=need_text(body, "id"),
        name=last_name(need_text(body, "id")),
        layer="L2" if ResourceId.parse(need_text(body, "id")).is_a(L2_DOMAINS) else "L3",
        state=need_text(properties, "provisioningState"),
        administrative=need_text(properties, "administrativeState"),
        configuration=text(properties, "configurationState"),
        fabric=text(properties, "networkFabricId"),
        internal=internal,
    )


def _internal(body: Mapping[str, Any]) -> InternalNetwork:
    properties = dig(body, "properties")
    return InternalNetwork(
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        vlan=number(properties, "vlanId"),
        prefixes=tuple(text(row, "prefix") for row in rows(properties, "connectedIPv4Subnets")),
        state=text(properties, "provisioningState"),
        administrative=text(properties, "administrativeState"),
    )


def _gaps(l3: L3Networks, others: OtherNetworks | NotApplicable | Unavailable) -> tuple[Unavailable, ...]:
    if isinstance(others, Unavailable):
        return (*l3.gaps, others)
    return (*l3.gaps, *(others.gaps if isinstance(others, OtherNetworks) else ()))
