"""Resolved problems are shown as resolved, and an older answer points to the newer one."""

from __future__ import annotations

import re

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.conftest import SCENARIO
from tests.slack_app.hearing import hold
from tests.slack_app.reading import answered, buttons, is_answer, seen

PATIENCE_S = 60


async def asked(control: Control, channel: str = "incidents") -> Message:
    """The head of an answer that stands with all that belongs under it."""
    await control.slash("requester", channel, "/aks", "check prod-weu")
    (head,) = await answered(control, channel)
    return head


def now(control: Control, message: Message, channel: str = "incidents") -> Message:
    return next(one for one in control.messages(channel) if one.ts == message.ts)


async def test_the_head_turns_to_a_tick_when_checking_again_finds_it_over_and_its_facts_stay(
    bot: Bot, control: Control, arm: ArmServer
) -> None:
    head = await asked(control)
    assert "UNHEALTHY" in seen(head)
    hold(arm, "healthy-fleet")
    await control.press("approver", head, "check_again")
    await control.until(lambda: "Over" in seen(now(control, head)), PATIENCE_S)
    over = now(control, head)
    assert ":white_check_mark:" in seen(over)
    assert ":red_circle:" not in seen(over)
    assert control.team.person("approver").id in str(over.blocks)
    assert "after this answer" in seen(over)
    assert {"check_again", "show_all_checks"} <= set(buttons(over))
    await control.press("visitor", over, "show_all_checks")
    await control.until(lambda: any("All checks" in seen(one) for one in control.thread("incidents", head.ts)))


async def test_an_older_answer_elsewhere_points_to_the_newer_one_but_not_to_a_check_of_a_part(
    bot: Bot, control: Control
) -> None:
    head = await asked(control)
    await control.slash("requester", "platform-on-call", "/aks", "check prod-weu network")
    await control.until(lambda: any(map(is_answer, control.messages("platform-on-call"))), PATIENCE_S)
    assert now(control, head).version == head.version
    (part,) = [one for one in control.messages("platform-on-call") if is_answer(one)]
    await control.press("requester", part, "check_everything")
    await control.until(lambda: "Checked again at" in seen(now(control, head)), PATIENCE_S)
    newer = control.team.channel("platform-on-call").id
    assert f"/archives/{newer}/" in str(now(control, head).blocks)


async def test_what_a_check_again_has_found_is_over_too(bot: Bot, control: Control, arm: ArmServer) -> None:
    hold(arm, "healthy-fleet")
    head = await asked(control)
    hold(arm, SCENARIO)
    await control.press("approver", head, "check_again")
    await control.until(lambda: ":red_circle:" in seen(now(control, head)), PATIENCE_S)
    hold(arm, "healthy-fleet")
    await control.press("approver", head, "check_again")
    await control.until(lambda: ":white_check_mark:" in seen(now(control, head)), PATIENCE_S)


async def test_the_buttons_of_a_head_that_was_checked_again_show_what_it_says_now(
    bot: Bot, control: Control, arm: ArmServer
) -> None:
    hold(arm, "healthy-fleet")
    head = await asked(control)
    hold(arm, SCENARIO)
    await control.press("approver", head, "check_again")
    await control.until(lambda: ":red_circle:" in seen(now(control, head)), PATIENCE_S)
    await control.press("visitor", now(control, head), "show_all_checks")

    def all_checks() -> list[Message]:
        return [one for one in control.thread("incidents", head.ts) if "All checks" in seen(one)]

    await control.until(lambda: bool(all_checks()), PATIENCE_S)
    (shown,) = all_checks()
    assert "quota-exceeded" in seen(shown).partition("Found nothing")[0]
    assert re.search(r"as of 20\d\d-\d\d-\d\d \d\d:\d\d UTC", seen(shown))


async def test_what_nobody_could_look_at_is_not_over(bot: Bot, control: Control, arm: ArmServer) -> None:
    head = await asked(control)
    await arm.__aexit__(None, None, None)
    await control.press("approver", head, "check_again")
    before = len(control.thread("incidents", head.ts))
    await control.until(lambda: len(control.thread("incidents", head.ts)) > before, PATIENCE_S)
    assert "UNHEALTHY" in seen(now(control, head))
