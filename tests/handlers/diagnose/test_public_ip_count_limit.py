"""Is there a public IP address left for whoever needs the next one?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity, Why
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    NODE_GROUP_ID,
    SUB,
    Body,
    event,
    pool_id,
    resource,
    rows,
    usage,
)
from tests.handlers.diagnose.wire import LIBRARY, NETWORK, Azure, asked, diagnosed, found

QUESTION = "public-ip-count-limit"
REFUSED = {
    "code": "PublicIPCountLimitReached",
    "message": "Cannot create more than 100 public IP addresses for this subscription in this region.",
}
ADDRESSES = f"/subscriptions/{SUB}/providers/Microsoft.Network/publicIPAddresses"
BALANCER = f"{NODE_GROUP_ID}/providers/Microsoft.Network/loadBalancers/kubernetes/frontendIPConfigurations/one"


def quota(azure: Azure, standard: int, limit: int = 100, every: int = 150) -> None:
    counts = [usage("PublicIPAddresses", every, 1000), usage("StandardSkuPublicIpAddresses", standard, limit)]
    azure.more[f"{NETWORK}/usages"] = rows(counts)


def address(name: str, group: str = "rg-old", location: str = "westeurope", sku: str = "Standard", **more: Any) -> Body:
    path = f"/subscriptions/{SUB}/resourceGroups/{group}/providers/Microsoft.Network/publicIPAddresses/{name}"
    properties = {"ipAddress": "203.0.113.9", **more.pop("properties", {})}
    return resource(path, properties, location=location, sku={"name": sku}, **more)


def refused_pool(used: int = 99, limit: int = 100) -> Azure:
    """Pool `edge` lacks two of five nodes, each of which wants an address of its own; Azure refused those."""
    azure = Azure()
    azure.pool("edge", count=5, machines=3, provisioningState="Failed", enableNodePublicIP=True)
    azure.pools["edge"]["status"] = {"provisioningError": REFUSED}
    quota(azure, used, limit)
    return azure


async def test_a_pool_whose_nodes_want_more_addresses_than_are_left_is_found_with_the_arithmetic() -> None:
    finding = await found(QUESTION, refused_pool())
    assert finding.subject == f"{NETWORK}/usages/StandardSkuPublicIpAddresses"
    assert (finding.affects, finding.severity) == ((pool_id("edge"),), Severity.ERROR)
    assert finding.because == (
        "StandardSkuPublicIpAddresses vCPUs in westeurope: 99 of 100 used, 1 free",
        "pool edge wants 2 public addresses (2 nodes, one address each)",
        "99 + 2 = 101 > 100: 1 public address short",
        "every address of people's is attached to something",
        "Azure said: PublicIPCountLimitReached: " + REFUSED["message"],
    )
    assert finding.facts["new_limit"] == 101
    kept = finding.facts["headroom"]
    assert (kept["limit"], kept["held"][0]["count"], kept["wanted"]) == (100, 99, [{"who": "pool edge", "count": 2}])


async def test_the_twin_with_a_raised_limit_is_clear() -> None:
    check = await asked(QUESTION, refused_pool(limit=101))
    assert check.outcome is Outcome.CLEAR
    assert "99 of 101 used, 2 wanted: there is room" in check.why


async def test_it_explains_the_failed_pool() -> None:
    azure = refused_pool()
    for number in range(3):
        azure.node(f"node-{number}", pool="edge", machine=number)
    findings = (await diagnosed(azure)).findings
    explained = {one.finding.code: one.explained_by for one in findings}
    subject = f"{NETWORK}/usages/StandardSkuPublicIpAddresses"
    assert explained == {QUESTION: (), "nodepool-failed": ((QUESTION, subject),)}


async def test_addresses_that_nothing_uses_are_named_as_the_way_out() -> None:
    azure = refused_pool()
    attached = {"ipConfiguration": {"id": BALANCER}}
    azure.more[ADDRESSES] = rows(
        [
            address("vpn-old"),
            address("web", properties=attached),
            address("nat", properties={"natGateway": {"id": f"{NODE_GROUP_ID}/natGateways/nat"}}),
            address("in-the-us", location="eastus"),
            address("basic", sku="Basic"),
            address("of-aks", group="MC_rg-two_two_westeurope"),
            address("of-a-service", tags={"k8s-azure-service": "shop/web"}),
        ]
    )
    finding = await found(QUESTION, azure)
    assert [one["name"] for one in finding.facts["unattached"]] == ["vpn-old"]
    assert "attached to nothing: vpn-old (203.0.113.9, rg-old)" in finding.because
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert f"az network public-ip delete --ids {address('vpn-old')['id']}" in fix
    assert "basic" not in fix


async def test_where_all_addresses_together_are_too_many_one_of_any_sku_can_be_given_back() -> None:
    azure = refused_pool(used=10)
    quota(azure, 10, every=999)
    azure.more[ADDRESSES] = rows([address("basic", sku="Basic")])
    finding = await found(QUESTION, azure)
    assert finding.subject.endswith("/usages/PublicIPAddresses")
    assert [one["name"] for one in finding.facts["unattached"]] == ["basic"]


async def test_a_pool_without_addresses_of_its_own_wants_at_least_the_one_that_azure_refused() -> None:
    azure = refused_pool(used=100)
    azure.pools["edge"]["enableNodePublicIP"] = False
    finding = await found(QUESTION, azure)
    assert "pool edge wants 1 public address (at least: Azure refused one)" in finding.because


async def test_nodes_with_addresses_of_a_prefix_want_none_beside_it() -> None:
    azure = refused_pool(used=100)
    azure.pools["edge"] |= {"nodePublicIPPrefixID": f"{NODE_GROUP_ID}/publicIPPrefixes/ours", "status": None}
    azure.pools["edge"]["status"] = {"provisioningError": {"code": "InternalServerError", "message": "x"}}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_surge_nodes_of_an_upgrade_want_addresses_too() -> None:
    azure = refused_pool(used=100)
    azure.pool("edge", count=3, provisioningState="Failed", enableNodePublicIP=True, orchestratorVersion="1.34")
    azure.pools["edge"]["status"] = {"provisioningError": REFUSED}
    finding = await found(QUESTION, azure)
    assert "pool edge wants 1 public address (1 surge node, one address each)" in finding.because


OUTBOUND = [
    ("loadBalancer", "loadBalancerProfile", "managedOutboundIPs", "load balancer"),
    ("managedNATGateway", "natGatewayProfile", "managedOutboundIPProfile", "NAT gateway"),
]


def outbound(kind: str, profile: str, managed: str, has: int = 1) -> Azure:
    """The cluster was told to have three outbound addresses; the last of two that it lacks is too many."""
    azure = Azure()
    azure.pool("apps")
    addresses = [{"id": f"{NODE_GROUP_ID}/publicIPAddresses/{number}"} for number in range(has)]
    network = {"outboundType": kind, profile: {managed: {"count": 3}, "effectiveOutboundIPs": addresses}}
    azure.cluster["networkProfile"] |= network
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": REFUSED}}
    quota(azure, 99)
    return azure


@pytest.mark.parametrize(("kind", "profile", "managed", "name"), OUTBOUND)
async def test_outbound_addresses_that_could_not_be_made_are_counted(
    kind: str, profile: str, managed: str, name: str
) -> None:
    finding = await found(QUESTION, outbound(kind, profile, managed))
    told = f"its {name} was told to have 3 outbound addresses, and has 1"
    assert finding.because[1] == f"cluster one wants 2 public addresses ({told})"
    assert finding.affects == (CLUSTER,)
    assert f"az resource update --ids {CLUSTER}" in LIBRARY[QUESTION].render("Fix", finding.facts)


@pytest.mark.parametrize(("kind", "profile", "managed", "name"), OUTBOUND)
async def test_the_twin_that_has_its_outbound_addresses_lacks_only_the_refused_one(
    kind: str, profile: str, managed: str, name: str
) -> None:
    assert (await asked(QUESTION, outbound(kind, profile, managed, has=3))).outcome is Outcome.CLEAR


async def test_what_a_cluster_repeats_of_its_pools_error_is_counted_once() -> None:
    azure = refused_pool()
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": REFUSED}}
    finding = await found(QUESTION, azure)
    assert finding.facts["needed"] == 2
    assert set(finding.affects) == {pool_id("edge"), CLUSTER}


async def test_a_full_quota_is_no_finding_while_nobody_wants_an_address() -> None:
    azure = Azure()
    azure.pool("edge", enableNodePublicIP=True)
    quota(azure, 100)
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    assert "lacks public addresses" in check.why


async def test_a_full_quota_does_not_claim_a_pool_that_failed_for_another_reason() -> None:
    azure = refused_pool(used=100)
    azure.pools["edge"]["status"] = {"provisioningError": {"code": "AllocationFailed", "message": "no capacity"}}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_full_quota_beside_a_failure_that_names_nothing_is_a_warning_that_explains_nothing() -> None:
    azure = refused_pool()
    azure.pools["edge"]["status"] = {"provisioningError": {"code": "InternalServerError", "message": "x"}}
    finding = await found(QUESTION, azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())


@pytest.mark.parametrize(("used", "outcome"), [(100, Outcome.FOUND), (99, Outcome.CLEAR)])
async def test_a_failure_without_a_word_is_no_riddle_where_there_is_room(used: int, outcome: Outcome) -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed")
    quota(azure, used)
    check = await asked(QUESTION, azure)
    assert check.outcome is outcome
    assert [(one.severity, one.affects) for one in check.findings] == [(Severity.WARNING, ())][: used - 99]


@pytest.mark.parametrize(("minutes", "outcome"), [(20, Outcome.FOUND), (60 * 30, Outcome.CLEAR)])
async def test_a_request_that_was_refused_at_once_is_found_while_somebody_may_wait(
    minutes: int, outcome: Outcome
) -> None:
    azure = Azure()
    azure.pool("apps")
    quota(azure, 100)
    message = f'{{"code":"{REFUSED["code"]}","message":"{REFUSED["message"]}"}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(minutes=minutes), message)]
    assert (await asked(QUESTION, azure)).outcome is outcome
    if outcome is Outcome.FOUND:
        fix = LIBRARY[QUESTION].render("Fix", (await found(QUESTION, azure)).facts)
        assert "ask for the same again" in fix
        assert "az resource update" not in fix


@pytest.mark.parametrize("denied", ["Microsoft.Network/locations", "/agentPools", "/virtualMachineScaleSets"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = refused_pool(limit=200)
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_the_activity_log_a_refusal_cannot_be_ruled_out() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {"/eventtypes/"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_without_the_addresses_the_limit_is_still_known_and_the_page_says_how_to_look() -> None:
    azure = refused_pool()
    azure.denied = {ADDRESSES}
    check = await asked(QUESTION, azure)
    [finding] = check.findings
    assert "which addresses are attached to nothing was not seen" in finding.because
    assert [(one.wanted, one.why) for one in check.unseen] == [("the public IP addresses", Why.DENIED)]
    assert "az network public-ip list" in LIBRARY[QUESTION].render("Fix", finding.facts)


async def test_a_quota_without_its_row_leaves_the_question_open() -> None:
    azure = refused_pool()
    azure.more[f"{NETWORK}/usages"] = rows([usage("PublicIPAddresses", 100, 1000)])
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_cluster_with_a_basic_load_balancer_wants_no_standard_address() -> None:
    azure = refused_pool(used=100)
    azure.cluster["networkProfile"]["loadBalancerSku"] = "basic"
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR
