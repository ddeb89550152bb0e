"""Have nodes a way out to what they need?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    GROUP_ID,
    NSG,
    SUBNET,
    VNET,
    Body,
    event,
    pool_id,
    resource,
    rule,
)
from tests.handlers.diagnose.wire import Azure, asked, diagnosed, found

CODE = "outbound-conn-fail"
EXIT_50 = {
    "code": "VMExtensionProvisioningError",
    "message": "VMSSAgentPoolReconciler retry failed: vmssCSE: Enable failed: exit status=50, outbound",
}
TABLE = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/udr"
NAT = f"{GROUP_ID}/providers/Microsoft.Network/natGateways/nat"
FIREWALL = {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.4"}
DENY = rule("deny-internet", 400, "Deny")


def own_network(error: Body | None = None, **pool: Any) -> Azure:
    """Pool `apps` in a subnet that people brought; failed with an error, where there is one."""
    azure = Azure()
    azure.subnet("10.1.0.0/24", 3)
    failed: dict[str, Any] = {"provisioningState": "Failed", "status": {"provisioningError": error}} if error else {}
    azure.pool("apps", vnetSubnetID=SUBNET, **failed, **pool)
    return azure


def routed(azure: Azure, *routes: Body, propagates: bool = False) -> Azure:
    azure.subnets[SUBNET]["routeTable"] = {"id": TABLE}
    made = [resource(f"{TABLE}/routes/r{number}", one) for number, one in enumerate(routes)]
    azure.more[TABLE] = resource(TABLE, {"routes": made, "disableBgpRoutePropagation": not propagates})
    return azure


def outbound(azure: Azure, kind: str, **profile: Any) -> Azure:
    azure.cluster["networkProfile"] |= {"outboundType": kind, **profile}
    return azure


async def outcome(azure: Azure) -> Outcome:
    return (await asked(CODE, azure)).outcome


async def test_the_rule_that_denies_is_found_with_the_line_that_proves_it() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [DENY]
    finding = await found(CODE, azure)
    assert finding.subject == f"{NSG}/securityRules/deny-internet"
    assert finding.severity is Severity.ERROR
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[0] == (
        "rule deny-internet of security group aks-agentpool-12345678-nsg, priority 400, denies TCP 443 to Internet; "
        "mcr.microsoft.com, management.azure.com are only reachable there"
    )
    assert "exit status=50" in finding.because[2]
    assert finding.facts["new_priority"] == 399


async def test_the_twin_whose_rule_is_gone_is_clear_and_the_pool_can_be_reconciled() -> None:
    azure = own_network(EXIT_50)
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    failed = next(one.finding for one in (await diagnosed(azure)).findings if one.finding.code == "nodepool-failed")
    assert failed.facts["gone"] is True


async def test_a_rule_that_is_outranked_by_an_allow_for_the_internet_stops_nothing() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [DENY, rule("let-out", 300, "Allow", ports="443")]
    assert await outcome(azure) is Outcome.CLEAR


@pytest.mark.parametrize("earlier", ["AzureCloud", "AzureFrontDoor.FirstParty", "13.107.0.0/16"])
async def test_an_earlier_allow_that_may_cover_it_leaves_only_a_failure_open(
    earlier: str,
) -> None:
    azure = own_network(EXIT_50)
    azure.rules = [rule("let-some-out", 200, "Allow", earlier, "443"), DENY]
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "let-some-out" in check.why
    azure.pool("apps", vnetSubnetID=SUBNET)
    assert await outcome(azure) is Outcome.CLEAR


async def test_an_earlier_allow_for_private_addresses_does_not_excuse_the_rule_that_denies() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [rule("inside", 200, "Allow", "10.0.0.0/8"), rule("vnet", 210, "Allow", "VirtualNetwork"), DENY]
    assert (await found(CODE, azure)).facts["rule"] == "deny-internet"


@pytest.mark.parametrize("tag", ["AzureCloud", "MicrosoftContainerRegistry"])
async def test_a_tag_that_is_denied_by_name_proves_it_for_what_that_tag_is_for(tag: str) -> None:
    azure = own_network(EXIT_50)
    azure.rules = [rule("deny-tag", 400, "Deny", tag)]
    assert "mcr.microsoft.com" in (await found(CODE, azure)).because[0]


async def test_a_tag_whose_addresses_nobody_knows_proves_nothing() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [rule("deny-tag", 400, "Deny", "Storage.WestEurope")]
    assert await outcome(azure) is Outcome.INCONCLUSIVE


async def test_the_rule_of_the_subnet_counts_as_that_of_the_interface_does() -> None:
    azure, own = own_network(EXIT_50), f"{GROUP_ID}/providers/Microsoft.Network/networkSecurityGroups/subnets-nsg"
    azure.subnets[SUBNET]["networkSecurityGroup"] = {"id": own}
    azure.more[own] = resource(own, {"securityRules": [DENY]})
    assert (await found(CODE, azure)).facts["nsg"] == "subnets-nsg"


async def test_a_rule_for_udp_or_inbound_traffic_or_a_port_that_nobody_needs_stops_nothing() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [
        rule("udp", 100, "Deny", protocol="Udp"),
        rule("inbound", 110, "Deny", direction="Inbound"),
        rule("smtp", 120, "Deny", ports="25"),
    ]
    assert await outcome(azure) is Outcome.CLEAR


async def test_without_any_failure_a_rule_that_denies_is_named_and_left_open() -> None:
    """An admin rule of Virtual Network Manager may let traffic past the security groups."""
    azure = own_network()
    azure.rules = [DENY]
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "deny-internet" in check.why
    assert "Virtual Network Manager" in check.why


async def test_beside_a_failure_without_a_word_it_is_a_warning_that_explains_nothing() -> None:
    azure = own_network({"code": "InternalOperationError", "message": "it failed"})
    azure.rules = [DENY]
    finding = await found(CODE, azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())


async def test_it_claims_no_failure_that_azure_gives_another_reason_for() -> None:
    azure = own_network({"code": "QuotaExceeded", "message": "Operation could not be completed: cores quota"})
    azure.rules = [DENY]
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.findings == ()


async def test_a_route_to_an_appliance_is_normal_without_a_symptom() -> None:
    azure = outbound(routed(own_network(), FIREWALL), "userDefinedRouting")
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert "goes to appliance 10.1.0.4: its rules are not visible from here" in check.why


async def test_with_exit_code_50_the_appliance_is_named() -> None:
    azure = outbound(routed(own_network(EXIT_50), FIREWALL), "userDefinedRouting")
    finding = await found(CODE, azure)
    assert finding.subject == f"{TABLE}/routes/r0"
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[0].endswith("goes to appliance 10.1.0.4: its rules are not visible from here")
    assert finding.facts["proven"] is False


async def test_a_route_to_nowhere_proves_it_with_or_without_a_failure() -> None:
    nowhere = {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}
    finding = await found(CODE, routed(own_network(EXIT_50), nowhere))
    assert finding.severity is Severity.ERROR
    assert "drops it" in finding.because[0]
    assert (await found(CODE, routed(own_network(), nowhere))).severity is Severity.WARNING


async def test_routes_that_a_gateway_propagates_may_lead_around_it() -> None:
    nowhere = {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}
    azure = routed(own_network(EXIT_50), nowhere, propagates=True)
    azure.subnets[f"{VNET}/subnets/GatewaySubnet"] = {"addressPrefix": "10.1.9.0/27"}
    assert await outcome(azure) is Outcome.INCONCLUSIVE
    azure.more[TABLE]["properties"]["disableBgpRoutePropagation"] = True
    assert await outcome(azure) is Outcome.FOUND


async def test_two_halves_make_a_default_route() -> None:
    halves = [{**FIREWALL, "addressPrefix": one} for one in ("0.0.0.0/1", "128.0.0.0/1")]
    assert "appliance 10.1.0.4" in (await asked(CODE, routed(own_network(), *halves))).why


async def test_forced_tunnelling_with_an_allow_for_the_virtual_network_stays_quiet() -> None:
    """With a default route Azure counts everything to the tag VirtualNetwork."""
    azure = outbound(routed(own_network(), FIREWALL), "userDefinedRouting")
    azure.rules = [rule("vnet", 100, "Allow", "VirtualNetwork"), rule("rest", 4096, "Deny", "*")]
    assert await outcome(azure) is Outcome.CLEAR


async def test_a_nat_gateway_without_an_address_is_no_way_out() -> None:
    azure = outbound(own_network(EXIT_50), "userAssignedNATGateway")
    azure.subnets[SUBNET]["natGateway"] = {"id": NAT}
    azure.more[NAT] = resource(NAT, {"publicIpAddresses": []})
    finding = await found(CODE, azure)
    assert finding.subject == NAT
    assert finding.because[0].startswith("NAT gateway nat of subnet nodes has no public address")
    azure.more[NAT] = resource(NAT, {"publicIpPrefixes": [{"id": "/a/prefix"}]})
    assert await outcome(azure) is Outcome.CLEAR
    del azure.subnets[SUBNET]["natGateway"]
    assert (await found(CODE, azure)).subject == SUBNET


async def test_a_load_balancer_without_an_outbound_address_is_no_way_out() -> None:
    azure = outbound(own_network(EXIT_50), "loadBalancer", loadBalancerProfile={"effectiveOutboundIPs": []})
    assert (await found(CODE, azure)).subject == CLUSTER
    outbound(azure, "loadBalancer", loadBalancerProfile={"effectiveOutboundIPs": [{"id": "/one"}]})
    assert await outcome(azure) is Outcome.CLEAR


@pytest.mark.parametrize("kind", ["none", "block"])
async def test_a_network_isolated_cluster_needs_no_way_out(kind: str) -> None:
    azure = outbound(own_network(), kind)
    azure.rules = [DENY]
    azure.cluster["bootstrapProfile"] = {"artifactSource": "Cache", "containerRegistryId": f"{GROUP_ID}/registries/acr"}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert "private registry acr" in check.why


async def test_nodes_behind_a_proxy_need_no_rule_for_the_internet() -> None:
    azure = own_network()
    azure.rules = [DENY]
    azure.cluster["httpProxyConfig"] = {"httpsProxy": "http://someone:secret@proxy.corp:3128"}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert "proxy proxy.corp" in check.why
    assert "secret" not in check.why


async def test_application_security_groups_cannot_be_told() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [
        rule("some", 400, "Deny", sourceAddressPrefix=None, sourceApplicationSecurityGroups=[{"id": "/asg"}])
    ]
    assert await outcome(azure) is Outcome.INCONCLUSIVE


async def test_a_machine_that_ended_with_exit_code_50_is_symptom_enough() -> None:
    azure = own_network()
    azure.rules = [DENY]
    failed = {"code": "ProvisioningState/failed/50", "level": "Error", "message": "vmssCSE: exit status=50"}
    view = azure.machines["apps"][1]["properties"]["instanceView"]
    view["extensions"] = [{"name": "vmssCSE", "statuses": [failed]}]
    finding = await found(CODE, azure)
    assert finding.severity is Severity.ERROR
    assert finding.affects == (azure.machines["apps"][1]["id"],)


async def test_a_refusal_of_yesterday_is_no_symptom() -> None:
    azure = outbound(routed(own_network(), FIREWALL), "userDefinedRouting")
    message = '{"error": {"code": "OutboundConnFailVMExtensionError", "message": "no way out"}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(hours=30), message)]
    assert await outcome(azure) is Outcome.CLEAR


async def test_where_the_list_is_refused_the_published_one_stands_in_and_says_so() -> None:
    azure = own_network(EXIT_50)
    azure.rules, azure.denied = [DENY], {"outboundNetworkDependenciesEndpoints"}
    finding = await found(CODE, azure)
    assert finding.facts["listed"] is False
    assert "packages.microsoft.com" in finding.facts["hosts"]
    assert (await asked(CODE, azure)).unseen[0].why == "denied"


@pytest.mark.parametrize(
    "denied", ["/virtualNetworks/vnet", "/networkSecurityGroups", "/virtualMachines", "/agentPools"]
)
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = own_network()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_route_table_that_may_not_be_read_acquits_nobody() -> None:
    azure = routed(own_network(), FIREWALL)
    azure.denied = {"/routeTables"}
    assert await outcome(azure) is Outcome.INCONCLUSIVE


async def test_a_network_that_aks_made_is_looked_at_too() -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed", status={"provisioningError": EXIT_50})
    assert await outcome(azure) is Outcome.CLEAR
    azure.rules = [DENY]
    assert (await found(CODE, azure)).facts["subnet"] == "aks-subnet"


async def test_the_rule_is_the_root_of_the_failed_pool() -> None:
    azure = own_network(EXIT_50)
    azure.rules = [DENY]
    ranked = {one.finding.code: one for one in (await diagnosed(azure)).findings}
    assert ranked[CODE].root
    assert ranked["nodepool-failed"].explained_by == ((CODE, f"{NSG}/securityRules/deny-internet"),)
