"""Authorized IP ranges: whom they keep out, and the exact list that lets them in."""

from __future__ import annotations

import pytest

from handlers.clients.kube.access import KubeAccess
from handlers.model import Check, Finding, Outcome, Why
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, NETWORKS, SUBNET, resource
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked_about

CODE = "api-server-unreachable-ip-ranges"
RANGES = ("198.51.100.0/28", "203.0.113.64/27")
BALANCER = f"{NETWORKS}/publicIPAddresses/egress"
GATEWAY = f"{GROUP_ID}/providers/Microsoft.Network/natGateways/nat"
TABLE = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/udr"
PREFIX = f"{GROUP_ID}/providers/Microsoft.Network/publicIPPrefixes/out"


def azure(*ranges: str, outbound: str = "loadBalancer", ready: bool = True) -> Inside:
    """A cluster whose API server lets these ranges in; nodes leave through its own load balancer, from 192.0.2.7."""
    inside = Inside()
    inside.cluster["apiServerAccessProfile"] = {"authorizedIPRanges": list(ranges)} if ranges else {}
    inside.cluster["networkProfile"] |= {"outboundType": outbound}
    inside.cluster["networkProfile"]["loadBalancerProfile"] = {"effectiveOutboundIPs": [{"id": BALANCER}]}
    inside.more[BALANCER] = resource(BALANCER, {"ipAddress": "192.0.2.7"})
    inside.pool("apps", count=2, vnetSubnetID=SUBNET)
    inside.subnets[SUBNET] = {"addressPrefix": "10.1.0.0/24"}
    for number in range(2):
        body = inside.room(f"node-{number}")
        if not ready:
            for condition in body["status"]["conditions"]:
                condition["status"] = "Unknown" if condition["type"] == "Ready" else condition["status"]
    return inside


def behind_nat(*ranges: str, ready: bool = True) -> Inside:
    """The nodes' subnet has a NAT gateway with a prefix of addresses."""
    inside = azure(*ranges, outbound="userAssignedNATGateway", ready=ready)
    inside.subnets[SUBNET]["natGateway"] = {"id": GATEWAY}
    inside.more[GATEWAY] = resource(GATEWAY, {"publicIpPrefixes": [{"id": PREFIX}]})
    inside.more[PREFIX] = resource(PREFIX, {"ipPrefix": "192.0.2.16/30"})
    return inside


def past_an_appliance(inside: Inside) -> Inside:
    """The default route of the nodes' subnet leads to an appliance."""
    route = {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.4"}
    inside.subnets[SUBNET]["routeTable"] = {"id": TABLE}
    inside.more[TABLE] = resource(TABLE, {"routes": [resource(f"{TABLE}/routes/out", route)]})
    return inside


async def whole(inside: Inside, *own: str) -> Check:
    return await asked_about("", inside, only=CODE, access=KubeAccess(own_addresses=own))


async def client(inside: Inside, address: str) -> Check:
    return await asked_about(f"from {address}", inside, only=CODE)


def finding(check: Check) -> Finding:
    assert check.outcome is Outcome.FOUND, check.why
    assert len(check.findings) == 1
    return check.findings[0]


# -- from an address ---------------------------------------------------------------------------------------------------


async def test_an_address_outside_is_kept_out_and_the_new_list_holds_the_old_one_and_it() -> None:
    found = finding(await client(azure(*RANGES), "203.0.113.9"))
    assert found.subject == CLUSTER
    assert found.because[0].startswith("203.0.113.9 is in none of the authorized IP ranges of one (198.51.100.0/28, ")
    assert found.facts["new_ranges"] == "198.51.100.0/28,203.0.113.64/27,203.0.113.9/32"
    assert "--api-server-authorized-ip-ranges 198.51.100.0/28,203.0.113.64/27,203.0.113.9/32" in page("Fix", found)
    assert "two minutes" in page("Fix", found)


async def test_an_address_inside_is_the_twin() -> None:
    check = await client(azure(*RANGES), "203.0.113.65")
    assert (check.outcome, check.why) == (
        Outcome.CLEAR,
        "203.0.113.65 is inside 203.0.113.64/27, one of the authorized IP ranges of one",
    )


async def test_an_address_inside_is_let_in_whatever_else_is_denied() -> None:
    inside = behind_nat(*RANGES)
    inside.denied = {"natGateways/nat", "/api/v1/nodes"}
    assert (await client(inside, "203.0.113.65")).outcome is Outcome.CLEAR


async def test_the_clusters_own_load_balancer_is_let_in_without_being_listed() -> None:
    assert (await client(azure(*RANGES), "192.0.2.7")).outcome is Outcome.CLEAR


async def test_the_mark_for_the_own_outbound_address_lets_nobody_else_in_and_goes() -> None:
    found = finding(await client(azure("0.0.0.0/32"), "203.0.113.9"))
    assert found.facts["new_ranges"] == "203.0.113.9/32"
    assert any("0.0.0.0/32" in line and "only the cluster's own outbound address" in line for line in found.because)
    assert (await client(azure("0.0.0.0/32"), "192.0.2.7")).outcome is Outcome.CLEAR


async def test_the_addresses_of_a_nat_gateway_must_be_in_the_new_list_too() -> None:
    found = finding(await client(behind_nat(*RANGES), "203.0.113.9"))
    assert found.facts["new_ranges"].endswith("203.0.113.9/32,192.0.2.16/30")
    assert "nodes leave from 192.0.2.16/30, which is not in the list either" in found.because


async def test_without_ranges_every_address_may_come_in() -> None:
    check = await client(azure(), "203.0.113.9")
    assert check.outcome is Outcome.CLEAR
    assert "every address may reach its API server" in check.why


async def test_a_private_cluster_has_no_ranges() -> None:
    inside = azure(*RANGES)
    inside.cluster["apiServerAccessProfile"] |= {"enablePrivateCluster": True}
    assert (await client(inside, "203.0.113.9")).outcome is Outcome.NOT_APPLICABLE


async def test_a_private_address_is_not_what_the_api_server_sees() -> None:
    check = await client(azure(*RANGES), "10.20.30.40")
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "the API server sees the public address behind it" in check.why


async def test_where_the_own_outbound_address_is_denied_it_may_be_that_one() -> None:
    inside = azure(*RANGES)
    inside.denied = {"publicIPAddresses/egress"}
    check = await client(inside, "203.0.113.9")
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen[0].why is Why.DENIED


# -- without a question ------------------------------------------------------------------------------------------------


async def test_a_cluster_without_ranges_is_not_asked() -> None:
    assert (await whole(azure())).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("inside", [azure(*RANGES), behind_nat(*RANGES)])
async def test_ready_nodes_prove_that_they_are_let_in(inside: Inside) -> None:
    check = await whole(inside)
    assert (check.outcome, check.why) == (Outcome.CLEAR, "2 of 2 nodes are Ready, so the ranges let them in")


async def test_ready_nodes_prove_it_although_their_address_was_not_seen() -> None:
    inside = behind_nat(*RANGES)
    inside.denied = {"natGateways/nat"}
    assert (await whole(inside)).outcome is Outcome.CLEAR


async def test_nodes_behind_a_nat_gateway_that_is_not_listed_lose_the_api_server() -> None:
    found = finding(await whole(behind_nat(*RANGES, ready=False)))
    assert found.affects == (CLUSTER, "default/Service/kubernetes")
    assert found.because[0].startswith("nodes of one leave from 192.0.2.16/30, which is in none of its authorized")
    assert found.facts["new_ranges"] == "198.51.100.0/28,203.0.113.64/27,192.0.2.16/30"


@pytest.mark.parametrize("ready", [True, False])
async def test_with_vnet_integration_the_ranges_do_not_touch_nodes(ready: bool) -> None:
    inside = behind_nat(*RANGES, ready=ready)
    inside.cluster["apiServerAccessProfile"]["enableVnetIntegration"] = True
    check = await whole(inside)
    assert check.outcome is Outcome.NOT_APPLICABLE
    assert check.why.endswith("go to its API server's private address (VNet integration): the ranges do not touch them")
    found = finding(await client(inside, "203.0.113.9"))
    assert found.facts["new_ranges"] == "198.51.100.0/28,203.0.113.64/27,203.0.113.9/32"


@pytest.mark.parametrize(("integrated", "too_many"), [(False, True), (True, False)])
async def test_azure_takes_two_hundred_ranges_and_two_thousand_with_vnet_integration(
    integrated: bool, too_many: bool
) -> None:
    inside = azure(*(f"198.51.100.{number}/32" for number in range(201)))
    inside.cluster["apiServerAccessProfile"]["enableVnetIntegration"] = integrated
    assert finding(await client(inside, "203.0.113.9")).facts["too_many"] is too_many


async def test_a_nat_gateway_that_is_listed_is_not_why_they_are_silent() -> None:
    check = await whole(behind_nat(*RANGES, "192.0.2.0/24", ready=False))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "they leave from 192.0.2.16/30, which the ranges hold; no node is Ready to prove it" in check.why


async def test_behind_the_own_load_balancer_silent_nodes_have_another_cause() -> None:
    check = await whole(azure(*RANGES, ready=False))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "AKS lets in the address of the load balancer" in check.why


async def test_a_nat_gateway_goes_before_the_load_balancer_and_is_not_let_in_by_itself() -> None:
    inside = behind_nat(*RANGES, ready=False)
    inside.cluster["networkProfile"]["outboundType"] = "loadBalancer"
    found = finding(await whole(inside))
    assert found.because[0].startswith("nodes of one leave from 192.0.2.16/30, which is in none of its authorized")
    assert (await client(inside, "192.0.2.7")).outcome is Outcome.CLEAR
    assert finding(await client(inside, "203.0.113.9")).facts["new_ranges"].endswith("203.0.113.9/32,192.0.2.16/30")


async def test_a_nat_gateway_that_the_default_route_passes_by_is_not_where_nodes_leave() -> None:
    inside = past_an_appliance(behind_nat(*RANGES, ready=False))
    for kind in ("loadBalancer", "userAssignedNATGateway", "userDefinedRouting"):
        inside.cluster["networkProfile"]["outboundType"] = kind
        assert (await whole(inside)).outcome is Outcome.INCONCLUSIVE


async def test_no_nodes_prove_nothing() -> None:
    inside = azure(*RANGES)
    inside.nodes.clear()
    check = await whole(inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "no node of one has registered" in check.why


async def test_the_address_of_a_firewall_is_not_known_here() -> None:
    check = await whole(azure(*RANGES, outbound="userDefinedRouting", ready=False))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "firewall or proxy" in check.why


@pytest.mark.parametrize("denied", ["natGateways/nat", "publicIPPrefixes/out", "/api/v1/nodes"])
async def test_where_the_proof_is_denied_it_stays_open(denied: str) -> None:
    inside = behind_nat(*RANGES, ready=False)
    inside.denied = {denied}
    check = await whole(inside)
    assert check.outcome is Outcome.INCONCLUSIVE, check.why
    assert check.unseen


async def test_aksbot_itself_kept_out_is_a_warning_with_its_address() -> None:
    inside = azure(*RANGES)
    inside.kube_trouble = "connect-timeout: no answer within 3 s"
    found = finding(await whole(inside, "203.0.113.200"))
    assert (found.severity.value, found.affects) == ("warning", ())
    assert "aksbot leaves from 203.0.113.200" in found.because[0]
    assert found.facts["new_ranges"].endswith("203.0.113.200/32")


async def test_an_aksbot_that_is_let_in_or_gets_there_is_no_finding() -> None:
    assert (await whole(azure(*RANGES), "203.0.113.200")).outcome is Outcome.CLEAR
    inside = azure(*RANGES)
    inside.kube_trouble = "connect-timeout: no answer within 3 s"
    assert (await whole(inside, "198.51.100.3")).outcome is Outcome.INCONCLUSIVE
    assert (await whole(inside)).outcome is Outcome.INCONCLUSIVE
