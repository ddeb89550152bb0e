from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.checks.store.running import Hold, Kept, Part, RunningChecks
from bot.store import keys
from bot.store.connect import Connection

QUESTION = '["prod-weu","",""]'


@pytest.fixture
def running(connection: Connection) -> RunningChecks:
    return RunningChecks(connection.redis)


async def test_of_many_who_ask_the_same_at_once_one_leads(running: RunningChecks) -> None:
    joined = await asyncio.gather(*(running.join(QUESTION, f"r{n}", f"request {n}", f"t{n}") for n in range(30)))
    parts = [one.part for one in joined]
    assert (parts.count(Part.LEAD), parts.count(Part.FOLLOW)) == (1, 29)
    assert {one.request for one in await running.waiting(QUESTION)} == {f"request {n}" for n in range(30)}


async def test_other_questions_are_led_by_others(running: RunningChecks) -> None:
    await running.join(QUESTION, "r1", "", "t1")
    assert (await running.join("another", "r2", "", "t2")).part is Part.LEAD


async def test_whoever_joins_late_is_told_since_when_it_runs(running: RunningChecks) -> None:
    first = await running.join(QUESTION, "r1", "", "t1")
    second = await running.join(QUESTION, "r2", "", "t2")
    assert second.since_ms == first.since_ms
    assert second.joined_ms >= first.joined_ms


async def test_a_job_that_was_taken_up_again_leads_with_a_new_token(running: RunningChecks) -> None:
    await running.join(QUESTION, "r1", "", "old")
    assert (await running.join(QUESTION, "r1", "", "new")).part is Part.LEAD
    assert await running.renew(QUESTION, "old") is Hold.TAKEN
    assert await running.close(QUESTION, "old") == (Hold.TAKEN, [])
    assert await running.renew(QUESTION, "new") is Hold.MINE


async def test_a_check_is_over_only_when_nobody_waits(running: RunningChecks) -> None:
    await running.join(QUESTION, "r1", "one", "t1")
    await running.join(QUESTION, "r2", "two", "t2")
    hold, waiters = await running.close(QUESTION, "t1")
    assert (hold, {one.request for one in waiters}) == (Hold.MINE, {"one", "two"})
    await running.answered(QUESTION, "r1")
    await running.answered(QUESTION, "r2")
    assert await running.close(QUESTION, "t1") == (Hold.MINE, [])
    assert await running.renew(QUESTION, "t1") is Hold.GONE


async def test_whoever_joins_after_the_close_leads_anew(running: RunningChecks) -> None:
    await running.join(QUESTION, "r1", "", "t1")
    await running.answered(QUESTION, "r1")
    await running.close(QUESTION, "t1")
    assert (await running.join(QUESTION, "r2", "", "t2")).part is Part.LEAD


async def test_who_was_answered_is_not_answered_again(running: RunningChecks) -> None:
    await running.join(QUESTION, "r1", "", "t1")
    await running.answered(QUESTION, "r1")
    assert (await running.join(QUESTION, "r1", "", "t3")).part is Part.ANSWERED
    assert await running.are_answered(["r1", "r2"]) == {"r1"}


async def test_a_leader_who_is_silent_too_long_is_replaced_and_those_who_wait_are_not_lost(
    running: RunningChecks, connection: Connection
) -> None:
    await running.join(QUESTION, "r1", "one", "t1")
    for key in await connection.redis.keys("*:running"):
        await connection.redis.pexpire(key, 0)
    assert (await running.join(QUESTION, "r2", "two", "t2")).part is Part.LEAD
    assert {one.request for one in await running.waiting(QUESTION)} == {"one", "two"}


async def test_a_result_is_kept_with_the_time_of_the_server(running: RunningChecks) -> None:
    before = await running.join(QUESTION, "r1", "", "t1")
    kept = await running.keep(QUESTION, "a report")
    assert kept.at_ms >= before.joined_ms
    assert await running.kept(QUESTION) == kept


async def test_the_report_of_an_answer_is_found_by_its_request_for_a_month(
    running: RunningChecks, connection: Connection
) -> None:
    long = Kept(123, '{"why": "' + "a report with “quotes” " * 1000 + '"}')
    await running.answered(QUESTION, "r1", long)
    assert await running.report("r1") == long
    assert await running.report("r2") is None
    assert await connection.redis.ttl(keys.report("r1")) > timedelta(days=29).total_seconds()
    assert await connection.redis.strlen(keys.report("r1")) < len(long.text) / 10


async def test_a_report_is_shown_at_any_moment_while_its_answer_is_recorded(running: RunningChecks) -> None:
    for number in range(50):
        name = f"ada-{number}"
        await running.join(name, name, "{}", "token")
        kept = await running.keep(name, "the report")
        looks = [running.shown(name, name) for _ in range(4)]
        recorded, *shown = await asyncio.gather(running.answered(name, name, kept), *looks)
        assert recorded is None
        assert shown == [kept] * 4
    assert await running.shown("never asked", "never asked") is None
