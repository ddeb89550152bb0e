"""Faults on demand, and the log that tells what happened."""

from __future__ import annotations

import asyncio
import time

import aiohttp
import pytest

from sandbox.arm.faults import Kind
from sandbox.arm.server import ArmServer, Budget, Fault
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    GROUP,
    NETWORK_VERSION,
    POOL,
    READER,
    SCALE_SET,
    TENANT,
    VNET,
    pool,
)
from tests.sandbox_calls import trusting

SCALE_SETS = "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Compute/virtualMachineScaleSets/{}"


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("500", 500, "InternalServerError"),
        ("502", 502, "BadGatewayConnection"),
        ("504", 504, "GatewayTimeout"),
        ("403", 403, "AuthorizationFailed"),
        ("404", 404, "ResourceNotFound"),
        ("429", 429, "OperationNotAllowed"),
    ],
)
async def test_an_error_takes_the_place_of_the_answer(
    arm: ArmServer, reader: Caller, kind: Kind, status: int, code: str
) -> None:
    arm.faults.append(Fault(kind, route=SCALE_SETS, times=1))
    reply = await reader.get(SCALE_SET, COMPUTE_VERSION)
    assert (reply.status, reply.error["code"]) == (status, code)
    assert (await reader.get(SCALE_SET, COMPUTE_VERSION)).status == 200
    assert [entry.status for entry in arm.calls] == [status, 200]


@pytest.mark.parametrize(
    ("path", "version", "code", "detail"),
    [
        (SCALE_SET, COMPUTE_VERSION, "OperationNotAllowed", "TooManyRequests"),
        (VNET, NETWORK_VERSION, "RetryableError", "RetryableErrorDueToAnotherOperation"),
        (GROUP, "2022-09-01", "ResourceRequestsThrottled", None),
        (CLUSTER, AKS_VERSION, "ResourceRequestsThrottled", None),
    ],
)
async def test_each_provider_throttles_in_its_own_words(
    arm: ArmServer, reader: Caller, path: str, version: str, code: str, detail: str | None
) -> None:
    arm.faults.append(Fault("429", retry_after_s=7))
    reply = await reader.get(path, version)
    assert (reply.status, reply.headers["Retry-After"], reply.error["code"]) == (429, "7", code)
    if detail:
        assert reply.error["details"][0]["code"] == detail
    else:
        assert "Please try again after '7' seconds." in reply.error["message"]
        assert reply.headers["x-ms-failure-cause"] == "gateway"


async def test_a_throttle_may_come_without_retry_after(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("429"))
    assert "Retry-After" not in (await reader.get(CLUSTER, AKS_VERSION)).headers


async def test_aks_throttles_writes_itself_and_bare(arm: ArmServer, writer: Caller) -> None:
    arm.faults.append(Fault("429", method="PUT"))
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"))
    assert (reply.status, "please retry again in" in reply.body["message"]) == (429, True)


async def test_a_fault_hits_what_it_names_and_nothing_else(arm: ArmServer, reader: Caller, writer: Caller) -> None:
    arm.faults.append(
        Fault("500", action="Microsoft.Compute/virtualMachineScaleSets/READ", principal="reader", skip=1, times=2)
    )
    seen = [(await reader.get(SCALE_SET, COMPUTE_VERSION)).status for _ in range(4)]
    assert seen == [200, 500, 500, 200]
    arm.faults.append(Fault("500", principal="reader"))
    assert (await writer.get(SCALE_SET, COMPUTE_VERSION)).status == 200


async def test_html_comes_instead_of_json(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("html"))
    reply = await reader.get(CLUSTER, AKS_VERSION)
    assert (reply.status, reply.headers["Content-Type"].split(";")[0]) == (503, "text/html")
    assert "Our services aren't available right now" in reply.text


async def test_an_empty_and_a_malformed_body_are_200(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("empty", times=1))
    empty = await reader.get(CLUSTER, AKS_VERSION)
    assert (empty.status, empty.text) == (200, "")
    arm.faults.append(Fault("malformed", times=1))
    broken = await reader.get(CLUSTER, AKS_VERSION)
    assert broken.status == 200
    with pytest.raises(ValueError):
        _ = broken.body


@pytest.mark.parametrize("body", ["{}", "[]", '"x"', '{"value": {}}'])
async def test_a_shape_is_a_200_with_json_that_is_not_what_was_asked_for(
    arm: ArmServer, reader: Caller, body: str
) -> None:
    arm.faults.append(Fault("shape", times=1, body=body))
    reply = await reader.get(CLUSTER, AKS_VERSION)
    assert (reply.status, reply.text) == (200, body)
    assert reply.headers["Content-Type"].split(";")[0] == "application/json"


async def test_half_an_answer_is_shorter_than_it_said(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("half", times=1))
    with pytest.raises(aiohttp.ClientPayloadError):
        await reader.get(CLUSTER, AKS_VERSION)
    assert arm.calls[0].status is None
    assert (await reader.get(CLUSTER, AKS_VERSION)).status == 200


async def test_a_reset_breaks_the_connection_while_the_body_comes(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("reset", times=1))
    with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
        await reader.get(CLUSTER, AKS_VERSION)
    assert (await reader.get(CLUSTER, AKS_VERSION)).status == 200


async def test_a_write_whose_answer_is_lost_has_happened(arm: ArmServer, world: World, writer: Caller) -> None:
    arm.faults.append(Fault("reset", method="PUT"))
    with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
        await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 4))
    assert world.resources[POOL.lower()]["properties"]["count"] == 4


@pytest.mark.parametrize(("executed", "count"), [(False, 2), (True, 4)])
async def test_a_write_behind_an_error_happened_or_not_as_the_fault_says(
    arm: ArmServer, world: World, writer: Caller, executed: bool, count: int
) -> None:
    arm.faults.append(Fault("503", method="PUT", executed=executed))
    assert (await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 4))).status == 503
    assert world.resources[POOL.lower()]["properties"]["count"] == count


async def test_a_timeout_never_answers_until_the_client_goes(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("timeout", times=1))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await reader.get(CLUSTER, AKS_VERSION)
    assert (await reader.get(CLUSTER, AKS_VERSION)).status == 200
    assert (arm.calls[0].status, arm.calls[0].ended is not None) == (None, True)


async def test_a_server_that_is_left_does_not_wait_for_those_it_keeps_waiting(world: World) -> None:
    async with ArmServer(world) as arm:
        arm.faults.append(Fault("timeout"))
        async with trusting(arm.ca_file) as session:
            waiting = asyncio.ensure_future(Caller(session, arm, "reader").get(CLUSTER, AKS_VERSION))
            while not arm.calls:  # noqa: ASYNC110 - the log is no event, and this turns the loop a few times
                await asyncio.sleep(0)
            began = time.monotonic()
            await arm.__aexit__(None, None, None)
            assert time.monotonic() - began < 1
            with pytest.raises(aiohttp.ClientError):
                await waiting


async def test_a_slow_answer_is_the_right_one_later(arm: ArmServer, reader: Caller) -> None:
    arm.faults.append(Fault("slow", delay_s=0.05, times=1))
    reply = await reader.get(CLUSTER, AKS_VERSION)
    entry = arm.calls[0]
    assert (reply.status, entry.ended is not None and entry.ended - entry.started >= 0.05) == (200, True)


async def test_the_latency_holds_for_every_request(arm: ArmServer, world: World, reader: Caller) -> None:
    arm.latency_s, world.latency_s = 0.02, 0.03
    await reader.get(CLUSTER, AKS_VERSION)
    entry = arm.calls[0]
    assert entry.ended is not None
    assert entry.ended - entry.started >= 0.05


async def test_an_empty_budget_is_429_where_it_is_enforced(world: World) -> None:
    server = ArmServer(world, budget=Budget(size=2, per_s=0.001, enforced=True))
    async with server as arm, trusting(arm.ca_file) as session:
        caller = Caller(session, arm, "reader")
        replies = [await caller.get(GROUP) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert [reply.headers.get("x-ms-ratelimit-remaining-subscription-reads") for reply in replies] == ["1", "0", None]
    assert (replies[2].error["code"], int(replies[2].headers["Retry-After"]) > 0) == (
        "SubscriptionRequestsThrottled",
        True,
    )


# -- the log ----------------------------------------------------------------------------------------------------------


async def test_the_log_says_what_was_asked_by_whom_and_how_it_ended(arm: ArmServer, reader: Caller) -> None:
    path = SCALE_SET.replace("resourceGroups", "resourcegroups")
    await reader("GET", path, COMPUTE_VERSION, headers={"x-ms-client-request-id": "abc"}, dollar_expand="userData")
    entry = arm.log[0]
    assert (entry.method, entry.path, entry.route) == ("GET", path, SCALE_SETS)
    assert (entry.action, entry.principal, entry.status) == (
        "Microsoft.Compute/virtualMachineScaleSets/read",
        "reader",
        200,
    )
    assert (entry.client_request_id, entry.is_write) == ("abc", False)
    assert entry.query == f"api-version={COMPUTE_VERSION}&%24expand=userData"
    assert entry.ended is not None
    assert entry.started <= entry.ended


async def test_the_log_holds_no_secret(arm: ArmServer, reader: Caller, writer: Caller) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": READER.client_id,
        "client_secret": READER.secret,
        "scope": f"{arm.url}/.default",
    }
    token = (await reader("POST", f"/{TENANT}/oauth2/v2.0/token", None, data=form, token=None)).body["access_token"]
    await reader("GET", CLUSTER, AKS_VERSION, token=token)
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"))
    await writer.follow(reply.headers["Azure-AsyncOperation"])
    text = repr(arm.log)
    assert arm.log[0].route == "/{}/oauth2/v2.0/token"
    assert [entry.is_write for entry in arm.log] == [False, False, True, False]
    assert READER.secret not in text
    assert token not in text
    assert "&h=" not in text
    assert len(arm.calls) == 3
