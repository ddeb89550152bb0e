"""Public IP addresses: how many a subscription may have in a region, and those that exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import from_subscription
from handlers.evidence.network import NETWORK_API
from handlers.evidence.quotas import RegionUsages, region_usages
from handlers.evidence.wire import dig, need_text, text, whole
from handlers.model import Evidence

_OF_KUBERNETES = ("service", "k8s-azure-service", "aks-managed-cluster-name")
"""Tags of addresses that AKS and the Kubernetes cloud provider make. They also delete them; nobody else should."""


@dataclass(frozen=True, kw_only=True)
class NetworkUsages(RegionUsages):
    """The network quotas of the cluster's region and subscription."""


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """One public IP address."""

    id: str
    name: str
    address: str
    """Empty for a dynamic one that is not in use."""
    fqdn: str
    standard: bool
    attached: bool
    of_kubernetes: bool

    @property
    def group(self) -> str:
        return self.id.split("/")[4]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(item for item in (self.address, self.fqdn, self.group) if item)})"


@dataclass(frozen=True, kw_only=True)
class PublicAddresses(Evidence):
    """The public IP addresses of the subscription in the cluster's region."""

    addresses: tuple[PublicAddress, ...]

    @property
    def unattached(self) -> tuple[PublicAddress, ...]:
        """Those that people made and that nothing uses."""
        return tuple(address for address in self.addresses if not address.attached and not address.of_kubernetes)


@collector(reads=("Microsoft.Network/locations/usages/read",))
async def network_usages(cluster: ManagedCluster, arm: ArmReader) -> NetworkUsages:
    """the network quotas"""
    return await region_usages(NetworkUsages, "Microsoft.Network", NETWORK_API, cluster, arm)


@collector(reads=("Microsoft.Network/publicIPAddresses/read",))
async def public_addresses(cluster: ManagedCluster, arm: ArmReader) -> PublicAddresses:
    """the public IP addresses"""
    path = f"/subscriptions/{cluster.subscription}/providers/Microsoft.Network/publicIPAddresses"
    listing = await from_subscription(cluster.subscription, arm.list(path, NETWORK_API))
    bodies = [body for body in whole(listing.items) if _region(text(body, "location")) == _region(cluster.location)]
    return PublicAddresses(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        addresses=tuple(map(read_address, bodies)),
    )


def read_address(body: Mapping[str, Any]) -> PublicAddress:
    """A public IP address from its wire body."""
    tags = {key.lower() for key in dig(body, "tags") or {}}
    address = need_text(body, "id")
    return PublicAddress(
        id=address,
        name=need_text(body, "name"),
        address=text(body, "properties", "ipAddress"),
        fqdn=text(body, "properties", "dnsSettings", "fqdn"),
        standard=text(body, "sku", "name").lower().startswith("standard"),
        attached=any(text(body, "properties", by, "id") for by in ("ipConfiguration", "natGateway")),
        of_kubernetes="/resourcegroups/mc_" in address.lower() or not tags.isdisjoint(_OF_KUBERNETES),
    )


def _region(name: str) -> str:
    """Some answers write `West Europe`."""
    return name.lower().replace(" ", "")
