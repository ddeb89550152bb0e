"""The activity log lags: events of the last few minutes may still be missing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.evidence.monitor import LAG, read_event
from handlers.model import Outcome
from tests.handlers.diagnose.bodies import GROUP, SUB, event, pool_id, scale_set_id
from tests.handlers.diagnose.wire import Azure, asked

QUESTION = "quota-exceeded"


def autoscalers_refusal(ago: timedelta = timedelta(minutes=40)) -> dict[str, Any]:
    """A node that the autoscaler could not delete, as the node resource group's log tells it."""
    said = (
        f"The scope '{scale_set_id('apps')}' cannot perform delete operation because following scope(s) are locked: "
        f"'/subscriptions/{SUB}'. Please remove the lock and try again."
    )
    body = event(scale_set_id("apps"), "Failed", ago, json.dumps({"error": {"code": "ScopeLocked", "message": said}}))
    body["operationName"]["value"] = "Microsoft.Compute/virtualMachineScaleSets/delete/action"
    body["subStatus"] = {"value": "Conflict", "localizedValue": "Conflict (HTTP Status Code: 409)"}
    return body


def test_deleting_instances_of_a_scale_set_is_a_write_whose_error_is_read() -> None:
    refused = read_event(autoscalers_refusal())
    assert refused.writes
    assert refused.refused
    assert refused.error is not None
    assert refused.error.code == "ScopeLocked"
    assert f"locked: '/subscriptions/{SUB}'" in refused.error.message


@pytest.mark.parametrize(
    ("operation", "writes"),
    [
        ("Microsoft.Compute/virtualMachines/delete", True),
        ("Microsoft.Compute/virtualMachineScaleSets/virtualMachines/delete", True),
        ("Microsoft.ContainerService/managedClusters/agentPools/deleteMachines/action", True),
        ("Microsoft.ContainerService/managedClusters/listClusterUserCredential/action", False),
        ("Microsoft.Authorization/locks/delete", False),
    ],
)
def test_which_operations_change_a_resource(operation: str, writes: bool) -> None:
    body = autoscalers_refusal()
    body["operationName"]["value"] = operation
    assert read_event(body).writes is writes


async def test_that_none_was_refused_is_said_of_the_time_until_which_the_log_is_known() -> None:
    azure = Azure()
    azure.pool("apps")
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    # It is 03:07, and the log lags by a quarter of an hour.
    assert timedelta(minutes=15) == LAG
    assert check.why.endswith("none was refused cores in the 24 hours up to 02:52 UTC")


async def test_what_failed_although_nothing_says_why_yet_leaves_it_open() -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed")
    azure.budget("web", "web", allowed=1)
    check = await asked("pdb-blocks-drain", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "why pool apps has failed" in check.why
    assert "known until 02:52 UTC" in check.why


@pytest.mark.parametrize("said", ["by itself", "by the log", "by the cluster", "canceled"])
async def test_the_twin_of_which_somebody_says_why_is_clear(said: str) -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Canceled" if said == "canceled" else "Failed")
    error = {"code": "ZonalAllocationFailed", "message": "no capacity in zone 1"}
    if said == "by itself":
        azure.pools["apps"]["status"] = {"provisioningError": error}
    elif said == "by the log":
        azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(hours=1), json.dumps({"error": error}))]
    elif said == "by the cluster":
        azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}}
    check = await asked("pdb-blocks-drain", azure)
    assert check.outcome is Outcome.CLEAR
    assert "until 02:52 UTC" in check.why
