"""Do a firewall, a rule or the network's name servers keep nodes from their API server?"""

from __future__ import annotations

from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import NSG, SUBNET, VNET, pool_id, rule
from tests.handlers.diagnose.test_outbound_conn_fail import EXIT_50, FIREWALL, outbound, own_network, routed
from tests.handlers.diagnose.test_private_dns_zone import private
from tests.handlers.diagnose.wire import Azure, asked, found

CODE = "vnet-blocked"
NO_CONNECTION = {"code": "K8SAPIServerConnFailVMExtensionError", "message": "vmssCSE: exit status=51"}
NO_NAME = {"code": "K8SAPIServerDNSLookupFailVMExtensionError", "message": "vmssCSE: exit status=52"}


def public(error: dict[str, Any] | None = None) -> Azure:
    azure = own_network(error)
    azure.cluster["fqdn"] = "one-1234.hcp.westeurope.azmk8s.io"
    return azure


def with_servers(azure: Azure, *servers: str) -> Azure:
    azure.network["dhcpOptions"] = {"dnsServers": list(servers)}
    return azure


async def outcome(azure: Azure) -> Outcome:
    return (await asked(CODE, azure)).outcome


async def test_custom_name_servers_are_found_where_a_node_could_not_resolve_its_api_server() -> None:
    finding = await found(CODE, with_servers(public(NO_NAME), "10.0.9.4"))
    assert finding.subject == VNET
    assert finding.severity is Severity.ERROR
    assert finding.affects == (pool_id("apps"),)
    assert "network vnet asks DNS servers 10.0.9.4 instead of Azure's" in finding.because[0]
    assert finding.facts["names"] is True


async def test_the_twin_that_asks_azure_is_clear() -> None:
    for servers in ((), ("168.63.129.16",)):
        assert await outcome(with_servers(public(NO_NAME), *servers)) is Outcome.CLEAR


@pytest.mark.parametrize("server", ["10.0.9.4", "192.168.7.4"])
async def test_custom_name_servers_are_normal_without_a_symptom_wherever_they_stand(server: str) -> None:
    check = await asked(CODE, with_servers(public(), server))
    assert check.outcome is Outcome.CLEAR
    assert f"names are asked of {server}" in check.why


async def test_exit_code_50_is_not_about_the_api_server() -> None:
    assert await outcome(with_servers(public(EXIT_50), "10.0.9.4")) is Outcome.CLEAR


async def test_an_appliance_on_the_way_is_named_where_nodes_do_not_reach_the_api_server() -> None:
    azure = outbound(routed(public(NO_CONNECTION), FIREWALL), "userDefinedRouting")
    finding = await found(CODE, azure)
    assert finding.because[0].endswith("goes to appliance 10.1.0.4: its rules are not visible from here")
    assert finding.facts["host"] == "one-1234.hcp.westeurope.azmk8s.io"
    azure.pool("apps", vnetSubnetID=SUBNET)
    assert await outcome(azure) is Outcome.CLEAR


async def test_a_rule_that_denies_the_regions_addresses_is_found() -> None:
    azure = public(NO_CONNECTION)
    azure.rules = [rule("deny-region", 300, "Deny", "AzureCloud.WestEurope")]
    finding = await found(CODE, azure)
    assert finding.subject == f"{NSG}/securityRules/deny-region"
    assert "API server one-1234.hcp.westeurope.azmk8s.io is only reachable there" in finding.because[0]


async def test_the_twin_that_denies_another_region_is_left_open() -> None:
    azure = public(NO_CONNECTION)
    azure.rules = [rule("deny-region", 300, "Deny", "AzureCloud.EastUS")]
    assert await outcome(azure) is Outcome.INCONCLUSIVE


async def test_a_rule_that_denies_more_than_the_api_server_is_told_once() -> None:
    azure = public(NO_CONNECTION)
    azure.rules = [rule("deny-internet", 400, "Deny")]
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert "see outbound-conn-fail" in check.why


async def test_a_rule_that_denies_is_left_open_while_nothing_has_failed() -> None:
    azure = public()
    azure.rules = [rule("deny-internet", 400, "Deny")]
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "deny-internet" in check.why


async def test_a_rule_that_keeps_nodes_from_their_name_server_is_found() -> None:
    azure = with_servers(public(NO_NAME), "10.0.9.4")
    azure.rules = [rule("no-dns", 200, "Deny", "10.0.9.0/24", "53")]
    finding = await found(CODE, azure)
    assert finding.subject == f"{NSG}/securityRules/no-dns"
    assert "DNS server 10.0.9.4 does not hear the nodes" in finding.because[0]


async def test_the_private_endpoint_of_the_api_server_can_be_denied_too() -> None:
    azure = private(NO_CONNECTION)
    assert await outcome(azure) is Outcome.CLEAR
    azure.rules = [rule("no-endpoint", 200, "Deny", "10.1.0.7", "443")]
    assert (await found(CODE, azure)).facts["private"] is True


@pytest.mark.parametrize("denied", ["/virtualNetworks/vnet", "/networkSecurityGroups"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = public()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why
