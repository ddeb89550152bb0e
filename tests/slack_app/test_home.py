"""App Home: the fleet, open approvals, recent checks; for each person what they may see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from sandbox.slack.views import View
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, is_answer, text_of


def _home(control: Control, user: str = "requester") -> str:
    view = control.home(user)
    return text_of(view.blocks) if view else ""


async def _opened(control: Control, user: str = "requester", part: str = "Open approvals") -> View:
    """The page, once it says so."""
    control.open_home(user)
    await control.until(lambda: part in _home(control, user), 30)
    view = control.home(user)
    assert view
    return view


async def _shown(control: Control, slack: SlackServer, part: str, user: str = "requester") -> View:
    """The page, opened until it says so: an answer is listed a moment after it was given."""
    for _ in range(100):
        before = _published(slack)
        view = await _opened(control, user)
        await control.until(lambda: _published(slack) > before, 30)  # noqa: B023 - asked within this turn
        if part in _home(control, user):
            return view
    raise AssertionError(f"the page of {user} never said {part!r}")


def _published(slack: SlackServer) -> int:
    return sum(one.method == "views.publish" and one.status == 200 for one in slack.log)


def _elements(view: View) -> Iterator[dict[str, Any]]:
    for block in view.blocks:
        yield from (one for one in (block.get("accessory"), *block.get("elements", ())) if one and "action_id" in one)


async def test_the_page_shows_the_fleet_and_what_is_not_well_first(bot: Bot, control: Control) -> None:
    view = await _opened(control)
    said = _home(control)
    assert "8 clusters" in said
    assert said.index("prod-weu") < said.index("staging-neu")
    assert "Failed" in said
    assert "No approvals are open." in said
    assert "As of about" in said
    assert [one["text"]["text"] for one in _elements(view) if one["action_id"] == "home_check_0"] == ["Check"]


async def test_a_cluster_that_is_switched_off_is_named_so(start: Start, arm: ArmServer, control: Control) -> None:
    body = next(one for key, one in arm.world.resources.items() if key.endswith("/managedclusters/dev-shared"))
    body["properties"]["powerState"] = {"code": "Stopped"}
    async with start():
        await _opened(control, part="Stopped")
    assert _home(control).index("dev-shared") < _home(control).index("staging-neu")


async def test_a_check_from_the_page_is_answered_in_the_conversation_with_the_bot(bot: Bot, control: Control) -> None:
    view = await _opened(control)
    await control.press("requester", view, "home_check_0")
    await control.until(lambda: "the answer will be under" in _home(control))
    direct = control.direct("requester")
    await control.until(lambda: any(is_answer(one) for one in direct.messages), 30)
    assert control.messages("incidents") == []


async def test_a_check_of_one_area_is_listed_as_that(bot: Bot, control: Control, slack: SlackServer) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await answered(control)
    await control.slash("requester", "incidents", "/aks", "check prod-weu network")
    await control.until(lambda: len([one for one in control.messages("incidents") if is_answer(one)]) == 2, 30)
    await _shown(control, slack, "in network only")
    said = _home(control)
    assert "UNHEALTHY" in said


async def test_any_cluster_can_be_checked_from_the_page(bot: Bot, control: Control) -> None:
    view = await _opened(control)
    await control.select("requester", view, "home_pick", "staging-neu")
    direct = control.direct("requester")
    await control.until(lambda: any(is_answer(one) and "staging-neu" in one.text for one in direct.messages), 30)


async def test_checks_are_listed_with_who_asked_and_a_link(bot: Bot, control: Control, slack: SlackServer) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    view = await _shown(control, slack, "UNHEALTHY", "visitor")
    assert "quota" in _home(control, "visitor")
    assert f"/archives/{head.channel}/p{head.ts.replace('.', '')}" in str(view.blocks)
    assert control.team.person("requester").id in str(view.blocks)


async def test_what_was_asked_in_private_is_listed_for_nobody_else(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    await control.slash("requester", "payments-private", "/aks", "check prod-weu")
    await answered(control, "payments-private")
    await control.slash("requester", "random", "/aks", "check staging-neu")
    await control.until(lambda: any(is_answer(one) for one in control.ephemerals("requester", "random")), 30)
    await _shown(control, slack, "UNHEALTHY")
    await _shown(control, slack, " HEALTHY")
    await _opened(control, "approver")
    assert "UNHEALTHY" not in _home(control, "approver")
    assert "HEALTHY" not in _home(control, "approver")


async def test_refresh_shows_what_has_happened_since(bot: Bot, control: Control, slack: SlackServer) -> None:
    view = await _opened(control)
    assert "UNHEALTHY" not in _home(control)
    await control.slash("approver", "incidents", "/aks", "check prod-weu")
    await answered(control)
    await _shown(control, slack, "UNHEALTHY", "visitor")
    await control.press("requester", view, "home_refresh")
    await control.until(lambda: "UNHEALTHY" in _home(control), 30)


async def test_an_azure_that_does_not_answer_is_said_in_three_parts(
    start: Start, arm: ArmServer, control: Control
) -> None:
    async with start():
        await arm.__aexit__(None, None, None)
        await _opened(control, part="Cannot list the clusters")
    assert "Why" in _home(control)
    assert "What to do" in _home(control)
    assert "No approvals are open." in _home(control)


async def test_a_guest_sees_why_there_is_nothing(bot: Bot, control: Control) -> None:
    await _opened(control, "guest", part="guests may not look")
    assert "prod-weu" not in _home(control, "guest")


async def test_a_page_that_slack_refuses_once_comes_all_the_same(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    slack.faults.append(Fault("500", "views.publish", times=2))
    await _opened(control)


async def test_the_messages_tab_fills_nothing(bot: Bot, control: Control, slack: SlackServer) -> None:
    control.open_home("requester", tab="messages")
    await control.slash("requester", "incidents", "/aks", "help")
    assert control.home("requester") is None
    assert not [one for one in slack.log if one.method == "views.publish"]


async def test_a_press_that_fails_inside_is_told_on_the_page(bot: Bot, control: Control) -> None:
    view = await _opened(control)
    for block in view.blocks:
        if "accessory" in block:
            block["accessory"]["value"] = "not what we wrote"
    await control.press("requester", view, "home_check_0")
    await control.until(lambda: "Please try again" in _home(control), 30)
