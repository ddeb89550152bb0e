"""What people write to the bot alone: commands without a mention."""

from __future__ import annotations

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import is_answer, seen


def _said(control: Control, user: str = "requester") -> list[Message]:
    """What the bot says to this person alone."""
    return [one for one in control.direct(user).messages if one.user == control.team.bot.id]


async def _until_said(control: Control, part: str, user: str = "requester") -> None:
    await control.until(lambda: any(part in seen(one) for one in _said(control, user)), 30)


@pytest.mark.parametrize("typed", ["check prod-weu", "prod-weu"])
async def test_a_check_needs_no_mention(bot: Bot, control: Control, typed: str) -> None:
    control.say("requester", control.direct("requester").id, typed)
    await control.until(lambda: any(map(is_answer, _said(control))), 30)
    head = next(one for one in _said(control) if is_answer(one))
    assert not head.is_reply
    await control.until(lambda: any("What to do" in seen(one) for one in control.thread(head.channel, head.ts)), 30)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("help", "What I can do"),
        ("hello there", "I do not understand that"),
        ("chek prod-weu", "Perhaps you mean `/aks check`"),
        ("explain QuotaExceeded", "Recognised, not verified"),
        ("clusters", "staging-neu"),
        ("check", "Which cluster?"),
        ("default prod-weu", "is now `prod-weu`"),
    ],
)
async def test_any_words_are_answered(bot: Bot, control: Control, typed: str, answer: str) -> None:
    control.say("requester", control.direct("requester").id, typed)
    await _until_said(control, answer)


async def test_in_a_thread_the_answer_stays_there(bot: Bot, control: Control) -> None:
    direct = control.direct("requester").id
    first = control.say("requester", direct, "help")
    await _until_said(control, "What I can do")
    control.say("requester", direct, "runbook subnet-full", thread_ts=first.ts)
    await control.until(lambda: any("What it means" in seen(one) for one in control.thread(direct, first.ts)), 30)


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_one_message_has_one_answer_and_the_bot_does_not_answer_itself(
    start: Start, control: Control, slack: SlackServer, over_http: bool
) -> None:
    async with start(over_http=over_http):
        direct = control.direct("requester").id
        asked = control.say("requester", direct, "help")
        await _until_said(control, "What I can do")
        control.edit("requester", asked, "help me")
        control.say("requester", direct, "runbook subnet-full")
        await _until_said(control, "What it means")
    assert len(_said(control)) == 2


async def test_a_mention_in_it_is_answered_once(bot: Bot, control: Control) -> None:
    control.mention("requester", control.direct("requester").id, "help")
    await _until_said(control, "What I can do")
    control.say("requester", control.direct("requester").id, "runbook subnet-full")
    await _until_said(control, "What it means")
    assert len(_said(control)) == 2


async def test_a_guest_is_refused_there_too(bot: Bot, control: Control) -> None:
    control.say("guest", control.direct("guest").id, "check prod-weu")
    await _until_said(control, "you are a guest", "guest")
    assert not any(map(is_answer, _said(control, "guest")))
