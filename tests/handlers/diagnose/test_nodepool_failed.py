"""Did the last operation on a node pool fail? The seven places, and what each shows."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.evidence.signs import Place, looked_for_at
from handlers.model import Finding, Outcome
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    NODE_GROUP,
    NODE_GROUP_ID,
    SUB,
    SUBNET,
    event,
    pool_id,
    scale_set_id,
    usage,
)
from tests.handlers.diagnose.wire import CHECKED, LIBRARY, PROVEN, Azure, asked, found


def failed(**pool: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", **({"provisioningState": "Failed"} | pool))
    return azure


UNNAMED = {"provisioningError": {"code": "ReconcileVMSSAgentPoolFailed", "message": "it failed"}}
"""An error that names no cause. If Azure has no error at all, the causes it might have named stay inconclusive."""


def seen(finding: Finding) -> dict[int, str]:
    return {row["step"]: row["seen"] for row in finding.facts["ledger"]}


def line(finding: Finding, step: int) -> str:
    return next(row["says"] for row in finding.facts["ledger"] if row["step"] == step)


async def test_all_seven_places_are_walked_in_the_order_of_the_document() -> None:
    finding = await found("nodepool-failed", failed(status=UNNAMED), PROVEN)
    assert finding.subject == pool_id("apps")
    assert finding.affects == ()
    assert seen(finding) == {1: "state", 2: "ok", 3: "ok", 4: "ok", 5: "ok", 6: "ok", 7: "ok"}


async def test_a_place_whose_proof_is_azures_word_gets_no_tick_where_azure_says_nothing() -> None:
    finding = await found("nodepool-failed", failed(), PROVEN)
    assert (seen(finding)[5], "allocation-failed" in line(finding, 5)) == ("unseen", True)


async def test_a_place_behind_which_a_kind_of_problem_has_no_check_gets_no_tick() -> None:
    finding = await found("nodepool-failed", failed(status=UNNAMED))
    unchecked = {place: sorted(set(looked_for_at(place)) - CHECKED) for place in Place}
    assert {step for step, mark in seen(finding).items() if mark == "unseen"} == {
        one for one in Place if unchecked[one]
    }
    for place, codes in unchecked.items():
        assert line(finding, place).partition("not ruled out: ")[2] == ", ".join(codes)


@pytest.mark.parametrize(
    ("code", "step", "names"),
    [
        ("RequestDisallowedByPolicy", 6, "request-disallowed-by-policy"),
        ("AllocationFailed", 5, "allocation-failed"),
        ("OverconstrainedAllocationRequest", 5, "overconstrained-allocation"),
        ("ScopeLocked", 7, "resource-lock"),
    ],
)
async def test_the_place_that_azures_error_names_never_gets_a_tick(code: str, step: int, names: str) -> None:
    azure = failed(status={"provisioningError": {"code": code, "message": "as Azure says"}})
    finding = await found("nodepool-failed", azure, PROVEN)
    assert seen(finding)[step] == "bad"
    assert line(finding, step).startswith(f"Azure's error names {names}")
    assert {seen(finding)[other] for other in range(2, 8) if other not in (step, 4)} == {"ok"}


@pytest.mark.parametrize(
    ("cluster", "pool", "explains"),
    [
        (None, None, True),
        ("InternalOperationError", "QuotaExceeded", True),
        ("QuotaExceeded", "QuotaExceeded", True),
        ("PrivateDNSZoneNotFound", "QuotaExceeded", False),
        ("PrivateDNSZoneNotFound", None, False),
        ("SomethingNobodyKnows", "QuotaExceeded", False),
    ],
)
async def test_a_pool_explains_a_cluster_that_failed_with_it_and_not_one_that_failed_for_a_named_other_reason(
    cluster: str | None, pool: str | None, explains: bool
) -> None:
    def status(code: str | None) -> Any:
        return {"provisioningError": {"code": code, "message": "as Azure says"}} if code else None

    azure = failed(status=status(pool))
    azure.cluster |= {"provisioningState": "Failed", "status": status(cluster)}
    finding = await found("nodepool-failed", azure)
    assert (CLUSTER in finding.affects) is explains


async def test_what_azure_named_and_is_gone_stands_in_nobodys_way() -> None:
    azure = failed(status={"provisioningError": {"code": "ScopeLocked", "message": "scope(s) are locked"}})
    finding = await found("nodepool-failed", azure)
    assert "what Azure names, resource-lock, is gone: no lock is in the way" in "\n".join(finding.because)
    assert (finding.facts["named"], finding.facts["stopped_by"], finding.facts["gone"]) == ("resource-lock", "", True)


async def test_what_azure_named_is_not_gone_because_its_check_does_not_apply() -> None:
    """No pool has its own subnet here, so addresses were not counted."""
    azure = failed(status={"provisioningError": {"code": "SubnetIsFull", "message": "as Azure says"}})
    assert (await asked("subnet-full", azure)).outcome is Outcome.NOT_APPLICABLE
    finding = await found("nodepool-failed", azure)
    assert (finding.facts["gone"], finding.facts["stopped_by"]) == (False, "SubnetIsFull: as Azure says")


@pytest.mark.parametrize("code", ["AllocationFailed", "SomethingNobodyKnows"])
async def test_what_azure_named_and_nobody_has_seen_gone_is_said_to_stand_in_the_way(code: str) -> None:
    azure = failed(status={"provisioningError": {"code": code, "message": "as Azure says"}})
    finding = await found("nodepool-failed", azure)
    assert finding.facts["stopped_by"] == f"{code}: as Azure says"


async def test_the_twin_that_is_succeeded_is_clear() -> None:
    assert (await asked("nodepool-failed", failed(provisioningState="Succeeded"))).outcome is Outcome.CLEAR


async def test_each_failed_pool_is_a_finding_of_its_own() -> None:
    azure = failed()
    azure.pool("more", provisioningState="Canceled")
    check = await asked("nodepool-failed", azure)
    assert [finding.subject for finding in check.findings] == [pool_id("apps"), pool_id("more")]


async def test_a_failed_instance_and_its_extension_are_named() -> None:
    azure = failed()
    broken = azure.machines["apps"][1]["properties"]
    broken["provisioningState"] = "Failed"
    status = {"code": "ProvisioningState/failed/50", "level": "Error", "message": "exit status=50"}
    broken["instanceView"]["extensions"] = [{"name": "vmssCSE", "statuses": [status]}, {"name": "only-a-name"}]
    finding = await found("nodepool-failed", azure)
    assert seen(finding)[3] == "bad"
    assert line(finding, 3) == "3 of 3 exist, 1 failed: 1 50: exit status=50"


async def test_missing_instances_and_a_failed_scale_set_are_bad() -> None:
    azure = failed(count=5, machines=3)
    assert line(await found("nodepool-failed", azure), 3) == "3 of 5 exist, 0 failed"
    assert seen(await found("nodepool-failed", azure))[3] == "bad"


async def test_the_scale_sets_failed_write_is_told() -> None:
    azure = failed()
    message = '{"error":{"code":"ZonalAllocationFailed","message":"zone 2"}}'
    azure.events[NODE_GROUP] = [event(scale_set_id("apps"), "Failed", timedelta(hours=1), message)]
    finding = await found("nodepool-failed", azure)
    assert line(finding, 4) == (
        "failed writes: ZonalAllocationFailed; diagnostic settings of the cluster: none, of the scale set: none"
    )
    assert finding.because[1] == "at 2026-11-18 02:07 UTC Azure said: ZonalAllocationFailed: zone 2"


async def test_a_full_quota_and_a_lock_are_bad() -> None:
    azure = failed()
    azure.usages[2] = usage("standardDSv5Family", 98, 100)
    azure.lock(NODE_GROUP_ID, "CanNotDelete")
    finding = await found("nodepool-failed", azure)
    assert line(finding, 5) == "standardDSv5Family vCPUs 98/100"
    assert (seen(finding)[5], seen(finding)[7]) == ("bad", "bad")


async def test_a_pool_in_a_subnet_of_its_own_needs_a_role_there() -> None:
    azure = failed(vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 3)
    finding = await found("nodepool-failed", azure)
    assert seen(finding)[6] == "bad"
    assert line(finding, 6).endswith("no identity of the cluster has a role on nodes")


@pytest.mark.parametrize("kind", ["AvailabilitySet", "VirtualMachines"])
async def test_a_pool_without_a_scale_set_is_judged_by_its_machines(kind: str) -> None:
    machines = {"scale": {"manual": [{"size": "Standard_D4s_v5", "count": 1}]}}
    azure = failed(type=kind, virtualMachinesProfile=machines, count=1)
    check = await asked("nodepool-failed", azure)
    assert check.outcome is Outcome.FOUND
    assert seen(check.findings[0])[2] == "not here"


@pytest.mark.parametrize(
    ("denied", "step"),
    [
        ("/virtualMachineScaleSets", 2),
        ("/virtualMachines", 3),
        ("/eventtypes/", 4),
        ("/usages", 5),
        ("/skus", 5),
        ("/policyStates", 6),
        ("/roleAssignments", 6),
        ("/locks", 7),
    ],
)
async def test_a_place_that_could_not_be_looked_at_says_so(denied: str, step: int) -> None:
    azure = failed()
    azure.denied = {denied}
    check = await asked("nodepool-failed", azure)
    assert check.outcome is Outcome.FOUND
    assert seen(check.findings[0])[step] == "unseen"
    assert "403" in line(check.findings[0], step)
    assert check.unseen


async def test_pools_that_may_not_be_read_are_inconclusive() -> None:
    azure = failed()
    azure.denied = {"/agentPools"}
    assert (await asked("nodepool-failed", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_role_above_the_subscription_covers_the_subnet() -> None:
    azure = failed(vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 3)
    above = "/providers/Microsoft.Management/managementGroups/corp"
    azure.roles = [{"id": "/r", "properties": {"principalId": "0c", "scope": above}}]
    assert seen(await found("nodepool-failed", azure, PROVEN))[6] == "ok"


async def test_a_cluster_without_a_managed_identity_leaves_its_roles_unseen() -> None:
    azure = failed(vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 3)
    azure.identity = {}
    del azure.cluster["identityProfile"]
    assert seen(await found("nodepool-failed", azure))[6] == "unseen"


@pytest.mark.parametrize(("zones", "outcome"), [([], "ok"), (["1"], "ok"), (["3"], "bad")])
async def test_a_size_that_is_closed_in_one_zone_concerns_pools_of_that_zone(zones: list[str], outcome: str) -> None:
    azure = failed(availabilityZones=zones, status=UNNAMED)
    azure.closed = [{"type": "Zone", "reasonCode": "NotAvailableForSubscription", "restrictionInfo": {"zones": ["3"]}}]
    assert seen(await found("nodepool-failed", azure, PROVEN))[5] == outcome


async def test_a_log_that_was_cut_before_the_failure_is_no_proof_that_there_was_none() -> None:
    azure = failed()
    azure.events[NODE_GROUP] = [event(f"{NODE_GROUP_ID}/x", "Succeeded", timedelta(seconds=n)) for n in range(2001)]
    assert seen(await found("nodepool-failed", azure))[4] == "unseen"


async def test_a_pool_of_virtual_machines_shows_its_sizes_and_what_is_missing_of_them() -> None:
    azure = Azure()
    limits = [{"size": "Standard_D4s_v5", "minCount": 2, "maxCount": 5}, {"size": "Standard_E4s_v5", "minCount": 1}]
    running = ("Standard_D4s_v5", 3)
    azure.pool_of_machines("mixed", {"autoscale": limits}, running, provisioningState="Failed")
    azure.usages[3] = usage("standardESv5Family", 8, 10)
    finding = await found("nodepool-failed", azure)
    assert finding.because[0] == "pool mixed (User, 3 × Standard_D4s_v5 + 1 × Standard_E4s_v5) is Failed"
    assert any("3 of 4 exist" in line for line in finding.because)
    assert any("quota, capacity: standardESv5Family vCPUs 8/10" in line for line in finding.because)


@pytest.mark.parametrize(("asked_for", "pending"), [("1.33", False), ("1.33.6", False), ("1.33.7", True)])
async def test_only_a_version_that_its_nodes_do_not_run_makes_a_repair_an_upgrade(
    asked_for: str, pending: bool
) -> None:
    finding = await found("nodepool-failed", failed(orchestratorVersion=asked_for))
    assert ("goes on with that upgrade" in LIBRARY["nodepool-failed"].render("Fix", finding.facts)) is pending


async def test_where_the_cause_is_gone_the_page_asks_nobody_to_remove_it() -> None:
    error = {"code": "ScopeLocked", "message": "The scope(s) are locked. Please remove the lock and try again."}
    azure = failed(status={"provisioningError": error})
    fix = LIBRARY["nodepool-failed"].render("Fix", (await found("nodepool-failed", azure)).facts)
    assert fix.strip().startswith("What stopped it (resource-lock) is gone. Reconcile the pool; Azure brings it back")
    azure.lock(NODE_GROUP_ID)
    fix = LIBRARY["nodepool-failed"].render("Fix", (await found("nodepool-failed", azure, PROVEN)).facts)
    assert "locked. Please remove the lock and try again. Reconciling meets that again" in fix


async def test_what_was_canceled_has_no_cause_to_look_for() -> None:
    finding = await found("nodepool-failed", failed(provisioningState="Canceled"))
    assert finding.because[1] == "it was canceled: someone aborted the operation, or another one took its place"
    fix = LIBRARY["nodepool-failed"].render("Fix", finding.facts)
    assert fix.strip().startswith("Ask whoever aborted it whether it is still wanted.")
    assert "Remove the cause" not in fix


# -- the document's command of each step, made for this cluster -----------------------------------------------------


def commands(finding: Finding) -> list[str]:
    page = LIBRARY["nodepool-failed"].render("Check it yourself", finding.facts)
    return [line for line in page.split("\n") if line.startswith("az ")]


async def test_each_step_has_its_command_with_the_values_of_this_cluster() -> None:
    azure = failed(vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 3)
    lines = commands(await found("nodepool-failed", azure))
    wanted = [
        ("aks nodepool show", "--cluster-name one --name apps"),
        ("vmss show", "--name aks-apps-12345678-vmss"),
        ("vmss list-instances", "instanceView.statuses[?level=='Error'].message"),
        ("monitor activity-log list", f"--resource-group {NODE_GROUP} --status Failed"),
        ("monitor diagnostic-settings list", f"--resource {scale_set_id('apps')} "),
        ("vm list-usage", "--location westeurope"),
        ("vm list-skus", "--size Standard_D4s_v5"),
        ("policy assignment list", f"--resource-group {NODE_GROUP}"),
        ("policy exemption list", f"--resource-group {NODE_GROUP}"),
        ("policy state list", "complianceState eq 'NonCompliant'"),
        ("role assignment list", f"--assignee 0c --scope {SUBNET} "),
        ("lock list", f"--subscription {SUB}"),
    ]
    for command, value in wanted:
        assert any(line.startswith(f"az {command} ") and value in line for line in lines), (command, value)
    assert len([line for line in lines if line.startswith("az role assignment list")]) == 2  # the kubelet's, too
    assert "activity-log show" not in " ".join(lines)


@pytest.mark.parametrize(("kind", "scale_sets"), [("AvailabilitySet", False), ("VirtualMachineScaleSets", True)])
async def test_only_the_commands_that_fit_the_kind_of_pool_are_shown(kind: str, scale_sets: bool) -> None:
    lines = " ".join(commands(await found("nodepool-failed", failed(type=kind, machines=0))))
    assert ("az vmss list-instances" in lines) is scale_sets
    assert ("az vm availability-set list" in lines) is not scale_sets


# -- a step gets its tick only from what was read -------------------------------------------------------------------


async def test_where_the_scale_sets_logs_go_is_told() -> None:
    azure = failed()
    azure.set_settings = [{"id": "/s", "name": "metrics", "properties": {"workspaceId": "/workspaces/la-prod"}}]
    finding = await found("nodepool-failed", azure, PROVEN)
    assert line(finding, 4).endswith("diagnostic settings of the cluster: none, of the scale set: to la-prod")


@pytest.mark.parametrize("where", [CLUSTER, scale_set_id("apps")])
async def test_diagnostic_settings_that_could_not_be_read_leave_step_4_without_a_tick(where: str) -> None:
    azure = failed(status=UNNAMED)
    assert seen(await found("nodepool-failed", azure, PROVEN))[4] == "ok"
    azure.denied = {f"{where}/providers/Microsoft.Insights/diagnosticSettings"}
    finding = await found("nodepool-failed", azure, PROVEN)
    assert seen(finding)[4] == "unseen"
    assert "could not be read" in line(finding, 4)


async def test_an_instance_that_azure_calls_unhealthy_is_bad() -> None:
    azure = failed(status=UNNAMED)
    view = azure.machines["apps"][1]["properties"]["instanceView"]
    view["vmHealth"] = {"status": {"code": "HealthState/unhealthy"}}
    finding = await found("nodepool-failed", azure, PROVEN)
    assert (seen(finding)[3], line(finding, 3)) == ("bad", "3 of 3 exist, 0 failed, 1 unhealthy: 1")
    view["vmHealth"] = {"status": {"code": "HealthState/healthy"}}
    assert seen(await found("nodepool-failed", azure, PROVEN))[3] == "ok"


async def test_a_size_list_that_was_cut_leaves_step_5_without_a_tick() -> None:
    azure = failed(status=UNNAMED)
    sizes = f"/subscriptions/{SUB}/providers/Microsoft.Compute/skus"
    offered = azure.answers()[sizes]["value"]
    azure.more = {sizes: {"value": offered + [{"resourceType": "disks"}] * 20000}}
    assert seen(await found("nodepool-failed", azure, PROVEN))[5] == "unseen"
