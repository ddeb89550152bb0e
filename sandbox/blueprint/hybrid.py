"""On-premises resources: Operator Nexus clusters, AKS hybrid and Arc resource bridges."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from sandbox.blueprint.clock import wire
from sandbox.blueprint.fleet import BridgeSpec, Fleet, HybridSpec, NexusSpec
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.places import group_id
from sandbox.blueprint.site_places import NexusPlaces, bridge_id, bridge_location_id, connected_id, instance_id
from sandbox.world import Body


def nexus_bodies(name: str, spec: NexusSpec, fleet: Fleet, mint: Mint, now: datetime) -> Iterator[Body]:
    """One Nexus cluster: its Arc resource, its Nexus resource, a pool and its networks."""
    places = NexusPlaces(name, spec, fleet)
    subscription, cluster, site = fleet.subscriptions[spec.subscription].id, places.id, places.site
    hosted_name = f"{name}-HostedResources-{mint.hex(8, name, 'hosted').upper()}"
    location = {"name": places.custom_location, "type": "CustomLocation"}
    connected, network, services, domain = places.connected, places.network, places.services, places.domain
    fabric, controller = places.fabric, places.controller
    born = now - timedelta(days=mint.number(90, 400, name))

    def body(resource: str, kind: str, properties: Body, **more: object) -> Body:
        return {
            "id": resource,
            "name": resource.rsplit("/", 1)[-1],
            "type": kind,
            "location": spec.location,
            **more,
            "tags": {},
            "systemData": _system_data(mint, resource, born),
            "properties": {"provisioningState": "Succeeded", **properties},
        }

    yield {
        "id": group_id(subscription, hosted_name),
        "name": hosted_name,
        "type": "Microsoft.Resources/resourceGroups",
        "location": spec.location,
        "managedBy": cluster,
        "tags": {},
        "properties": {"provisioningState": "Succeeded"},
    }
    yield body(
        connected,
        "microsoft.kubernetes/connectedclusters",
        _connected(spec, mint, name, now),
        identity=_system(fleet, mint, name),
    )
    yield body(
        cluster,
        "microsoft.networkcloud/kubernetesclusters",
        {
            "attachedNetworkIds": [network],
            "availableUpgrades": [],
            "clusterId": site,
            "connectedClusterId": connected,
            "controlPlaneKubernetesVersion": spec.version,
            "controlPlaneNodeConfiguration": {"count": 3, "vmSkuName": "NC_G6_28_v1"},
            "detailedStatus": "Available",
            "detailedStatusMessage": "Cluster is operational.",
            **(
                {"aadConfiguration": {"adminGroupObjectIds": [mint.guid(name, "administrators")]}} if spec.nodes else {}
            ),
            "initialAgentPoolConfigurations": [
                {"count": 4, "mode": "System", "name": f"{name}-nodepool1", "vmSkuName": "NC_P10_56_v1"}
            ],
            "kubernetesVersion": spec.version,
            "managedResourceGroupConfiguration": {"location": spec.location, "name": hosted_name},
            "networkConfiguration": {
                "cloudServicesNetworkId": services,
                "cniNetworkId": network,
                "dnsServiceIp": "10.96.0.10",
                "podCidrs": ["10.244.0.0/16"],
                "serviceCidrs": ["10.96.0.0/16"],
            },
        },
        extendedLocation=location,
    )
    yield body(
        f"{cluster}/agentPools/{name}-nodepool1",
        "microsoft.networkcloud/kubernetesclusters/agentpools",
        {
            "count": 4,
            "detailedStatus": "Available",
            "detailedStatusMessage": "Agent pool is operational.",
            "kubernetesVersion": spec.version,
            "mode": "System",
            "upgradeSettings": {"maxSurge": "1"},
            "vmSkuName": "NC_P10_56_v1",
        },
        extendedLocation=location,
    )
    yield body(
        network,
        "microsoft.networkcloud/l3networks",
        {
            "interfaceName": "eth0",
            "ipAllocationType": "IPV4",
            "ipv4ConnectedPrefix": spec.prefix,
            "l3IsolationDomainId": domain,
            "vlan": spec.vlan,
            "clusterId": site,
            "associatedResourceIds": [cluster],
            "detailedStatus": "Available",
            "detailedStatusMessage": "all resource creation succeeded",
        },
        extendedLocation=location,
    )
    others = [f"{services}-{number:03}" for number in range(1, spec.more_cloud_services_networks + 1)]
    for network_id in (services, *others):
        yield body(
            network_id,
            "microsoft.networkcloud/cloudservicesnetworks",
            {
                "clusterId": site,
                "enableDefaultEgressEndpoints": "True",
                "associatedResourceIds": [cluster] if network_id == services else [],
                "detailedStatus": "Available",
                "detailedStatusMessage": "all resource creation succeeded",
            },
            extendedLocation=location,
        )
    yield body(
        site,
        "microsoft.networkcloud/clusters",
        {
            "clusterType": "MultiRack",
            "clusterVersion": "4.4.0",
            "clusterConnectionStatus": "Connected",
            "clusterExtendedLocation": location,
            "networkFabricId": fabric,
            "detailedStatus": "Running",
            "detailedStatusMessage": "Cluster is up and running.",
        },
        extendedLocation=location,
    )
    yield body(controller, "microsoft.managednetworkfabric/networkfabriccontrollers", {"networkFabricIds": [fabric]})
    yield body(
        fabric,
        "microsoft.managednetworkfabric/networkfabrics",
        {
            "networkFabricControllerId": controller,
            "configurationState": "Succeeded",
            "administrativeState": "Enabled",
            "fabricVersion": "3.0.0",
        },
    )
    yield body(
        domain,
        "microsoft.managednetworkfabric/l3isolationdomains",
        {
            "networkFabricId": fabric,
            "configurationState": "Succeeded",
            "administrativeState": "Enabled",
            "redistributeConnectedSubnets": "True",
            "redistributeStaticRoutes": "True",
        },
    )
    yield body(
        places.internal,
        "microsoft.managednetworkfabric/l3isolationdomains/internalnetworks",
        {
            "vlanId": spec.vlan,
            "mtu": 1500,
            "connectedIPv4Subnets": [{"prefix": spec.prefix}],
            "configurationState": "Succeeded",
            "administrativeState": "Enabled",
        },
    )
    yield _custom_location(mint, location["name"], connected, spec.location, born)


def hybrid_bodies(name: str, spec: HybridSpec, fleet: Fleet, mint: Mint, now: datetime) -> Iterator[Body]:
    """A provisioned cluster of AKS hybrid: its Arc resource, the instance below it, and its logical network."""
    group = group_id(fleet.subscriptions[spec.subscription].id, spec.group)
    connected, instance = connected_id(fleet, name, spec), instance_id(fleet, name, spec)
    location = bridge_location_id(fleet, spec.bridge, fleet.bridges[spec.bridge])
    network = f"{group}/providers/Microsoft.AzureStackHCI/logicalNetworks/lnet-{name}"
    born = now - timedelta(days=mint.number(90, 400, name))
    extended = {"name": location, "type": "CustomLocation"}
    yield {
        "id": connected,
        "name": name,
        "type": "microsoft.kubernetes/connectedclusters",
        "kind": "ProvisionedCluster",
        "location": spec.location,
        "tags": {},
        "identity": _system(fleet, mint, name),
        "systemData": _system_data(mint, connected, born),
        "properties": {
            "provisioningState": "Succeeded",
            **_seen_by_arc(spec.version, mint, name, now),
            **({"aadProfile": {"enableAzureRBAC": False, "tenantID": fleet.tenant}} if spec.nodes else {}),
            "distribution": "aks_workload",
            "infrastructure": "azure_stack_hci",
        },
    }
    yield {
        "id": instance,
        "name": "default",
        "type": "microsoft.hybridcontainerservice/provisionedclusterinstances",
        "extendedLocation": extended,
        "systemData": _system_data(mint, instance, born),
        "properties": {
            "provisioningState": "Succeeded",
            "kubernetesVersion": spec.version,
            "cloudProviderProfile": {"infraNetworkProfile": {"vnetSubnetIds": [network]}},
            "networkProfile": {"networkPolicy": "calico"},
            "status": {"currentState": "Succeeded", "errorMessage": None, "controlPlaneStatus": []},
        },
    }
    yield {
        "id": network,
        "name": f"lnet-{name}",
        "type": "microsoft.azurestackhci/logicalnetworks",
        "location": spec.location,
        "extendedLocation": extended,
        "tags": {},
        "systemData": _system_data(mint, network, born),
        "properties": {"provisioningState": "Succeeded", "vmSwitchName": "ConvergedSwitch"},
    }


def bridge_bodies(name: str, spec: BridgeSpec, fleet: Fleet, mint: Mint, now: datetime) -> Iterator[Body]:
    """An Arc resource bridge and the custom location that it hosts."""
    bridge = bridge_id(fleet, name, spec)
    born = now - timedelta(days=mint.number(90, 400, name))
    yield {
        "id": bridge,
        "name": name,
        "type": "microsoft.resourceconnector/appliances",
        "location": spec.location,
        "tags": {},
        "identity": _system(fleet, mint, name),
        "systemData": _system_data(mint, bridge, born),
        "properties": {
            "distro": "AKSEdge",
            "infrastructureConfig": {"provider": spec.infrastructure},
            "provisioningState": "Succeeded",
            "status": "Running",
            "version": spec.version,
        },
    }
    location = bridge_location_id(fleet, name, spec)
    yield _custom_location(mint, location, bridge, spec.location, born)


def _connected(spec: NexusSpec, mint: Mint, name: str, now: datetime) -> Body:
    return {
        **_seen_by_arc(spec.version, mint, name, now),
        "distribution": "nexus",
        "infrastructure": "azure_operator_nexus",
        "offering": "AKS-Nexus",
        "totalCoreCount": 112,
        "totalNodeCount": 7,
    }


def _seen_by_arc(version: str, mint: Mint, name: str, now: datetime) -> Body:
    return {
        "connectivityStatus": "Connected",
        "lastConnectivityTime": wire(now - timedelta(seconds=mint.number(60, 240, name))),
        "managedIdentityCertificateExpirationTime": wire(now + timedelta(days=mint.number(40, 80, name))),
        "privateLinkState": "Disabled",
        "azureHybridBenefit": "NotApplicable",
        "agentPublicKeyCertificate": "",
        "aadProfile": {"enableAzureRBAC": False},
        "agentVersion": "1.29.3",
        "arcAgentProfile": {"agentAutoUpgrade": "Enabled"},
        "kubernetesVersion": version,
    }


def _custom_location(mint: Mint, location: str, host: str, region: str, born: datetime) -> Body:
    return {
        "id": location,
        "name": location.rsplit("/", 1)[-1],
        "location": region,
        "type": "Microsoft.ExtendedLocation/customLocations",
        "systemData": _system_data(mint, location, born),
        "properties": {
            "hostType": "Kubernetes",
            "hostResourceId": host,
            "namespace": location.rsplit("/", 1)[-1],
            "displayName": location.rsplit("/", 1)[-1],
            "provisioningState": "Succeeded",
            "clusterExtensionIds": [],
            "authentication": {},
        },
    }


def _system(fleet: Fleet, mint: Mint, name: str) -> Body:
    return {"principalId": mint.guid(name, "principal"), "tenantId": fleet.tenant, "type": "SystemAssigned"}


def _system_data(mint: Mint, resource: str, born: datetime) -> Body:
    who, when = mint.guid("deployer"), wire(born + timedelta(microseconds=mint.number(0, 999_999, resource)))
    return {
        "createdBy": who,
        "createdByType": "Application",
        "createdAt": when,
        "lastModifiedBy": who,
        "lastModifiedByType": "Application",
        "lastModifiedAt": when,
    }
