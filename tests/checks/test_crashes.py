from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from bot.checks.service import Jobs, Role, Taken
from bot.checks.store.running import RunningChecks
from bot.store.codec import encode
from bot.store.connect import Connection, connected
from tests.checks.people import Listener, SlowCheck, request, working
from tests.store.servers import ROOT, kill_server, python, until, until_it_is_back

WORKER = str(ROOT / "tests" / "checks" / "worker_process.py")


async def _checking(connection: Connection) -> int:
    """The process that runs a check now."""
    found = await connection.redis.blpop(["test:checking"], timeout=20)
    assert found
    return int(found[1])


async def _told(connection: Connection, number: int) -> list[str]:
    async def all_told() -> bool:
        return await connection.redis.llen("test:told") >= number

    await until(all_told)
    return [str(one) for one in await connection.redis.lrange("test:told", 0, -1)]


async def test_the_job_of_a_killed_worker_is_taken_up_by_another(connection: Connection) -> None:
    here = {"PYTHONPATH": str(ROOT)}
    async with (
        working(connection, SlowCheck(), Listener(), role=Role.WEB) as web,
        python(WORKER, connection.url, **here),
        python(WORKER, connection.url, **here),
    ):
        await web.check(request("ada"))
        first = await _checking(connection)
        await web.check(request("bob"))
        os.kill(first, signal.SIGKILL)
        second = await _checking(connection)
        await connection.redis.rpush("test:go", "yes")
        told = await _told(connection, 2)
    assert second != first
    assert sorted(told) == [f"done ada {second}", f"done bob {second}"]


async def test_a_job_that_kills_its_worker_each_time_is_given_up(connection: Connection) -> None:
    here = {"PYTHONPATH": str(ROOT)}
    async with working(connection, SlowCheck(), Listener(), role=Role.WEB) as web:
        await web.check(request("ada"))
        for _ in range(2):
            async with python(WORKER, connection.url, **here):
                os.kill(await _checking(connection), signal.SIGKILL)
        async with python(WORKER, connection.url, **here):
            (told,) = await _told(connection, 1)
    assert told.startswith("gave-up ada")


async def test_sigterm_lets_a_worker_end_its_check_and_then_itself(connection: Connection) -> None:
    async with (
        working(connection, SlowCheck(), Listener(), role=Role.WEB) as web,
        python(WORKER, connection.url, PYTHONPATH=str(ROOT)) as worker,
    ):
        await web.check(request("ada"))
        pid = await _checking(connection)
        worker.send_signal(signal.SIGTERM)
        await web.check(request("bob", "staging-neu"))
        await connection.redis.rpush("test:go", "yes")
        code = await asyncio.wait_for(worker.wait(), 20)
        told = await connection.redis.lrange("test:told", 0, -1)
    assert code == 0
    assert f"done ada {pid}" in told


async def test_a_worker_whose_job_was_taken_up_by_another_falls_silent(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    asked = request("ada")
    async with working(connection, check, listener) as jobs:
        await jobs.check(asked)
        await listener.heard("started", "ada")
        other = RunningChecks(connection.redis)
        await other.join(asked.question, asked.id, encode(asked), "the token of another worker")
        check.go.set()

        async def at_rest() -> bool:
            return not jobs.checks.busy

        await until(at_rest)
        assert listener.answers() == []
        assert len(await other.waiting(asked.question)) == 1


async def test_redis_restarts_with_its_data_in_the_middle_of_a_check(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        await until_it_is_back(connection, kill_server(connection))
        check.go.set()
        await listener.answered("ada")
        await _a_later_one_works(jobs, listener)
    assert [one.how for one in listener.answers("ada")] == ["done"]


async def test_redis_restarts_without_its_data_in_the_middle_of_a_check(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        await jobs.check(request("bob"))
        await listener.heard("started", "bob")
        await _lose_the_data(connection)
        check.go.set()
        await listener.answered("ada", "bob")
        await _a_later_one_works(jobs, listener)
    assert [one.how for one in listener.answers()] == ["done", "done", "done"]


async def test_a_request_that_waited_in_the_queue_survives_the_loss_of_the_data(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener, role=Role.WEB) as web:
        await web.check(request("ada"))
        await _seen_by_the_watch(web, connection)
        await _lose_the_data(connection)
        async with working(connection, check, listener, role=Role.WORKER):
            await listener.answered("ada")
    assert len(listener.answers("ada")) == 1


async def test_the_server_dies_between_the_end_of_the_check_and_its_answer(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        kill_server(connection)
        check.go.set()
        await listener.answered("ada")
        await _a_later_one_works(jobs, listener)
    assert len(listener.answers("ada")) == 1
    assert len(check.began) <= 3  # ada's, perhaps once more after the restart, and the later one


async def test_without_its_memory_a_process_checks_by_itself_and_says_so(tmp_path: Path) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with (
        connected(None, tmp_path) as server,
        connected(server.url, tmp_path) as connection,
        working(connection, check, listener) as jobs,
    ):
        await _stop_for_good(server)
        assert await jobs.check(request("ada"), patience_s=0.3) is Taken.HERE
        (told,) = await listener.answered("ada")
    assert told.what.durable is False
    assert [one.what for one in listener.said if one.how == "started"] == [False]


async def test_what_a_process_cannot_finish_by_itself_is_said_before_it_ends(tmp_path: Path) -> None:
    """Nobody else knows of the question, and nobody asks it again after the restart."""
    check, listener = SlowCheck(), Listener()
    async with connected(None, tmp_path) as server, connected(server.url, tmp_path) as connection:
        async with working(connection, check, listener) as jobs:
            await _stop_for_good(server)
            assert await jobs.check(request("ada"), patience_s=0.3) is Taken.HERE
            await listener.heard("started", "ada")
        (told,) = listener.answers()
    assert (told.to, told.how) == ("ada", "gave up")
    assert (told.what.why, told.what.do) == ("aksbot is restarting", "ask again")


@pytest.mark.parametrize("times", [3])
async def test_it_survives_several_restarts(connection: Connection, times: int) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener) as jobs:
        for number in range(times):
            await until_it_is_back(connection, kill_server(connection))
            await jobs.check(request(f"ada-{number}", fresh=True), patience_s=10)
            await listener.answered(f"ada-{number}")
    assert len(listener.answers()) == times


async def _a_later_one_works(jobs: Jobs, listener: Listener) -> None:
    assert await jobs.check(request("later", fresh=True), patience_s=10) is Taken.QUEUED
    await listener.answered("later")


async def _lose_the_data(connection: Connection) -> None:
    """As a cache without persistence does when it restarts: everything is gone, the queue's functions too."""
    await connection.redis.flushall()
    await connection.redis.function_flush()
    await until_it_is_back(connection, kill_server(connection))


async def _stop_for_good(server: Connection) -> None:
    assert server.embedded
    await server.embedded.__aexit__(None, None, None)


async def _seen_by_the_watch(jobs: Jobs, connection: Connection) -> None:
    """The process has looked at the data once, so that it notices when they are others."""

    async def looked() -> bool:
        return bool(await connection.redis.exists("aksbot:epoch")) and jobs.outstanding.knows_the_data

    await until(looked)
