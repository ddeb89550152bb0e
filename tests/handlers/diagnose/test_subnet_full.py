"""Is there an address left for the next node?"""

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, SUBNET, VNET, pool_id
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, found

NAMED = {
    "provisioningError": {"code": "SubnetIsFull", "message": "Subnet nodes with address prefix 10.1.0.0/24 is full"}
}


def flat(prefix: str, used: int, **pool: object) -> Azure:
    """Flat Azure CNI: each node of pool `apps` takes 31 addresses."""
    azure = Azure()
    azure.cluster["networkProfile"] = {"networkPlugin": "azure"}
    azure.subnet(prefix, used)
    azure.pool("apps", vnetSubnetID=SUBNET, **pool)  # type: ignore[arg-type]
    return azure


async def test_nodes_that_are_missing_and_have_no_room_are_found_with_the_arithmetic() -> None:
    azure = flat("10.1.0.0/24", 5 * 31, count=8, machines=5, provisioningState="Failed", status=NAMED)
    finding = await found("subnet-full", azure)
    assert finding.subject == SUBNET
    assert finding.severity is Severity.ERROR
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[:3] == (
        "10.1.0.0/24: 256 addresses - 5 kept by Azure - 155 in use = 96 free",
        "pool apps: 3 missing + 1 surge × 31 (1 + 30 pods) = 124 addresses",
        "wanted 124, free 96: 28 short",
    )
    assert finding.facts["headroom"] == {
        "of": f"Subnet {finding.facts['subnet']} (10.1.0.0/24)",
        "unit": "addresses",
        "limit": 256,
        "held": [{"who": "kept by Azure", "count": 5}, {"who": "in use", "count": 155}],
        "wanted": [{"who": "pool apps", "count": 124}],
    }


@pytest.mark.parametrize(
    "status",
    [
        None,
        {"provisioningError": {"code": "InternalOperationError", "message": "it failed"}},
        {"provisioningError": {"code": "ReconcileVMSSAgentPoolFailed", "message": "vmssCSE: exit status=50"}},
    ],
)
async def test_a_tight_subnet_claims_no_failure_for_which_azure_does_not_name_it(status: object) -> None:
    """It is unknown since when it is full: the failed operation may have filled it."""
    azure = flat("10.1.0.0/24", 5 * 31, count=8, machines=5, provisioningState="Failed", status=status)
    finding = await found("subnet-full", azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())


async def test_the_twin_in_a_larger_subnet_is_clear() -> None:
    azure = flat("10.1.0.0/23", 5 * 31, count=8, machines=5, provisioningState="Failed")
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_no_room_for_the_next_upgrade_is_a_warning_that_explains_nothing() -> None:
    finding = await found("subnet-full", flat("10.1.0.0/25", 3 * 31))
    assert finding.severity is Severity.WARNING
    assert finding.affects == ()


@pytest.mark.parametrize(("used", "outcome"), [(220, Outcome.CLEAR), (221, Outcome.FOUND)])
async def test_the_last_address_that_is_needed_decides(used: int, outcome: Outcome) -> None:
    assert (await asked("subnet-full", flat("10.1.0.0/24", used))).outcome is outcome  # 251 usable, 31 wanted


async def test_with_an_overlay_a_node_needs_one_address() -> None:
    azure = flat("10.1.0.0/28", 10)
    azure.cluster["networkProfile"] = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR
    azure.subnet("10.1.0.0/28", 11)
    finding = await found("subnet-full", azure)
    assert "pool apps: 1 surge × 1 = 1 addresses" in finding.because


async def test_a_pod_subnet_is_counted_on_its_own() -> None:
    azure, pods = flat("10.1.0.0/24", 3), f"{VNET}/subnets/pods"
    azure.subnet("10.2.0.0/26", 48, pods)
    azure.pools["apps"]["podSubnetID"] = pods
    finding = await found("subnet-full", azure)
    assert finding.subject == pods
    assert "pool apps: 1 surge × 16 for pods = 16 addresses" in finding.because


async def test_the_surge_of_all_pools_in_a_subnet_must_fit() -> None:
    azure = flat("10.1.0.0/24", 180)
    azure.pool("more", vnetSubnetID=SUBNET.upper())
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR  # 71 free, 2 × 31 wanted
    azure.subnet("10.1.0.0/24", 190)
    assert (await found("subnet-full", azure)).facts["pools"] == ["apps", "more"]


async def test_a_surge_is_never_larger_than_its_pool() -> None:
    azure = flat("10.1.0.0/25", 60, count=2, upgradeSettings={"maxSurge": "5"})
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR  # 63 free, 2 × 31 wanted and not 5 × 31
    empty = flat("10.1.0.0/25", 123, count=0, upgradeSettings={"maxSurge": "1"})
    assert (await asked("subnet-full", empty)).outcome is Outcome.CLEAR


async def test_a_surge_node_that_stands_already_needs_no_more_room() -> None:
    azure = flat("10.1.0.0/25", 4 * 31 - 1, count=3, machines=4, provisioningState="Upgrading")
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_a_missing_node_that_fits_is_not_blocked_by_the_surge_that_does_not() -> None:
    azure = flat("10.1.0.0/24", 190, count=4, machines=3)  # 61 free, 31 missing + 31 surge
    finding = await found("subnet-full", azure)
    assert finding.severity is Severity.WARNING
    assert finding.facts["blocked"] is False


async def test_a_scale_set_that_is_not_found_is_a_gap_and_not_zero_machines() -> None:
    azure = flat("10.1.0.0/24", 3 * 31)
    azure.tag = "another-tool"
    assert (await asked("subnet-full", azure)).outcome is Outcome.INCONCLUSIVE
    azure.tag = "AKS-managed-PoolName"
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_a_stopped_pool_and_a_pool_that_upgrades_without_surge_want_nothing() -> None:
    stopped = flat("10.1.0.0/25", 123, powerState={"code": "Stopped"})
    frugal = flat("10.1.0.0/25", 123, upgradeSettings={"maxSurge": "0", "maxUnavailable": "1"})
    for azure in (stopped, frugal):
        assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_a_pool_that_is_being_made_has_no_scale_set_yet_and_wants_all_of_its_nodes() -> None:
    azure = flat("10.1.0.0/24", 0, machines=0, provisioningState="Creating")
    azure.tag = "another-tag"
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR
    azure.subnet("10.1.0.0/25", 0)
    finding = await found("subnet-full", azure)
    assert "pool apps: 3 missing + 1 surge × 31 (1 + 30 pods) = 124 addresses" in finding.because


async def test_surge_nodes_of_an_upgrade_that_runs_may_stand_where_machines_were_not_seen() -> None:
    azure = flat("10.1.0.0/25", 4 * 29, machines=4, provisioningState="Upgrading")
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR
    azure.denied = {"/virtualMachineScaleSets"}
    assert (await asked("subnet-full", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_pool_that_is_being_deleted_wants_nothing() -> None:
    azure = flat("10.1.0.0/25", 123, machines=0, provisioningState="Deleting")
    azure.tag = "another-tag"
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_an_upgrade_brings_no_surge_nodes_for_a_spot_pool() -> None:
    azure = flat("10.1.0.0/25", 3 * 31, scaleSetPriority="Spot", upgradeSettings={})
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_a_surge_in_percent_is_rounded_up() -> None:
    azure = flat("10.1.0.0/22", 1019 - 61, count=11, upgradeSettings={"maxSurge": "10%"})
    assert "pool apps: 2 surge × 31 (1 + 30 pods) = 62 addresses" in (await found("subnet-full", azure)).because


async def test_a_full_subnet_does_not_claim_a_pool_that_failed_for_another_reason() -> None:
    azure = flat("10.1.0.0/25", 3 * 31, provisioningState="Failed")
    error = {"code": "AllocationFailed", "message": "no capacity"}
    azure.pools["apps"]["status"] = {"provisioningError": error}
    finding = await found("subnet-full", azure)
    assert finding.severity is Severity.WARNING
    assert finding.affects == ()


async def test_where_aks_manages_the_network_the_question_does_not_apply() -> None:
    azure = Azure()
    azure.pool()
    assert (await asked("subnet-full", azure)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("denied", [SUBNET, "/vnet/usages", "/agentPools", CLUSTER, "/virtualMachines"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = flat("10.1.0.0/24", 3 * 31)
    azure.denied = {denied}
    check = await asked("subnet-full", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_one_subnet_that_is_denied_does_not_acquit_the_pools_in_it() -> None:
    azure, other = flat("10.1.0.0/24", 3 * 31), f"{VNET}/subnets/other"
    azure.subnet("10.3.0.0/24", 0, other)
    azure.pool("more", vnetSubnetID=other)
    azure.denied = {other}
    assert (await asked("subnet-full", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_pool_of_virtual_machines_counts_the_machines_of_all_its_sizes() -> None:
    azure = flat("10.1.0.0/24", 190)
    scale = {"manual": [{"size": "Standard_D4s_v5", "count": 2}, {"size": "Standard_E4s_v5", "count": 1}]}
    azure.pool_of_machines("mixed", scale, ("Standard_D4s_v5", 1), ("Standard_E4s_v5", 1), vnetSubnetID=SUBNET)
    finding = await found("subnet-full", azure)
    assert "pool mixed: 1 missing + 1 surge × 31 (1 + 30 pods) = 62 addresses" in finding.because


@pytest.mark.parametrize(("pods", "blocks"), [(30, 2), (31, 2), (32, 3), (250, 16)])
async def test_static_blocks_are_taken_all_at_once(pods: int, blocks: int) -> None:
    azure, subnet = flat("10.1.0.0/24", 3), f"{VNET}/subnets/pods"
    azure.subnet("10.2.0.0/24", 251 - 16 * blocks + 1, subnet)
    azure.pools["apps"] |= {"podSubnetID": subnet, "podIPAllocationMode": "StaticBlock", "maxPods": pods, "count": 1}
    azure.machines["apps"] = azure.machines["apps"][:1]
    finding = await found("subnet-full", azure)
    assert f"pool apps: 1 surge × {blocks} blocks of 16 for pods = {16 * blocks} addresses" in finding.because
    azure.subnet("10.2.0.0/22", 16 * blocks, subnet)
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_blocks_are_counted_whole_although_the_network_counts_each_as_one_address() -> None:
    azure, subnet = flat("10.1.0.0/24", 3), f"{VNET}/subnets/pods"
    azure.subnet("10.2.0.0/25", 6, subnet)
    azure.pools["apps"] |= {"podSubnetID": subnet, "podIPAllocationMode": "StaticBlock"}
    finding = await found("subnet-full", azure)
    assert finding.because[0] == "10.2.0.0/25: 128 addresses - 5 kept by Azure - 96 in use = 27 free"


@pytest.mark.parametrize(("used", "outcome"), [(336, Outcome.CLEAR), (363, Outcome.CLEAR), (364, Outcome.FOUND)])
async def test_the_blocks_of_nodes_that_are_not_there_yet_are_wanted_and_not_taken(used: int, outcome: Outcome) -> None:
    azure, subnet = flat("10.1.0.0/24", 9), f"{VNET}/subnets/pods"
    azure.subnet("10.2.0.0/23", used, subnet)
    blocks = {"podSubnetID": subnet, "podIPAllocationMode": "StaticBlock", "maxPods": 47}
    azure.pool("apps", count=9, machines=7, vnetSubnetID=SUBNET, **blocks)
    assert (await asked("subnet-full", azure)).outcome is outcome  # 507 usable, 2 missing + 1 surge × 48 wanted


async def test_a_blue_green_upgrade_wants_as_many_nodes_as_the_pool_has() -> None:
    green = {"upgradeStrategy": "BlueGreen", "upgradeSettings": {}}
    azure = flat("10.1.0.0/24", 5 * 31, count=5, **green)
    finding = await found("subnet-full", azure)
    assert finding.because[1:3] == (
        "pool apps: 5 surge × 31 (1 + 30 pods) = 155 addresses",
        "wanted 155, free 96: 59 short",
    )
    assert finding.facts["surging"] == []  # it cannot go without extra nodes
    assert "--max-surge" not in LIBRARY["subnet-full"].render("Fix", finding.facts)
    azure.pools["apps"]["upgradeStrategy"] = "Rolling"
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR
    azure.pools["apps"] |= {"upgradeStrategy": "BlueGreen", "scaleSetPriority": "Spot"}
    assert (await asked("subnet-full", azure)).outcome is Outcome.CLEAR


async def test_green_nodes_that_stand_already_need_no_more_room() -> None:
    state = {"upgradeStrategy": "BlueGreen", "provisioningState": "Upgrading"}
    assert (await asked("subnet-full", flat("10.1.0.0/24", 186, count=3, machines=6, **state))).outcome is Outcome.CLEAR


def auto_provisioned(used: int, **spec: object) -> Azure:
    """Node auto-provisioning in a subnet of its own, which a flat node takes 31 addresses of."""
    azure, own = flat("10.1.0.0/24", 93, mode="System"), f"{VNET}/subnets/karpenter"
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.subnet("10.4.0.0/26", used, own)
    azure.node_classes = [{"metadata": {"name": "default"}, "spec": {"vnetSubnetID": own, **spec}}]
    return azure


async def test_the_subnet_of_a_node_class_without_room_for_the_next_node_is_a_warning() -> None:
    finding = await found("subnet-full", auto_provisioned(29))
    assert finding.subject.endswith("/subnets/karpenter")
    assert finding.severity is Severity.WARNING
    assert finding.because[1] == "the next node of AKSNodeClass default: 31 addresses"
    assert finding.facts["others"] == ["the next node of AKSNodeClass default"]


@pytest.mark.parametrize(("used", "spec"), [(28, {}), (29, {"maxPods": 10})])
async def test_the_twin_with_room_for_it_is_clear(used: int, spec: dict[str, object]) -> None:
    assert (await asked("subnet-full", auto_provisioned(used, **spec))).outcome is Outcome.CLEAR


async def test_a_node_class_without_a_subnet_uses_that_of_the_system_pool() -> None:
    azure = auto_provisioned(0)
    del azure.node_classes[0]["spec"]["vnetSubnetID"]
    azure.subnet("10.1.0.0/24", 190)
    assert (await found("subnet-full", azure)).subject == SUBNET


async def test_without_the_node_classes_a_subnet_may_be_unknown() -> None:
    azure = auto_provisioned(0)
    azure.denied = {"/aksnodeclasses"}
    check = await asked("subnet-full", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


def integrated(used: int) -> Azure:
    """The API server is in a delegated subnet; AKS manages the nodes' network."""
    azure, own = Azure(), f"{VNET}/subnets/api"
    azure.pool()
    azure.cluster["apiServerAccessProfile"] = {"enableVnetIntegration": True, "subnetId": own}
    azure.subnet("10.5.0.0/28", used, own)
    return azure


async def test_a_subnet_in_which_the_api_server_cannot_scale_is_a_warning() -> None:
    finding = await found("subnet-full", integrated(11))
    assert finding.severity is Severity.WARNING
    assert finding.because[1:] == ("the API server's next replica: 1 addresses", "wanted 1, free 0: 1 short")
    assert finding.facts["for_api_server"] is True


@pytest.mark.parametrize("used", [0, 9, 10])
async def test_the_smallest_subnet_that_azure_allows_is_enough_for_the_api_server(used: int) -> None:
    assert (await asked("subnet-full", integrated(used))).outcome is Outcome.CLEAR


async def test_a_subnet_of_the_api_server_that_may_not_be_read_is_inconclusive() -> None:
    azure = integrated(9)
    azure.denied = {"/subnets/api"}
    assert (await asked("subnet-full", azure)).outcome is Outcome.INCONCLUSIVE
