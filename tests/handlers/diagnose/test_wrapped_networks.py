"""The networks of a provisioned cluster on a Nexus site whose API still says which ones its virtual networks wrap."""

from __future__ import annotations

import pytest

from handlers.model import Outcome
from sandbox.arm.faults import Fault
from tests.checking import azure, check
from tests.handlers.diagnose.on_site import asked, change, diagnosed, found, world_of

NAME = "edge-aks-01"
OVERLAP, CASE = "default-cni-prefix-overlap", "hybrid-vnet-id-case-mismatch"
DUPLICATE, VNET, INSTANCE = (
    "/example-duplicate-prefix-dcn",
    "/virtualnetworks/vnet-dcn",
    "/provisionedclusterinstances/default",
)


async def test_without_the_activity_log_the_networks_themselves_show_the_prefix() -> None:
    denied = ["Microsoft.Insights/eventtypes/values/read"]
    finding = await found("network-prefix-overlap", world_of(OVERLAP), NAME, denied)
    assert finding.facts["prefix"] == finding.facts["other_prefix"] == "10.0.88.0/24"
    assert finding.facts["network"] == "example-duplicate-prefix-dcn"
    assert finding.because[1] == "default CNI network example-dcn is Succeeded with it"


async def test_the_activity_log_names_both_where_the_list_may_not_be_read() -> None:
    denied = ["Microsoft.NetworkCloud/l3Networks/read"]
    finding = await found("network-prefix-overlap", world_of(OVERLAP), NAME, denied)
    assert finding.because[1].startswith("Azure says: admission webhook")
    assert finding.facts["other_network"] == "example-dcn"


@pytest.mark.parametrize(
    "action",
    [
        "Microsoft.HybridContainerService/virtualNetworks/read",
        "Microsoft.NetworkCloud/defaultCniNetworks/read",
    ],
)
@pytest.mark.parametrize("code", ["network-prefix-overlap", "network-failed", "network-vlan-mismatch"])
async def test_networks_that_may_not_be_read_are_never_clear(code: str, action: str) -> None:
    world = world_of(OVERLAP)
    ended = await asked(code, world, NAME, [action])
    assert ended.outcome is Outcome.INCONCLUSIVE, ended.why
    assert action in {gap.grant for gap in ended.unseen}


@pytest.mark.parametrize("code", ["network-prefix-overlap", CASE])
async def test_on_todays_api_they_cannot_be_asked(code: str) -> None:
    world = world_of(OVERLAP)
    world.cloud_as_of = ""
    for key in [key for key in world.resources if "/defaultcninetworks/" in key]:
        del world.resources[key]
    change(world, VNET, {"properties": {"infraVnetProfile": None}})
    change(world, "/vnet-csn", {"properties": {"infraVnetProfile": None}})
    diagnosis = await diagnosed(world, NAME)
    ended = next(ended for ended in diagnosis.checks if code in ended.codes)
    assert ended.outcome is Outcome.NOT_APPLICABLE
    assert "today's API does not say" in ended.why
    (failed,) = [found.finding for found in diagnosis.findings if found.finding.code == "hybrid-cluster-failed"]
    assert any("default-cni-network-missing cannot be asked on today's API" in line for line in failed.because)


async def test_one_network_that_may_not_be_asked_beside_one_that_wraps_nothing_is_not_taken_for_todays_api() -> None:
    world = world_of(OVERLAP)
    for vnet in (VNET, "/vnet-csn"):
        change(world, vnet, {"properties": {"infraVnetProfile": None}})
    async with azure(world) as server:
        server.faults.append(Fault("403", action="Microsoft.HybridContainerService/virtualNetworks/read", skip=1))
        diagnosis = await check(server, NAME)
    ended = next(ended for ended in diagnosis.checks if "network-failed" in ended.codes)
    assert ended.outcome is Outcome.INCONCLUSIVE, ended.why


async def test_todays_api_refuses_a_default_cni_network_that_an_old_virtual_network_still_names() -> None:
    world = world_of(OVERLAP)
    world.cloud_as_of = ""
    ended = await asked("network-prefix-overlap", world, NAME)
    assert ended.outcome is Outcome.INCONCLUSIVE, ended.why


async def test_another_case_is_not_told_of_a_cluster_that_works() -> None:
    world = world_of(CASE)
    change(world, INSTANCE, {"properties": {"provisioningState": "Succeeded"}})
    assert (await asked(CASE, world, NAME)).outcome is Outcome.CLEAR


async def test_another_network_is_no_matter_of_case() -> None:
    world = world_of(CASE)
    above = next(key for key in world.resources if key.endswith(DUPLICATE))
    change(world, VNET, {"properties": {"infraVnetProfile": {"networkCloud": {"networkId": above + "-2"}}}})
    assert (await asked(CASE, world, NAME)).outcome is not Outcome.FOUND
