"""AKS hybrid: the Operator Nexus Kubernetes cluster or the provisioned cluster, and its connection to Azure Arc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import NotFound, Refused, VersionNotOffered
from handlers.engine.declare import collector
from handlers.evidence.azure import ended_badly, still_runs
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, moment, need_text, rows, text, texts, whole
from handlers.fleet.kinds import CONNECTED, HYBRID_WORDS, NEXUS, kind_in_words
from handlers.model import CannotSee, Evidence, NotApplicable, Target, Unavailable
from handlers.resource_id import ResourceId, same

NETWORK_CLOUD_API = "2025-02-01"
CONNECTED_API = "2024-01-01"
PROVISIONED_API = "2024-01-01"
WRAPPING_API = "2022-09-01-preview"
"""The last one that says what a virtual network wraps (`infraVnetProfile.networkCloud`). Few sites still answer it."""
HYBRID_VNET = "Microsoft.HybridContainerService/virtualNetworks"
RETIRED = "today's API does not say which Nexus networks an AKS hybrid cluster uses (infraVnetProfile is retired)"
NOT_OFFERED = frozenset({"MissingSubscriptionRegistration", "InvalidResourceNamespace", "InvalidResourceType"})
"""A subscription or a cloud that holds nothing of this kind."""
_ATTACHED = ("l3Networks", "l2Networks", "trunkedNetworks")


@dataclass(frozen=True, kw_only=True)
class HybridCluster(Evidence):
    """The cluster resource, whichever provider has made it."""

    id: str
    name: str
    kind: str
    state: str
    status: str
    says: str
    """Azure's own sentence about the status, or its error message."""
    error: str
    """The error that a provisioned cluster reports of itself."""
    made: datetime | None
    changed: datetime | None
    location: str
    custom_location: str
    site: str = ""
    """The Nexus cluster (the hardware) that it runs on; empty for a provisioned cluster."""
    cni: str = ""
    """The L3 network of its nodes and pods."""
    services: str = ""
    """The cloud services network, its way out."""
    attached: tuple[str, ...] = ()
    networks_unseen: tuple[Unavailable, ...] = ()
    """Why not all of its networks are known."""
    connected: str = ""

    @property
    def subscription(self) -> str:
        return self.id.split("/")[2]

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    @property
    def failed(self) -> bool:
        return ended_badly(self.state)

    @property
    def busy(self) -> bool:
        return still_runs(self.state)

    @property
    def networks(self) -> tuple[str, ...]:
        """The ids of all networks that it uses."""
        return tuple(dict.fromkeys(name for name in (self.cni, self.services, *self.attached) if name))

    def uses(self, network: str) -> bool:
        return any(same(network, name) for name in self.networks)

    def facts(self) -> dict[str, Any]:
        """What the pages of all its problems are filled in with."""
        return {
            "cluster": self.name,
            "cluster_id": self.id,
            "kind": self.kind,
            "group": self.group,
            "subscription": self.subscription,
            "location": self.location,
        }


@dataclass(frozen=True, kw_only=True)
class NexusCluster(HybridCluster):
    """The Operator Nexus Kubernetes cluster."""


@dataclass(frozen=True, kw_only=True)
class ProvisionedCluster(HybridCluster):
    """The provisioned cluster of AKS hybrid: always named `default`, below its connected cluster."""

    vnets: tuple[str, ...] = ()
    """Its virtual networks, by id; on Operator Nexus each wraps a network of Network Cloud."""


@dataclass(frozen=True, slots=True)
class HybridVnet:
    """A virtual network of AKS hybrid, and the network of Network Cloud that it wraps, by the id written there."""

    id: str
    name: str
    network: str


@dataclass(frozen=True, kw_only=True)
class HybridVnets(Evidence):
    """The virtual networks of an AKS hybrid cluster on Operator Nexus."""

    vnets: tuple[HybridVnet, ...]


@dataclass(frozen=True, kw_only=True)
class ConnectedCluster(Evidence):
    """The cluster as Azure Arc sees it."""

    id: str
    name: str
    state: str
    status: str
    last_seen: datetime | None
    certificate_until: datetime | None
    made: datetime | None


@collector(reads=("Microsoft.NetworkCloud/kubernetesClusters/read",))
async def nexus_cluster(target: Target, arm: ArmReader) -> NexusCluster | NotApplicable:
    """the Nexus Kubernetes cluster"""
    if target.id.is_a(NEXUS):
        answer = await arm.get(str(target.id), NETWORK_CLOUD_API)
        return read_nexus(answer.body, answer.source, answer.taken_at)
    if not target.id.is_a(CONNECTED):
        return _no_hybrid(target)
    above = f"/subscriptions/{target.id.subscription}/providers/{NEXUS}"
    try:
        listing = await arm.list(above, NETWORK_CLOUD_API)
    except VersionNotOffered:
        raise
    except (NotFound, Refused) as refused:
        if refused.code not in NOT_OFFERED:
            raise
        return NotApplicable(f"there is no Nexus cluster in subscription {target.id.subscription}")
    for body in whole(listing.items):
        if same(text(body, "properties", "connectedClusterId"), str(target.id)):
            return read_nexus(body, listing.source, listing.taken_at)
    # The list shows what the reader may read: a Nexus cluster in a group out of its sight is not in it.
    where = f"that may be read in subscription {target.id.subscription}"
    return NotApplicable(f"{target.name} belongs to no Operator Nexus Kubernetes cluster {where}")


@collector(reads=("Microsoft.HybridContainerService/provisionedClusterInstances/read",))
async def provisioned_cluster(target: Target, arm: ArmReader) -> ProvisionedCluster | NotApplicable:
    """the provisioned cluster of AKS hybrid"""
    if not target.id.is_a(CONNECTED):
        return _no_hybrid(target)
    path = f"{target.id}/providers/Microsoft.HybridContainerService/provisionedClusterInstances/default"
    try:
        answer = await arm.get(path, PROVISIONED_API)
    except VersionNotOffered:
        raise
    except (NotFound, Refused) as refused:
        if not isinstance(refused, NotFound) and refused.code not in NOT_OFFERED:
            raise
        return NotApplicable(f"{target.name} is an Arc-connected cluster that AKS hybrid has not made")
    return _read_provisioned(answer.body, target.id, answer.source, answer.taken_at)


@collector(reads=())
async def hybrid_cluster(
    nexus: NexusCluster | NotApplicable | Unavailable,
    provisioned: ProvisionedCluster | NotApplicable | Unavailable,
    vnets: HybridVnets | NotApplicable | Unavailable,
) -> HybridCluster | NotApplicable:
    """the AKS hybrid cluster"""
    if isinstance(nexus, HybridCluster):
        return nexus
    if isinstance(provisioned, HybridCluster):
        return _with_networks(provisioned, vnets)
    for found in (nexus, provisioned):
        if isinstance(found, Unavailable):
            raise CannotSee(found)
    return provisioned if isinstance(provisioned, NotApplicable) else NotApplicable("")


@collector(reads=("Microsoft.HybridContainerService/virtualNetworks/read",))
async def hybrid_vnets(
    provisioned: ProvisionedCluster | NotApplicable | Unavailable, arm: ArmReader
) -> HybridVnets | NotApplicable:
    """the virtual networks of the AKS hybrid cluster"""
    if isinstance(provisioned, Unavailable):
        raise CannotSee(provisioned)
    if isinstance(provisioned, NotApplicable):
        return provisioned
    wanted = [name for name in provisioned.vnets if ResourceId.parse(name).is_a(HYBRID_VNET)]
    if not wanted:
        return NotApplicable(f"{provisioned.name} has no AKS hybrid virtual network")

    async def wrapped(name: str) -> HybridVnet:
        answer = await arm.get(name, WRAPPING_API)
        network = text(answer.body, "properties", "infraVnetProfile", "networkCloud", "networkId")
        return HybridVnet(need_text(answer.body, "id"), need_text(answer.body, "name"), network)

    try:
        found, gaps = await each(wanted, wrapped)
    except VersionNotOffered:
        return NotApplicable(RETIRED)
    if not gaps and not any(vnet.network for vnet in found):
        return NotApplicable(RETIRED)
    return HybridVnets(source=", ".join(wanted), taken_at=provisioned.taken_at, gaps=gaps, vnets=tuple(found))


@collector(reads=("Microsoft.Kubernetes/connectedClusters/read",))
async def connected_cluster(
    target: Target, nexus: NexusCluster | NotApplicable | Unavailable, arm: ArmReader
) -> ConnectedCluster | NotApplicable:
    """the connected cluster of Azure Arc"""
    if target.id.is_a(CONNECTED):
        path = str(target.id)
    elif isinstance(nexus, Unavailable):
        raise CannotSee(nexus)
    elif isinstance(nexus, NotApplicable):
        return nexus
    elif nexus.connected:
        path = nexus.connected
    else:
        return NotApplicable(f"{nexus.name} was never connected to Azure Arc")
    answer = await arm.get(path, CONNECTED_API)
    properties = dig(answer.body, "properties")
    return ConnectedCluster(
        source=answer.source,
        taken_at=answer.taken_at,
        id=need_text(answer.body, "id"),
        name=need_text(answer.body, "name"),
        state=text(properties, "provisioningState"),
        status=text(properties, "connectivityStatus"),
        last_seen=moment(text(properties, "lastConnectivityTime")),
        certificate_until=moment(text(properties, "managedIdentityCertificateExpirationTime")),
        made=moment(text(answer.body, "systemData", "createdAt")),
    )


def read_nexus(body: Mapping[str, Any], source: str, taken_at: datetime) -> NexusCluster:
    """A Nexus Kubernetes cluster from its wire body."""
    properties = dig(body, "properties")
    network = dig(properties, "networkConfiguration")
    attached = dig(network, "attachedNetworkConfiguration")
    return NexusCluster(
        source=source,
        taken_at=taken_at,
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        kind=kind_in_words(ResourceId.parse(need_text(body, "id"))),
        state=need_text(properties, "provisioningState"),
        status=text(properties, "detailedStatus"),
        says=text(properties, "detailedStatusMessage"),
        error="",
        made=moment(text(body, "systemData", "createdAt")),
        changed=moment(text(body, "systemData", "lastModifiedAt")),
        location=text(body, "location"),
        custom_location=text(body, "extendedLocation", "name"),
        site=text(properties, "clusterId"),
        cni=text(network, "cniNetworkId"),
        services=text(network, "cloudServicesNetworkId"),
        attached=(
            *(text(row, "networkId") for kind in _ATTACHED for row in rows(attached, kind)),
            *texts(properties, "attachedNetworkIds"),
        ),
        connected=text(properties, "connectedClusterId"),
    )


def _read_provisioned(
    body: Mapping[str, Any], connected: ResourceId, source: str, taken_at: datetime
) -> ProvisionedCluster:
    properties = dig(body, "properties")
    error = text(properties, "status", "errorMessage")
    return ProvisionedCluster(
        source=source,
        taken_at=taken_at,
        id=str(connected),
        name=connected.name,
        kind=HYBRID_WORDS,
        state=need_text(properties, "provisioningState"),
        status=text(properties, "status", "currentState"),
        says=error,
        error=error,
        made=moment(text(body, "systemData", "createdAt")),
        changed=moment(text(body, "systemData", "lastModifiedAt")),
        location=text(body, "location"),
        custom_location=text(body, "extendedLocation", "name"),
        vnets=texts(properties, "cloudProviderProfile", "infraNetworkProfile", "vnetSubnetIds"),
        connected=str(connected),
    )


def _with_networks(cluster: ProvisionedCluster, vnets: HybridVnets | NotApplicable | Unavailable) -> ProvisionedCluster:
    """With the networks that its virtual networks wrap, where an API says which."""
    if isinstance(vnets, Unavailable):
        return replace(cluster, networks_unseen=(vnets,))
    if isinstance(vnets, NotApplicable):
        return cluster
    wrapped = tuple(vnet.network for vnet in vnets.vnets if vnet.network)
    return replace(cluster, attached=wrapped, networks_unseen=vnets.gaps)


def _no_hybrid(target: Target) -> NotApplicable:
    return NotApplicable(f"{target.name} is an {kind_in_words(target.id)}, not an AKS hybrid cluster")
