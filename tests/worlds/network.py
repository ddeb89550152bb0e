"""A generated cluster's addressing and outbound connectivity, and the network resources for it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tests.worlds.ids import LOCATION, Body, Ids, guid
from tests.worlds.pools import Machine, Pool

RESERVED = 5
"""Azure reserves five addresses in every subnet."""
BATCH = 16
"""With a pod subnet, nodes allocate addresses 16 at a time, as a batch or block; one per node is reserved."""
NODES, PODS, API = "10.16.0.0/21", "10.16.16.0/20", "10.16.9.0/28"
SIZES = {"nodes": 2048, "pods": 4096, "api-server": 16}
_ADDRESSES = [{"id": f"/address/{number}"} for number in range(4096)]


def profile(ids: Ids) -> Body:
    """The cluster's network profile."""
    shape = ids.shape
    plugin = {"kubenet": "kubenet", "none": "none"}.get(shape.network, "azure")
    overlay = shape.network in ("overlay", "cilium")
    cidr: Body = {"podCidr": "10.244.0.0/16", "podCidrs": ["10.244.0.0/16"]}
    body: Body = {
        "networkPlugin": plugin,
        **({"networkPluginMode": "overlay"} if overlay else {}),
        **({"networkPolicy": _policy(ids)} if _policy(ids) else {}),
        **({} if shape.network == "none" else {"networkDataplane": "cilium" if shape.network == "cilium" else "azure"}),
        "loadBalancerSku": "basic" if shape.legacy and ids.seed % 2 else "standard",
        **(cidr if overlay or shape.network == "kubenet" else {}),
        "serviceCidr": "10.0.0.0/16",
        "serviceCidrs": ["10.0.0.0/16"],
        "dnsServiceIP": "10.0.0.10",
        "outboundType": shape.outbound,
        "ipFamilies": ["IPv4"],
    }
    if shape.outbound == "loadBalancer":
        body["loadBalancerProfile"] = {
            "managedOutboundIPs": {"count": 1},
            "effectiveOutboundIPs": [{"id": _outbound(ids)}],
            "backendPoolType": "nodeIPConfiguration",
        }
    if shape.outbound == "managedNATGateway":
        body["natGatewayProfile"] = {"effectiveOutboundIPs": [{"id": _outbound(ids)}], "idleTimeoutInMinutes": 4}
    return body


def _policy(ids: Ids) -> str:
    if ids.shape.network == "cilium":
        return "cilium"
    return "calico" if "calico" in ids.shape.inside else ""


def access_profile(ids: Ids) -> Body:
    """The API server access profile."""
    shape = ids.shape
    host = f"{ids.name}-{guid(ids.seed, 'host')[:8]}"
    body: Body = {"fqdn": f"{host}.hcp.{LOCATION}.azmk8s.io"}
    access: Body = {}
    if shape.access == "ranges":
        access["authorizedIPRanges"] = ["198.51.100.0/24", "203.0.113.7/32"]
    if shape.private:
        access |= {"enablePrivateCluster": True, "privateDNSZone": _zone(ids)}
        access["enablePrivateClusterPublicFQDN"] = ids.seed % 2 == 0
        body["privateFQDN"] = f"{host}.{zone_name(ids)}"
        if ids.seed % 2:
            del body["fqdn"]
        if not shape.integrated:
            link = {"name": "management", "groupId": "management", "requiredMembers": ["management"]}
            body["privateLinkResources"] = [{"id": f"{ids.cluster}/privateLinkResources/management", **link}]
    if shape.integrated:
        access |= {"enableVnetIntegration": True, "subnetId": ids.subnet("api-server")}
    return {**body, **({"apiServerAccessProfile": access} if access else {})}


def zone_name(ids: Ids) -> str:
    named = guid(ids.seed, "zone") if ids.shape.zone == "system" else "corp"
    return f"{named}.privatelink.{LOCATION}.azmk8s.io"


def zone_id(ids: Ids) -> str:
    where = ids.network_group if ids.shape.zone == "own" else ids.compute
    return f"{where}/providers/Microsoft.Network/privateDnsZones/{zone_name(ids)}"


def _zone(ids: Ids) -> str:
    return zone_id(ids) if ids.shape.zone == "own" else ids.shape.zone


def _outbound(ids: Ids) -> str:
    return ids.in_node_group("publicIPAddresses", guid(ids.seed, "outbound"))


def per_node(pool: Pool) -> int:
    """How many node subnet addresses one node of a pool uses."""
    return 1 + (pool.max_pods if pool.ids.shape.pods_use_the_subnet else 0)


def pods_per_node(pool: Pool) -> int:
    """How many pod subnet addresses a node allocates at a time."""
    blocks = pool.ids.shape.network == "blocks"
    return BATCH * (math.ceil((pool.max_pods + 1) / BATCH) if blocks else 1)


def network_bodies(ids: Ids, pools: tuple[Pool, ...], auto: tuple[Machine, ...]) -> Iterator[Body]:
    shape = ids.shape
    yield from _subnets(ids, pools, auto) if shape.own_subnet else [_managed_network(ids)]
    if shape.outbound == "userDefinedRouting" or shape.network == "kubenet":
        yield _route_table(ids)
    if shape.outbound.endswith("NATGateway"):
        yield _plain(_nat_gateway(ids), publicIpAddresses=[{"id": _outbound(ids)}])
    if shape.outbound in ("loadBalancer", "managedNATGateway"):
        yield _plain(_outbound(ids), ipAddress="198.51.100.9", publicIPAllocationMethod="Static")
    if shape.outbound == "loadBalancer":
        yield _plain(ids.in_node_group("loadBalancers", "kubernetes"), frontendIPConfigurations=[], outboundRules=[])
    if shape.private and shape.zone in ("own", "system"):
        yield _plain(zone_id(ids), numberOfRecordSets=2)
        link = f"{zone_id(ids)}/virtualNetworkLinks/link"
        yield _plain(
            link, registrationEnabled=False, virtualNetworkLinkState="Completed", virtualNetwork={"id": _vnet_id(ids)}
        )
        yield from _api_server_record(ids)
    yield _plain(security_group(ids), securityRules=[])
    yield _plain(_own_group(ids), securityRules=list(_allow_list(ids)))


def security_group(ids: Ids) -> str:
    """The NSG that AKS creates, and attaches to scale set network interfaces in custom virtual networks."""
    return ids.in_node_group("networkSecurityGroups", f"aks-agentpool-{ids.suffix}-nsg")


def required_endpoints(ids: Ids) -> list[Body]:
    """The required outbound endpoints that Azure lists."""
    hosts = {"images": "mcr.microsoft.com", "azure-resource-management": "management.azure.com"}
    return [_category(name, host, 443, "https") for name, host in hosts.items()] + [
        _category("time-sync", "ntp.ubuntu.com", 123, "udp")
    ]


def _category(name: str, host: str, port: int, protocol: str) -> Body:
    details = [{"port": port, "protocol": protocol}]
    return {"category": name, "endpoints": [{"domainName": host, "endpointDetails": details}]}


def _own_group(ids: Ids) -> str:
    return f"{ids.network_group}/providers/Microsoft.Network/networkSecurityGroups/nsg-{ids.seed}"


def _allow_list(ids: Ids) -> Iterator[Body]:
    """NSG rules that deny all outbound traffic not explicitly allowed."""
    by_service = (("AzureCloud", "443"), ("MicrosoftContainerRegistry", "443"))
    by_port = (("0.0.0.0/0", "443"), ("Internet", "9000"))
    more = by_port if ids.shape.allow_list == "by port" else by_service
    allowed = (("VirtualNetwork", "*"), ("Internet", "123"), *more)
    for number, (place, port) in enumerate(allowed):
        yield _rule(ids, f"allow-{number}", 100 + number, "Allow", place, port)
    yield _rule(ids, "deny-the-rest", 4096, "Deny", "*", "*")


def _rule(ids: Ids, name: str, priority: int, access: str, place: str, port: str) -> Body:
    properties = {
        "priority": priority,
        "access": access,
        "direction": "Outbound",
        "protocol": "*",
        "sourceAddressPrefix": "*",
        "sourcePortRange": "*",
        "destinationAddressPrefix": place,
        "destinationPortRange": port,
    }
    return {"id": f"{_own_group(ids)}/securityRules/{name}", "name": name, "properties": properties}


def _api_server_record(ids: Ids) -> Iterator[Body]:
    """The private DNS record and the private endpoint behind it; with API server VNet integration there is none."""
    host = f"{ids.name}-{guid(ids.seed, 'host')[:8]}"
    address = "10.16.0.9" if ids.shape.own_subnet else "10.224.0.9"
    yield _plain(f"{zone_id(ids)}/A/{host}", aRecords=[{"ipv4Address": address}])
    if not ids.shape.integrated:
        endpoint = ids.in_node_group("privateEndpoints", "kube-apiserver")
        held = {"name": "one", "properties": {"privateIPAddress": address}}
        interface = ids.in_node_group("networkInterfaces", "kube-apiserver.nic.1")
        yield _plain(interface, privateEndpoint={"id": endpoint}, ipConfigurations=[held])


def _vnet_id(ids: Ids) -> str:
    return ids.vnet if ids.shape.own_subnet else ids.in_node_group("virtualNetworks", f"aks-vnet-{ids.suffix}")


def _managed_network(ids: Ids) -> Body:
    network = _vnet_id(ids)
    subnet: Body = {"addressPrefix": "10.224.0.0/16", "networkSecurityGroup": {"id": security_group(ids)}}
    if ids.shape.network == "kubenet":
        subnet["routeTable"] = {"id": _route_table_id(ids)}
    one = {"id": f"{network}/subnets/aks-subnet", "name": "aks-subnet", "properties": subnet}
    return _plain(network, addressSpace={"addressPrefixes": ["10.224.0.0/12"]}, subnets=[one])


def _subnets(ids: Ids, pools: tuple[Pool, ...], auto: tuple[Machine, ...]) -> Iterator[Body]:
    inside = [*_inside(ids, pools, auto)]
    yield {"id": ids.vnet, "name": ids.vnet.rsplit("/", 1)[-1], "location": LOCATION, "properties": _vnet(ids, inside)}
    yield from inside


def _inside(ids: Ids, pools: tuple[Pool, ...], auto: tuple[Machine, ...]) -> Iterator[Body]:
    nodes = sum(len(pool.machines) * per_node(pool) for pool in pools) + len(auto)
    next_auto = max(1, len(auto)) if ids.shape.auto >= 0 else 0
    wanted = sum(_growth(pool) * per_node(pool) for pool in pools) + next_auto
    yield _subnet(ids, "nodes", NODES, nodes, wanted)
    if ids.shape.network in ("dynamic", "blocks"):
        pods = sum(len(pool.machines) * pods_per_node(pool) for pool in pools)
        wanted = sum(_growth(pool) * pods_per_node(pool) for pool in pools)
        yield _subnet(ids, "pods", PODS, pods, wanted)
    if ids.shape.integrated:
        yield _subnet(ids, "api-server", API, 4, 0)


def _growth(pool: Pool) -> int:
    missing = 0 if pool.shape.kind == "stopped" else max(0, pool.count - len(pool.machines))
    surplus = max(0, len(pool.machines) - pool.count)
    return missing + max(0, pool.surge - surplus)


def _subnet(ids: Ids, name: str, prefix: str, used: int, wanted: int) -> Body:
    """A subnet with addresses for the next upgrade of all pools: ample, or (if tight) just enough."""
    if "tight-subnet" in ids.shape.oddities and name != "api-server":
        used = SIZES[name] - RESERVED - wanted
    prefixes: Body = {"addressPrefix": prefix}
    if ids.seed % 4 == 0:
        prefixes = {"addressPrefixes": [prefix, "fd00:db8:1::/64"] if name == "nodes" else [prefix]}
    properties: Body = {"provisioningState": "Succeeded", **prefixes, "ipConfigurations": _ADDRESSES[:used]}
    if (ids.shape.outbound == "userDefinedRouting" or ids.shape.network == "kubenet") and name == "nodes":
        properties["routeTable"] = {"id": _route_table_id(ids)}
    if ids.shape.outbound == "userAssignedNATGateway" and name == "nodes":
        properties["natGateway"] = {"id": _nat_gateway(ids)}
    if ids.shape.allow_list and name == "nodes":
        properties["networkSecurityGroup"] = {"id": _own_group(ids)}
    if name != "nodes":
        properties["delegations"] = [
            {"name": "aks", "properties": {"serviceName": "Microsoft.ContainerService/managedClusters"}}
        ]
    return {"id": ids.subnet(name), "name": name, "properties": properties}


def _vnet(ids: Ids, subnets: list[Body]) -> Body:
    """The virtual network; a spoke uses its hub's DNS servers and may use its gateway."""
    space = {"addressPrefixes": ["10.16.0.0/16"]}
    properties: Body = {"provisioningState": "Succeeded", "addressSpace": space, "subnets": subnets}
    if ids.shape.spoke:
        hub = f"{ids.network_group}/providers/Microsoft.Network/virtualNetworks/hub"
        peering = {
            "remoteVirtualNetwork": {"id": hub},
            "remoteAddressSpace": {"addressPrefixes": ["10.15.0.0/16"]},
            "peeringState": "Connected",
            "useRemoteGateways": ids.seed % 2 == 0 or ids.shape.way == "forced-tunnel",
        }
        properties["dhcpOptions"] = {"dnsServers": ["10.15.0.4", "10.15.0.5"]}
        properties["virtualNetworkPeerings"] = [{"id": f"{ids.vnet}/p/hub", "name": "hub", "properties": peering}]
    return properties


def _route_table_id(ids: Ids) -> str:
    where = ids.network_group if ids.shape.own_subnet else ids.compute
    return f"{where}/providers/Microsoft.Network/routeTables/routes-{ids.seed}"


def _route_table(ids: Ids) -> Body:
    routes = [{"name": name, "properties": hop} for name, hop in _routes(ids)]
    return _plain(_route_table_id(ids), routes=routes, disableBgpRoutePropagation=ids.shape.way == "appliance")


def _routes(ids: Ids) -> Iterator[tuple[str, Body]]:
    way = ids.shape.way
    if way.startswith("appliance"):
        firewall = {"nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.15.0.4"}
        yield "to-firewall", {"addressPrefix": "0.0.0.0/0", **firewall}
    if way == "forced-tunnel":
        yield "to-own-network", {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualNetworkGateway"}
    if way == "appliance-and-direct":
        for place in (f"AzureCloud.{LOCATION}", "MicrosoftContainerRegistry"):
            yield f"direct-{place}", {"addressPrefix": place, "nextHopType": "Internet"}


def _nat_gateway(ids: Ids) -> str:
    own = ids.shape.outbound == "userAssignedNATGateway"
    where = ids.network_group if own else ids.compute
    return f"{where}/providers/Microsoft.Network/natGateways/nat-{ids.seed}"


def _plain(resource: str, **properties: object) -> Body:
    name = resource.rsplit("/", 1)[-1]
    return {
        "id": resource,
        "name": name,
        "location": LOCATION,
        "properties": {"provisioningState": "Succeeded", **properties},
    }
