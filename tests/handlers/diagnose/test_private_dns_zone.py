"""Does the private DNS zone lead nodes to their API server?"""

from __future__ import annotations

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, NODE_GROUP_ID, VNET, Body, pool_id, resource, rows
from tests.handlers.diagnose.test_outbound_conn_fail import own_network
from tests.handlers.diagnose.wire import Azure, asked, diagnosed, found

CODE = "private-dns-zone"
NAME = "3f7a.privatelink.westeurope.azmk8s.io"
ZONE = f"{NODE_GROUP_ID}/providers/Microsoft.Network/privateDnsZones/{NAME}"
BROUGHT = f"{GROUP_ID}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
HUB = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub"
CONTRIBUTOR, READER = "b12aa53e-6015-4669-85d0-8515ebb3ae7f", "acdd72a7-3385-48ef-bd42-f606fba81ae7"
NO_NAME = {"code": "K8SAPIServerDNSLookupFailVMExtensionError", "message": "vmssCSE: exit status=52"}
INTERFACE = f"{NODE_GROUP_ID}/providers/Microsoft.Network/networkInterfaces/kube-apiserver.nic.1"


def private(error: Body | None = None, zone: str = ZONE) -> Azure:
    """A private cluster whose zone is right."""
    azure, name = own_network(error), zone.rsplit("/", 1)[-1]
    azure.cluster["privateFQDN"] = f"one-abcd.{name}"
    kind = zone if zone is BROUGHT else "system"
    azure.cluster["apiServerAccessProfile"] = {"enablePrivateCluster": True, "privateDNSZone": kind}
    linked(azure, VNET, zone=zone)
    azure.more[f"{zone}/A/one-abcd"] = resource(f"{zone}/A/one-abcd", {"aRecords": [{"ipv4Address": "10.1.0.7"}]})
    endpoint = {"id": f"{NODE_GROUP_ID}/providers/Microsoft.Network/privateEndpoints/kube-apiserver"}
    held = [{"properties": {"privateIPAddress": "10.1.0.7"}}]
    interface = resource(INTERFACE, {"privateEndpoint": endpoint, "ipConfigurations": held})
    azure.more[f"{NODE_GROUP_ID}/providers/Microsoft.Network/networkInterfaces"] = rows([interface])
    return azure


def linked(azure: Azure, *networks: str, zone: str = ZONE, state: str = "Completed") -> None:
    links = [
        resource(f"{zone}/virtualNetworkLinks/l{n}", {"virtualNetwork": {"id": one}, "virtualNetworkLinkState": state})
        for n, one in enumerate(networks)
    ]
    azure.more[f"{zone}/virtualNetworkLinks"] = rows(links)


def permitted(azure: Azure, *definitions: str) -> Azure:
    azure.zone_roles = [
        {"properties": {"principalId": "0c", "roleDefinitionId": f"/x/roleDefinitions/{one}", "scope": BROUGHT}}
        for one in definitions
    ]
    return azure


async def outcome(azure: Azure) -> Outcome:
    return (await asked(CODE, azure)).outcome


async def test_a_zone_that_is_right_is_clear_and_says_what_it_holds() -> None:
    check = await asked(CODE, private())
    assert check.outcome is Outcome.CLEAR
    assert check.why == f"zone {NAME} exists, is linked to vnet and holds 10.1.0.7"


async def test_a_zone_that_does_not_exist_is_found() -> None:
    azure = private(NO_NAME)
    del azure.more[f"{ZONE}/virtualNetworkLinks"]
    finding = await found(CODE, azure)
    assert (finding.subject, finding.severity) == (ZONE, Severity.ERROR)
    assert finding.facts["cause"] == "missing"
    assert finding.affects == (pool_id("apps"), ZONE)


async def test_a_zone_that_is_not_linked_to_the_nodes_network_is_found() -> None:
    azure = private(NO_NAME)
    linked(azure, HUB)
    finding = await found(CODE, azure)
    assert finding.because[0] == (
        f"nodes stand in network vnet, which asks Azure's DNS for zone {NAME}: it is not linked to it"
    )
    assert finding.facts["network_id"] == VNET


async def test_a_link_that_is_not_completed_is_no_link() -> None:
    azure = private()
    linked(azure, VNET, state="InProgress")
    assert "its link to it is not completed" in (await found(CODE, azure)).because[0]


async def test_with_custom_name_servers_the_link_to_their_network_counts() -> None:
    azure = private(NO_NAME)
    peering = {
        "remoteVirtualNetwork": {"id": HUB},
        "remoteAddressSpace": {"addressPrefixes": ["10.9.0.0/16"]},
        "peeringState": "Connected",
    }
    azure.network = {
        "dhcpOptions": {"dnsServers": ["10.9.0.4"]},
        "virtualNetworkPeerings": [resource(f"{VNET}/virtualNetworkPeerings/hub", peering)],
    }
    linked(azure, HUB)
    assert await outcome(azure) is Outcome.CLEAR
    linked(azure, VNET)  # the name servers in the hub do not know it; they may forward it elsewhere
    assert await outcome(azure) is Outcome.INCONCLUSIVE
    azure.pools["apps"] |= {"provisioningState": "Succeeded", "status": None}
    assert await outcome(azure) is Outcome.CLEAR


async def test_a_zone_without_the_record_is_found() -> None:
    azure = private()
    del azure.more[f"{ZONE}/A/one-abcd"]
    assert (await found(CODE, azure)).facts["cause"] == "no-record"


async def test_a_record_that_points_elsewhere_is_found_with_both_addresses() -> None:
    azure = private()
    azure.more[f"{ZONE}/A/one-abcd"]["properties"]["aRecords"] = [{"ipv4Address": "10.1.0.99"}]
    finding = await found(CODE, azure)
    assert finding.because[0] == f"the record of one-abcd.{NAME} is 10.1.0.99, its private endpoint is 10.1.0.7"


async def test_an_identity_that_may_not_write_a_zone_of_ones_own_is_a_warning() -> None:
    azure = permitted(private(zone=BROUGHT), READER)
    finding = await found(CODE, azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    assert "Private DNS Zone Contributor" in finding.because[0]
    assert await outcome(permitted(azure, READER, CONTRIBUTOR)) is Outcome.CLEAR


async def test_a_role_that_the_identity_has_through_a_group_is_not_called_missing() -> None:
    """`assignedTo` answers with the group's own assignment: its principal is the group."""
    azure = permitted(private(zone=BROUGHT), CONTRIBUTOR)
    azure.zone_roles[0]["properties"] |= {"principalId": "6e", "principalType": "Group"}
    assert await outcome(azure) is Outcome.CLEAR
    permitted(azure, READER)
    azure.zone_roles[0]["properties"] |= {"principalId": "6e", "principalType": "Group"}
    assert (await found(CODE, azure)).facts["cause"] == "not-permitted"


async def test_azure_naming_the_missing_permission_makes_it_the_root_of_the_failed_cluster() -> None:
    azure = permitted(private(zone=BROUGHT))
    error = {"code": "CustomPrivateDNSZoneMissingPermissionError", "message": "no rights on the zone"}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}}
    finding = await found(CODE, azure)
    assert (finding.severity, finding.affects) == (Severity.ERROR, (CLUSTER,))
    failed = next(one for one in (await diagnosed(azure)).findings if one.finding.code == "cluster-failed")
    assert failed.explained_by == ((CODE, BROUGHT.lower()),) or failed.explained_by == ((CODE, BROUGHT),)


async def test_a_role_of_ones_own_is_not_called_missing() -> None:
    assert await outcome(permitted(private(zone=BROUGHT), "11111111-0000-4000-8000-000000000000")) is Outcome.CLEAR


@pytest.mark.parametrize("kind", ["none", ""])
async def test_a_cluster_without_a_zone_is_not_asked(kind: str) -> None:
    azure = private()
    azure.cluster["apiServerAccessProfile"] |= {"privateDNSZone": kind or "system"}
    if not kind:
        azure.cluster["apiServerAccessProfile"] = {}
    assert await outcome(azure) is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("denied", [f"{NAME}/virtualNetworkLinks", "/A/one-abcd", NAME, "/virtualNetworks/vnet"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = private()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_roles_that_may_not_be_read_are_not_called_missing() -> None:
    azure = private(zone=BROUGHT)
    azure.denied = {"/roleAssignments"}
    assert await outcome(azure) is Outcome.INCONCLUSIVE
