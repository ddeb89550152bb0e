"""Ids and names of a generated cluster's resources."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.worlds.shape import Shape

Body = dict[str, Any]

NOW = datetime(2026, 11, 18, 3, 7, tzinfo=UTC)
LOCATION = "westeurope"
TENANT = "7d0f6c1e-52a4-4b8e-9d3a-1c6f0b9e2a41"
OLD_VERSION, VERSION, NEXT_VERSION = "1.33.5", "1.34.2", "1.35.0"
OLD_IMAGE, IMAGE = "AKSUbuntu-2204gen2containerd-202610.06.0", "AKSUbuntu-2204gen2containerd-202611.03.0"
MADE = timedelta(days=90)
"""When the cluster and most of its nodes were created."""


def guid(*words: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, words))))


def wire(ago: timedelta) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%S.0000000Z")


def stamp(ago: timedelta) -> str:
    """A timestamp in Kubernetes' format."""
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Ids:
    """Every id of one cluster, in the casing in which Azure returns it."""

    shape: Shape

    @property
    def seed(self) -> int:
        return self.shape.seed

    @property
    def name(self) -> str:
        return f"c{self.seed}"

    @property
    def subscription(self) -> str:
        return guid(self.seed, "subscription")

    @property
    def hub(self) -> str:
        """The subscription of the network: the same one, or that of a hub."""
        return guid(self.seed, "hub") if "hub-subscription" in self.shape.oddities else self.subscription

    @property
    def group(self) -> str:
        return f"rg-{self.seed}"

    @property
    def group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.group}"

    @property
    def node_group(self) -> str:
        named = "own-node-group-name" in self.shape.oddities
        return f"nodes-of-{self.name}" if named else f"MC_{self.group}_{self.name}_{LOCATION}"

    @property
    def node_group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.node_group}"

    @property
    def compute(self) -> str:
        """The node resource group in Compute's and Network's casing: often upper case."""
        shouted = "shouted-node-group" in self.shape.oddities
        group = self.node_group.upper() if shouted else self.node_group
        return f"/subscriptions/{self.subscription}/resourceGroups/{group}"

    @property
    def cluster(self) -> str:
        above = f"/subscriptions/{self.subscription}/resourcegroups/{self.group}"
        return f"{above}/providers/Microsoft.ContainerService/managedClusters/{self.name}"

    def pool(self, name: str) -> str:
        return f"{self.cluster}/agentPools/{name}"

    def scale_set(self, pool: str) -> str:
        return f"{self.compute}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-{pool}-{self.suffix}-vmss"

    def machine(self, name: str) -> str:
        return f"{self.compute}/providers/Microsoft.Compute/virtualMachines/{name}"

    @property
    def suffix(self) -> str:
        return str(10_000_000 + self.seed * 7919 % 89_999_999)

    @property
    def network_group(self) -> str:
        return f"/subscriptions/{self.hub}/resourceGroups/rg-network-{self.seed}"

    @property
    def vnet(self) -> str:
        return f"{self.network_group}/providers/Microsoft.Network/virtualNetworks/vnet-{self.seed}"

    def subnet(self, name: str) -> str:
        return f"{self.vnet}/subnets/{name}"

    def in_node_group(self, kind: str, name: str) -> str:
        return f"{self.compute}/providers/Microsoft.Network/{kind}/{name}"

    @property
    def kubelet_identity(self) -> str:
        where = f"/subscriptions/{self.subscription}/resourcegroups/{self.node_group}"
        return f"{where}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{self.name}-agentpool"

    @property
    def own_identity(self) -> str:
        where = f"/subscriptions/{self.subscription}/resourcegroups/{self.group}"
        return f"{where}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-{self.name}"

    @property
    def principal(self) -> str:
        return guid(self.seed, "principal")

    @property
    def kubelet_principal(self) -> str:
        return guid(self.seed, "kubelet")

    @property
    def usages(self) -> str:
        return f"/subscriptions/{self.subscription}/providers/Microsoft.Compute/locations/{LOCATION}/usages"
