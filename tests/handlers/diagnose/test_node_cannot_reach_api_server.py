"""The service default/kubernetes: what is behind it, whose it is, and what was not looked at."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, NETWORKS, SUB, SUBNET, resource, rows, rule
from tests.handlers.diagnose.inside import Inside
from tests.handlers.diagnose.wire import Azure, asked, found

QUESTION = "node-cannot-reach-api-server"


def cluster(**service: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", 1)
    azure.node("node-0")
    azure.api_service["spec"] |= service
    return azure


async def test_a_service_that_leads_to_the_api_server_is_clear_with_the_proof_that_it_is_used() -> None:
    check = await asked(QUESTION, cluster())
    assert check.outcome is Outcome.CLEAR
    assert check.why == (
        "default/kubernetes leads to 20.101.44.17; 1 of 1 Ready nodes renewed their leases within 2 minutes; Ready, "
        "which takes the API server: coredns (2 of 2), metrics-server (2 of 2)"
    )


@pytest.mark.parametrize(
    ("lost", "says"),
    [
        ("a silent kubelet", "the way of node-0 to the API server: absent, its kubelet last renewed its lease at"),
        ("no lease", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no node", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no node that is Ready", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no pod", "no pod of coredns and metrics-server is Ready"),
    ],
)
async def test_without_that_proof_it_stays_open(lost: str, says: str) -> None:
    azure = cluster()
    if lost == "a silent kubelet":
        azure.node("node-1")
        azure.leases["node-0"] -= timedelta(minutes=4)
    elif lost == "no lease":
        azure.leases.clear()
    elif lost == "no node":
        azure.nodes.clear()
    elif lost == "no node that is Ready":
        azure.not_ready("node-0")
    else:
        azure.deployment("coredns", ready=0)
        azure.deployment("metrics-server", ready=0)
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert says in check.why


@pytest.mark.parametrize("denied", ["/leases", "/api/v1/nodes", "/apis/apps/v1"])
async def test_where_the_proof_is_denied_it_stays_open_and_is_named(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


@pytest.mark.parametrize("excuse", ["not Ready", "virtual"])
async def test_the_nodes_that_are_ready_prove_it(excuse: str) -> None:
    azure = cluster()
    if excuse == "not Ready":
        azure.not_ready("node-1", machine=1)
    else:
        azure.node("node-1", machine=1)["metadata"]["labels"]["type"] = "virtual-kubelet"
        del azure.leases["node-1"]
    assert "1 of 1 Ready nodes renewed" in (await asked(QUESTION, azure)).why


async def test_where_neither_runs_in_the_cluster_the_nodes_prove_it() -> None:
    azure = cluster()
    azure.deployments.clear()
    assert (await asked(QUESTION, azure)).why.endswith("1 of 1 Ready nodes renewed their leases within 2 minutes")


async def test_a_service_without_endpoints_leads_nowhere() -> None:
    azure = cluster()
    azure.api_slices = []
    finding = await found(QUESTION, azure)
    assert finding.subject == "default/Service/kubernetes"
    assert finding.because[0] == "it leads to no address that is ready (there are no endpoints)"
    assert "were not looked at" in finding.because[-1]
    assert CLUSTER not in finding.affects


async def test_an_endpoint_that_is_not_ready_is_named() -> None:
    azure = cluster()
    azure.api_slices[0]["endpoints"][0]["conditions"] = {"ready": False}
    assert "no address that is ready (20.101.44.17)" in (await found(QUESTION, azure)).because[0]


@pytest.mark.parametrize("conditions", [{}, {"ready": None}, {"ready": True}])
async def test_an_endpoint_that_says_nothing_of_itself_is_ready(conditions: dict[str, Any]) -> None:
    azure = cluster()
    azure.api_slices[0]["endpoints"][0]["conditions"] = conditions
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_selector_hands_the_service_to_pods() -> None:
    finding = await found(QUESTION, cluster(selector={"app": "shop"}))
    assert finding.because[0].startswith("someone gave the service default/kubernetes a selector (app=shop)")


async def test_a_port_that_no_endpoint_has_under_its_name_leads_nowhere() -> None:
    finding = await found(QUESTION, cluster(ports=[{"name": "web", "port": 443}]))
    assert finding.because[0] == "nothing is behind its port 443 (endpoints: https 443)"


async def test_a_service_that_is_gone_is_found() -> None:
    azure = cluster()
    azure.api_service = {}
    assert (await found(QUESTION, azure)).because[0].startswith("there is no service default/kubernetes")


async def test_pods_of_the_system_that_do_not_run_follow_from_it() -> None:
    azure = cluster(selector={"app": "shop"})
    owners = [{"kind": "ReplicaSet", "name": "coredns-6d5f7c8b9"}]
    azure.pod("coredns-1", namespace="kube-system", ready=False, metadata={"ownerReferences": owners})
    assert "kube-system/Deployment/coredns" in (await found(QUESTION, azure)).affects


@pytest.mark.parametrize("denied", ["/services", "/endpointslices"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_nodes_and_pods_it_is_found_all_the_same() -> None:
    azure = cluster(selector={"app": "shop"})
    azure.denied = {"/api/v1/nodes", "/api/v1/pods"}
    assert (await found(QUESTION, azure)).facts["scale_set"] == "<scale-set>"


async def test_a_stopped_cluster_is_not_asked() -> None:
    azure = cluster()
    azure.cluster["powerState"] = {"code": "Stopped"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.NOT_APPLICABLE


async def test_its_runbook_is_filled_from_what_was_found() -> None:
    finding = await found(QUESTION, cluster(selector={"app": "shop"}))
    runbook = LIBRARY[QUESTION]
    checks, fix = (runbook.render(section, finding.facts) for section in ("Check it yourself", "Fix"))
    assert "kubectl get service kubernetes --namespace default" in checks
    assert "aks-apps-12345678-vmss" in checks
    assert """--patch '{"spec":{"selector":null}}'""" in fix
    azure = cluster()
    azure.api_slices = []
    assert "selector" not in runbook.render("Fix", (await found(QUESTION, azure)).facts)


GATEWAY = f"{GROUP_ID}/providers/Microsoft.Network/natGateways/nat"
TABLE = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/udr"
NAT_ADDRESS = f"{NETWORKS}/publicIPAddresses/pip-nat"


def silent(**profile: Any) -> Inside:
    """Its one node has stopped reporting; nodes leave through a NAT gateway of AKS."""
    inside = Inside()
    inside.pool("apps", 1)
    inside.not_ready("node-0")
    inside.cluster |= {"fqdn": "one.hcp.westeurope.azmk8s.io", **profile}
    inside.cluster["networkProfile"] |= {"outboundType": "managedNATGateway"}
    inside.cluster["networkProfile"]["natGatewayProfile"] = {"effectiveOutboundIPs": [{"id": NAT_ADDRESS}]}
    inside.more[NAT_ADDRESS] = resource(NAT_ADDRESS, {"ipAddress": "20.1.2.3"})
    return inside


def ranges(*listed: str) -> dict[str, Any]:
    return {"apiServerAccessProfile": {"authorizedIPRanges": [*listed]}}


async def test_nodes_that_leave_from_an_address_that_is_not_listed_are_refused() -> None:
    finding = await found(QUESTION, silent(**ranges("203.0.113.0/24")))
    assert (finding.subject, finding.facts["cause"]) == (CLUSTER, "ranges")
    assert finding.because[0] == (
        "nodes leave from 20.1.2.3 (the cluster's NAT gateway), and the API server takes only 203.0.113.0/24"
    )
    assert "Node/node-0" in finding.affects
    assert "--api-server-authorized-ip-ranges 203.0.113.0/24,20.1.2.3/32" in LIBRARY[QUESTION].render(
        "Fix", finding.facts
    )


@pytest.mark.parametrize("listed", [("20.1.2.0/24", "203.0.113.0/24"), ("0.0.0.0/0",), ()])
async def test_nodes_whose_address_is_listed_are_silent_for_another_reason(listed: tuple[str, ...]) -> None:
    assert (await asked(QUESTION, silent(**ranges(*listed)))).outcome is Outcome.INCONCLUSIVE


async def test_an_address_that_is_not_listed_is_no_problem_while_the_nodes_report() -> None:
    inside = silent(**ranges("203.0.113.0/24"))
    inside.node("node-0")
    assert (await asked(QUESTION, inside)).outcome is Outcome.CLEAR


async def test_with_vnet_integration_neither_ranges_nor_a_rule_on_the_way_out_stop_a_node() -> None:
    inside = silent(apiServerAccessProfile={"enableVnetIntegration": True, "authorizedIPRanges": ["203.0.113.0/24"]})
    inside.rules = [rule("no-internet", 200, "Deny")]
    assert (await asked(QUESTION, inside)).outcome is Outcome.INCONCLUSIVE
    inside.room("node-1")
    assert (await asked(QUESTION, inside)).outcome is Outcome.CLEAR


ZONE = f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.Network/privateDnsZones/privatelink.x.azmk8s.io"


def without_record() -> Inside:
    access = {"enablePrivateCluster": True, "privateDNSZone": ZONE}
    inside = silent(apiServerAccessProfile=access, privateFQDN="one.privatelink.x.azmk8s.io")
    inside.more |= {f"{ZONE}/virtualNetworkLinks": rows([]), f"{NETWORKS}/networkInterfaces": rows([])}
    return inside


def denied_by_rule() -> Inside:
    inside = silent()
    inside.rules = [rule("no-internet", 200, "Deny")]
    return inside


@pytest.mark.parametrize("inside", [silent(**ranges("203.0.113.0/24")), denied_by_rule(), without_record()])
async def test_what_stands_in_the_way_of_one_silent_node_is_disproved_by_a_node_beside_it(inside: Inside) -> None:
    assert (await asked(QUESTION, inside)).outcome is Outcome.FOUND
    inside.room("node-1")
    assert (await asked(QUESTION, inside)).outcome is Outcome.CLEAR
    inside.leases["node-1"] -= timedelta(minutes=5)
    assert (await asked(QUESTION, inside)).outcome is Outcome.FOUND


def behind_own_gateway(**subnet: Any) -> Inside:
    """Pool `apps` leaves through the NAT gateway of its own subnet; pool `other` is elsewhere, and reports."""
    inside = silent(**ranges("203.0.113.0/24"))
    inside.cluster["networkProfile"] |= {"outboundType": "loadBalancer"}
    inside.pools.clear()
    inside.pool("apps", 1, vnetSubnetID=SUBNET)
    inside.pool("other", 1, vnetSubnetID=f"{SUBNET}-other")
    inside.subnets[SUBNET] = {"addressPrefix": "10.1.0.0/24", "natGateway": {"id": GATEWAY}, **subnet}
    inside.subnets[f"{SUBNET}-other"] = {"addressPrefix": "10.1.1.0/24"}
    inside.more[GATEWAY] = resource(GATEWAY, {"publicIpAddresses": [{"id": NAT_ADDRESS}]})
    inside.room("node-1", "other")
    return inside


async def test_nodes_of_another_subnet_do_not_disprove_it() -> None:
    inside = behind_own_gateway()
    finding = await found(QUESTION, inside)
    assert finding.because[0].startswith("nodes leave from 20.1.2.3 (NAT gateway nat)")
    inside.not_ready("node-2", pool="other")
    assert "Node/node-2" not in (await found(QUESTION, inside)).affects


@pytest.mark.parametrize(
    ("hop", "is_found"),
    [({"nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.1.4"}, False), ({"nextHopType": "Internet"}, True)],
)
async def test_a_route_to_an_appliance_goes_before_a_nat_gateway(hop: dict[str, str], is_found: bool) -> None:
    inside = behind_own_gateway(routeTable={"id": TABLE})
    inside.cluster["networkProfile"] |= {"outboundType": "userDefinedRouting"}
    route = resource(f"{TABLE}/routes/out", {"addressPrefix": "0.0.0.0/0", **hop})
    inside.more[TABLE] = resource(TABLE, {"routes": [route]})
    assert ((await asked(QUESTION, inside)).outcome is Outcome.FOUND) is is_found


async def test_a_rule_that_denies_the_way_out_is_named() -> None:
    inside = denied_by_rule()
    finding = await found(QUESTION, inside)
    assert finding.facts["cause"] == "firewall"
    assert "rule no-internet of security group aks-agentpool-12345678-nsg, priority 200, denies" in finding.because[0]


async def test_a_private_name_without_a_record_is_named() -> None:
    inside = without_record()
    finding = await found(QUESTION, inside)
    assert finding.facts["cause"] == "private-dns"
    inside.cluster["apiServerAccessProfile"]["enableVnetIntegration"] = True
    assert (await asked(QUESTION, inside)).outcome is Outcome.INCONCLUSIVE


def restricted(*rules: dict[str, Any]) -> Inside:
    """The node reports; CoreDNS is not Ready, and a policy of somebody's holds all pods of kube-system."""
    inside = Inside()
    inside.pool("apps", 1)
    inside.room()
    inside.cluster["networkProfile"] |= {"networkPolicy": "calico"}
    for name in ("coredns", "metrics-server"):
        inside.deployment(name, ready=0)
    inside.runs("coredns-6d5f7c8b9-x2", namespace="kube-system", ready=False, labels={"k8s-app": "kube-dns"})
    spec = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [*rules]}
    inside.add("NetworkPolicy", "lock-down", "kube-system", spec=spec)
    return inside


async def test_a_policy_that_holds_the_pods_of_the_system_is_named() -> None:
    finding = await found(QUESTION, restricted())
    assert finding.facts["cause"] == "policy"
    assert finding.because[0] == (
        "kube-system/NetworkPolicy/lock-down restricts what Deployment/coredns may send, and allows nothing to "
        "20.101.44.17:443"
    )
    assert "kube-system/Deployment/coredns" in finding.affects


@pytest.mark.parametrize("is_denied", [False, True])
async def test_a_policy_is_not_blamed_where_one_of_calicos_own_kinds_may_let_them_through(is_denied: bool) -> None:
    inside = restricted()
    path = "/apis/crd.projectcalico.org/v1/globalnetworkpolicies"
    inside.more_inside[path] = [{"kind": "GlobalNetworkPolicy", "metadata": {"name": "allow-api-server"}}]
    inside.denied = {path} if is_denied else set()
    check = await asked(QUESTION, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert ("globalnetworkpolicies" if is_denied else "GlobalNetworkPolicy allow-api-server") in check.why


@pytest.mark.parametrize(
    ("profile", "is_found"),
    [({"networkPolicy": "none"}, False), ({"networkPolicy": ""}, False), ({"networkPlugin": "none"}, True)],
)
async def test_a_policy_that_nothing_enforces_holds_nobody(profile: dict[str, str], is_found: bool) -> None:
    inside = restricted()
    inside.cluster["networkProfile"] |= {"networkPolicy": "none", **profile}
    check = await asked(QUESTION, inside)
    assert (check.outcome is Outcome.FOUND) is is_found
    if not is_found:
        assert "no pod of coredns and metrics-server is Ready" in check.why


async def test_a_policy_that_lets_them_through_is_not() -> None:
    assert (
        await asked(QUESTION, restricted({"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}))
    ).outcome is not Outcome.FOUND


@pytest.mark.parametrize("denied", ["/publicIPAddresses/pip-nat", "/virtualNetworks"])
async def test_where_a_cause_may_not_be_looked_at_it_is_said(denied: str) -> None:
    inside = silent(**ranges("20.1.2.3/32"))
    inside.denied = {denied}
    check = await asked(QUESTION, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why
