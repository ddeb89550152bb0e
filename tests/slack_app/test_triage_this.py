"""The message shortcut *Triage this*."""

from __future__ import annotations

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.conftest import Start
from tests.slack_app.hearing import Reads, reads
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen

__all__ = ["reads"]

ERROR = "Code=QuotaExceeded: the core quota of PROD-WEU is used up"


async def _triaged(control: Control, user: str, message: Message, part: str) -> Message:
    """What only this person sees, once it says so."""
    await control.shortcut(user, "triage_this", message)
    channel = message.channel
    await control.until(lambda: any(part in seen(one) for one in control.ephemerals(user, channel)), 30)
    return next(one for one in control.ephemerals(user, channel) if part in seen(one))


async def test_a_message_is_explained_and_its_cluster_can_be_checked(bot: Bot, control: Control) -> None:
    said = control.say("visitor", "incidents", ERROR)
    told = await _triaged(control, "requester", said, "It names")
    assert "quota-exceeded" in seen(told)
    assert "prod-weu" in seen(told)
    assert heads(control) == []
    await control.press("requester", told, "triage_check_0")
    await control.until(lambda: any(map(is_answer, control.thread("incidents", said.ts))), 30)
    assert any("the answer comes in the thread" in seen(one) for one in control.ephemerals("requester"))
    assert heads(control) == []


async def test_an_alert_is_read_in_its_blocks_and_attachments(bot: Bot, control: Control) -> None:
    alert = control.say_as_app(
        "Grafana",
        "incidents",
        "",
        blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "*Alert* on `edge-nexus-01`"}}],
        attachments=[
            {"fallback": "x", "title": "QuotaExceeded", "fields": [{"title": "cluster", "value": "prod-weu"}]}
        ],
    )
    told = await _triaged(control, "requester", alert, "It names")
    assert "quota-exceeded" in seen(told)
    assert [one for one in buttons(told) if one.startswith("triage_check")] == ["triage_check_0", "triage_check_1"]


async def test_without_a_cluster_in_it_there_is_a_menu_and_the_answer_goes_to_the_message(
    bot: Bot, control: Control
) -> None:
    said = control.say("visitor", "incidents", "the deployment is stuck")
    told = await _triaged(control, "requester", said, "Which one shall I check?")
    await control.select("requester", told, "pick_cluster", "prod-weu")
    await control.until(lambda: any(map(is_answer, control.thread("incidents", said.ts))), 30)


async def test_it_works_where_the_bot_is_no_member(bot: Bot, control: Control) -> None:
    said = control.say("visitor", "random", ERROR)
    told = await _triaged(control, "requester", said, "It names")
    await control.press("requester", told, "triage_check_0")
    await control.until(lambda: any(is_answer(one) for one in control.ephemerals("requester", "random")), 30)
    assert control.messages("random") == [said]


async def test_a_picture_without_words_is_answered(bot: Bot, control: Control) -> None:
    alert = control.say_as_app(
        "Grafana",
        "incidents",
        "",
        blocks=[{"type": "image", "image_url": "https://example.com/a.png", "alt_text": "-"}],
    )
    await _triaged(control, "requester", alert, "There is no text")


async def test_a_guest_is_told_what_a_message_speaks_of_and_no_cluster(bot: Bot, control: Control) -> None:
    said = control.say("visitor", "contractors", ERROR)
    told = await _triaged(control, "guest", said, "guests may not look")
    assert "quota-exceeded" in seen(told)
    assert not [one for one in buttons(told) if one.startswith("triage_check")]


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_over_both_roads(start: Start, control: Control, over_http: bool) -> None:
    async with start(over_http=over_http):
        said = control.say("visitor", "incidents", ERROR)
        await _triaged(control, "requester", said, "It names")


async def test_somebody_of_another_company_is_refused(bot: Bot, control: Control) -> None:
    said = control.say("requester", "partner-support", ERROR)
    await _triaged(control, "partner", said, "of this workspace only")
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    assert len(await answered(control)) == 1


async def test_who_may_no_longer_look_at_that_cluster_reads_why_when_they_press_its_button(
    reads: Reads, control: Control
) -> None:
    said = control.say("visitor", "incidents", ERROR)
    async with reads():
        told = await _triaged(control, "requester", said, "It names")
    async with reads("look:\n  ask: the platform team\n  rules:\n    - {clusters: [staging-*]}\n"):
        await control.press("requester", told, "triage_check_0")
        await control.until(
            lambda: any("I may not show you `prod-weu`" in seen(one) for one in control.ephemerals("requester")), 30
        )
    assert not any("Internal error" in seen(one) for one in control.ephemerals("requester"))
    assert control.thread("incidents", said.ts) == [said]
