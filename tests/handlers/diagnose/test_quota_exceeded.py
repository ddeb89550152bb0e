"""Is there a core left for the next node?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.wire import (
    CLUSTER,
    GROUP,
    LOCATION,
    NODE_GROUP,
    Azure,
    asked,
    event,
    found,
    pool_id,
    scale_set_id,
    usage,
)

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
    assert finding.affects == (pool_id("apps"), CLUSTER)
    assert finding.because[:3] == (
        "standardDSv5Family vCPUs in westeurope: 96 of 100 used, 4 free",
        "pool apps wants 8 cores (Azure was asked for that many; 4 for 1 × Standard_D4s_v5, 4 cores each)",
        "96 + 8 = 104 > 100: 4 cores short",
    )
    assert finding.facts["new_limit"] == 104


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
