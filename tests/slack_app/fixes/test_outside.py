"""Where guests or another company read along no fix is listed openly, and none can be asked for."""

from __future__ import annotations

from bot.app import Bot
from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.fixes.steps import CHANNEL, Desk, audited
from tests.slack_app.reading import buttons, is_answer, seen

SHARED = "partner-support"


def fix_buttons(message: Message) -> list[str]:
    return [name for name in buttons(message) if name.startswith("fix_")]


async def test_what_can_be_done_is_listed_for_whoever_asked_alone_and_without_buttons(
    bot: Bot, desk: Desk, control: Control
) -> None:
    def mine() -> list[Message]:
        return [one for one in control.ephemerals("requester", SHARED) if "What can be done about" in seen(one)]

    await control.slash("requester", SHARED, "/aks", f"fixes {desk.cluster}")
    await control.until(lambda: bool(mine()), 60)
    (listed,) = mine()
    assert "check again in an internal channel" in seen(listed)
    assert fix_buttons(listed) == []
    assert control.messages(SHARED) == []
    assert control.ephemerals("partner", SHARED) == []


async def test_the_answer_for_whoever_asked_has_no_button_that_could_not_be_used_there(
    bot: Bot, desk: Desk, control: Control
) -> None:
    def mine() -> list[Message]:
        return control.ephemerals("requester", SHARED)

    await control.slash("requester", SHARED, "/aks", f"check {desk.cluster}")
    await control.until(lambda: any("What to do" in seen(one) for one in mine()), 60)
    assert any(map(is_answer, mine()))
    assert [name for one in mine() for name in fix_buttons(one)] == []
    assert any("To ask for a fix, check again in an internal channel" in seen(one) for one in mine())


async def test_a_button_from_before_a_guest_joined_says_where_to_ask_instead(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    cause = await desk.offered()
    control.invite("approver", "guest", CHANNEL)
    view = await desk.planned(cause)
    assert "guests or people of another company read this channel" in str(view.blocks)
    assert "submit" not in view.body
    assert await audited(redis) == []


async def test_a_guest_who_joins_while_the_window_is_open_reads_no_request(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    await desk.planned(await desk.offered())
    control.invite("approver", "guest", CHANNEL)
    await control.submit_view("requester")
    await desk.told("requester", "guests or people of another company", "internal channel")
    assert desk.find() is None
    assert await audited(redis) == []
