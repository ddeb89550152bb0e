"""What Azure shows of a Nexus site, bottom up: fabric, Network Cloud, the cluster and its connection to Arc."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handlers.model import Check, Outcome, Severity, Why
from runbooks.library import SECTIONS, Library
from sandbox.world import World
from tests.checking import azure, check
from tests.handlers.diagnose.on_site import asked, change, diagnosed, found, world_of

NEXUS, HYBRID = "edge-nexus-01", "edge-aks-01"
DOMAIN, L3, CSN = "/l3isolationdomains/l3isd-edge-nexus-01", "/l3networks/l3-edge-nexus-01", "/csn-edge-nexus-01"
CLUSTER, ARC = "/kubernetesclusters/edge-nexus-01", "/connectedclusters/edge-nexus-01"
ELSEWHERE = "c94e07d2-18b3-4f6a-a5d1-0e7b3c9f6d25"
"""A subscription that the clusters of the site are not in."""
CLOUD, FABRIC = "Microsoft.NetworkCloud", "Microsoft.ManagedNetworkFabric"
OVERLAP = (
    'admission webhook "vl3network.kb.io" denied the request: Specified IPv4Connected Prefix 10.200.54.0/24 overlaps '
    "with existing prefix 10.200.54.0/24 from example-dcn"
)


def properties(**values: Any) -> dict[str, Any]:
    return {"properties": values}


def fabric_elsewhere(world: World) -> None:
    """The isolation domain of edge-nexus-01 and its internal network are in another subscription."""
    group = next(body for key, body in world.resources.items() if key.endswith("/resourcegroups/rg-edge-nexus"))
    world.put({**group, "id": group["id"].replace(group["id"].split("/")[2], ELSEWHERE)})
    for key in [key for key in world.resources if DOMAIN in key]:
        body = world.resources.pop(key)
        own = body["id"].split("/")[2]
        world.put({**body, "id": body["id"].replace(own, ELSEWHERE)})
        change(world, L3, properties(l3IsolationDomainId=body["id"].replace(own, ELSEWHERE).split("/internal")[0]))


def wire(ago: timedelta) -> str:
    return (datetime.now(UTC) - ago).isoformat()


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("isolation-domain-disabled", f"{FABRIC}/l3IsolationDomains/read"),
        ("isolation-domain-missing", f"{FABRIC}/l3IsolationDomains/internalNetworks/read"),
        ("network-failed", f"{CLOUD}/l3Networks/read"),
        ("network-prefix-overlap", f"{CLOUD}/l3Networks/read"),
        ("network-vlan-mismatch", f"{FABRIC}/l3IsolationDomains/internalNetworks/read"),
        ("cloud-services-network-missing", f"{CLOUD}/cloudServicesNetworks/read"),
        ("cloud-services-network-limit", f"{CLOUD}/cloudServicesNetworks/read"),
        ("extended-location-mismatch", f"{CLOUD}/clusters/read"),
        ("hybrid-cluster-failed", f"{CLOUD}/kubernetesClusters/read"),
        ("hybrid-concurrent-creation", f"{CLOUD}/kubernetesClusters/read"),
        ("hybrid-cluster-offline", "Microsoft.Kubernetes/connectedClusters/read"),
    ],
)
async def test_what_may_not_be_read_is_never_clear(code: str, action: str) -> None:
    check = await asked(code, world_of(), NEXUS, [action])
    assert check.outcome is Outcome.INCONCLUSIVE
    assert action in {gap.grant for gap in check.unseen}


@pytest.mark.parametrize("state", ["Disabled", "EnabledDegraded", "RMA"])
async def test_a_domain_in_any_state_but_enabled_is_told(state: str) -> None:
    world = world_of()
    change(world, DOMAIN, properties(administrativeState=state))
    finding = await found("isolation-domain-disabled", world, NEXUS)
    assert f"has administrativeState {state}" in finding.because[0]
    assert finding.affects == ()  # the network is up and the cluster has not failed


@pytest.mark.parametrize("state", ["Updating", "Accepted"])
async def test_a_domain_that_is_just_being_enabled_is_not_called_disabled(state: str) -> None:
    world = world_of()
    change(world, DOMAIN, properties(administrativeState="Disabled", provisioningState=state))
    ended = await asked("isolation-domain-disabled", world, NEXUS)
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert f"in progress: it is Disabled and {state}" in ended.why


async def test_a_domain_that_is_enabled_stays_so_while_it_is_changed() -> None:
    world = world_of()
    change(world, DOMAIN, properties(provisioningState="Updating"))
    assert (await asked("isolation-domain-disabled", world, NEXUS)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("code", "ending", "patch"),
    [
        ("isolation-domain-disabled", DOMAIN, properties(administrativeState="Disabled")),
        ("isolation-domain-missing", "", {}),
        ("network-vlan-mismatch", L3, properties(vlan=2600)),
    ],
)
async def test_the_commands_for_the_fabric_name_the_subscription_that_the_fabric_is_in(
    code: str, ending: str, patch: dict[str, Any]
) -> None:
    world = world_of()
    fabric_elsewhere(world)
    if ending:
        change(world, ending, patch)
    else:
        del world.resources[next(key for key in world.resources if "/internalnetworks/in-edge-nexus-01" in key)]
    finding = await found(code, world, NEXUS)
    page = Library.load()[code]
    lines = "\n".join(page.render(section, finding.facts) for section in SECTIONS).split("\n")
    fabric = [line for line in lines if line.startswith(("az networkfabric", "az monitor"))]
    assert fabric
    assert all(f"--subscription {ELSEWHERE} " in line for line in fabric)


async def test_a_domain_that_no_network_of_the_cluster_stands_on_is_not_its_problem() -> None:
    world = world_of()
    change(world, "/l3isolationdomains/l3isd-edge-nexus-02", properties(administrativeState="Disabled"))
    assert (await asked("isolation-domain-disabled", world, NEXUS)).outcome is Outcome.CLEAR


async def test_a_domain_that_does_not_exist_is_told_with_what_it_should_hold() -> None:
    world = world_of()
    gone = next(body["id"] for key, body in world.resources.items() if key.endswith(DOMAIN))
    for key in [key for key in world.resources if key.startswith(gone.lower())]:
        del world.resources[key]
    finding = await found("isolation-domain-missing", world, NEXUS)
    assert finding.because[0] == "isolation domain l3isd-edge-nexus-01 does not exist"
    assert (finding.facts["vlan"], finding.facts["prefix"]) == (567, "10.200.54.0/24")


@pytest.mark.parametrize(("ago", "outcome"), [(5, Outcome.CLEAR), (40, Outcome.FOUND)])
async def test_a_network_that_is_being_made_has_a_quarter_of_an_hour(ago: int, outcome: Outcome) -> None:
    world = world_of()
    changed = {"systemData": {"lastModifiedAt": wire(timedelta(minutes=ago))}}
    change(world, CSN, {**properties(provisioningState="Provisioning"), **changed})
    assert (await asked("network-failed", world, NEXUS)).outcome is outcome


async def test_the_nested_message_names_both_prefixes_also_of_a_network_that_the_api_cannot_list() -> None:
    world = world_of("network-failed")
    for event in world.events:
        said = event["properties"].get("statusMessage") or ""
        marked = 'admission webhook \\"vl3network.kb.io\\" denied the request: the interface eth0 is already in use'
        if marked in said:
            text = OVERLAP.replace('"', '\\"')
            event["properties"]["statusMessage"] = said.replace(f"{marked} on this host", text)
    finding = await found("network-prefix-overlap", world, NEXUS)
    assert finding.because[0].endswith("which overlaps 10.200.54.0/24 of network example-dcn")
    assert finding.facts["other_network"] == "example-dcn"


async def test_networks_that_are_both_up_do_not_overlap_although_their_prefixes_do() -> None:
    world = world_of("network-prefix-overlap")
    change(world, L3, properties(provisioningState="Succeeded"))
    assert (await asked("network-prefix-overlap", world, NEXUS)).outcome is Outcome.CLEAR


async def test_without_the_activity_log_an_overlap_that_is_not_seen_stays_open() -> None:
    check = await asked(
        "network-prefix-overlap", world_of("network-failed"), NEXUS, ["Microsoft.Insights/eventtypes/values/read"]
    )
    assert check.outcome is Outcome.INCONCLUSIVE


async def test_a_vlan_that_differs_under_a_network_that_is_up_is_a_warning() -> None:
    world = world_of()
    change(world, L3, properties(vlan=2600))
    finding = await found("network-vlan-mismatch", world, NEXUS)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    assert finding.because[1].endswith("the nearest is in-edge-nexus-01 (VLAN 567, 10.200.54.0/24)")


async def test_a_full_site_is_quiet_while_the_clusters_own_network_is_up() -> None:
    world = world_of("cloud-services-network-limit")
    change(world, CSN, properties(provisioningState="Succeeded"))
    assert (await asked("cloud-services-network-limit", world, NEXUS)).outcome is Outcome.CLEAR


async def test_a_cloud_services_network_that_is_named_and_gone_is_missing() -> None:
    world = world_of()
    gone = next(key for key in world.resources if key.endswith(CSN))
    del world.resources[gone]
    finding = await found("cloud-services-network-missing", world, NEXUS)
    assert finding.subject.lower() == gone


def out_of_sight(world: World, *endings: str) -> list[str]:
    """Moves resources into a group of their own; their new ids."""
    group = next(body for key, body in world.resources.items() if key.endswith("/resourcegroups/rg-edge-nexus"))
    world.put({**group, "id": group["id"].replace("rg-edge-nexus", "rg-apart"), "name": "rg-apart"})
    moved = []
    for ending in endings:
        key = next(key for key in world.resources if key.endswith(ending))
        body = world.resources.pop(key)
        world.put({**body, "id": body["id"].replace("rg-edge-nexus", "rg-apart")})
        moved.append(body["id"].replace("rg-edge-nexus", "rg-apart"))
    return moved


async def seen_from_a_group(code: str, world: World, denied: str) -> Check:
    """The check by a reader who may not read one group: lists of the subscription leave it out, and are whole."""
    async with azure(world) as server:
        server.deny("reader", "Microsoft.NetworkCloud/*", denied)
        diagnosis = await check(server, NEXUS)
    return next(ended for ended in diagnosis.checks if code in ended.codes)


async def test_a_cloud_services_network_in_a_group_that_may_not_be_read_is_not_called_missing() -> None:
    world = world_of()
    (moved,) = out_of_sight(world, CSN)
    change(world, CLUSTER, properties(networkConfiguration={"cloudServicesNetworkId": moved}))
    ended = await seen_from_a_group("cloud-services-network-missing", world, moved.split("/providers")[0])
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert {(gap.wanted, gap.why) for gap in ended.unseen} == {("cloud services network csn-edge-nexus-01", Why.DENIED)}


async def test_a_full_site_explains_nothing_of_a_network_that_is_out_of_sight() -> None:
    world = world_of("cloud-services-network-limit")
    change(world, CSN, properties(provisioningState="Succeeded"))
    (moved,) = out_of_sight(world, CSN)
    change(world, CLUSTER, properties(networkConfiguration={"cloudServicesNetworkId": moved}))
    ended = await seen_from_a_group("cloud-services-network-limit", world, moved.split("/providers")[0])
    assert ended.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("code", "scenario"),
    [
        ("cloud-services-network-limit", "network-failed"),
        ("network-prefix-overlap", "network-failed"),
        ("hybrid-concurrent-creation", "isolation-domain-disabled"),
    ],
)
async def test_what_is_clear_of_a_site_says_which_subscriptions_were_asked(code: str, scenario: str) -> None:
    world = world_of(scenario)
    own = next(key for key in world.resources if key.endswith(CLUSTER)).split("/")[2]
    ended = await asked(code, world, NEXUS)
    assert ended.outcome is Outcome.CLEAR
    assert f"may be read in subscription {own}" in ended.why


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ({"connectivityStatus": "Expired"}, "is Expired"),
        ({"connectivityStatus": "Connecting"}, "is Connecting"),
        ({"lastConnectivityTime": None}, "lastConnectivityTime is null"),
        ({"managedIdentityCertificateExpirationTime": None}, "ExpirationTime is null"),
        ({"managedIdentityCertificateExpirationTime": "2025-01-01T00:00:00Z"}, "certificate ended"),
    ],
)
async def test_every_sign_of_a_cluster_that_does_not_report_is_told(seen: dict[str, Any], says: str) -> None:
    world = world_of()
    change(world, ARC, properties(**seen))
    assert says in " ".join((await found("hybrid-cluster-offline", world, NEXUS)).because)


async def test_the_error_message_of_a_provisioned_cluster_is_told() -> None:
    world = world_of("hybrid-cluster-offline")
    instance = (
        "/connectedclusters/edge-aks-02/providers/microsoft.hybridcontainerservice/provisionedclusterinstances/default"
    )
    change(world, instance, properties(status={"errorMessage": "context deadline exceeded"}))
    finding = await found("hybrid-cluster-offline", world, "edge-aks-02")
    assert finding.because[0] == "edge-aks-02 is Succeeded, but errorMessage: context deadline exceeded"


async def test_of_a_failed_provisioned_cluster_it_is_said_that_no_list_tells_who_was_made_beside_it() -> None:
    world = world_of("hybrid-cluster-offline")
    instance = (
        "/connectedclusters/edge-aks-01/providers/microsoft.hybridcontainerservice/provisionedclusterinstances/default"
    )
    change(world, instance, properties(provisioningState="Failed"))
    check = await asked("hybrid-concurrent-creation", world, HYBRID)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "no list of provisioned clusters" in check.why
    ledger = (await found("hybrid-cluster-failed", world, HYBRID)).because
    assert any("? 1 network fabric: not looked at" in line for line in ledger)
    assert any("cannot be asked on today's API" in line for line in ledger)


async def test_the_ledger_shows_three_layers_bottom_up() -> None:
    finding = await found("hybrid-cluster-failed", world_of("isolation-domain-disabled"), NEXUS)
    marks = [line[:3] for line in finding.because[2:]]
    assert marks == ["✗ 1", "✗ 2", "• 3"]
    assert [row["place"] for row in finding.facts["ledger"]] == ["network fabric", "Network Cloud", "AKS hybrid"]


async def test_a_plain_arc_connected_cluster_is_checked_for_nothing_of_hybrid() -> None:
    world = world_of("hybrid-cluster-offline")
    del world.resources[next(key for key in world.resources if "/connectedclusters/edge-aks-01/" in key)]
    diagnosis = await diagnosed(world, HYBRID)
    assert {check.outcome for check in diagnosis.checks} == {Outcome.NOT_APPLICABLE}


async def test_an_aks_cluster_is_asked_nothing_of_sites_and_bridges() -> None:
    checks = {check.id: check for check in (await diagnosed(world_of(), "prod-weu")).checks}
    mine = [name for name in checks if name.startswith(("arc-", "hybrid-", "isolation-", "cloud-services-"))]
    assert len(mine) > 8
    assert {checks[name].outcome for name in mine} == {Outcome.NOT_APPLICABLE}
