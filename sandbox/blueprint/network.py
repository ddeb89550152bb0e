"""Virtual networks: allocates subnet addresses and builds the bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_network

from sandbox.blueprint.fleet import Fleet, SubnetSpec, VnetSpec
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.places import Places, group_id, vnet_id
from sandbox.world import Body, World

RESERVED = 5
"""Azure reserves the first four addresses of a subnet and the last one."""
MANAGED_SPACE, MANAGED_PREFIX = "10.224.0.0/12", "10.224.0.0/16"


class NoAddressLeft(ValueError):
    """A subnet has no free addresses."""


@dataclass
class Subnet:
    """One subnet and its allocated addresses."""

    id: str
    prefix: str
    security_group: str | None = None
    route_table: str | None = None
    for_pods: bool = False
    occupants: list[str] = field(default_factory=list)
    endpoints: list[str] = field(default_factory=list)

    def take(self, ip_configuration: str) -> str:
        """Allocate the next free address to an IP configuration."""
        network = IPv4Network(self.prefix)
        if len(self.occupants) >= network.num_addresses - RESERVED:
            raise NoAddressLeft(f"{self.id} has {len(self.occupants)} addresses in use and no more")
        self.occupants.append(ip_configuration)
        return str(network.network_address + RESERVED - 2 + len(self.occupants))

    def body(self, etag: str) -> Body:
        properties: Body = {"provisioningState": "Succeeded", "addressPrefix": self.prefix}
        if self.security_group:
            properties["networkSecurityGroup"] = {"id": self.security_group}
        if self.route_table:
            properties["routeTable"] = {"id": self.route_table}
        if self.occupants:
            properties["ipConfigurations"] = [{"id": _shouted(occupant)} for occupant in self.occupants]
        if self.endpoints:
            properties["privateEndpoints"] = [{"id": endpoint} for endpoint in self.endpoints]
            properties["purpose"] = "PrivateEndpoints"
        properties["delegations"] = [_delegation(self.id, etag)] if self.for_pods else []
        properties["privateEndpointNetworkPolicies"] = "Disabled"
        properties["privateLinkServiceNetworkPolicies"] = "Enabled"
        return {
            "name": self.id.rsplit("/", 1)[-1],
            "id": self.id,
            "etag": etag,
            "properties": properties,
            "type": "Microsoft.Network/virtualNetworks/subnets",
        }


def _shouted(ip_configuration: str) -> str:
    """Subnets return the ids of their ipConfigurations in upper case from the resource group on."""
    head, group, rest = ip_configuration.partition("/resourceGroups/")
    return f"{head}{group}{rest.upper()}".replace("/IPCONFIGURATIONS/", "/ipConfigurations/")


def _delegation(subnet: str, etag: str) -> Body:
    return {
        "name": "aks-delegation",
        "id": f"{subnet}/delegations/aks-delegation",
        "etag": etag,
        "properties": {
            "provisioningState": "Succeeded",
            "serviceName": "Microsoft.ContainerService/managedClusters",
            "actions": ["Microsoft.Network/virtualNetworks/subnets/join/action"],
        },
        "type": "Microsoft.Network/virtualNetworks/subnets/delegations",
    }


@dataclass
class Networks:
    """All subnets of the fleet, by id."""

    mint: Mint
    subnets: dict[str, Subnet] = field(default_factory=dict)
    vnets: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """Location and address space, by id."""

    def bring(self, fleet: Fleet, world: World) -> None:
        """Add the cluster owners' own networks, with other teams' private endpoints."""
        for name, vnet in fleet.vnets.items():
            network_id = vnet_id(fleet, name)
            group = group_id(fleet.subscriptions[vnet.subscription].id, vnet.group)
            self.vnets[network_id] = (vnet.location, [vnet.space])
            for subnet_name, spec in vnet.subnets.items():
                subnet = self._own_subnet(f"{network_id}/subnets/{subnet_name}", group, spec)
                for number in range(spec.private_endpoints):
                    _private_endpoint(world, self.mint, vnet, group, subnet, number)

    def manage(self, places: Places, route_table: str | None) -> None:
        """Add the network that AKS creates in the node resource group."""
        self.vnets[places.vnet] = (places.spec.location, [MANAGED_SPACE])
        subnet = Subnet(places.node_subnet, MANAGED_PREFIX, places.security_group, route_table)
        self.subnets[subnet.id] = subnet

    def bodies(self) -> Iterator[Body]:
        """Every network; the World fills in the copies of its subnets."""
        for network_id, (location, space) in self.vnets.items():
            etag = _etag(self.mint, network_id)
            yield {
                "name": network_id.rsplit("/", 1)[-1],
                "id": network_id,
                "etag": etag,
                "type": "Microsoft.Network/virtualNetworks",
                "location": location,
                "properties": {
                    "provisioningState": "Succeeded",
                    "resourceGuid": self.mint.guid(network_id),
                    "addressSpace": {"addressPrefixes": space},
                    "subnets": [],
                    "virtualNetworkPeerings": [],
                    "enableDdosProtection": False,
                },
            }
            yield from (subnet.body(etag) for subnet in self.subnets.values() if subnet.id.startswith(network_id + "/"))

    def _own_subnet(self, subnet_id: str, group: str, spec: SubnetSpec) -> Subnet:
        table = f"{group}/providers/Microsoft.Network/routeTables/{spec.route_table}" if spec.route_table else None
        subnet = Subnet(subnet_id, str(ip_network(spec.prefix)), None, table, spec.for_pods)
        self.subnets[subnet_id] = subnet
        return subnet


def _etag(mint: Mint, words: str) -> str:
    return f'W/"{mint.guid(words, "etag")}"'


def _private_endpoint(world: World, mint: Mint, vnet: VnetSpec, group: str, subnet: Subnet, number: int) -> None:
    """A private endpoint of a storage account, and its network interface."""
    name = f"pe-{subnet.id.rsplit('/', 1)[-1]}-{number + 1:02d}"
    endpoint = f"{group}/providers/Microsoft.Network/privateEndpoints/{name}"
    interface = f"{group}/providers/Microsoft.Network/networkInterfaces/{name}.nic.{mint.guid(endpoint)}"
    configuration = f"{interface}/ipConfigurations/privateEndpointIpConfig.{mint.guid(interface)}"
    address = subnet.take(configuration)
    subnet.endpoints.append(endpoint)
    world.put(
        {
            "name": name,
            "id": endpoint,
            "etag": _etag(mint, endpoint),
            "type": "Microsoft.Network/privateEndpoints",
            "location": vnet.location,
            "properties": {
                "provisioningState": "Succeeded",
                "resourceGuid": mint.guid(endpoint, "guid"),
                "privateLinkServiceConnections": [],
                "manualPrivateLinkServiceConnections": [],
                "subnet": {"id": subnet.id},
                "networkInterfaces": [{"id": interface}],
                "customDnsConfigs": [],
            },
        }
    )
    world.put(
        {
            "name": interface.rsplit("/", 1)[-1],
            "id": interface,
            "etag": _etag(mint, interface),
            "type": "Microsoft.Network/networkInterfaces",
            "location": vnet.location,
            "properties": {
                "provisioningState": "Succeeded",
                "ipConfigurations": [
                    {
                        "name": configuration.rsplit("/", 1)[-1],
                        "id": configuration,
                        "properties": {
                            "provisioningState": "Succeeded",
                            "privateIPAddress": address,
                            "privateIPAllocationMethod": "Dynamic",
                            "subnet": {"id": subnet.id},
                            "primary": True,
                            "privateIPAddressVersion": "IPv4",
                        },
                    }
                ],
                "privateEndpoint": {"id": endpoint},
                "nicType": "Standard",
            },
        }
    )
