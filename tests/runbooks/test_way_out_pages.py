"""What the pages about the way out of nodes tell a person to do, for what was found."""

from __future__ import annotations

import shlex

import pytest

from handlers.model import Finding
from runbooks.library import FIX, MEANING, SECTIONS, Library
from tests.handlers.diagnose.bodies import CLUSTER, SUB, VNET, pool_id, resource, rule
from tests.handlers.diagnose.test_outbound_conn_fail import (
    DENY,
    EXIT_50,
    FIREWALL,
    NAT,
    outbound,
    own_network,
    routed,
)
from tests.handlers.diagnose.test_private_dns_zone import (
    BROUGHT,
    HUB,
    READER,
    ZONE,
    linked,
    permitted,
    private,
)
from tests.handlers.diagnose.test_vnet_blocked import NO_CONNECTION, NO_NAME, public, with_servers
from tests.handlers.diagnose.wire import Azure, found

LIBRARY = Library.load()


def commands(finding: Finding, section: str = FIX) -> list[str]:
    """The lines of the shell blocks, whole: whatever a value holds, a line stays one command."""
    text = LIBRARY[finding.code].render(section, finding.facts)
    blocks = [part for number, part in enumerate(text.split("```")) if number % 2]
    lines = [line.strip() for block in blocks for line in block.removeprefix("sh").split("\n") if line.strip()]
    assert all(shlex.split(line)[0] in ("az", "kubectl") for line in lines)
    return lines


def meaning(finding: Finding) -> str:
    return LIBRARY[finding.code].render(MEANING, finding.facts)


def stopped(*rules: dict[str, object], **more: object) -> Azure:
    azure = own_network(EXIT_50, **more)
    azure.rules = [*rules]
    return azure


async def test_a_rule_that_denies_is_answered_with_a_rule_before_it_and_the_pool_is_reconciled() -> None:
    finding = await found("outbound-conn-fail", stopped(DENY, rule("other", 399, "Allow", "10.0.0.0/8")))
    create = next(line for line in commands(finding) if "nsg rule create" in line)
    assert "--nsg-name aks-agentpool-12345678-nsg" in create
    assert "--priority 398" in create
    assert commands(finding)[-1] == f"az resource update --ids {pool_id('apps')}"
    assert "Rule `deny-internet`" in meaning(finding)
    assert "scaling, upgrades and repairs fail" in meaning(finding)


async def test_without_a_free_priority_no_rule_is_made_up() -> None:
    azure = stopped(rule("deny-internet", 100, "Deny"))
    finding = await found("outbound-conn-fail", azure)
    assert not [line for line in commands(finding) if "rule create" in line]
    assert "No priority before 100 is free" in LIBRARY[finding.code].render(FIX, finding.facts)


async def test_a_firewall_is_named_by_its_address() -> None:
    finding = await found("outbound-conn-fail", outbound(routed(stopped(), FIREWALL), "userDefinedRouting"))
    assert "through appliance 10.1.0.4" in meaning(finding)
    assert "--route-table-name udr" in commands(finding)[0]


async def test_a_route_to_nowhere_is_deleted_by_its_name() -> None:
    nowhere = {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}
    finding = await found("outbound-conn-fail", routed(stopped(), nowhere))
    assert "az network route-table route delete" in commands(finding)[1]
    assert commands(finding)[1].endswith("--route-table-name udr --name r0")


async def test_a_nat_gateway_gets_an_address() -> None:
    azure = outbound(stopped(), "userAssignedNATGateway")
    azure.subnets[VNET + "/subnets/nodes"]["natGateway"] = {"id": NAT}
    azure.more[NAT] = resource(NAT, {"publicIpAddresses": []})
    finding = await found("outbound-conn-fail", azure)
    assert commands(finding)[0] == f"az network nat gateway update --ids {NAT} --public-ip-addresses '<public-ip-id>'"


async def test_the_list_that_was_not_readable_is_named_as_the_published_one() -> None:
    azure = stopped(DENY)
    azure.denied = {"outboundNetworkDependenciesEndpoints"}
    assert "by Azure's published list" in meaning(await found("outbound-conn-fail", azure))
    azure.denied = set()
    assert "as Azure lists it for this cluster" in meaning(await found("outbound-conn-fail", azure))


@pytest.mark.parametrize("section", SECTIONS)
async def test_no_page_names_one_clouds_address_of_resource_manager(section: str) -> None:
    """In sovereign clouds it is another one; `az rest` knows it."""
    assert "https://management" not in LIBRARY["outbound-conn-fail"].outline(section)


async def test_name_servers_are_told_from_firewalls() -> None:
    by_name = await found("vnet-blocked", with_servers(public(NO_NAME), "10.0.9.4"))
    assert f"az network vnet update --ids {VNET} --dns-servers ''" in commands(by_name)
    by_wall = await found("vnet-blocked", outbound(routed(public(NO_CONNECTION), FIREWALL), "userDefinedRouting"))
    assert not [line for line in commands(by_wall) if "vnet update" in line]
    assert "through appliance 10.1.0.4" in meaning(by_wall)


async def test_a_rule_that_keeps_nodes_from_their_name_server_is_shown() -> None:
    azure = with_servers(public(NO_NAME), "10.0.9.4")
    azure.rules = [rule("no-dns", 200, "Deny", "10.0.9.0/24", "53")]
    finding = await found("vnet-blocked", azure)
    assert "do not reach their DNS server 10.0.9.4: rule `no-dns`" in meaning(finding)
    assert [line for line in commands(finding) if "--priority 199" in line]


async def test_a_zone_is_linked_to_the_network_that_lacks_it() -> None:
    azure = private()
    linked(azure, HUB)
    finding = await found("private-dns-zone", azure)
    link = next(line for line in commands(finding) if "link vnet create" in line)
    assert f"--virtual-network {VNET} " in link
    assert ZONE.rsplit("/", 1)[-1] in link
    assert commands(finding)[-1] == f"az resource update --ids {CLUSTER.replace('resourcegroups', 'resourceGroups')}"


async def test_the_identity_gets_its_role_on_the_zone() -> None:
    finding = await found("private-dns-zone", permitted(private(zone=BROUGHT), READER))
    grant = commands(finding)[0]
    assert "--assignee 0c" in grant
    assert f"--scope {BROUGHT}" in grant
    assert f"--subscription {SUB}" in grant


@pytest.mark.parametrize("section", SECTIONS)
async def test_each_cause_of_a_zones_trouble_fills_every_section(section: str) -> None:
    for cause in ("missing", "not-linked", "no-record", "wrong-record", "not-permitted"):
        finding = await found("private-dns-zone", permitted(private(zone=BROUGHT), READER))
        page = LIBRARY["private-dns-zone"].render(section, {**finding.facts, "cause": cause, "causes": [cause]})
        assert "<" not in page.replace("'<link-name>'", "").replace("'<network-id>'", "").replace("<region>", "")
