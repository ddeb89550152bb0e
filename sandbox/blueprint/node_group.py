"""The shared resources of a node resource group: load balancer, outbound IP, NSG, kubelet identity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.blueprint.network import Subnet
from sandbox.blueprint.places import Places
from sandbox.world import Body

PODS_PER_NODE_BITS = 24
"""Kubenet assigns every node a /24 of the pod CIDR."""


@dataclass(frozen=True)
class NodeGroup:
    """Builds the shared resources of one cluster's node resource group."""

    places: Places
    subnet: Subnet
    node_configurations: tuple[str, ...]
    """The first IP configuration of every node."""

    def bodies(self) -> Iterator[Body]:
        yield self.balancer()
        yield self.address()
        yield self.security_group()
        yield identity_body(self.places, self.places.kubelet_identity)

    def balancer(self) -> Body:
        """The load balancer for outbound traffic."""
        balancer, name = self.places.load_balancer, self.places.outbound_address.rsplit("/", 1)[-1]
        rule, front = f"{balancer}/outboundRules/aksOutboundRule", f"{balancer}/frontendIPConfigurations/{name}"
        return {
            **self._head(balancer, "Microsoft.Network/loadBalancers"),
            "tags": {
                "aks-managed-cluster-name": self.places.name,
                "aks-managed-cluster-rg": self.places.spec.group,
            },
            "properties": {
                "provisioningState": "Succeeded",
                "resourceGuid": self.places.mint.guid(balancer),
                "frontendIPConfigurations": [
                    {
                        "name": name,
                        "id": front,
                        "type": "Microsoft.Network/loadBalancers/frontendIPConfigurations",
                        "properties": {
                            "provisioningState": "Succeeded",
                            "privateIPAllocationMethod": "Dynamic",
                            "publicIPAddress": {"id": self.places.outbound_address},
                            "outboundRules": [{"id": rule}],
                        },
                    }
                ],
                "backendAddressPools": [self._backend("aksOutboundBackendPool", rule), self._backend("kubernetes")],
                "loadBalancingRules": [],
                "probes": [],
                "inboundNatRules": [],
                "outboundRules": [
                    {
                        "name": "aksOutboundRule",
                        "id": rule,
                        "type": "Microsoft.Network/loadBalancers/outboundRules",
                        "properties": {
                            "provisioningState": "Succeeded",
                            "allocatedOutboundPorts": 0,
                            "protocol": "All",
                            "enableTcpReset": True,
                            "idleTimeoutInMinutes": 30,
                            "backendAddressPool": {"id": f"{balancer}/backendAddressPools/aksOutboundBackendPool"},
                            "frontendIPConfigurations": [{"id": front}],
                        },
                    }
                ],
                "inboundNatPools": [],
            },
            "sku": {"name": "Standard", "tier": "Regional"},
        }

    def address(self) -> Body:
        """The public IP address for outbound traffic."""
        address, balancer = self.places.outbound_address, self.places.load_balancer
        front = f"{balancer}/frontendIPConfigurations/{address.rsplit('/', 1)[-1]}"
        host = self.places.mint.number(4, 250, address)
        return {
            **self._head(address, "Microsoft.Network/publicIPAddresses"),
            "tags": {"aks-managed-cluster-name": self.places.name, "aks-managed-type": "aks-slb-managed-outbound-ip"},
            "properties": {
                "provisioningState": "Succeeded",
                "resourceGuid": self.places.mint.guid(address),
                "ipAddress": f"198.51.100.{host}",
                "publicIPAddressVersion": "IPv4",
                "publicIPAllocationMethod": "Static",
                "idleTimeoutInMinutes": 30,
                "ipTags": [],
                "ipConfiguration": {"id": front},
            },
            "sku": {"name": "Standard", "tier": "Regional"},
        }

    def security_group(self) -> Body:
        """AKS's network security group: only Azure's default rules."""
        group = self.places.security_group
        return {
            **self._head(group, "Microsoft.Network/networkSecurityGroups"),
            "properties": {
                "provisioningState": "Succeeded",
                "resourceGuid": self.places.mint.guid(group),
                "securityRules": [],
                "defaultSecurityRules": [
                    _default_rule(group, "AllowVnetInBound", 65000, "Inbound", "VirtualNetwork", "VirtualNetwork"),
                    _default_rule(group, "AllowAzureLoadBalancerInBound", 65001, "Inbound", "AzureLoadBalancer", "*"),
                    _default_rule(group, "DenyAllInBound", 65500, "Inbound", "*", "*"),
                    _default_rule(group, "AllowVnetOutBound", 65000, "Outbound", "VirtualNetwork", "VirtualNetwork"),
                    _default_rule(group, "AllowInternetOutBound", 65001, "Outbound", "*", "Internet"),
                    _default_rule(group, "DenyAllOutBound", 65500, "Outbound", "*", "*"),
                ],
            },
        }

    def _backend(self, name: str, rule: str | None = None) -> Body:
        pool = f"{self.places.load_balancer}/backendAddressPools/{name}"
        return {
            "name": name,
            "id": pool,
            "properties": {
                "provisioningState": "Succeeded",
                **({"outboundRules": [{"id": rule}]} if rule else {}),
                "backendIPConfigurations": [{"id": configuration} for configuration in self.node_configurations],
            },
            "type": "Microsoft.Network/loadBalancers/backendAddressPools",
        }

    def _head(self, resource: str, kind: str) -> Body:
        return {
            "name": resource.rsplit("/", 1)[-1],
            "id": resource,
            "etag": f'W/"{self.places.mint.guid(resource, "etag")}"',
            "type": kind,
            "location": self.places.spec.location,
        }


def identity_body(places: Places, identity: str) -> Body:
    """A user-assigned identity: the kubelet's, or the owners' own for the control plane."""
    kubelet = identity == places.kubelet_identity
    words = (places.name, "kubelet", "client") if kubelet else (places.name, "client")
    return {
        "id": identity,
        "name": identity.rsplit("/", 1)[-1],
        "type": "Microsoft.ManagedIdentity/userAssignedIdentities",
        "location": places.spec.location,
        "tags": {},
        "properties": {
            "tenantId": places.fleet.tenant,
            "principalId": places.kubelet_principal if kubelet else places.principal,
            "clientId": places.mint.guid(*words),
        },
    }


def route_table_body(places: Places, table: str, nodes: list[tuple[str, str]]) -> Body:
    """Kubenet's routes: one per node, from its pod CIDR to its address."""
    first, second = (places.spec.network.pod_cidr or "10.244.0.0/16").split(".")[:2]
    etag = f'W/"{places.mint.guid(table, "etag")}"'
    routes = []
    for number, (node, address) in enumerate(nodes):
        prefix = f"{first}.{second}.{number}.0/{PODS_PER_NODE_BITS}"
        name = f"{node}____{prefix.replace('.', '').replace('/', '')}"
        properties = {
            "provisioningState": "Succeeded",
            "addressPrefix": prefix,
            "nextHopType": "VirtualAppliance",
            "nextHopIpAddress": address,
        }
        kind = "Microsoft.Network/routeTables/routes"
        routes.append(
            {"name": name, "id": f"{table}/routes/{name}", "etag": etag, "properties": properties, "type": kind}
        )
    return {
        "name": table.rsplit("/", 1)[-1],
        "id": table,
        "etag": etag,
        "type": "Microsoft.Network/routeTables",
        "location": places.spec.location,
        "properties": {
            "provisioningState": "Succeeded",
            "resourceGuid": places.mint.guid(table),
            "disableBgpRoutePropagation": False,
            "routes": routes,
            "subnets": [{"id": places.node_subnet}],
        },
    }


def _default_rule(group: str, name: str, priority: int, direction: str, source: str, target: str) -> Body:
    return {
        "name": name,
        "id": f"{group}/defaultSecurityRules/{name}",
        "type": "Microsoft.Network/networkSecurityGroups/defaultSecurityRules",
        "properties": {
            "provisioningState": "Succeeded",
            "protocol": "*",
            "sourcePortRange": "*",
            "destinationPortRange": "*",
            "sourceAddressPrefix": source,
            "destinationAddressPrefix": target,
            "access": "Deny" if name.startswith("Deny") else "Allow",
            "priority": priority,
            "direction": direction,
        },
    }
