"""Can anything in the subscription be changed?"""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, SUB, event, pool_id, subscription
from tests.handlers.diagnose.wire import Azure, asked, diagnosed, found

QUESTION = "read-only-disabled-subscription"
HUB = "5a1c0000-0000-4000-8000-000000000009"


def said(subscription_id: str = SUB) -> dict[str, str]:
    """Azure Resource Manager's words for a write in a disabled subscription."""
    message = (
        f"The subscription '{subscription_id}' is disabled and therefore marked as read only. You cannot perform any "
        "write actions on this subscription until it is re-enabled."
    )
    return {"code": "ReadOnlyDisabledSubscription", "message": message}


def refusal(subscription_id: str = SUB) -> str:
    return json.dumps({"error": said(subscription_id)})


def cluster(state: str = "Disabled") -> Azure:
    azure = Azure()
    azure.pool("apps")
    azure.subscription = state
    return azure


async def test_the_subscription_its_state_and_how_it_is_paid_for_are_named() -> None:
    finding = await found(QUESTION, cluster())
    assert finding.subject == f"/subscriptions/{SUB}"
    assert finding.severity is Severity.ERROR
    assert finding.because == (
        "the cluster's subscription, platform, is Disabled: it can be read, and every change is refused",
        "it is paid for as PayAsYouGo, spending limit Off",
    )


@pytest.mark.parametrize("state", ["Enabled", "PastDue"])
async def test_the_twin_that_may_still_be_written_to_is_clear(state: str) -> None:
    check = await asked(QUESTION, cluster(state))
    assert check.outcome is Outcome.CLEAR
    assert f"subscription platform is {state}" in check.why


@pytest.mark.parametrize("state", ["Warned", "Expired", "disabled"])
async def test_every_state_in_which_azure_refuses_changes_is_told(state: str) -> None:
    assert (await found(QUESTION, cluster(state))).facts["state"] == state


async def test_a_failure_for_which_azure_names_it_is_explained() -> None:
    azure = cluster()
    azure.pools["apps"] |= {"provisioningState": "Failed", "status": {"provisioningError": said()}}
    assert (await found(QUESTION, azure)).affects == (pool_id("apps"),)


@pytest.mark.parametrize(
    "error", [None, {"code": "ZonalAllocationFailed", "message": "no capacity"}, {"code": "", "message": "failed"}]
)
async def test_a_failure_with_another_reason_or_none_is_not_laid_at_its_door(error: dict[str, str] | None) -> None:
    azure = cluster()
    azure.pools["apps"]["provisioningState"] = "Failed"
    if error:
        azure.pools["apps"]["status"] = {"provisioningError": error}
    check = await asked(QUESTION, azure)
    assert [one.affects for one in check.findings] == [()]


async def test_an_error_that_wraps_it_names_it_all_the_same() -> None:
    azure = cluster()
    inner = f'Code=\\"ReadOnlyDisabledSubscription\\" Message=\\"{said()["message"]}\\"'
    wrapped = {"code": "ReconcileVMSSAgentPoolFailed", "message": f"Failed to scale. Error: {inner}"}
    azure.pools["apps"] |= {"provisioningState": "Failed", "status": {"provisioningError": wrapped}}
    assert (await found(QUESTION, azure)).affects == (pool_id("apps"),)


async def test_nodes_whose_machines_azure_has_switched_off_follow_from_it() -> None:
    azure = cluster()
    for number in range(2):
        azure.not_ready(f"node-{number}", machine=number)
    azure.machines["apps"][0]["properties"]["instanceView"]["statuses"][1] = {"code": "PowerState/deallocated"}
    finding = await found(QUESTION, azure)
    assert finding.affects == ("Node/node-0",)
    diagnosis = await diagnosed(azure)
    explained = {one.finding.subject: one.explained_by for one in diagnosis.findings}
    assert explained["Node/node-0"] == ((QUESTION, f"/subscriptions/{SUB}"),)
    assert (QUESTION, f"/subscriptions/{SUB}") not in explained.get("Node/node-1", ())


async def test_another_subscription_that_azure_names_is_looked_at_and_told() -> None:
    azure = cluster("Enabled")
    azure.more[f"/subscriptions/{HUB}"] = subscription(HUB, "Disabled", "network hub")
    azure.pools["apps"] |= {"provisioningState": "Failed", "status": {"provisioningError": said(HUB)}}
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.affects) == (f"/subscriptions/{HUB}", (pool_id("apps"),))
    assert finding.because[0].startswith("a subscription that the cluster depends on, network hub, is Disabled")


async def test_the_twin_whose_other_subscription_is_enabled_again_is_clear() -> None:
    azure = cluster("Enabled")
    azure.more[f"/subscriptions/{HUB}"] = subscription(HUB, "Enabled", "network hub")
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), refusal(HUB))]
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    assert "subscription network hub is Enabled" in check.why


async def test_another_subscription_that_may_not_be_read_leaves_it_open() -> None:
    azure = cluster("Enabled")
    azure.denied = {f"/subscriptions/{HUB}"}
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), refusal(HUB))]
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_the_log_still_tells_of_a_refusal_and_the_subscription_is_enabled_again() -> None:
    azure = cluster("Enabled")
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), refusal())]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_failure_whose_error_was_not_seen_may_name_another_subscription() -> None:
    azure = cluster("Enabled")
    azure.pools["apps"]["provisioningState"] = "Failed"
    azure.denied = {"/eventtypes/"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_subscription_that_may_not_be_read_is_never_called_enabled() -> None:
    azure = cluster("Enabled")
    azure.denied = {f"/subscriptions/{SUB}$"}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "a role on resource groups does not show it" in check.why
