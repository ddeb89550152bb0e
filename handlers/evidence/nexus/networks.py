"""The networks of Network Cloud on the site of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from ipaddress import IPv4Network
from typing import Any, TypeVar

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import NotFound
from handlers.engine.declare import collector
from handlers.evidence.azure import ended_badly, still_runs
from handlers.evidence.gather import each
from handlers.evidence.lookups import ABSENT
from handlers.evidence.nexus.clusters import NETWORK_CLOUD_API, RETIRED, HybridCluster
from handlers.evidence.wire import dig, moment, need_text, number, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable
from handlers.resource_id import ResourceId, last_name, same

_USERS = ("associatedResourceIds", "virtualMachinesAssociatedIds", "hybridAksClustersAssociatedIds")
PROVIDER = "Microsoft.NetworkCloud"
CLOUD_SERVICES = "cloudServicesNetworks"
KINDS: Mapping[str, str] = {
    "l3networks": "L3 network",
    "defaultcninetworks": "default CNI network",
    "l2networks": "L2 network",
    "trunkednetworks": "trunked network",
    "cloudservicesnetworks": "cloud services network",
}
DEFAULT_CNI = "defaultCniNetworks"
DEFAULT_CNI_API = "2022-12-12-preview"
"""The last one that has default CNI networks."""


@dataclass(frozen=True, slots=True)
class NexusNetwork:
    """One network."""

    id: str
    name: str
    kind: str
    state: str
    status: str
    says: str
    location: str
    site: str
    custom_location: str
    prefix: str
    vlan: int
    domains: tuple[str, ...]
    """The isolation domains that it stands on, by id."""
    users: tuple[str, ...]
    changed: datetime | None

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def busy(self) -> bool:
        return still_runs(self.state)

    @property
    def subscription(self) -> str:
        return self.id.split("/")[2]

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    def on(self, sites: Iterable[str]) -> bool:
        return any(same(self.site, site) for site in sites)

    @property
    def in_words(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def range(self) -> IPv4Network | None:
        try:
            return IPv4Network(self.prefix)
        except ValueError:
            return None

    def facts(self) -> dict[str, Any]:
        """They follow the cluster's: a network may be in another group, and in another subscription."""
        return {"network": self.name, "network_id": self.id, "group": self.group, "subscription": self.subscription}


@dataclass(frozen=True, kw_only=True)
class NexusNetworks(Evidence):
    """Networks of the site, and those of them that the cluster uses."""

    all: tuple[NexusNetwork, ...]
    asked: tuple[str, ...] = field(default=())
    """The subscriptions that were listed. Each shows only what may be read, and a site may have more of them."""
    missing: tuple[str, ...] = field(default=())
    """The networks of the cluster, by id, of which Azure says that they do not exist."""

    def named(self, network: str) -> NexusNetwork | None:
        return next((known for known in self.all if same(known.id, network)), None)

    @property
    def where(self) -> str:
        """How far an answer about the whole site reaches."""
        return f"of what may be read in subscription {', '.join(self.asked)}"

    def lacks(self, network: str) -> bool:
        """Whether it is proven that this network does not exist: that no list shows it proves nothing."""
        return any(same(name, network) for name in self.missing)

    def of(self, cluster: HybridCluster) -> tuple[NexusNetwork, ...]:
        return tuple(network for network in self.all if cluster.uses(network.id))


@dataclass(frozen=True, kw_only=True)
class L3Networks(NexusNetworks):
    """The L3 networks and, where the cluster uses one, the default CNI networks: no two may have one prefix."""


@dataclass(frozen=True, kw_only=True)
class OtherNetworks(NexusNetworks):
    """The L2 and trunked networks."""


@dataclass(frozen=True, kw_only=True)
class CloudServicesNetworks(NexusNetworks):
    """The cloud services networks."""


Networks = TypeVar("Networks", bound=NexusNetworks)


@collector(reads=("Microsoft.NetworkCloud/l3Networks/read", "Microsoft.NetworkCloud/defaultCniNetworks/read"))
async def l3_networks(cluster: HybridCluster, arm: ArmReader) -> L3Networks | NotApplicable:
    """the L3 networks of the site"""
    older = (DEFAULT_CNI,) if any(_kind(name) == DEFAULT_CNI.lower() for name in cluster.networks) else ()
    return await _listed(L3Networks, ("l3Networks", *older), cluster, arm)


@collector(reads=("Microsoft.NetworkCloud/cloudServicesNetworks/read",))
async def cloud_services_networks(cluster: HybridCluster, arm: ArmReader) -> CloudServicesNetworks | NotApplicable:
    """the cloud services networks of the site"""
    return await _listed(CloudServicesNetworks, (CLOUD_SERVICES,), cluster, arm)


@collector(reads=("Microsoft.NetworkCloud/l2Networks/read", "Microsoft.NetworkCloud/trunkedNetworks/read"))
async def other_networks(cluster: HybridCluster, arm: ArmReader) -> OtherNetworks | NotApplicable:
    """the L2 and trunked networks of the cluster"""
    used = {_kind(name) for name in cluster.networks}
    kinds = tuple(kind for kind in ("l2Networks", "trunkedNetworks") if kind.lower() in used)
    if cluster.networks and not kinds:
        return NotApplicable(f"{cluster.name} uses no L2 and no trunked network")
    return await _listed(OtherNetworks, kinds, cluster, arm)


async def _listed(
    made: type[Networks], kinds: tuple[str, ...], cluster: HybridCluster, arm: ArmReader
) -> Networks | NotApplicable:
    """Lists of each subscription that may hold such networks; what the cluster uses of them and no list shows is asked
    for by its id: a list holds only what the reader may read.
    """
    if not cluster.networks:
        if cluster.networks_unseen:
            raise CannotSee(cluster.networks_unseen[0])
        return NotApplicable(RETIRED if not cluster.site else f"{cluster.name} names no networks")
    subscriptions = tuple(dict.fromkeys(name.split("/")[2].lower() for name in (cluster.id, *cluster.networks)))
    wanted = [
        f"/subscriptions/{subscription}/providers/{PROVIDER}/{kind}" for subscription in subscriptions for kind in kinds
    ]
    listings, gaps = await each(wanted, partial(_list, arm))
    found = [read_network(body) for listing in listings for body in whole(listing.items)]
    listed = {network.id.lower() for network in found}
    asked_for = {kind.lower() for kind in kinds}
    unlisted = [name for name in cluster.networks if _kind(name) in asked_for and name.lower() not in listed]
    answers, _ = await each(unlisted, partial(_look_up, arm))
    found += [answer for answer in answers if isinstance(answer, NexusNetwork)]
    sites = {cluster.site, *(network.site for network in found if cluster.uses(network.id))} - {""}
    return made(
        source=", ".join(listing.source for listing in listings),
        taken_at=min(listing.taken_at for listing in listings),
        truncated=any(listing.truncated for listing in listings),
        gaps=(*cluster.networks_unseen, *gaps, *(answer for answer in answers if isinstance(answer, Unavailable))),
        # On the same site, or used by the cluster wherever it is.
        all=tuple(network for network in found if network.on(sites) or cluster.uses(network.id)),
        asked=subscriptions,
        missing=tuple(answer for answer in answers if isinstance(answer, str)),
    )


async def _look_up(arm: ArmReader, name: str) -> NexusNetwork | str | Unavailable:
    """The network; its id where Azure says that it does not exist."""
    try:
        answer = await arm.get(name, _api(_kind(name)))
    except CannotSee as error:
        if isinstance(error, NotFound) and error.code.lower() in ABSENT:
            return name
        return replace(error.unavailable, wanted=f"{KINDS.get(_kind(name), _kind(name))} {last_name(name)}")
    return read_network(answer.body)


async def _list(arm: ArmReader, path: str) -> Listing:
    return await arm.list(path, _api(path.rpartition("/")[2].lower()))


def _api(kind: str) -> str:
    return DEFAULT_CNI_API if kind == DEFAULT_CNI.lower() else NETWORK_CLOUD_API


def _kind(network: str) -> str:
    return ResourceId.parse(network).type.rsplit("/", 1)[-1].lower()


def read_network(body: Mapping[str, Any]) -> NexusNetwork:
    """A network from its wire body."""
    properties = dig(body, "properties")
    kind = _kind(need_text(body, "id"))
    own = (text(properties, "l3IsolationDomainId"), text(properties, "l2IsolationDomainId"))
    return NexusNetwork(
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        kind=KINDS.get(kind, kind),
        state=need_text(properties, "provisioningState"),
        status=text(properties, "detailedStatus"),
        says=text(properties, "detailedStatusMessage"),
        location=text(body, "location"),
        site=text(properties, "clusterId"),
        custom_location=text(body, "extendedLocation", "name"),
        prefix=text(properties, "ipv4ConnectedPrefix"),
        vlan=number(properties, "vlan"),
        domains=tuple(name for name in (*own, *texts(properties, "isolationDomainIds")) if name),
        users=tuple(user for key in _USERS for user in texts(properties, key)),
        changed=moment(text(body, "systemData", "lastModifiedAt")),
    )
