"""A request that was rejected immediately changed nothing; one that was accepted and failed set the state."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.evidence import monitor
from handlers.evidence.monitor import ActivityLog, read_event
from handlers.model import Target
from handlers.resource_id import ResourceId
from tests import recorded
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NOW, pool_id
from tests.handlers.diagnose.wire import Azure
from tests.transports import Answers

Body = dict[str, Any]
WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
ASYNC = {
    "status": "Failed",
    "error": {
        "code": "ResourceOperationFailure",
        "message": "The resource operation completed with terminal provisioning state 'Failed'.",
        "details": [{"code": "QuotaExceeded", "message": "Operation could not be completed"}],
    },
}
BARE = {"code": "ErrCode_InsufficientVCPUQuota", "message": "Insufficient regional vcpu quota left", "subcode": ""}


def event(status: str, ago: timedelta, http: str = "", said: Any = None, **more: Any) -> Body:
    at = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%S.1234567Z")
    numbers = {"BadRequest": 400, "Forbidden": 403, "Conflict": 409, "TooManyRequests": 429, "OK": 200, "Created": 201}
    spoken = f"{http} (HTTP Status Code: {numbers[http]})" if http in numbers else http
    return {
        "eventDataId": f"{status}-{at}-{http}",
        "eventTimestamp": at,
        "operationName": {"value": WRITE},
        "status": {"value": status},
        "subStatus": {"value": http, "localizedValue": spoken},
        "resourceId": pool_id("apps"),
        "correlationId": "c",
        "operationId": "o",
        "properties": {"statusMessage": said if isinstance(said, str) else json.dumps(said)} if said else {},
        **more,
    }


async def log_of(*events: Body) -> ActivityLog:
    azure = Azure()
    azure.events[GROUP] = list(events)
    target = Target(ResourceId.parse(CLUSTER), NOW)
    async with ArmReader(AzureAccess(), transport=Answers(azure.answer, NOW)) as arm:
        cluster = await _cluster(arm, target)
        log = await monitor.activity_log.fetch(target=target, cluster=cluster, arm=arm)
    assert isinstance(log, ActivityLog)
    return log


async def _cluster(arm: ArmReader, target: Target) -> Any:
    from handlers.evidence import azure

    return await azure.managed_cluster.fetch(target=target, arm=arm)


@pytest.mark.parametrize(
    ("http", "said"),
    [
        ("BadRequest", BARE),
        ("Forbidden", {"error": {"code": "RequestDisallowedByPolicy", "message": "disallowed by policy"}}),
        ("Conflict", {"error": {"code": "ScopeLocked", "message": "the scope is locked"}}),
        ("TooManyRequests", {"error": {"code": "OperationNotAllowed", "message": "too many requests"}}),
        ("429", {"error": {"code": "SubscriptionRequestsThrottled", "message": "wait"}}),
        ("BadRequest", ""),
        ("Conflict", '{"error":{"code":"OperationNotAllowed","message":"cut in the mid'),
    ],
)
async def test_an_answer_of_4xx_is_a_refusal(http: str, said: Any) -> None:
    started, ended = event("Started", timedelta(minutes=9)), event("Failed", timedelta(minutes=8), http, said)
    log = await log_of(started, ended)
    assert log.events[0].refused
    assert log.last_failure(pool_id("apps")) is log.events[0]
    assert log.last_failure(pool_id("apps"), accepted=True) is None


@pytest.mark.parametrize(
    ("http", "said"),
    [
        ("", ASYNC),
        ("Conflict", ASYNC),
        ("Conflict", json.dumps(ASYNC)[:150]),
        ("", BARE),
        ("", ""),
        ("InternalServerError", {"error": {"code": "InternalServerError", "message": "and nobody knows"}}),
    ],
)
async def test_the_end_of_an_operation_is_no_refusal_nor_is_an_answer_that_leaves_it_open(http: str, said: Any) -> None:
    log = await log_of(event("Failed", timedelta(minutes=8), http, said))
    assert (log.events[0].failed, log.events[0].refused) == (True, False)
    assert log.last_failure(pool_id("apps"), accepted=True) is log.events[0]


async def test_what_was_accepted_was_not_refused_whatever_its_end_looks_like() -> None:
    accepted = event("Accepted", timedelta(minutes=20), "OK")
    log = await log_of(accepted, event("Failed", timedelta(minutes=8), "Conflict", BARE))
    assert not log.events[0].refused


@pytest.mark.parametrize(
    "other",
    [
        {"operationId": "another"},
        {"resourceId": pool_id("batch")},
        {"operationName": {"value": "Microsoft.ContainerService/managedClusters/write"}},
    ],
)
async def test_the_twin_whose_accepted_event_is_of_another_request_stays_a_refusal(other: Body) -> None:
    """A pipeline gives all its requests one correlation."""
    accepted = event("Accepted", timedelta(minutes=20), "OK", **other)
    log = await log_of(accepted, event("Failed", timedelta(minutes=8), "Conflict", BARE))
    assert log.events[0].refused


async def test_an_older_failure_is_found_behind_a_later_refusal() -> None:
    log = await log_of(
        event("Failed", timedelta(minutes=8), "Conflict", BARE),
        event("Accepted", timedelta(hours=5), "OK", operationId="old"),
        event("Failed", timedelta(hours=4), "", ASYNC, operationId="old"),
    )
    failure = log.last_failure(pool_id("apps"), accepted=True)
    assert failure is not None
    assert (failure.at, failure.error and failure.error.code) == (log.events[1].at, "QuotaExceeded")


async def test_a_refused_try_does_not_end_the_operation_that_runs_under_the_same_correlation() -> None:
    log = await log_of(
        event("Failed", timedelta(minutes=8), "Conflict", BARE, operationId="second"),
        event("Started", timedelta(minutes=9), operationId="second"),
        event("Accepted", timedelta(hours=1), "OK", operationId="first"),
        event("Started", timedelta(hours=1, minutes=1), operationId="first"),
    )
    began = log.began(pool_id("apps"))
    assert began is not None
    assert NOW - began.at > timedelta(hours=1)


async def test_the_events_without_an_operation_id_belong_together_by_their_correlation() -> None:
    bodies = [
        event("Accepted", timedelta(minutes=20), "OK"),
        event("Failed", timedelta(minutes=8), "Conflict", BARE),
    ]
    log = await log_of(*({**body, "operationId": ""} for body in bodies))
    assert not log.events[0].refused


@recorded.needed
def test_the_recorded_end_of_a_creation_that_failed_is_no_refusal() -> None:
    body = recorded.body("manual__activitylog-aks-create-failed-vmextension")
    whole = {"eventTimestamp": datetime.now(UTC).isoformat(), **body}
    assert (read_event(whole).failed, read_event(whole).accepted) == (True, True)


@recorded.needed
@pytest.mark.parametrize("name", ["activitylog__list-6-events", "activitylog__list-last-page"])
def test_of_what_did_not_fail_nothing_is_called_refused(name: str) -> None:
    for body in recorded.body(name)["value"]:
        event_of = read_event({"eventTimestamp": datetime.now(UTC).isoformat(), **body})
        assert not event_of.refused
