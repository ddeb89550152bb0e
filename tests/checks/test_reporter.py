"""Reporter behavior: who still wants the answer, what is posted below it, and the follow-ups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.checks.offered_fix import Fix
from bot.checks.reporter import Answer, WithHooks
from bot.checks.request import CheckRequest
from bot.queue.retry import CannotTell
from bot.report.events import Report
from handlers.problem import Problem
from handlers.remedy.plan import Offer
from tests.bot import diagnoses
from tests.checks.people import Listener, request

FIX = Fix(Offer("nodepool-failed", "apps", "reconcile-pool"))
ANSWER = Answer(Report(diagnoses.found(), 1.0, 1))
LATE = Problem("cannot check prod-weu", "no answer", "try again")


@dataclass
class Bot:
    """The hooks of others, and what they heard."""

    listener: Listener = field(default_factory=Listener)
    silenced: bool = False
    heard: list[tuple[str, str, bool]] = field(default_factory=list)

    @property
    def reporter(self) -> WithHooks:
        return WithHooks(self.listener, self._wanted, self._completed, (self._first, self._second))

    async def _wanted(self, request: CheckRequest) -> bool:
        return not self.silenced

    async def _completed(self, request: CheckRequest, answer: Answer) -> Answer:
        return replace(answer, fixes=(FIX,))

    async def _first(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        self.heard.append((f"first {request.id}", type(outcome).__name__, told))

    async def _second(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        self.heard.append((f"second {request.id}", type(outcome).__name__, told))


async def test_an_answer_is_told_with_its_fixes_and_then_each_hook_hears_of_it() -> None:
    bot = Bot()
    await bot.reporter.started(request("ada"), timedelta(), durable=True)
    await bot.reporter.done(request("ada"), ANSWER)
    (answer,) = bot.listener.answers("ada")
    assert (answer.what.fixes, answer.what.report) == ((FIX,), ANSWER.report)
    assert bot.heard == [("first ada", "Answer", True), ("second ada", "Answer", True)]


async def test_what_nobody_wants_to_hear_is_not_told_and_the_hooks_know_that() -> None:
    bot = Bot(silenced=True)
    await bot.reporter.started(request("ada"), timedelta(), durable=True)
    await bot.reporter.done(request("ada"), ANSWER)
    await bot.reporter.failed(request("bob"), LATE)
    await bot.reporter.gave_up(request("eve"), LATE)
    assert bot.listener.said == []
    assert [(name, told) for name, _, told in bot.heard if name.startswith("first")] == [
        ("first ada", False),
        ("first bob", False),
        ("first eve", False),
    ]


async def test_a_reason_why_there_is_no_answer_reaches_people_and_hooks() -> None:
    bot = Bot()
    await bot.reporter.failed(request("ada"), LATE)
    await bot.reporter.gave_up(request("bob"), LATE)
    assert [(one.how, one.to, one.what) for one in bot.listener.said] == [
        ("failed", "ada", LATE),
        ("gave up", "bob", LATE),
    ]
    assert {(kind, told) for _, kind, told in bot.heard} == {("Problem", True)}


async def test_an_answer_that_could_not_be_told_has_no_consequences_yet() -> None:
    bot = Bot()
    bot.listener.mute.add("ada")
    with pytest.raises(CannotTell):
        await bot.reporter.done(request("ada"), ANSWER)
    assert bot.heard == []
