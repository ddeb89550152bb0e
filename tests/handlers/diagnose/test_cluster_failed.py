"""Did the last operation on the cluster fail?"""

import json
from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NODE_GROUP, event, scale_set_id
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, found

INTERNAL = {"code": "InternalOperationError", "message": "Internal server error"}


def failed(state: str = "Failed") -> Azure:
    azure = Azure()
    azure.pool("apps")
    azure.cluster["provisioningState"] = state
    return azure


def wrapped(code: str, message: str) -> str:
    inner = {"code": code, "message": message}
    return json.dumps({"status": "Failed", "error": {"code": "ResourceOperationFailure", "details": [inner]}})


async def test_the_operation_and_its_innermost_error_are_named() -> None:
    azure = failed()
    azure.events[GROUP] = [
        event(CLUSTER, "Failed", timedelta(hours=2), wrapped("ControlPlaneError", "no control plane"))
    ]
    finding = await found("cluster-failed", azure)
    assert finding.subject == CLUSTER
    assert finding.because == (
        "provisioningState is Failed, power is Running",
        "error: ControlPlaneError: no control plane",
        "Microsoft.ContainerService/managedClusters/write failed at 2026-11-18 01:07 UTC (correlation c0ffee)",
    )


async def test_the_first_failure_of_the_same_correlation_in_the_node_group_is_the_telling_one() -> None:
    azure = failed()
    azure.cluster["status"] = {"provisioningError": INTERNAL}
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=2), wrapped("Conflict", "it failed"))]
    below = event(scale_set_id("apps"), "Failed", timedelta(hours=3), wrapped("AllocationFailed", "no capacity"))
    unrelated = event(scale_set_id("x"), "Failed", timedelta(hours=4), wrapped("Other", "other"), correlation="beef")
    azure.events[NODE_GROUP] = [below, unrelated]
    finding = await found("cluster-failed", azure)
    assert finding.facts["code"] == "AllocationFailed"
    assert scale_set_id("apps") in finding.because[-1]


async def test_a_canceled_cluster_is_found_too_and_without_any_text_it_says_so() -> None:
    finding = await found("cluster-failed", failed("Canceled"))
    assert "it was canceled: someone aborted the operation, or another one took its place" in finding.because
    assert "Remove the cause" not in LIBRARY["cluster-failed"].render("Fix", finding.facts)
    assert "Azure keeps no error text for it" in (await found("cluster-failed", failed())).because
    assert "the activity log since 2026-11-04 holds no failed write to it" in finding.because


@pytest.mark.parametrize("state", ["Succeeded", "Updating", "Upgrading"])
async def test_the_twin_that_is_not_failed_is_clear_although_the_log_holds_a_failure(state: str) -> None:
    azure = failed(state)
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=2), wrapped("ControlPlaneError", "x"))]
    assert (await asked("cluster-failed", azure)).outcome is Outcome.CLEAR


async def test_an_exact_duplicate_and_a_cut_message_in_the_log_do_no_harm() -> None:
    azure = failed()
    cut = event(CLUSTER, "Failed", timedelta(hours=2), '{"status":"Failed","error":{"code":"Resou')
    azure.events[GROUP] = [cut, cut]
    assert (await found("cluster-failed", azure)).facts["message"].startswith('{"status":"Failed"')


async def test_without_the_log_the_cluster_is_still_failed_and_the_gap_is_said() -> None:
    azure = failed()
    azure.cluster["status"] = {"provisioningError": INTERNAL}
    azure.denied = {"/eventtypes/"}
    check = await asked("cluster-failed", azure)
    assert check.outcome is Outcome.FOUND
    assert any(line.startswith("which operation failed could not be seen: 403") for line in check.findings[0].because)
    assert check.unseen


async def test_a_cluster_that_may_not_be_read_is_inconclusive() -> None:
    azure = failed()
    azure.denied = {CLUSTER}
    assert (await asked("cluster-failed", azure)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("missing", ["provisioningState", "nodeResourceGroup"])
async def test_a_body_without_what_the_verdict_hangs_on_is_inconclusive(missing: str) -> None:
    azure = failed()
    del azure.cluster[missing]
    check = await asked("cluster-failed", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert missing in check.why


@pytest.mark.parametrize("status", ["Succeeded", "Failed"])
async def test_reading_credentials_and_policy_audits_neither_mend_nor_fail_a_cluster(status: str) -> None:
    azure = failed()
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=2), wrapped("ControlPlaneError", "x"))]
    for name in (
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
        "Microsoft.Authorization/policies/audit/action",
    ):
        later = event(CLUSTER, status, timedelta(hours=1), wrapped("NotThis", "y"), correlation=name)
        azure.events[GROUP].append(later | {"operationName": {"value": name}})
    assert (await found("cluster-failed", azure)).facts["code"] == "ControlPlaneError"
