"""What a drill requires of the text that users see."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.checks import reporter as checks_reporter
from bot.drill.steps import Read, Scene, StepFailed
from bot.playground.asking import Answer
from bot.playground.surroundings import Surroundings
from bot.report.events import Report
from bot.slack.checks import view as checks_view
from bot.slack.kit.message import Message as Said
from bot.slack.kit.message import Pressed
from sandbox.slack.message import Message
from tests.bot.diagnoses import clear, found, library

Break = Callable[[Answer], Answer]


def message(said: Said) -> Message:
    return Message("1.0", "C1", "U1", said.text, blocks=list(said.blocks))


def answered(*, well: bool = False) -> Answer:
    """As the bot says it."""
    report = Report(clear() if well else found(), 900.0, 10)
    said = checks_view.answer(checks_reporter.Answer(report, timedelta(), True), Pressed("job", "prod-weu"), library())
    return Answer(message(said.head), tuple(map(message, said.thread)), report, 1.0)


async def read(answer: Answer) -> None:
    nowhere = cast(Surroundings, None)  # reading needs no server
    await Read("prod-weu").take(Scene(nowhere, library(), 1.0, {"prod-weu": answer}))


def without(answer: Answer, text: str) -> Answer:
    """The same answer, but for one text of it."""

    def scrubbed(one: Message) -> Message:
        shown: list[dict[str, Any]] = json.loads(json.dumps(one.blocks).replace(text, "…"))
        return replace(one, text=one.text.replace(text, "…"), blocks=shown)

    return replace(answer, head=scrubbed(answer.head), thread=tuple(map(scrubbed, answer.thread)))


@pytest.mark.parametrize("well", [False, True])
async def test_an_answer_as_the_bot_gives_it_is_read_without_complaint(well: bool) -> None:
    await read(answered(well=well))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda one: replace(one, report=None), "no answer to read"),
        (lambda one: replace(one, thread=()), "nothing in the thread"),
        (lambda one: without(one, "UNHEALTHY"), "does not say 'UNHEALTHY'"),
        (lambda one: without(one, "check_again"), "no button check_again"),
        (lambda one: without(one, "show_steps_0"), "no button show_steps_0"),
        (lambda one: without(one, "The core quota of a VM family"), "does not speak of quota-exceeded by its title"),
    ],
    ids=["no report", "no thread", "no verdict", "no button", "no steps", "no title"],
)
async def test_an_answer_with_a_piece_missing_is_amiss(broken: Break, says: str) -> None:
    with pytest.raises(StepFailed, match=says):
        await read(broken(answered()))
