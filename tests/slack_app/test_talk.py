"""People who mention the bot and just talk: the whole way, from their words to what it does."""

from __future__ import annotations

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.reading import buttons, is_answer, seen


def _thread(control: Control, asked: Message) -> list[Message]:
    return control.thread("incidents", asked.ts)[1:]


async def _told(control: Control, asked: Message, part: str) -> Message:
    await control.until(lambda: any(part in seen(one) for one in _thread(control, asked)), 60)
    return next(one for one in _thread(control, asked) if part in seen(one))


async def test_a_question_about_a_cluster_checks_it_in_the_thread(bot: Bot, control: Control) -> None:
    asked = control.mention("requester", "incidents", "why is prod-weu broken?")
    await control.until(lambda: any(is_answer(one) for one in _thread(control, asked)), 60)
    later = control.mention("requester", "incidents", "what changed on prod-weu in the last 2 hours?")
    assert "`prod-weu`" in seen(await _told(control, later, "the last 2"))


async def test_what_is_misspelt_is_one_line_in_the_thread_with_buttons(bot: Bot, control: Control) -> None:
    asked = control.mention("requester", "incidents", "pord-weu")
    line = await _told(control, asked, "Do you mean this one?")
    assert len(_thread(control, asked)) == 1
    await control.press("requester", line, "check_this_0")
    await control.until(lambda: any(is_answer(one) for one in _thread(control, asked)), 60)
    command = control.mention("requester", "incidents", "clutsers")
    await control.press("requester", await _told(control, command, "Perhaps you mean `/aks clusters`"), "suggested_0")
    await _told(control, command, "staging-neu")


async def test_a_pasted_error_is_explained_and_its_cluster_is_one_tap_away(bot: Bot, control: Control) -> None:
    error = "prod-weu: ERROR: (QuotaExceeded) exceeding approved standardDSv5Family Cores quota"
    explained = await _told(control, control.mention("requester", "incidents", error), "Recognised, not verified")
    assert "check_this_0" in buttons(explained)


@pytest.mark.parametrize("typed", ["prod-weu", "why is prod-weu broken"])
async def test_a_command_without_its_word_is_understood_too(bot: Bot, control: Control, typed: str) -> None:
    await control.slash("requester", "incidents", "/aks", typed)
    await control.until(lambda: any(is_answer(one) for one in control.messages("incidents")), 60)


async def test_help_is_short_and_the_rest_is_one_tap_away(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "help")
    (short,) = control.ephemerals("requester")
    assert "/aks mute" not in seen(short)
    await control.press("requester", short, "suggested_0")
    await control.until(lambda: any("/aks mute" in seen(one) for one in control.ephemerals("requester")), 30)


async def test_watch_this_under_an_answer_waits_for_its_cluster_in_its_thread(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await control.until(lambda: any(is_answer(one) for one in control.messages("incidents")), 60)
    head = next(one for one in control.messages("incidents") if is_answer(one))
    await control.press("requester", head, "watch_this")
    await control.until(lambda: any("watch_stop" in buttons(one) for one in control.thread("incidents", head.ts)), 60)
