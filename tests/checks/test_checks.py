from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from bot.checks.reporter import Answer
from bot.checks.service import Jobs, Role, Taken
from bot.checks.shared import Checks
from bot.checks.store.running import Hold, Joined, Part, RunningChecks, Waiter
from bot.queue.job import Job, Kind
from bot.queue.priority import Priority
from bot.store.away import StoreAway
from bot.store.codec import encode
from bot.store.connect import Connection
from handlers.problem import Problem
from tests.bot.diagnoses import found
from tests.checks.people import CLUSTER, Listener, SlowCheck, request, working
from tests.store.servers import until


async def test_a_check_is_started_shown_and_answered(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        assert await jobs.check(request("ada")) is Taken.QUEUED
        await listener.until(
            lambda: any(one.how == "progress" and one.what.questions == (6, 6) for one in listener.said)
        )
        check.go.set()
        (told,) = await listener.answered("ada")
    assert isinstance(told.what, Answer)
    assert told.what.report.diagnosis == found()
    assert (told.what.age, told.what.durable) == (timedelta(), True)
    assert listener.said[0].how == "started"


async def test_before_it_is_known_who_does_the_work_nothing_is_taken_in(connection: Connection) -> None:
    jobs, listener = Jobs(connection, SlowCheck(waits=False)), Listener()
    with pytest.raises(RuntimeError, match="at_work"):
        await jobs.check(request("ada"))
    async with jobs.at_work(listener):
        assert await jobs.check(request("ada")) is Taken.QUEUED
        await listener.answered("ada")


async def test_a_job_that_hands_in_another_one_can_do_so_from_the_first_moment(connection: Connection) -> None:
    """It may have been left by a process that is gone, and begins before anything else does."""
    went: list[str] = []
    done = asyncio.Event()

    async def go_on(text: str, interrupted: asyncio.Event) -> bool:
        went.append(text)
        if text == "first":
            await jobs.submit(Job("second", "second", Priority.CLICK))
        else:
            done.set()
        return True

    async def give_up(text: str, problem: Problem) -> None:
        went.append(f"{text} was given up")

    chain = Kind("chain", str, go_on, give_up)
    jobs = Jobs(connection, SlowCheck(), role=Role.WEB)
    async with jobs.at_work(Listener(), (chain,)):
        await jobs.submit(Job("first", "first", Priority.CLICK))
    jobs = Jobs(connection, SlowCheck())
    async with jobs.at_work(Listener(), (chain,)), asyncio.timeout(60):
        await done.wait()
    assert went == ["first", "second"]


async def test_one_check_answers_all_who_ask_while_it_runs_each_in_their_own_place(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    names = [f"person-{n}" for n in range(20)]
    async with working(connection, check, listener) as jobs:
        for name in names:
            await jobs.check(request(name))
        for name in names:
            await listener.heard("started", name)
        check.go.set()
        await listener.answered(*names)
    assert len(check.began) == 1
    assert sorted(one.to for one in listener.answers()) == sorted(names)


async def test_all_who_wait_see_the_progress(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("progress", "ada")
        check.go.set()
        await listener.answered("ada")


async def test_other_clusters_and_other_questions_are_checked_for_themselves(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await jobs.check(request("bob", "staging-neu"))
        await jobs.check(request("eve", area="network"))
        await listener.answered("ada", "bob", "eve")
    assert sorted(check.began) == ["ada", "bob", "eve"]


@pytest.mark.parametrize("spelling", ["PROD-WEU", "  prod-weu "])
async def test_spellings_of_one_name_are_one_question(spelling: str) -> None:
    assert request("ada", spelling).question == request("bob", CLUSTER).question


async def test_who_asks_soon_after_gets_the_same_report_with_its_age(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.answered("ada")
        await jobs.check(request("bob"))
        (told,) = await listener.answered("bob")
    assert check.began == ["ada"]
    assert told.what.age > timedelta()
    assert told.what.report.diagnosis == found()


async def test_check_again_makes_a_new_one(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.answered("ada")
        await jobs.check(request("bob", fresh=True))
        (told,) = await listener.answered("bob")
    assert len(check.began) == 2, "whoever of them leads it"
    assert told.what.age == timedelta()


async def test_a_request_that_comes_twice_is_answered_once(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener) as jobs:
        await asyncio.gather(*(jobs.check(request("ada")) for _ in range(5)))
        await listener.heard("started", "ada")
        await jobs.check(request("ada"))
        check.go.set()
        await listener.answered("ada")
        await jobs.check(request("ada"))
        await jobs.check(request("bob"))
        await listener.answered("bob")
    assert len(listener.answers("ada")) == 1


async def test_a_cluster_that_does_not_exist_is_told_with_what_to_do(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    check.problem = Problem("cannot find prod-weu", "no cluster has that name", "check the name")
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        (told,) = await listener.answered("ada")
    assert (told.how, told.what) == ("failed", check.problem)


async def test_a_job_that_fails_each_time_gives_up_and_says_so(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    check.problem = KeyError("limit")
    async with working(connection, check, listener, most_tries=2) as jobs:
        await jobs.check(request("ada"))
        (told,) = await listener.answered("ada")
    assert told.how == "gave up"
    assert "KeyError" in told.what.why
    assert len(check.began) == 2


async def test_who_joined_a_job_that_gives_up_is_told_too(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    check.problem = KeyError("limit")
    async with working(connection, check, listener, most_tries=1) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        await jobs.check(request("bob"))
        await listener.heard("started", "bob")
        check.go.set()
        await listener.answered("ada", "bob")
    assert [one.how for one in listener.answers()] == ["gave up", "gave up"]


async def test_one_who_cannot_be_told_does_not_keep_the_others_waiting(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener(mute={"ada"})
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        await jobs.check(request("bob"))
        await listener.heard("started", "bob")
        check.go.set()
        await listener.answered("bob")
        listener.mute.clear()
        await listener.answered("ada")
    assert len(check.began) == 1  # the second try tells what the first one found
    assert [one.how for one in listener.answers()] == ["done", "done"]


@pytest.mark.parametrize("problem", [None, KeyError("limit")], ids=["an answer", "giving up"])
async def test_one_whose_answer_takes_long_to_arrive_does_not_keep_the_others_waiting(
    connection: Connection, problem: Exception | None
) -> None:
    check, arrives, names = SlowCheck(), asyncio.Event(), [f"person-{n}" for n in range(5)]
    check.problem, listener = problem, Listener(holding={"person-0": arrives})
    async with working(connection, check, listener, most_tries=1) as jobs:
        for name in names:
            await jobs.check(request(name))
            await listener.heard("started", name)
        check.go.set()
        await listener.answered(*names[1:])
        assert not listener.answers(names[0])
        arrives.set()
        await listener.answered(*names)
    assert sorted(one.to for one in listener.answers()) == names


async def test_the_report_of_an_answer_is_kept_for_its_buttons(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.answered("ada")
        running = RunningChecks(connection.redis)

        async def kept() -> bool:
            return bool(await jobs.checks.report("ada"))

        await until(kept)
        answer = await jobs.checks.report("ada")
        assert await running.report("bob") is None
    assert answer
    assert answer.report.diagnosis == found()


async def test_a_click_overtakes_checks_and_a_check_overtakes_triage(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener, role=Role.WEB) as web:
        for name, priority in (("late", Priority.TRIAGE), ("soon", Priority.CHECK), ("now", Priority.CLICK)):
            await web.check(request(name, f"cluster-{name}"), priority)
        check.go.set()
        async with working(connection, check, listener, role=Role.WORKER, concurrency=1):
            await listener.answered("late", "soon", "now")
    assert check.began == ["now", "soon", "late"]


async def test_a_web_process_only_takes_in(connection: Connection) -> None:
    check, listener = SlowCheck(waits=False), Listener()
    async with working(connection, check, listener, role=Role.WEB) as web:
        assert await web.check(request("ada")) is Taken.QUEUED
        assert check.began == []
        async with working(connection, check, listener, role=Role.WORKER):
            await listener.answered("ada")


async def test_draining_lets_a_running_check_end(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    async with working(connection, check, listener, drain_s=20) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
        asyncio.get_running_loop().call_soon(check.go.set)
    assert [one.how for one in listener.answers("ada")] == ["done"]


async def test_what_does_not_end_in_time_is_done_by_another_worker(connection: Connection) -> None:
    check, listener, other = SlowCheck(), Listener(), Listener()
    async with working(connection, check, listener, drain_s=0.05) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
    assert listener.answers() == []
    async with working(connection, SlowCheck(waits=False), other):
        await other.answered("ada")
    assert len(other.answers("ada")) == 1


async def test_nothing_is_left_behind(connection: Connection) -> None:
    check, listener = SlowCheck(), Listener()
    before = asyncio.all_tasks()
    async with working(connection, check, listener) as jobs:
        await jobs.check(request("ada"))
        await listener.heard("started", "ada")
    assert {task for task in asyncio.all_tasks() if not task.done()} <= before


class _Leaving:
    """A memory in which two wait, and that goes away before it can be told that they have their answer."""

    waiting = (request("ada"), request("bob"))

    async def join(self, *_: str) -> Joined:
        return Joined(Part.LEAD, 0, 0)

    async def close(self, *_: str) -> tuple[Hold, list[Waiter]]:
        return Hold.MINE, [Waiter(0, encode(one), one.id) for one in self.waiting]

    async def answered(self, *_: str) -> None:
        raise StoreAway("it was restarted")


async def test_giving_up_is_said_once_although_it_cannot_be_recorded() -> None:
    listener = Listener()
    checks = Checks(cast("RunningChecks", _Leaving()), SlowCheck(), listener)
    await checks.give_up(request("ada"), Problem("cannot check", "a test", "nothing"))
    assert sorted(one.to for one in listener.answers()) == ["ada", "bob"]


async def test_two_kinds_of_jobs_with_one_payload_are_refused_at_the_start(connection: Connection) -> None:
    async def run(text: str, interrupted: asyncio.Event) -> bool:
        return True

    async def give_up(text: str, problem: Problem) -> None: ...

    both = (Kind("one", str, run, give_up), Kind("other", str, run, give_up))
    with pytest.raises(ValueError, match="two kinds of jobs have the payload str"):
        async with Jobs(connection, SlowCheck()).at_work(Listener(), both):
            raise AssertionError("it must not open")
