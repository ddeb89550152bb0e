"""Asks a question in the sandbox's Slack, and reads the answer as a person would see it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.checks.store.running import RunningChecks
from bot.playground.surroundings import Surroundings
from bot.report import report_json
from bot.report.events import Report
from bot.slack.inbound.commands import COMMAND
from bot.slack.kit.message import CHECK_AGAIN
from handlers.problem import Exit, Problem
from sandbox.slack.control import Control
from sandbox.slack.message import Message

_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class Answer:
    """The messages, and the stored report: None if the bot could not check."""

    head: Message
    thread: tuple[Message, ...]
    report: Report | None
    took_s: float


async def check_in_slack(around: Surroundings, person: str, channel: str, cluster: str, timeout_s: float) -> Answer:
    """Type `/aks check <cluster>`, and wait until the answer in its thread is complete."""
    control, loop = around.slack.control, asyncio.get_running_loop()
    before = {message.ts for message in heads(control, channel)}
    start = loop.time()
    try:
        async with asyncio.timeout(timeout_s):
            await control.slash(person, channel, COMMAND, f"check {cluster}")
            [head] = await control.until(lambda: _answered(control, channel, before), timeout_s)
            request = job_of(head)
            await _told(around.checks, request)
    except TimeoutError as late:
        told = [text_of(ephemeral) for ephemeral in control.ephemerals(person, channel)]
        why = f"the answer was not complete in the thread within {timeout_s:g} s"
        why += f"; {person} was told: {told[-1][:200]}" if told else ""
        do = "try again when this machine is less busy; if it fails again, report it"
        raise Problem(f"cannot show the check of {cluster}", why, do, code=Exit.UNAVAILABLE) from late
    took_s = loop.time() - start
    kept = await around.checks.report(request)
    report = report_json.load_or_none(kept.text) if kept else None
    return Answer(head, tuple(control.thread(channel, head.ts)[1:]), report, took_s)


async def _told(checks: RunningChecks, request: str) -> None:
    """Wait until the bot has stored its answer: then the last message of the thread has been posted."""
    while True:
        if await checks.are_answered([request]):
            return
        await asyncio.sleep(_LOOK_AGAIN_S)


def heads(control: Control, channel: str) -> list[Message]:
    """The bot's messages in the channel itself."""
    return [
        message for message in control.messages(channel) if message.user == control.team.bot.id and not message.is_reply
    ]


def job_of(head: Message) -> str:
    """The job that a message of the bot belongs to."""
    return str((head.metadata or {}).get("event_payload", {}).get("job", ""))


def buttons(message: Message) -> list[str]:
    """The action ids of the buttons in a message."""
    return [
        element["action_id"]
        for block in message.blocks
        for element in block.get("elements", [])
        if "action_id" in element
    ]


def text_of(message: Message) -> str:
    """All text of a message that a reader sees."""
    return " ".join(_texts(message.blocks)) or message.text


def _answered(control: Control, channel: str, before: set[str]) -> list[Message]:
    """The first new answer. If the bot could not check, it offers to try again."""
    new = (head for head in heads(control, channel) if head.ts not in before)
    return [message for message in new if CHECK_AGAIN in buttons(message)][:1]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for key in ("text", "fields", "elements", "tasks", "options"):
            if isinstance(value.get(key), list | dict):
                yield from _texts(value[key])
