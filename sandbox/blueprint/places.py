"""The ids and names of all resources of one AKS cluster, in Azure's casing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sandbox.blueprint.fleet import ClusterSpec, Fleet
from sandbox.blueprint.mint import Mint

LONGEST_GROUP_NAME = 80


def group_id(subscription: str, group: str) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{group}"


def vnet_id(fleet: Fleet, name: str) -> str:
    vnet = fleet.vnets[name]
    group = group_id(fleet.subscriptions[vnet.subscription].id, vnet.group)
    return f"{group}/providers/Microsoft.Network/virtualNetworks/{name}"


@dataclass(frozen=True)
class Places:
    """The ids of one cluster's resources."""

    name: str
    spec: ClusterSpec
    fleet: Fleet
    mint: Mint

    @cached_property
    def subscription(self) -> str:
        return self.fleet.subscriptions[self.spec.subscription].id

    @cached_property
    def group(self) -> str:
        return group_id(self.subscription, self.spec.group)

    @cached_property
    def id(self) -> str:
        group = self.group.replace("/resourceGroups/", "/resourcegroups/")
        return f"{group}/providers/Microsoft.ContainerService/managedClusters/{self.name}"

    @cached_property
    def node_group_name(self) -> str:
        return f"MC_{self.spec.group}_{self.name}_{self.spec.location}"[:LONGEST_GROUP_NAME]

    @cached_property
    def node_group(self) -> str:
        return group_id(self.subscription, self.node_group_name)

    @cached_property
    def suffix(self) -> str:
        """The eight digits in the names of resources that AKS creates once per cluster."""
        return self.mint.digits(8, self.name, "suffix")

    def usages(self, provider: str) -> str:
        """The path of a provider's usages in the cluster's region."""
        return f"/subscriptions/{self.subscription}/providers/{provider}/locations/{self.spec.location}/usages"

    def pool(self, pool: str) -> str:
        return f"{self.id}/agentPools/{pool}"

    def machine_stem(self, pool: str) -> str:
        """The name prefix of a pool's VMs; for a scale set, its name."""
        if self.spec.pools[pool].os == "Windows":  # Windows names are short: NetBIOS allows 15 characters
            return f"aks{pool}"
        stem = f"aks-{pool}-{self.mint.digits(8, self.name, pool)}"
        return f"{stem}-vmss" if self.spec.pools[pool].type == "VirtualMachineScaleSets" else stem

    def scale_set(self, pool: str) -> str:
        return f"{self.node_group}/providers/Microsoft.Compute/virtualMachineScaleSets/{self.machine_stem(pool)}"

    def machine_numbers(self, pool: str) -> Iterator[int]:
        """The instance numbers of a pool's VMs. Numbers are not reused, so a pool rarely starts at 0 and has gaps."""
        spec = self.spec.pools[pool]
        if spec.type == "AvailabilitySet":  # these are renumbered each time
            yield from range(spec.machine_count)
            return
        number = self.mint.number(0, 30, self.name, pool, "first")
        for _ in range(spec.machine_count):
            number += 1 if self.mint.number(0, 9, self.name, pool, number) else 2
            yield number

    def machine_id(self, pool: str, number: int) -> str:
        """The VM's id: a scale set instance or a standalone VM."""
        if self.spec.pools[pool].type == "VirtualMachineScaleSets":
            return f"{self.scale_set(pool)}/virtualMachines/{number}"
        return f"{self.node_group}/providers/Microsoft.Compute/virtualMachines/{self.node_name(pool, number)}"

    def node_name(self, pool: str, number: int) -> str:
        """The node's name in Kubernetes; in a scale set it ends in the number as six base-36 digits."""
        stem = self.machine_stem(pool)
        kind = self.spec.pools[pool].type
        if kind == "VirtualMachineScaleSets":
            return f"{stem}{_base36(number):0>6}"
        return f"{stem}-vms{number}" if kind == "VirtualMachines" else f"{stem}-{number}"

    @cached_property
    def vnet(self) -> str:
        if self.spec.network.vnet:
            return vnet_id(self.fleet, self.spec.network.vnet)
        return f"{self.node_group}/providers/Microsoft.Network/virtualNetworks/aks-vnet-{self.suffix}"

    @cached_property
    def private_host(self) -> str:
        """The API server's host name in a private cluster."""
        zone = f"{self.mint.guid(self.name, 'zone')}.privatelink.{self.spec.location}.azmk8s.io"
        return f"{self.name}-{self.mint.word(8, self.name, 'private')}.{zone}"

    @cached_property
    def private_zone(self) -> str:
        """The private DNS zone that AKS creates for it."""
        return f"{self.node_group}/providers/Microsoft.Network/privateDnsZones/{self.private_host.partition('.')[2]}"

    @cached_property
    def node_subnet(self) -> str:
        return f"{self.vnet}/subnets/{self.spec.network.node_subnet or 'aks-subnet'}"

    @cached_property
    def pod_subnet(self) -> str | None:
        name = self.spec.network.pod_subnet
        return f"{self.vnet}/subnets/{name}" if name else None

    @cached_property
    def security_group(self) -> str:
        return f"{self.node_group}/providers/Microsoft.Network/networkSecurityGroups/aks-agentpool-{self.suffix}-nsg"

    @cached_property
    def load_balancer(self) -> str:
        return f"{self.node_group}/providers/Microsoft.Network/loadBalancers/kubernetes"

    @cached_property
    def outbound_address(self) -> str:
        name = self.mint.guid(self.name, "outbound")
        return f"{self.node_group}/providers/Microsoft.Network/publicIPAddresses/{name}"

    @cached_property
    def kubelet_identity(self) -> str:
        return f"{self.node_group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{self.name}-agentpool"

    @cached_property
    def own_identity(self) -> str | None:
        """The control plane's user-assigned identity, if the owners provided one."""
        if self.spec.identity == "system":
            return None
        return f"{self.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-{self.name}"

    @cached_property
    def administrators(self) -> str:
        """The Entra group with admin access to the cluster."""
        return self.mint.guid("group", "platform-admins")

    @cached_property
    def principal(self) -> str:
        """The object id of the control plane's identity."""
        return self.mint.guid(self.name, "principal")

    @cached_property
    def kubelet_principal(self) -> str:
        return self.mint.guid(self.name, "kubelet", "principal")


def _base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    while number:
        number, rest = divmod(number, 36)
        text = digits[rest] + text
    return text or "0"
