"""Is an operation still running, and for longer than such operations take?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, Body, event, pool_id
from tests.handlers.diagnose.wire import Azure, asked, found


def running(state: str, ago: timedelta, subject: str = CLUSTER) -> Azure:
    azure = Azure()
    azure.pool("apps", count=3)
    if subject == CLUSTER:
        azure.cluster["provisioningState"] = state
    else:
        azure.pools["apps"]["provisioningState"] = state
    azure.events[GROUP] = [event(subject, "Started", ago, correlation="now")]
    return azure


async def test_an_update_that_runs_for_hours_is_found_with_its_start() -> None:
    finding = await found("provisioning-in-progress", running("Updating", timedelta(hours=3, minutes=10)))
    assert finding.subject == CLUSTER
    assert finding.because[:2] == (
        "one is Updating since 2026-11-17 23:57 UTC",
        "that is 3 h 10 min; up to 30 min is usual",
    )


async def test_the_twin_that_has_just_begun_is_clear() -> None:
    check = await asked("provisioning-in-progress", running("Updating", timedelta(minutes=6)))
    assert check.outcome is Outcome.CLEAR
    assert check.why == "one has been Updating for 6 min; up to 30 min is usual"


def upgrading(ago: timedelta, **settings: Any) -> Azure:
    azure = running("Upgrading", ago)
    azure.pools["apps"] |= {"provisioningState": "Upgrading", "upgradeSettings": {"maxSurge": "1", **settings}}
    return azure


async def outcome(azure: Azure) -> Outcome:
    return (await asked("provisioning-in-progress", azure)).outcome


@pytest.mark.parametrize(
    ("settings", "usual"),
    [
        ({}, 30 + 3 * (10 + 30)),
        ({"drainTimeoutInMinutes": 5}, 30 + 3 * (10 + 5)),
        ({"drainTimeoutInMinutes": 120, "nodeSoakDurationInMinutes": 15}, 30 + 3 * (10 + 120 + 15)),
        ({"maxSurge": "3"}, 30 + 1 * (10 + 30)),
        ({"maxSurge": "50%"}, 30 + 2 * (10 + 30)),
        ({"maxSurge": "0", "maxUnavailable": "2"}, 30 + 2 * (10 + 30)),
        ({"undrainableNodeBehavior": "Cordon"}, 30 + 3 * (10 + 30)),
    ],
)
async def test_an_upgrade_may_wait_for_pods_as_long_as_its_pool_is_set_to(settings: Body, usual: int) -> None:
    assert await outcome(upgrading(timedelta(minutes=usual), **settings)) is Outcome.CLEAR
    assert await outcome(upgrading(timedelta(minutes=usual + 1), **settings)) is Outcome.FOUND


async def test_the_sum_is_shown() -> None:
    azure = upgrading(
        timedelta(hours=9), drainTimeoutInMinutes=45, nodeSoakDurationInMinutes=10, undrainableNodeBehavior="Cordon"
    )
    finding = await found("provisioning-in-progress", azure)
    assert finding.because[1:3] == (
        "that is 9 h 00 min; up to 3 h 45 min is usual",
        (
            "pool apps, 3 nodes, 1 at a time: 3 × (10 min for a node to come + 45 min drainTimeoutInMinutes + 10 min "
            "nodeSoakDurationInMinutes) = 3 h 15 min; a node that cannot be drained is left behind (Cordon)"
        ),
    )
    assert finding.facts["turns"] == [finding.because[2]]


@pytest.mark.parametrize(
    ("settings", "usual"),
    [
        ({}, 30 + 10 + 3 * (30 + 15) + 60),
        ({"drainBatchSize": "50%", "finalSoakDurationInMinutes": 600}, 30 + 10 + 2 * (30 + 15) + 600),
        ({"drainBatchSize": "3", "batchSoakDurationInMinutes": 0, "drainTimeoutInMinutes": 60}, 30 + 10 + 60 + 60),
    ],
)
async def test_a_blue_green_upgrade_soaks_after_every_batch_and_at_its_end(settings: Body, usual: int) -> None:
    def azure(minutes: int) -> Azure:
        made = upgrading(timedelta(minutes=minutes), drainTimeoutInMinutes=1440)
        made.pools["apps"] |= {"upgradeStrategy": "BlueGreen", "upgradeSettingsBlueGreen": settings}
        return made

    assert await outcome(azure(usual)) is Outcome.CLEAR
    assert "blue-green" in (await found("provisioning-in-progress", azure(usual + 1))).because[2]


async def test_a_pool_that_waits_its_turn_in_the_clusters_upgrade_is_given_its_time() -> None:
    """AKS upgrades one pool after the other; those before and behind it are Succeeded meanwhile."""
    for minutes, expected in ((30 + 120 + 200, Outcome.CLEAR), (30 + 120 + 201, Outcome.FOUND)):
        azure = upgrading(timedelta(minutes=minutes))
        azure.pool("waits", count=5, orchestratorVersion="1.32", currentOrchestratorVersion="1.32.9")
        assert await outcome(azure) is expected


async def test_a_stopped_pool_has_no_turn() -> None:
    azure = upgrading(timedelta(minutes=151))
    azure.pool("asleep", count=5, powerState={"code": "Stopped"})
    assert await outcome(azure) is Outcome.FOUND


async def test_the_upgrade_of_one_pool_is_not_given_the_time_of_the_others() -> None:
    for minutes, expected in ((150, Outcome.CLEAR), (151, Outcome.FOUND)):
        azure = running("UpgradingNodeImageVersion", timedelta(minutes=minutes), pool_id("apps"))
        azure.pool("other", count=50)
        assert await outcome(azure) is expected


async def test_an_upgrade_of_a_pool_that_keeps_the_cluster_updating_is_given_its_time() -> None:
    for minutes, expected in ((150, Outcome.CLEAR), (151, Outcome.FOUND)):
        azure = running("UpgradingNodeImageVersion", timedelta(minutes=minutes), pool_id("apps"))
        azure.pool("other", count=50)
        azure.cluster["provisioningState"] = "Updating"
        assert await outcome(azure) is expected


async def test_an_abort_is_not_offered_as_long_as_the_upgrade_is_within_its_time() -> None:
    within = upgrading(timedelta(minutes=300), drainTimeoutInMinutes=120)
    assert (await asked("provisioning-in-progress", within)).findings == ()


async def test_a_wish_that_was_refused_yesterday_on_a_sound_pool_is_no_operation_that_runs() -> None:
    azure = Azure()
    azure.pool("apps", count=3)
    refused = event(pool_id("apps"), "Failed", timedelta(hours=20), "{}", correlation="wish")
    refused["subStatus"] = {"value": "BadRequest", "localizedValue": "Bad Request (HTTP Status Code: 400)"}
    azure.events[GROUP] = [refused, event(pool_id("apps"), "Started", timedelta(hours=20), correlation="wish")]
    check = await asked("provisioning-in-progress", azure)
    assert (check.outcome, check.why) == (Outcome.CLEAR, "no operation is running")


async def test_a_try_that_was_refused_is_not_when_the_running_operation_began() -> None:
    azure = running("Updating", timedelta(minutes=5))
    refused = event(CLUSTER, "Failed", timedelta(hours=2), "{}", correlation="wish")
    refused["subStatus"] = {"value": "Conflict"}
    azure.events[GROUP] += [refused, event(CLUSTER, "Started", timedelta(hours=2), correlation="wish")]
    assert await outcome(azure) is Outcome.CLEAR


async def test_an_operation_that_was_canceled_has_ended() -> None:
    azure = running("Updating", timedelta(minutes=5))
    azure.events[GROUP] += [
        event(CLUSTER, "Canceled", timedelta(hours=5), correlation="old"),
        event(CLUSTER, "Started", timedelta(hours=6), correlation="old"),
    ]
    assert await outcome(azure) is Outcome.CLEAR


async def test_a_pool_on_its_own_is_found_while_the_cluster_is_succeeded() -> None:
    azure = running("UpgradingNodeImageVersion", timedelta(hours=5), pool_id("apps"))
    assert (await found("provisioning-in-progress", azure)).subject == pool_id("apps")


async def test_an_operation_that_ended_does_not_tell_when_the_running_one_began() -> None:
    azure = running("Updating", timedelta(minutes=5))
    azure.events[GROUP] += [
        event(CLUSTER, "Failed", timedelta(hours=5), "{}", correlation="old"),
        event(CLUSTER, "Started", timedelta(hours=6), correlation="old"),
    ]
    assert (await asked("provisioning-in-progress", azure)).outcome is Outcome.CLEAR


async def test_started_and_accepted_are_one_operation_that_began_with_the_first() -> None:
    azure = running("Updating", timedelta(minutes=29))
    azure.events[GROUP].append(event(CLUSTER, "Accepted", timedelta(minutes=40), correlation="now"))
    assert (await found("provisioning-in-progress", azure)).facts["lasts"] == "40 min"


async def test_a_start_that_the_log_does_not_hold_leaves_the_question_open() -> None:
    azure = running("Updating", timedelta(hours=3))
    azure.events[GROUP] = []
    check = await asked("provisioning-in-progress", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "no start of that is in the activity log" in check.why


@pytest.mark.parametrize("state", ["Succeeded", "Failed", "Canceled"])
async def test_nothing_runs_where_the_last_operation_ended(state: str) -> None:
    azure = running(state, timedelta(hours=3))
    assert (await asked("provisioning-in-progress", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("denied", ["/eventtypes/", "/agentPools", CLUSTER])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = running("Updating", timedelta(hours=3))
    azure.denied = {denied}
    check = await asked("provisioning-in-progress", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_pool_does_not_borrow_the_start_of_another_pools_operation() -> None:
    azure = running("Scaling", timedelta(hours=6), pool_id("batch"))
    azure.pool("batch", provisioningState="Upgrading")
    check = await asked("provisioning-in-progress", azure)
    assert [finding.subject for finding in check.findings] == [pool_id("batch")]
