"""The steps of a drill, one after the other. A step that fails raises `StepFailed`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from bot.drill.result import Item, differences
from bot.playground.asking import Answer, buttons, check_in_slack, text_of
from bot.playground.surroundings import Surroundings
from bot.render.pictures.of_answer import pictures_of
from bot.render.verdict import label, not_checked
from bot.slack.kit import escaping
from bot.slack.kit.message import CHECK_AGAIN, SHOW_ALL, STEPS, WRONG, image
from handlers.model import Finding, State
from handlers.problem import Problem
from runbooks.library import Library

WHO_ASKS = "requester"
MOST_ASKED = 3
"""Slack's three seconds are not always enough on a machine that does much else: the bot then checks without its memory,
says so, and nothing is kept that could be compared."""


class StepFailed(Exception):
    """Something was not as expected; the text says what."""


@dataclass
class Scene:
    """Where a drill runs, and the answers so far, by cluster."""

    around: Surroundings
    library: Library
    answer_within_s: float
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: dict[str, list[Answer]] = field(default_factory=dict)
    """The answers to questions about something in particular, by cluster."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def items(self, cluster: str) -> tuple[Item, ...]:
        """The findings of the bot on that cluster."""
        answers = [self.answers.get(cluster), *self.asked.get(cluster, ())]
        return tuple(item for answer in answers if answer for item in items_of(cluster, answer))


def items_of(cluster: str, answer: Answer) -> tuple[Item, ...]:
    """The findings of one answer."""
    ranked = answer.report.diagnosis.findings if answer.report else ()
    return tuple(Item(cluster, found.finding.code, found.finding.subject, found.root) for found in ranked)


class Step(Protocol):
    """One action or comparison."""

    async def take(self, scene: Scene) -> None: ...


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody types the command in the cluster's channel, waits for the answer, and asks again if it was not kept."""

    cluster: str

    async def take(self, scene: Scene) -> None:
        for _ in range(MOST_ASKED):
            scene.answers[self.cluster] = answer = await answered(scene, self.cluster, self.cluster)
            if answer.report is not None:
                return


@dataclass(frozen=True, slots=True)
class AskAbout:
    """Somebody asks about something in particular, and the answer holds what is expected and says it in the channel."""

    cluster: str
    question: str
    expected: tuple[Item, ...]
    stays_open: bool = False

    async def take(self, scene: Scene) -> None:
        answer = await answered(scene, self.cluster, f"{self.cluster} {self.question}")
        scene.asked.setdefault(self.cluster, []).append(answer)
        if answer.report is None:
            raise StepFailed(f"{self.question}: no answer: {text_of(answer.head)[:300]}")
        differing = differences(self.expected, items_of(self.cluster, answer))
        if differing:
            raise StepFailed(f"{self.question}: {'; '.join(differing)}")
        diagnosis = answer.report.diagnosis
        wanted = State.FOUND if self.expected else State.INCONCLUSIVE if self.stays_open else State.CLEAR
        if diagnosis.state is not wanted:
            why = [check.why for check in diagnosis.checks if check.outcome.value in ("inconclusive", "crashed")]
            raise StepFailed(f"{self.question}: {diagnosis.state.value} instead of {wanted.value}: {'; '.join(why)}")
        if label(diagnosis)[0] not in text_of(answer.head):
            raise StepFailed(f"{self.question}: the message in the channel does not say {label(diagnosis)[0]!r}")


async def answered(scene: Scene, channel: str, asked: str) -> Answer:
    """Type the command in the cluster's channel, and wait for the answer."""
    try:
        return await check_in_slack(scene.around, WHO_ASKS, channel, asked, scene.answer_within_s)
    except Problem as problem:
        raise StepFailed(f"{problem.what}: {problem.why}") from problem


@dataclass(frozen=True, slots=True)
class Compare:
    """The bot has found what is expected, and nothing else."""

    cluster: str
    expected: tuple[Item, ...]
    stays_open: tuple[str, ...] = ()

    async def take(self, scene: Scene) -> None:
        answer = scene.answers[self.cluster]
        if answer.report is None:
            raise StepFailed(f"no check was made: {text_of(answer.head)[:300]}")
        differing = differences(self.expected, scene.items(self.cluster))
        if differing:
            raise StepFailed("; ".join(differing))
        diagnosis = answer.report.diagnosis
        wanted = State.FOUND if self.expected else State.INCONCLUSIVE if self.stays_open else State.CLEAR
        open_checks = [check.id for check in diagnosis.checks if check.outcome.value in ("inconclusive", "crashed")]
        if diagnosis.state is not wanted and not not_checked(diagnosis):
            still = ", ".join(open_checks)
            raise StepFailed(f"the verdict is {diagnosis.state.value} instead of {wanted.value}; open: {still}")
        if self.stays_open and open_checks != [*self.stays_open]:
            raise StepFailed(f"open are {', '.join(open_checks) or 'none'} instead of {', '.join(self.stays_open)}")


@dataclass(frozen=True, slots=True)
class Look:
    """Where the answer has pictures, they stand in the thread, with words for who cannot see them."""

    cluster: str

    async def take(self, scene: Scene) -> None:
        answer = scene.answers[self.cluster]
        pictures = pictures_of(answer.report.diagnosis, scene.library) if answer.report else ()
        if not pictures:
            return
        control = scene.around.slack.control

        def shown() -> list[str]:
            blocks = (block for message in control.thread(self.cluster, answer.head.ts) for block in message.blocks)
            said = [str(block["alt_text"]) for block in blocks if block["type"] == "image"]
            return said if len(said) == len(pictures) else []

        try:
            said = await control.until(shown, scene.answer_within_s)
        except TimeoutError as late:
            names = ", ".join(picture.name for picture in pictures)
            raise StepFailed(f"not all of {names} stand in the thread") from late
        if said != [image("", picture.alt)["alt_text"] for picture in pictures]:
            raise StepFailed(f"the pictures say {said!r} to who cannot see them")


@dataclass(frozen=True, slots=True)
class Read:
    """The messages agree: the verdict in the channel, the root cause first in its thread, the buttons."""

    cluster: str

    async def take(self, scene: Scene) -> None:
        answer = scene.answers[self.cluster]
        if answer.report is None:
            raise StepFailed("there is no answer to read")
        diagnosis = answer.report.diagnosis
        head = text_of(answer.head)
        for wanted in (label(diagnosis)[0], self.cluster):
            if wanted not in head:
                raise StepFailed(f"the message in the channel does not say {wanted!r}: {head[:200]}")
        _must_have(buttons(answer.head), CHECK_AGAIN, SHOW_ALL, WRONG)
        roots = [ranked.finding for ranked in diagnosis.findings if ranked.root]
        if roots:
            self._read_thread(answer, roots, scene.library)

    def _read_thread(self, answer: Answer, roots: list[Finding], library: Library) -> None:
        if not answer.thread:
            raise StepFailed("there is nothing in the thread")
        first, whole = text_of(answer.thread[0]), " ".join(map(text_of, answer.thread))
        places = [(first.find(escaping.plain(_title(root, library), 300)), root.code) for root in roots[:1]]
        others = [(whole.find(escaping.plain(_title(root, library), 300)), root.code) for root in roots[1:]]
        for place, code in (*places, *others):
            if place < 0:
                raise StepFailed(f"the thread does not speak of {code} by its title")
        if any(place < places[0][0] for place, _ in others):
            raise StepFailed(f"the thread does not begin with {places[0][1]}")
        if any(root.code in library for root in roots):
            _must_have([name for message in answer.thread for name in buttons(message)], f"{STEPS}_0")


def _title(finding: Finding, library: Library) -> str:
    runbook = library.get(finding.code)
    return runbook.title if runbook else finding.code


def _must_have(there: list[str], *wanted: str) -> None:
    missing = [name for name in wanted if name not in there]
    if missing:
        raise StepFailed(f"there is no button {', '.join(missing)}")
