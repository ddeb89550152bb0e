"""Has Azure machines of the size that a pool wants?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    NODE_GROUP,
    NODE_GROUP_ID,
    SUB,
    Body,
    event,
    of_nap,
    pool_id,
    rows,
    scale_set_id,
    sku,
    usage,
)
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, diagnosed, found

QUESTION = "allocation-failed"
SENTENCE = "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone."
REFUSED = {"code": "ZonalAllocationFailed", "message": SENTENCE}
WRAPPED = {
    "code": "ReconcileVMSSAgentPoolFailed",
    "message": "VMSSAgentPoolReconciler retry failed: Category: InternalError; SubCode: ZonalAllocationFailed; "
    f'Dependency: Microsoft.Compute/VirtualMachineScaleSet; OrginalError: Code="ZonalAllocationFailed" '
    f'Message="{SENTENCE}"; '
    "AKSTeam: NodeProvisioning, Retriable: true.",
}
SKUS = f"/subscriptions/{SUB}/providers/Microsoft.Compute/skus"
HEAVY = {
    "code": "AksCapacityHeavyUsage",
    "message": "AKS is experiencing heavy usage in region westeurope. We are working on adding new capacity.",
}


def full(error: Body = REFUSED, **properties: Any) -> Azure:
    """Pool apps lacks one of its four nodes, and Azure says why."""
    azure = Azure()
    azure.pool("apps", count=4, machines=3, provisioningState="Failed", availabilityZones=["1"], **properties)
    azure.pools["apps"]["status"] = {"provisioningError": error}
    return azure


def size(name: str, family: str, **more: object) -> Body:
    body = sku(name, family, 4)
    body["capabilities"] += [{"name": "MemoryGB", "value": "16"}, {"name": "CpuArchitectureType", "value": "x64"}]
    return body | more


def closed(*zones: str) -> Body:
    info = {"locations": ["westeurope"], **({"zones": list(zones)} if zones else {})}
    kind = "Zone" if zones else "Location"
    return {"type": kind, "restrictionInfo": info, "reasonCode": "NotAvailableForSubscription"}


@pytest.mark.parametrize("error", [REFUSED, WRAPPED], ids=["plain", "wrapped"])
async def test_the_pool_that_azure_had_no_machines_for_is_found_with_what_it_asked_for(error: Body) -> None:
    finding = await found(QUESTION, full(error))
    assert (finding.subject, finding.severity, finding.affects) == (pool_id("apps"), Severity.ERROR, (pool_id("apps"),))
    assert finding.because[:2] == (
        f"Azure said: ZonalAllocationFailed: {SENTENCE}",
        "pool apps asks for Standard_D4s_v5 in zones 1",
    )


async def test_it_stands_above_the_failed_pool_and_no_repair_is_said_to_help() -> None:
    diagnosis = await diagnosed(full())
    ranked = {one.finding.code: one for one in diagnosis.findings}
    assert ranked["nodepool-failed"].explained_by == ((QUESTION, pool_id("apps")),)
    assert "no repair helps" in " ".join(ranked["nodepool-failed"].finding.because)


@pytest.mark.parametrize(
    "code", ["QuotaExceeded", "OverconstrainedZonalAllocationRequest", "SubnetIsFull", "InternalServerError"]
)
async def test_the_twin_that_failed_for_another_reason_is_clear(code: str) -> None:
    assert (await asked(QUESTION, full({"code": code, "message": "another"}))).outcome is Outcome.CLEAR


async def test_the_twin_that_is_succeeded_by_now_is_clear_although_the_log_still_tells_it() -> None:
    azure = full()
    azure.pool("apps", count=3)
    azure.events[NODE_GROUP] = [event(scale_set_id("apps"), "Failed", timedelta(minutes=20), as_text(REFUSED))]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_pool_that_lacks_nodes_waits_although_it_is_succeeded() -> None:
    azure = Azure()
    azure.pool("apps", count=3, machines=2)
    azure.events[NODE_GROUP] = [event(scale_set_id("apps"), "Failed", timedelta(minutes=20), as_text(REFUSED))]
    finding = await found(QUESTION, azure)
    assert finding.severity is Severity.ERROR
    assert "1 node is missing" in finding.because


async def test_a_request_that_was_turned_down_at_once_is_told_and_harms_nothing() -> None:
    azure = Azure()
    azure.pool("apps")
    said = event(pool_id("apps"), "Failed", timedelta(minutes=20), '{"code":"SkuNotAvailable","message":"x"}')
    azure.events[GROUP] = [said | {"subStatus": {"value": "BadRequest", "localizedValue": "Bad Request (HTTP 400)"}}]
    finding = await found(QUESTION, azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert "az resource update" not in fix


BACKED_OFF = """autoscalerStatus: Running
time: "2026-11-18 03:06:51.1 +0000 UTC"
nodeGroups:
- name: aks-apps-12345678-vmss
  health: {status: Healthy, nodeCounts: {registered: {total: 3}}, cloudProviderTarget: 3}
  scaleUp:
    status: Backoff
    lastTransitionTime: "2026-11-18T02:40:00Z"
    backoffInfo:
      errorCode: cloudProviderError
      errorMessage: 'Code="ZonalAllocationFailed" Message="SAID"'
"""


async def test_what_the_autoscaler_was_refused_is_found_while_it_is_backed_off() -> None:
    azure = Azure()
    azure.pool("apps", enableAutoScaling=True, minCount=1, maxCount=9)
    azure.autoscaler = BACKED_OFF.replace("SAID", SENTENCE)
    finding = await found(QUESTION, azure)
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[0].startswith("cluster autoscaler: aks-apps-12345678-vmss is backed off")


async def test_a_machine_that_could_not_be_started_again_says_so_itself() -> None:
    azure = Azure()
    azure.pool("apps", scaleDownMode="Deallocate")
    machine = azure.machines["apps"][2]["properties"]
    machine["provisioningState"] = "Failed"
    machine["instanceView"]["statuses"] = [
        {"code": "ProvisioningState/failed/AllocationFailed", "level": "Error", "message": SENTENCE}
    ]
    finding = await found(QUESTION, azure)
    assert finding.because[0] == f"AllocationFailed: {SENTENCE}"


@pytest.mark.parametrize(("state", "outcome"), [("False", Outcome.FOUND), ("True", Outcome.CLEAR)])
async def test_karpenter_waits_only_where_a_claim_of_it_does(state: str, outcome: Outcome) -> None:
    azure = Azure()
    azure.pool("system", count=1)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.virtual_machines = [of_nap("aks-default-aaaaa")]
    gone = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/aks-default-bbbbb"
    refused = event(gone, "Failed", timedelta(minutes=9), as_text(REFUSED))
    azure.events[NODE_GROUP] = [refused | {"operationName": {"value": "Microsoft.Compute/virtualMachines/write"}}]
    condition = {"type": "Launched", "status": state, "reason": "AllocationFailed", "message": SENTENCE}
    azure.claims = [
        {
            "metadata": {"name": "default-ccccc", "labels": {"karpenter.sh/nodepool": "default"}},
            "status": {"conditions": [condition]},
        }
    ]
    check = await asked(QUESTION, azure)
    assert check.outcome is outcome, check.why
    if check.findings:
        assert "kubectl get nodepools" in LIBRARY[QUESTION].render("Fix", check.findings[0].facts)


# -- what supports the proof -----------------------------------------------------------------------------------------


async def test_sizes_that_are_open_with_quota_are_named_and_put_into_the_command() -> None:
    azure = full()
    azure.usages += [usage("standardDASv5Family", 0, 100), usage("standardDDSv5Family", 98, 100)]
    azure.more[SKUS] = rows(
        [
            size("Standard_D4s_v5", "standardDSv5Family"),
            size("Standard_D4as_v5", "standardDASv5Family", restrictions=[closed("3")]),
            size("Standard_D4ds_v5", "standardDDSv5Family"),  # no quota left
            size("Standard_E4s_v5", "standardESv5Family", restrictions=[closed()]),
            size("Standard_D4pds_v5", "standardDPDSv5Family")
            | {"capabilities": [{"name": "vCPUs", "value": "4"}, {"name": "CpuArchitectureType", "value": "Arm64"}]},
        ]
    )
    finding = await found(QUESTION, azure)
    assert finding.facts["instead"] == ["Standard_D4as_v5 (zones 1, 2; 100 cores of quota left)"]
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert "--node-vm-size Standard_D4as_v5 --max-pods 30 --zones 1 2" in fix
    assert "Standard_D4s_v5 itself is open to you in zone 2, 3, too" in fix


async def test_a_size_that_is_closed_to_the_subscription_is_said_to_be_so() -> None:
    azure = full()
    azure.closed = [closed("1")]
    finding = await found(QUESTION, azure)
    assert "Standard_D4s_v5: NotAvailableForSubscription in zones 1" in finding.because
    assert "It cannot work here as it is" in LIBRARY[QUESTION].render("What it means", finding.facts)


async def test_a_restriction_alone_is_no_problem_while_nobody_is_refused() -> None:
    azure = Azure()
    azure.pool("apps", availabilityZones=["1"])
    azure.closed = [closed("1")]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("proximityPlacementGroupID", "the pool is in proximity placement group one: all its machines stand in one"),
        ("hostGroupID", "the pool is in host group one: only its own dedicated hosts count"),
        ("capacityReservationGroupID", "the pool is in capacity reservation group one: beyond it Azure promises"),
    ],
)
async def test_what_ties_the_pool_to_certain_hardware_is_told(field: str, said: str) -> None:
    group: dict[str, Any] = {field: "/subscriptions/s/resourceGroups/g/providers/x/one"}
    finding = await found(QUESTION, full(**group))
    assert any(line.startswith(said) for line in finding.because)


@pytest.mark.parametrize(
    ("asked_for", "said"),
    [("1.34", "only what an upgrade adds for a while was missing"), ("1.33", "If it was an upgrade that failed")],
)
async def test_an_upgrade_that_only_lacks_its_surge_node_may_go_without_it(asked_for: str, said: str) -> None:
    azure = full()
    azure.pool("apps", count=3, provisioningState="Failed", status={"provisioningError": REFUSED})
    azure.pools["apps"]["orchestratorVersion"] = asked_for
    fix = LIBRARY[QUESTION].render("Fix", (await found(QUESTION, azure)).facts)
    assert said in fix
    assert "--max-surge 0 --max-unavailable 1" in fix


@pytest.mark.parametrize(("mode", "machines"), [("System", 3), ("User", 2)])
async def test_a_pool_that_lacks_nodes_or_may_lose_none_is_not_told_to_go_without(mode: str, machines: int) -> None:
    azure = full()
    error = {"provisioningError": REFUSED}
    azure.pool("apps", count=3, machines=machines, provisioningState="Failed", status=error, mode=mode)
    assert "--max-surge 0" not in LIBRARY[QUESTION].render("Fix", (await found(QUESTION, azure)).facts)


@pytest.mark.parametrize("asked_for", ["1.34", "1.33"])
async def test_a_blue_green_upgrade_cannot_go_without_extra_nodes(asked_for: str) -> None:
    azure = full()
    azure.pool("apps", count=3, provisioningState="Failed", status={"provisioningError": REFUSED})
    azure.pools["apps"] |= {"orchestratorVersion": asked_for, "upgradeStrategy": "BlueGreen"}
    finding = await found(QUESTION, azure)
    assert (finding.facts["surging"], finding.facts["maybe_surging"]) == (False, False)
    assert "--max-surge 0" not in LIBRARY[QUESTION].render("Fix", finding.facts)


async def test_a_reservation_is_made_zone_by_zone_with_the_pools_own_size() -> None:
    fix = LIBRARY[QUESTION].render("Fix", (await found(QUESTION, full())).facts)
    assert "--capacity-reservation-group apps-reserved --location westeurope --zones 1\n" in fix
    assert "--sku Standard_D4s_v5 --capacity '<nodes-in-this-zone>' --zone 1" in fix
    assert "capacityReservationGroups/apps-reserved" in fix


# -- the control plane -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["AksCapacityHeavyUsage", "AKSCapacityHeavyUsage", "AKSCapacityError"])
async def test_a_region_without_room_for_control_planes_is_the_clusters_and_offers_what_azures_page_does(
    code: str,
) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": HEAVY | {"code": code}}}
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.facts["control_plane"]) == (CLUSTER, code)
    assert CLUSTER in finding.affects
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert "This one is public; a private one may fit" in fix
    assert "tier" not in fix
    assert "nodepool add" not in fix


async def test_the_start_of_a_stopped_cluster_that_was_refused_says_how_to_start_it_again() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.cluster |= {"provisioningState": "Failed", "powerState": {"code": "Stopped"}}
    azure.cluster["status"] = {"provisioningError": HEAVY}
    assert "az aks start" in LIBRARY[QUESTION].render("Fix", (await found(QUESTION, azure)).facts)


async def test_what_azure_said_of_the_cluster_and_of_its_pool_is_one_finding_about_the_pool() -> None:
    azure = full()
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": REFUSED}}
    finding = await found(QUESTION, azure)
    assert set(finding.affects) == {pool_id("apps"), CLUSTER}


async def test_what_azure_said_of_the_cluster_alone_names_the_pool_that_its_text_names() -> None:
    azure = Azure()
    azure.pool("system")
    azure.pool("apps")
    said = {"code": "AllocationFailed", "message": f"agent pool apps: {SENTENCE}"}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": said}}
    assert (await found(QUESTION, azure)).facts["pool"] == "apps"
    said["message"] = SENTENCE
    azure.cluster["status"] = {"provisioningError": said}
    finding = await found(QUESTION, azure)
    assert finding.facts["pool"] == ""
    assert f"az resource update --ids {CLUSTER}" in LIBRARY[QUESTION].render("Fix", finding.facts)


# -- what could not be seen ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("denied", ["/eventtypes/", "/agentPools", "/virtualMachines"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_pool_that_failed_without_a_word_may_have_failed_for_this() -> None:
    azure = full()
    del azure.pools["apps"]["status"]
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_without_the_sizes_the_finding_stands_and_says_what_it_does_not_know() -> None:
    azure = full()
    azure.denied = {"/skus"}
    finding = await found(QUESTION, azure)
    assert "which sizes and zones this subscription may use was not seen" in finding.because
    assert "are often free" in LIBRARY[QUESTION].render("Fix", finding.facts)


async def test_without_the_quotas_open_sizes_are_named_without_what_is_left() -> None:
    azure = full()
    azure.denied = {"/usages"}
    assert (await found(QUESTION, azure)).facts["instead"] == ["Standard_E4s_v5 (zones 1, 2, 3)"]


async def test_without_the_autoscalers_word_what_it_may_still_wait_for_stays_open() -> None:
    azure = Azure()
    azure.pool("apps", enableAutoScaling=True, minCount=1, maxCount=9)
    azure.events[NODE_GROUP] = [event(scale_set_id("apps"), "Failed", timedelta(minutes=20), as_text(REFUSED))]
    azure.denied = {"/configmaps"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE
    azure.denied = set()
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


def as_text(error: Body) -> str:
    return f'{{"status":"Failed","error":{{"code":"{error["code"]}","message":"{error["message"]}"}}}}'
