"""Client policies for reads: deduplication, short caching, retries, pacing, authentication. Counted at the server."""

from __future__ import annotations

import asyncio
import time

import pytest
from aiohttp import web

from handlers.clients.access import AzureAccess
from handlers.clients.arm.freshness import require_fresh_answers
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import CredentialRefused, Denied, ServerFault, Throttled
from handlers.engine.current import deadline
from tests.clients.azure import (
    LocalAzure,
    PaperCredential,
    QuickClock,
    half,
    hangs_up,
    raw,
    refuses,
    says,
    waits_for,
)

SUB = "/subscriptions/00000000-0000-0000-0000-0000000000a1"
GROUP = f"{SUB}/resourceGroups/rg-prod"
OTHER = f"{SUB}/resourceGroups/rg-other"
DISKS = f"{GROUP}/providers/Microsoft.Compute/disks"
NETWORKS = f"{GROUP}/providers/Microsoft.Network/virtualNetworks"
VERSION = "2024-03-01"
GRAPH = "/providers/Microsoft.ResourceGraph/resources"


async def test_equal_reads_at_the_same_time_share_one_call(azure: LocalAzure, arm: ArmReader) -> None:
    gate = asyncio.Event()
    azure.reply(GROUP, waits_for(gate, says({"id": GROUP})))
    async with asyncio.TaskGroup() as group:
        reads = [group.create_task(arm.get(path, VERSION)) for path in [GROUP] * 20 + [GROUP.upper()] * 20]
        await azure.arrived.wait()
        gate.set()
    assert {read.result().body["id"] for read in reads} == {GROUP}
    assert len(azure.asked) == arm.calls.count == 1


async def test_the_shared_call_outlives_the_one_who_asked_first(azure: LocalAzure, arm: ArmReader) -> None:
    gate = asyncio.Event()
    azure.reply(GROUP, waits_for(gate, says({"id": GROUP})))
    first = asyncio.create_task(arm.get(GROUP, VERSION))
    await azure.arrived.wait()
    second = asyncio.create_task(arm.get(GROUP, VERSION))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.set()
    assert (await second).body == {"id": GROUP}
    assert len(azure.asked) == 1


async def test_a_call_that_nobody_waits_for_is_given_up(azure: LocalAzure, arm: ArmReader) -> None:
    gone = asyncio.Event()

    async def never(_: web.Request) -> web.StreamResponse:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            gone.set()

    azure.reply(GROUP, never, says({"id": GROUP}))
    only = asyncio.create_task(arm.get(GROUP, VERSION))
    await azure.arrived.wait()
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    await asyncio.wait_for(gone.wait(), 2)
    assert (await arm.get(GROUP, VERSION)).body == {"id": GROUP}


async def test_an_answer_is_kept_for_a_moment_and_then_asked_anew(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    azure.reply(GROUP, says({"n": 1}), says({"n": 2}))
    first = await arm.get(GROUP, VERSION)
    again = await arm.get(GROUP.lower(), VERSION)
    assert again.body == {"n": 1}
    assert again.taken_at == first.taken_at
    clock.passed += 16
    assert (await arm.get(GROUP, VERSION)).body == {"n": 2}


async def test_tokens_in_a_query_are_not_folded(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, says({"n": 1}), says({"n": 2}))
    await arm.get(GROUP, VERSION, params={"$skipToken": "aB"})
    assert (await arm.get(GROUP, VERSION, params={"$skipToken": "Ab"})).body == {"n": 2}


async def test_queries_share_by_their_body(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GRAPH, says({"data": [1]}), says({"data": [2]}))
    await arm.query(GRAPH, VERSION, {"query": "a"})
    await arm.query(GRAPH, VERSION, {"query": "a"})
    assert (await arm.query(GRAPH, VERSION, {"query": "b"})).body == {"data": [2]}
    assert len(azure.asked) == 2


async def test_without_a_cache_every_read_is_fresh(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential
) -> None:
    azure.reply(GROUP, says({"n": 1}), says({"n": 2}))
    async with ArmReader(access, credential=credential, fresh_for_s=0) as arm:
        assert [(await arm.get(GROUP, VERSION)).body["n"] for _ in range(2)] == [1, 2]


async def test_whoever_wants_the_present_does_not_get_the_past_and_shares_with_their_like(
    azure: LocalAzure, arm: ArmReader
) -> None:
    gate, asked = asyncio.Event(), asyncio.Event()

    async def late(request: web.Request) -> web.StreamResponse:
        asked.set()
        return await waits_for(gate, says({"n": 2}))(request)

    azure.reply(GROUP, says({"n": 1}), late, says({"n": 3}))

    async def anew() -> int:
        require_fresh_answers(arm.clock)
        return int((await arm.get(GROUP, VERSION)).body["n"])

    assert (await arm.get(GROUP, VERSION)).body["n"] == 1
    slow = asyncio.create_task(anew())
    await asked.wait()
    assert await asyncio.create_task(anew()) == 3
    assert (await arm.get(GROUP, VERSION)).body["n"] == 3
    gate.set()
    assert await slow == 2
    assert (await arm.get(GROUP, VERSION)).body["n"] == 3


async def test_a_failure_is_not_kept(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, refuses(403, "AuthorizationFailed", "no"), says({"id": GROUP}))
    with pytest.raises(Denied):
        await arm.get(GROUP, VERSION)
    assert (await arm.get(GROUP, VERSION)).body == {"id": GROUP}


async def test_one_failure_reaches_all_who_wait(azure: LocalAzure, arm: ArmReader) -> None:
    gate = asyncio.Event()
    azure.reply(GROUP, waits_for(gate, refuses(403, "AuthorizationFailed", "no")))
    reads = [asyncio.create_task(arm.get(GROUP, VERSION)) for _ in range(5)]
    await azure.arrived.wait()
    gate.set()
    assert all(isinstance(one, Denied) for one in await asyncio.gather(*reads, return_exceptions=True))
    assert len(azure.asked) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        refuses(500, "InternalServerError", "x"),
        refuses(502, "BadGateway", "x"),
        raw(b"<html>", 503, "text/html"),
        refuses(504, "GatewayTimeout", "x"),
        hangs_up(),
        half(),
    ],
)
async def test_a_moments_trouble_is_retried(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock, trouble: web.Response
) -> None:
    azure.reply(GROUP, trouble, trouble, trouble, says({"id": GROUP}))
    assert (await arm.get(GROUP, VERSION)).body == {"id": GROUP}
    assert clock.waits == [0.2, 0.4, 0.8]
    assert arm.calls.count == len({call.request_id for call in arm.calls}) == 4


async def test_trouble_that_stays_is_raised(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, refuses(500, "InternalServerError", "x"))
    with pytest.raises(ServerFault, match="500 InternalServerError: x"):
        await arm.get(GROUP, VERSION)
    assert len(azure.asked) == 4


@pytest.mark.parametrize("status", [400, 403, 404, 409, 501])
async def test_a_clear_no_is_not_asked_again(azure: LocalAzure, arm: ArmReader, status: int) -> None:
    azure.reply(GROUP, refuses(status, "No", "no"))
    with pytest.raises(Exception, match=f"{status} No"):
        await arm.get(GROUP, VERSION)
    assert len(azure.asked) == 1


async def test_a_throttled_read_waits_as_asked(azure: LocalAzure, arm: ArmReader, clock: QuickClock) -> None:
    azure.reply(GROUP, refuses(429, "TooManyRequests", "x", retry_after="7"), says({"id": GROUP}))
    assert (await arm.get(GROUP, VERSION)).body == {"id": GROUP}
    assert clock.waits[0] == 7


async def test_the_wait_may_stand_in_the_text_only(azure: LocalAzure, arm: ArmReader, clock: QuickClock) -> None:
    text = "The request was throttled. Please try again after '4' seconds."
    azure.reply(GROUP, refuses(429, "SubscriptionRequestsThrottled", text), says({"id": GROUP}))
    await arm.get(GROUP, VERSION)
    assert clock.waits[0] == 4


async def test_a_wait_beyond_the_deadline_is_not_begun(azure: LocalAzure, arm: ArmReader, clock: QuickClock) -> None:
    azure.reply(GROUP, refuses(429, "TooManyRequests", "x", retry_after="9"))
    deadline.set(clock.now() + 8)
    with pytest.raises(Throttled) as caught:
        await arm.get(GROUP, VERSION)
    assert caught.value.retry_after_s == 9
    assert clock.waits == []
    assert len(azure.asked) == 1


async def test_backoff_stays_inside_the_deadline(azure: LocalAzure, arm: ArmReader, clock: QuickClock) -> None:
    azure.reply(GROUP, refuses(500, "InternalServerError", "x"))
    deadline.set(clock.now() + 0.5)
    with pytest.raises(ServerFault):
        await arm.get(GROUP, VERSION)
    assert clock.waits == [0.2]


async def test_nobody_calls_a_throttled_subscription_before_its_time(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    azure.reply(GROUP, refuses(429, "SubscriptionRequestsThrottled", "x", retry_after="60"))
    azure.reply(OTHER, says({"id": OTHER}))
    for path in (GROUP, OTHER):
        deadline.set(clock.now() + 5)
        with pytest.raises(Throttled):
            await arm.get(path, VERSION)
    assert azure.count(OTHER) == 0
    clock.passed += 61
    deadline.set(None)
    assert (await arm.get(OTHER, VERSION)).body == {"id": OTHER}


async def test_one_providers_throttle_does_not_stop_the_others(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    azure.reply(DISKS, refuses(429, "OperationNotAllowed", "x", retry_after="60", x_ms_failure_cause="service"))
    azure.reply(NETWORKS, says({"value": []}))
    deadline.set(clock.now() + 5)
    with pytest.raises(Throttled):
        await arm.list(DISKS, VERSION)
    assert (await arm.list(NETWORKS, VERSION)).items == ()


async def test_calls_slow_down_before_the_budget_is_used_up(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    azure.reply(GROUP, says({"id": GROUP}, x_ms_ratelimit_remaining_subscription_global_reads="2"))
    for number in range(4):
        await arm.get(GROUP, VERSION, params={"n": str(number)})
    assert len(clock.waits) >= 2
    assert 0.3 < sum(clock.waits) <= 0.6


async def test_a_full_budget_costs_nothing(azure: LocalAzure, arm: ArmReader, clock: QuickClock) -> None:
    azure.reply(GROUP, says({"id": GROUP}, x_ms_ratelimit_remaining_subscription_global_reads="16499"))
    for number in range(4):
        await arm.get(GROUP, VERSION, params={"n": str(number)})
    assert clock.waits == []


async def test_a_late_joiner_with_more_time_asks_for_itself(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    gate = asyncio.Event()
    azure.reply(
        GROUP,
        waits_for(gate, refuses(429, "TooManyRequests", "x", retry_after="9")),
        says({"id": GROUP}),
    )

    async def read(most_s: float) -> object:
        deadline.set(clock.now() + most_s)
        return (await arm.get(GROUP, VERSION)).body

    hasty = asyncio.create_task(read(5))
    await azure.arrived.wait()
    patient = asyncio.create_task(read(60))
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(Throttled):
        await hasty
    assert await patient == {"id": GROUP}


async def test_forty_calls_share_one_token(azure: LocalAzure, arm: ArmReader, credential: PaperCredential) -> None:
    azure.reply(GROUP, says({"id": GROUP}))
    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(arm.get(GROUP, VERSION, params={"n": str(number)}))
    assert len(credential.given) == 1
    assert {one.headers["Authorization"] for one in azure.asked} == {"Bearer token-1"}


async def test_a_token_that_ends_soon_is_renewed(azure: LocalAzure, access: AzureAccess) -> None:
    azure.reply(GROUP, says({"id": GROUP}))
    short = PaperCredential(lifetime_s=0)
    async with ArmReader(access, credential=short, fresh_for_s=0) as arm:
        for _ in range(2):
            await arm.get(GROUP, VERSION)
    assert len(short.given) == 2


async def test_an_expired_token_is_renewed_once_and_the_read_repeated(
    azure: LocalAzure, arm: ArmReader, credential: PaperCredential
) -> None:
    expired = refuses(401, "ExpiredAuthenticationToken", "The access token expired.")
    azure.reply(GROUP, expired, says({"id": GROUP}), expired)
    assert (await arm.get(GROUP, VERSION)).body == {"id": GROUP}
    assert [one.headers["Authorization"] for one in azure.asked] == ["Bearer token-1", "Bearer token-2"]
    assert [call.status for call in arm.calls] == [401, 200]
    with pytest.raises(CredentialRefused):
        await arm.get(GROUP, VERSION, params={"n": "2"})
    assert len(azure.asked) == 4


async def test_many_expired_reads_fetch_one_new_token(
    azure: LocalAzure, arm: ArmReader, credential: PaperCredential
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        old = request.headers["Authorization"] == "Bearer token-1"
        return await (refuses(401, "ExpiredAuthenticationToken", "expired") if old else says({"id": GROUP}))(request)

    azure.reply(GROUP, answer)
    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(arm.get(GROUP, VERSION, params={"n": str(number)}))
    assert len(credential.given) == 2


async def test_a_claims_challenge_is_answered(azure: LocalAzure, arm: ArmReader, credential: PaperCredential) -> None:
    challenge = 'Bearer realm="", error="insufficient_claims", claims="eyJhY2Nlc3NfdG9rZW4iOnt9fQ=="'
    azure.reply(
        GROUP, refuses(401, "InvalidAuthenticationToken", "claims", www_authenticate=challenge), says({"id": GROUP})
    )
    await arm.get(GROUP, VERSION)
    assert credential.given == [None, '{"access_token":{}}']


async def test_another_401_is_not_repeated(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, refuses(401, "InvalidAuthenticationTokenTenant", "wrong tenant"))
    with pytest.raises(CredentialRefused, match="401 InvalidAuthenticationTokenTenant"):
        await arm.get(GROUP, VERSION)
    assert len(azure.asked) == 1


async def test_the_way_through_all_policies_costs_little(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential
) -> None:
    azure.reply(GROUP, says({"id": GROUP, "properties": {"provisioningState": "Succeeded"}}))
    async with ArmReader(access, credential=credential) as arm:
        await arm.get(GROUP, VERSION)
        started = time.process_time()
        for _ in range(200):
            await arm.get(GROUP, VERSION)
        assert (time.process_time() - started) / 200 < 0.002
    assert len(azure.asked) == 1
