"""Is there a core left for the next node?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    GROUP,
    LOCATION,
    NODE_GROUP,
    NODE_GROUP_ID,
    Body,
    at,
    event,
    pool_id,
    scale_set_id,
    usage,
)
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, found

REFUSED = (
    "Insufficient regional vcpu quota left for location westeurope. left regional vcpu quota 0, requested quota 16."
)


def refused_pool(used: int = 96, limit: int = 100, **pool: object) -> Azure:
    """Pool `apps` asked for nodes of 4 cores and failed for want of family quota."""
    azure = Azure()
    error = {
        "code": "OperationNotAllowed",
        "message": "Operation could not be completed as it results in exceeding approved standardDSv5Family Cores "
        f"quota. Location: westeurope, Current Limit: {limit}, Current Usage: {used}, Additional Required: 8, "
        f"(Minimum) New Limit Required: {used + 8}.",
    }
    azure.pool("apps", **({"provisioningState": "Failed"} | pool))  # type: ignore[arg-type]
    azure.pools["apps"]["status"] = {"provisioningError": error}
    azure.usages[2] = usage("standardDSv5Family", used, limit)
    return azure


async def test_a_family_without_room_for_what_was_refused_is_found_with_the_arithmetic() -> None:
    finding = await found("quota-exceeded", refused_pool())
    assert finding.subject == f"{LOCATION}/usages/standardDSv5Family"
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[:3] == (
        "standardDSv5Family vCPUs in westeurope: 96 of 100 used, 4 free",
        "pool apps wants 8 cores (Azure was asked for that many)",
        "96 + 8 = 104 > 100: 4 cores short",
    )
    assert finding.facts["new_limit"] == 104
    assert finding.facts["headroom"] == {
        "of": "standardDSv5Family vCPUs in westeurope",
        "unit": "cores",
        "limit": 100,
        "held": [{"who": "in use", "count": 96}],
        "wanted": [{"who": "pool apps", "count": 8}],
    }


async def test_the_twin_with_a_raised_limit_is_clear() -> None:
    check = await asked("quota-exceeded", refused_pool(limit=104))
    assert check.outcome is Outcome.CLEAR
    assert "there is room" in check.why


async def test_missing_nodes_count_all_together() -> None:
    azure = refused_pool(used=90, count=6, machines=3)
    finding = await found("quota-exceeded", azure)
    assert "pool apps wants 12 cores (3 × Standard_D4s_v5, 4 cores each)" in finding.because


async def test_the_regional_quota_is_a_row_of_its_own() -> None:
    azure = refused_pool(used=10)
    azure.usages[0] = usage("cores", 296, 300)
    assert (await found("quota-exceeded", azure)).subject.endswith("/usages/cores")


async def test_spot_nodes_count_against_spot_cores_only() -> None:
    azure = refused_pool(scaleSetPriority="Spot")
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR
    azure.usages[1] = usage("lowPriorityCores", 100, 100)
    finding = await found("quota-exceeded", azure)
    assert finding.subject.endswith("/usages/lowPriorityCores")
    assert finding.facts["spot"] is True


async def test_a_full_quota_of_a_family_that_nobody_uses_is_no_finding() -> None:
    azure = refused_pool(limit=104)
    azure.usages[3] = usage("standardESv5Family", 10, 10)
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_full_quota_is_no_finding_while_nobody_wants_cores() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.usages[2] = usage("standardDSv5Family", 100, 100)
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_full_quota_does_not_claim_a_pool_that_failed_for_another_reason() -> None:
    azure = refused_pool()
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "AllocationFailed", "message": "no capacity"}}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_failed_pool_without_any_error_text_is_judged_by_the_arithmetic() -> None:
    azure = refused_pool(count=5, machines=3)
    del azure.pools["apps"]["status"]
    assert (await found("quota-exceeded", azure)).because[-1] == "96 + 8 = 104 > 100: 4 cores short"


async def test_a_request_that_was_refused_at_once_is_found_although_nothing_is_failed() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.usages[0] = usage("cores", 300, 300)
    message = f'{{"code":"ErrCode_InsufficientVCPUQuota","details":null,"message":"{REFUSED}","subcode":""}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(minutes=20), message)]
    finding = await found("quota-exceeded", azure)
    assert finding.because[1].startswith("pool apps wants 16 cores (Azure was asked for that many")
    assert finding.because[-1].startswith("at 2026-11-18 02:47 UTC Azure said: ErrCode_InsufficientVCPUQuota")
    fix = LIBRARY["quota-exceeded"].render("Fix", finding.facts)
    assert "ask for the same again" in fix
    assert "az resource update" not in fix
    assert "--max-surge" not in fix


@pytest.mark.parametrize(
    ("strategy", "wants", "surging"),
    [("Rolling", "4 cores (1 × Standard_D4s_v5", ["apps"]), ("BlueGreen", "12 cores (3 × Standard_D4s_v5", [])],
)
async def test_a_blue_green_upgrade_wants_the_cores_of_the_whole_pool_and_cannot_do_without(
    strategy: str, wants: str, surging: list[str]
) -> None:
    azure = refused_pool(used=98, upgradeStrategy=strategy)
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "QuotaExceeded", "message": "Cores quota exceeded"}}
    finding = await found("quota-exceeded", azure)
    assert finding.because[1].startswith(f"pool apps wants {wants}")
    assert finding.facts["surging"] == surging
    assert ("--max-surge" in LIBRARY["quota-exceeded"].render("Fix", finding.facts)) is bool(surging)


async def test_a_pool_that_failed_over_it_is_reconciled_once_there_is_room() -> None:
    finding = await found("quota-exceeded", refused_pool())
    assert f"az resource update --ids {pool_id('apps')}" in LIBRARY["quota-exceeded"].render("Fix", finding.facts)


@pytest.mark.parametrize("since", ["yesterday", "succeeded since"])
async def test_a_refusal_that_is_history_is_no_finding(since: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.usages[0] = usage("cores", 300, 300)
    message = f'{{"code":"ErrCode_InsufficientVCPUQuota","message":"{REFUSED}"}}'
    ago = timedelta(hours=30 if since == "yesterday" else 2)
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", ago, message)]
    if since == "succeeded since":
        azure.events[GROUP].insert(0, event(pool_id("apps"), "Succeeded", timedelta(hours=1), correlation="beef"))
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_the_scale_sets_own_failure_counts_as_the_pools() -> None:
    azure = refused_pool()
    del azure.pools["apps"]["status"]
    message = (
        '{"error":{"code":"OperationNotAllowed","message":"exceeding approved Cores quota. Additional Required: 8"}}'
    )
    azure.events[NODE_GROUP] = [event(scale_set_id("apps").upper(), "Failed", timedelta(hours=1), message)]
    azure.events[NODE_GROUP][0]["operationName"] = {"value": "Microsoft.Compute/virtualMachineScaleSets/write"}
    assert "pool apps wants 8" in (await found("quota-exceeded", azure)).because[1]


async def test_pools_that_could_give_cores_back_are_named() -> None:
    azure = refused_pool()
    azure.pool("batch", count=2)
    azure.pool("system", count=2, mode="System")
    azure.pool("memory", count=2, vmSize="Standard_E4s_v5")
    finding = await found("quota-exceeded", azure)
    assert finding.facts["holders"] == [{"pool": "batch", "nodes": 2, "cores": 8}]


@pytest.mark.parametrize("denied", ["/usages", "/skus", "/agentPools"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = refused_pool()
    azure.denied = {denied}
    check = await asked("quota-exceeded", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_the_activity_log_a_refusal_cannot_be_ruled_out() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {"/eventtypes/"}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("denied", ["/eventtypes/", "/virtualMachineScaleSets"])
async def test_room_for_what_was_seen_is_no_proof_that_there_is_room_for_all_that_was_asked_for(denied: str) -> None:
    azure = refused_pool(used=40)
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR
    azure.denied = {denied}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_size_that_the_region_does_not_know_leaves_the_question_open() -> None:
    azure = refused_pool(vmSize="Standard_X1")
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_quota_does_not_claim_a_lock_that_has_no_code() -> None:
    azure = refused_pool()
    text = "Resource group 'MC_x' under subscription: 'y' is locked, please remove lock and retry."
    azure.pools["apps"]["status"] = {"provisioningError": {"message": text}}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_quota_does_not_explain_a_cluster_that_failed_for_another_reason() -> None:
    azure = refused_pool()
    azure.cluster["provisioningState"] = "Failed"
    azure.cluster["status"] = {"provisioningError": {"code": "AADSTS7000222", "message": "the secret has expired"}}
    assert (await found("quota-exceeded", azure)).affects == (pool_id("apps"),)


async def test_a_log_that_was_cut_within_the_last_day_cannot_rule_a_refusal_out() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.events[NODE_GROUP] = [event("/x", "Succeeded", timedelta(seconds=n)) for n in range(2001)]
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.INCONCLUSIVE


D4S, E4S = "Standard_D4s_v5", "Standard_E4s_v5"


def mixed(**pool: object) -> Azure:
    """A pool of virtual machines of two sizes: one E4s of three is missing, no D4s."""
    azure = Azure()
    limits = [{"size": D4S, "minCount": 1, "maxCount": 5}, {"size": E4S, "minCount": 3, "maxCount": 6}]
    azure.pool_of_machines("mixed", {"autoscale": limits}, (D4S, 2), (E4S, 2), **pool)
    azure.usages[3] = usage("standardESv5Family", 8, 10)
    return azure


async def test_a_pool_of_virtual_machines_wants_the_size_that_it_lacks() -> None:
    finding = await found("quota-exceeded", mixed())
    assert finding.subject.endswith("/usages/standardESv5Family")
    assert "pool mixed wants 4 cores (1 × Standard_E4s_v5, 4 cores each)" in finding.because


async def test_the_twin_that_runs_as_many_as_its_autoscaler_wants_is_clear() -> None:
    azure = mixed()
    limits = [{"size": D4S, "minCount": 1, "maxCount": 2}, {"size": E4S, "minCount": 2, "maxCount": 2}]
    azure.pools["mixed"]["virtualMachinesProfile"] = {"scale": {"autoscale": limits}}
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_refused_machine_of_such_a_pool_is_its_complaint() -> None:
    azure = Azure()
    azure.pool_of_machines("mixed", {"manual": [{"size": D4S, "count": 2}]}, (D4S, 2))
    azure.usages[2] = usage("standardDSv5Family", 100, 100)
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR
    azure.events[NODE_GROUP] = [refused_machine("aks-mixed-12345678-vms2")]
    finding = await found("quota-exceeded", azure)
    assert "pool mixed wants 8 cores" in finding.because[1]
    assert finding.severity is Severity.WARNING


def refused_machine(name: str, status: str = "Failed", minutes: int = 30) -> Body:
    message = (
        '{"error":{"code":"QuotaExceeded","message":"Operation could not be completed as it results in exceeding '
        'approved standardDSv5Family Cores quota. Current Limit: 100, Current Usage: 100, Additional Required: 8"}}'
    )
    machine = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/{name}"
    body = event(machine, status, timedelta(minutes=minutes), message if status == "Failed" else "")
    return body | {"operationName": {"value": "Microsoft.Compute/virtualMachines/write"}}


def auto_provisioned(*claims: Body, regional: int = 300) -> Azure:
    """Node auto-provisioning, and as many of 300 cores of the region used."""
    azure = Azure()
    azure.pool("system", count=1)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.usages[0] = usage("cores", regional, 300)
    azure.claims = list(claims)
    return azure


def claim(reason: str = "", message: str = "", status: str = "Unknown", minutes: int = 20) -> Body:
    condition = {"type": "Launched", "status": status, "reason": reason, "message": message}
    created = at(timedelta(minutes=minutes))
    metadata = {"name": "default-x7k2p", "labels": {"karpenter.sh/nodepool": "default"}, "creationTimestamp": created}
    spec = {"resources": {"requests": {"cpu": "3650m"}}, "requirements": []}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": [condition]}}


QUOTA = "regional on-demand vCPU quota limit for subscription has been reached"


@pytest.mark.parametrize("status", ["False", "Unknown"])
async def test_a_node_claim_that_waits_for_cores_is_found_with_its_own_words(status: str) -> None:
    finding = await found("quota-exceeded", auto_provisioned(claim("RegionalQuotaReached", QUOTA, status)))
    assert finding.subject.endswith("/usages/cores")
    assert finding.because[1:] == (
        "NodeClaim default-x7k2p wants 4 cores (its pods ask for 4)",
        "300 + 4 = 304 > 300: 4 cores short",
        f"NodeClaim default-x7k2p (NodePool default) was not launched: RegionalQuotaReached: {QUOTA}",
    )
    assert (finding.facts["pools"], finding.facts["wanted_by"]) == ([], ["NodeClaim default-x7k2p"])


async def test_a_claim_names_the_size_whose_family_is_full() -> None:
    message = f"subscription level on-demand vCPU quota for {D4S} has been reached"
    azure = auto_provisioned(claim("SubscriptionQuotaReached", message), regional=100)
    azure.usages[2] = usage("standardDSv5Family", 99, 100)
    assert (await found("quota-exceeded", azure)).subject.endswith("/usages/standardDSv5Family")


@pytest.mark.parametrize(
    "waiting",
    [
        claim("ZonalAllocationFailure", "unable to allocate resources in the selected zone"),
        claim(status="True"),
        claim(minutes=1),
    ],
)
async def test_a_claim_that_waits_for_something_else_is_no_finding(waiting: Body) -> None:
    assert (await asked("quota-exceeded", auto_provisioned(waiting))).outcome is Outcome.CLEAR


async def test_the_twin_with_cores_left_is_clear() -> None:
    azure = auto_provisioned(claim("RegionalQuotaReached", QUOTA), regional=200)
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_claim_without_a_word_is_judged_by_the_arithmetic() -> None:
    assert (await found("quota-exceeded", auto_provisioned(claim()))).facts["short"] == 4


async def test_a_refused_machine_of_node_auto_provisioning_is_found_until_another_was_made() -> None:
    azure = auto_provisioned()
    azure.usages[2] = usage("standardDSv5Family", 100, 100)
    azure.events[NODE_GROUP] = [refused_machine("aks-default-x7k2p")]
    finding = await found("quota-exceeded", azure)
    assert finding.because[1] == "machine aks-default-x7k2p wants 8 cores (Azure refused to make it)"
    azure.events[NODE_GROUP].insert(0, refused_machine("aks-default-qqqqq", "Succeeded", minutes=20))
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_a_refused_machine_of_somebody_else_is_no_finding() -> None:
    azure = auto_provisioned()
    azure.usages[2] = usage("standardDSv5Family", 100, 100)
    azure.events[NODE_GROUP] = [refused_machine("jumpbox")]
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.CLEAR


async def test_without_the_claims_a_wait_for_cores_cannot_be_ruled_out() -> None:
    azure = auto_provisioned()
    azure.denied = {"/nodeclaims"}
    check = await asked("quota-exceeded", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "nodeclaims" in check.why


@pytest.mark.parametrize("where", ["capacityReservationGroupID", "hostGroupID"])
async def test_machines_whose_cores_are_paid_for_already_need_no_quota(where: str) -> None:
    group = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/groups/reserved"
    azure = Azure()
    azure.pool("apps", count=5, machines=3, provisioningState="Failed", **{where: group})
    azure.usages[2] = usage("standardDSv5Family", 100, 100)
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "InternalServerError", "message": "x"}}
    check = await asked("quota-exceeded", azure)
    assert check.outcome is Outcome.CLEAR
    assert "group reserved" in check.why


async def test_beyond_its_reservation_azure_itself_names_the_quota() -> None:
    azure = refused_pool(capacityReservationGroupID=f"{NODE_GROUP_ID}/providers/x/y/reserved")
    assert (await asked("quota-exceeded", azure)).outcome is Outcome.FOUND


async def test_a_quota_whose_limit_was_lowered_is_over_it_and_has_nothing_less_than_free() -> None:
    finding = await found("quota-exceeded", refused_pool(used=120))
    assert finding.because[0] == "standardDSv5Family vCPUs in westeurope: 120 of 100 used, 20 over the limit"
