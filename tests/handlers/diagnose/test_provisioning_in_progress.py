"""Is an operation still running, and for longer than such operations take?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.wire import CLUSTER, GROUP, Azure, asked, event, found, pool_id


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
        "that is 3 h 10 min; usual is up to 30 min",
    )


async def test_the_twin_that_has_just_begun_is_clear() -> None:
    check = await asked("provisioning-in-progress", running("Updating", timedelta(minutes=6)))
    assert check.outcome is Outcome.CLEAR
    assert check.why == "one is Updating since 6 min, usual is up to 30 min"


async def test_an_upgrade_is_given_time_for_each_of_its_nodes() -> None:
    for minutes, outcome in ((74, Outcome.CLEAR), (76, Outcome.FOUND)):
        azure = running("Upgrading", timedelta(minutes=minutes))
        azure.pools["apps"]["provisioningState"] = "Upgrading"  # 30 + 3 nodes, one at a time, 15 minutes each
        assert (await asked("provisioning-in-progress", azure)).outcome is outcome


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
