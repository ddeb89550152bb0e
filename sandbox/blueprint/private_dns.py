"""The private DNS zone that AKS creates for a private cluster: its link, record and private endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.blueprint.network import Subnet
from sandbox.blueprint.places import Places
from sandbox.world import Body

_ZONE = "Microsoft.Network/privateDnsZones"


def private_dns_bodies(places: Places, subnet: Subnet) -> Iterator[Body]:
    """All of these resources, for the API server's private host name."""
    host, zone = places.private_host, places.private_zone
    label = host.partition(".")[0]
    endpoint, interface = _endpoint(places, subnet)
    held = interface["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"]
    yield _of_zone(
        places,
        zone,
        _ZONE,
        {
            "maxNumberOfRecordSets": 25000,
            "maxNumberOfVirtualNetworkLinks": 1000,
            "maxNumberOfVirtualNetworkLinksWithRegistration": 100,
            "numberOfRecordSets": 2,
            "numberOfVirtualNetworkLinks": 1,
            "numberOfVirtualNetworkLinksWithRegistration": 0,
            "provisioningState": "Succeeded",
        },
    )
    link = {
        "provisioningState": "Succeeded",
        "registrationEnabled": False,
        "virtualNetwork": {"id": places.vnet},
        "virtualNetworkLinkState": "Completed",
    }
    yield _of_zone(places, f"{zone}/virtualNetworkLinks/{label}", f"{_ZONE}/virtualNetworkLinks", link)
    record = {"fqdn": f"{host}.", "ttl": 300, "aRecords": [{"ipv4Address": held}], "isAutoRegistered": False}
    yield _of_zone(places, f"{zone}/A/{label}", f"{_ZONE}/A", record, location="")
    yield endpoint
    yield interface


def _of_zone(places: Places, resource: str, kind: str, properties: Body, location: str = "global") -> Body:
    return {
        "id": resource,
        "name": resource.rsplit("/", 1)[-1],
        "type": kind,
        "etag": places.mint.guid(resource, "etag"),
        **({"location": location} if location else {}),
        "properties": properties,
    }


def _endpoint(places: Places, subnet: Subnet) -> tuple[Body, Body]:
    """The private endpoint `kube-apiserver`, and its network interface."""
    network = f"{places.node_group}/providers/Microsoft.Network"
    endpoint = f"{network}/privateEndpoints/kube-apiserver"
    interface = f"{network}/networkInterfaces/kube-apiserver.nic.{places.mint.guid(endpoint)}"
    configuration = f"{interface}/ipConfigurations/privateEndpointIpConfig"
    subnet.endpoints.append(endpoint)
    held = {
        "provisioningState": "Succeeded",
        "privateIPAddress": subnet.take(configuration),
        "privateIPAllocationMethod": "Dynamic",
        "subnet": {"id": subnet.id},
        "primary": True,
        "privateIPAddressVersion": "IPv4",
    }
    return (
        _plain(
            places,
            endpoint,
            "Microsoft.Network/privateEndpoints",
            {
                "privateLinkServiceConnections": [],
                "manualPrivateLinkServiceConnections": [],
                "subnet": {"id": subnet.id},
                "networkInterfaces": [{"id": interface}],
                "customDnsConfigs": [],
            },
        ),
        _plain(
            places,
            interface,
            "Microsoft.Network/networkInterfaces",
            {
                "ipConfigurations": [{"name": "privateEndpointIpConfig", "id": configuration, "properties": held}],
                "privateEndpoint": {"id": endpoint},
                "nicType": "Standard",
            },
        ),
    )


def _plain(places: Places, resource: str, kind: str, properties: Body) -> Body:
    return {
        "name": resource.rsplit("/", 1)[-1],
        "id": resource,
        "etag": f'W/"{places.mint.guid(resource, "etag")}"',
        "type": kind,
        "location": places.spec.location,
        "properties": {"provisioningState": "Succeeded", "resourceGuid": places.mint.guid(resource), **properties},
    }
