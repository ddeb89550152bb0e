from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.errors import NotInSlack
from sandbox.slack.interactions import Trouble
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import SocketApp, refusal

Body = dict[str, Any]


def _plain(text: str) -> Body:
    return {"type": "plain_text", "text": text}


def _option(value: str) -> Body:
    return {"text": _plain(value), "value": value}


BUTTON = {"type": "button", "text": _plain("Check again"), "action_id": "again", "value": "prod-weu"}
MENU = {"type": "static_select", "action_id": "area", "options": [_option("network"), _option("nodes")]}
CLUSTERS = {"type": "external_select", "action_id": "cluster", "min_query_length": 0}
NAME = {"type": "plain_text_input", "action_id": "name"}


def modal(*blocks: Body, **more: Any) -> Body:
    return {"type": "modal", "title": _plain("Pick"), "submit": _plain("Go"), "blocks": list(blocks), **more}


def name_input(**more: Any) -> Body:
    return {"type": "input", "block_id": "who", "label": _plain("Name"), "element": NAME, **more}


async def _post(client: AsyncWebClient, control: Control, *elements: Body) -> Message:
    blocks = [{"type": "actions", "block_id": "do", "elements": list(elements)}]
    channel = control.team.channel("incidents").id
    await client.chat_postMessage(channel=channel, text="x", blocks=blocks)
    return control.messages("incidents")[-1]


async def test_a_button_says_who_pressed_it_and_where(app: SocketApp, client: AsyncWebClient, control: Control) -> None:
    got: list[Body] = []

    @app.bolt.action("again")
    async def again(ack: AsyncAck, body: Body) -> None:
        got.append(body)
        await ack()

    message = await _post(client, control, BUTTON)
    await control.press("approver", message, "again")
    [body] = got
    assert body["user"]["username"] == "approver"
    assert body["actions"][0]["value"] == "prod-weu"
    assert body["container"]["message_ts"] == body["message"]["ts"] == message.ts
    assert body["channel"]["name"] == "incidents"


async def test_a_press_can_replace_delete_or_answer(app: SocketApp, client: AsyncWebClient, control: Control) -> None:
    answers: list[Body] = [
        {"text": "only for you"},
        {"text": "for all", "response_type": "in_channel"},
        {"text": "instead", "replace_original": True},
        {"text": "", "delete_original": True},
    ]

    @app.bolt.action("again")
    async def again(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond(**answers.pop(0))

    message = await _post(client, control, BUTTON)
    for _ in range(2):
        await control.press("approver", message, "again")
    await control.until(lambda: len(control.messages("incidents")) == 2 and control.ephemerals("approver"))
    await control.press("approver", message, "again")
    await control.until(lambda: message.text == "instead")
    assert message.blocks == []
    message = await _post(client, control, BUTTON)
    await control.press("approver", message, "again")
    await control.until(lambda: message not in control.messages("incidents"))


async def test_a_menu_says_what_was_chosen_and_remembers_it(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    got: list[Body] = []

    @app.bolt.action("area")
    @app.bolt.action("again")
    async def area(ack: AsyncAck, body: Body) -> None:
        await ack()

    @app.bolt.middleware
    async def look(body: Body, next: Any) -> None:  # noqa: A002 - the name is Bolt's
        if body.get("type") == "block_actions":
            got.append(body)
        await next()

    message = await _post(client, control, MENU, BUTTON)
    await control.select("approver", message, "area", "nodes")
    await control.press("approver", message, "again")
    assert got[0]["actions"][0]["selected_option"]["value"] == "nodes"
    assert got[1]["state"]["values"]["do"]["area"]["selected_option"]["value"] == "nodes"
    with pytest.raises(NotInSlack, match="does not offer"):
        await control.select("approver", message, "area", "storage")


async def test_an_external_menu_asks_the_app(app: SocketApp, client: AsyncWebClient, control: Control) -> None:
    asked: list[str] = []
    chosen: list[str] = []

    @app.bolt.options("cluster")
    async def options(ack: AsyncAck, payload: Body) -> None:
        asked.append(payload["value"])
        names = ["prod-weu", "prod-eus2", "dev-shared"]
        await ack(options=[_option(one) for one in names if payload["value"] in one])

    @app.bolt.action("cluster")
    async def cluster(ack: AsyncAck, action: Body) -> None:
        chosen.append(action["selected_option"]["value"])
        await ack()

    message = await _post(client, control, CLUSTERS)
    offered = await control.suggest("approver", message, "cluster", "prod")
    await control.select("approver", message, "cluster", "prod-eus2")
    await control.select("approver", message, "cluster", "dev-shared")
    assert [one["value"] for one in offered] == ["prod-weu", "prod-eus2"]
    assert asked == ["prod", "dev-shared"]
    assert chosen == ["prod-eus2", "dev-shared"]


async def test_an_external_menu_with_too_many_options_does_not_load(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    @app.bolt.options("cluster")
    async def options(ack: AsyncAck) -> None:
        await ack(options=[_option(str(number)) for number in range(101)])

    message = await _post(client, control, CLUSTERS)
    with pytest.raises(Trouble, match="no more than 100 items"):
        await control.suggest("approver", message, "cluster", "")


async def test_a_press_that_nobody_acknowledges_is_trouble(client: AsyncWebClient, control: Control) -> None:
    message = await _post(client, control, BUTTON)
    with pytest.raises(Trouble, match="no_connection"):
        await control.press("approver", message, "again")


async def test_a_trigger_opens_one_modal_within_three_seconds(
    app: SocketApp, client: AsyncWebClient, control: Control, clock: VirtualClock
) -> None:
    triggers: list[str] = []

    @app.bolt.command("/aks")
    async def aks(ack: AsyncAck, body: Body) -> None:
        triggers.append(body["trigger_id"])
        await ack()

    await control.slash("requester", "incidents", "/aks")
    await control.slash("requester", "incidents", "/aks")
    view = modal(name_input())
    assert (await refusal(client.views_open(trigger_id="1.2.3", view=view)))["error"] == "invalid_trigger_id"
    await client.views_open(trigger_id=triggers[0], view=view)
    assert control.modal("requester")
    again = await refusal(client.views_open(trigger_id=triggers[0], view=view))
    clock.advance(3.1)
    late = await refusal(client.views_open(trigger_id=triggers[1], view=view))
    assert (again["error"], late["error"]) == ("exchanged_trigger_id", "expired_trigger_id")


async def _opened(app: SocketApp, client: AsyncWebClient, control: Control, view: Body) -> Body:
    @app.bolt.command("/aks")
    async def aks(ack: AsyncAck, body: Body) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    await control.slash("requester", "incidents", "/aks")
    shown = await control.until(lambda: control.modal("requester"))
    assert shown is not None
    return shown.show()


async def test_a_modal_is_sent_with_what_was_entered_and_closes(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    got: list[Body] = []

    @app.bolt.view("pick")
    async def picked(ack: AsyncAck, view: Body) -> None:
        got.append(view)
        await ack()

    await _opened(app, client, control, modal(name_input(), callback_id="pick", private_metadata="m"))
    await control.submit_view("requester", {"name": "prod-weu"})
    assert got[0]["state"]["values"]["who"]["name"]["value"] == "prod-weu"
    assert got[0]["private_metadata"] == "m"
    assert control.modal("requester") is None


async def test_a_modal_with_an_empty_required_input_is_not_sent(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    await _opened(app, client, control, modal(name_input(), callback_id="pick"))
    await control.submit_view("requester")
    shown = control.modal("requester")
    assert shown is not None
    assert shown.errors == {"who": "Please complete this required field."}


@pytest.mark.parametrize("action", ["errors", "update", "push", "clear"])
async def test_the_app_says_what_follows_when_a_modal_is_sent(
    app: SocketApp, client: AsyncWebClient, control: Control, action: str
) -> None:
    more: dict[str, Body] = {
        "errors": {"errors": {"who": "No such cluster"}},
        "update": {"view": modal(name_input(), callback_id="two")},
        "push": {"view": modal(name_input(), callback_id="two")},
        "clear": {},
    }

    @app.bolt.view("pick")
    async def picked(ack: AsyncAck) -> None:
        await ack(response_action=action, **more[action])

    first = await _opened(app, client, control, modal(name_input(), callback_id="pick"))
    await control.submit_view("requester", {"name": "prod-weu"})
    shown = control.modal("requester")
    if action == "clear":
        assert shown is None
        return
    assert shown is not None
    assert shown.errors == ({"who": "No such cluster"} if action == "errors" else {})
    assert shown.show()["callback_id"] == ("pick" if action == "errors" else "two")
    assert (shown.id == first["id"]) == (action != "push")
    assert shown.previous == (first["id"] if action == "push" else None)


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"no-such-block": "x"}},
        {"response_action": "update", "view": modal(title=_plain("x" * 25))},
        {"response_action": "sing"},
    ],
)
async def test_an_answer_that_slack_does_not_take_is_trouble(
    app: SocketApp, client: AsyncWebClient, control: Control, answer: Body
) -> None:
    @app.bolt.view("pick")
    async def picked(ack: AsyncAck) -> None:
        await ack(**answer)

    await _opened(app, client, control, modal(name_input(), callback_id="pick"))
    with pytest.raises(Trouble):
        await control.submit_view("requester", {"name": "prod-weu"})
    assert control.modal("requester")


async def test_an_updated_modal_keeps_what_was_entered(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    shown = await _opened(app, client, control, modal(name_input(), callback_id="pick"))
    control.fill("requester", "name", "prod-weu")
    answer = await client.views_update(view_id=shown["id"], hash=shown["hash"], view=modal(name_input()))
    stale = await refusal(client.views_update(view_id=shown["id"], hash=shown["hash"], view=modal(name_input())))
    missing = await refusal(client.views_update(view_id="V0NONE", view=modal(name_input())))
    assert answer["view"]["state"]["values"]["who"]["name"]["value"] == "prod-weu"
    assert (stale["error"], missing["error"]) == ("hash_conflict", "not_found")


async def test_modals_are_pushed_onto_a_modal_up_to_three(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    errors: list[str] = []

    @app.bolt.action("again")
    async def push(ack: AsyncAck, body: Body) -> None:
        await ack()
        pushed = modal({"type": "actions", "elements": [BUTTON]})
        # Bolt forgets an acknowledgement when its listener raises right after it.
        try:
            await client.views_push(trigger_id=body["trigger_id"], view=pushed)
        except SlackApiError as error:
            errors.append(error.response["error"])
            control.site.changes.ring()

    await _opened(app, client, control, modal({"type": "actions", "elements": [BUTTON]}))
    stack = control.site.views.stack(control.team.id, control.team.person("requester").id)
    for depth in (2, 3):
        await control.press("requester", stack[-1], "again")
        await control.until(lambda depth=depth: len(stack) == depth)  # type: ignore[misc]
    await control.press("requester", stack[-1], "again")
    await control.until(lambda: errors)
    assert errors == ["push_limit_reached"]


async def test_closing_is_told_only_when_the_app_wants_to_know(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    closed: list[Body] = []

    @app.bolt.view_closed("pick")
    async def gone(ack: AsyncAck, body: Body) -> None:
        closed.append(body)
        await ack()

    await _opened(app, client, control, modal(name_input(), callback_id="pick", notify_on_close=True))
    await control.close_view("requester")
    trigger = control.site.triggers.give(control.team.id, control.team.person("requester").id)
    await client.views_open(trigger_id=trigger, view=modal(name_input(), callback_id="pick"))
    await control.close_view("requester")
    assert [one["is_cleared"] for one in closed] == [False]
    assert control.modal("requester") is None


async def test_the_home_tab_is_published_for_one_person(
    app: SocketApp, client: AsyncWebClient, control: Control, slack: SlackServer
) -> None:
    seen: list[Body] = []

    @app.bolt.event("app_home_opened")
    async def opened(event: Body) -> None:
        seen.append(event)
        view = {"type": "home", "blocks": [{"type": "actions", "elements": [BUTTON]}]}
        await client.views_publish(user_id=event["user"], view=view)

    control.open_home("requester")
    home = await control.until(lambda: control.home("requester"))
    assert seen[0]["tab"] == "home"
    assert control.home("approver") is None
    user = control.team.person("requester").id
    assert home is not None
    view = {"type": "home", "blocks": []}
    stale = await refusal(client.views_publish(user_id=user, view=view, hash="1.0000"))
    assert stale["error"] == "hash_conflict"
    with pytest.raises(NotInSlack):
        await control.press("approver", home, "again")


async def test_a_shortcut_of_a_message_brings_the_message(app: SocketApp, control: Control) -> None:
    got: list[Body] = []

    @app.bolt.shortcut("triage_this")
    async def triage(ack: AsyncAck, body: Body) -> None:
        got.append(body)
        await ack()

    message = control.say("visitor", "general", "prod-weu: SubnetIsFull")
    await control.shortcut("requester", "triage_this", message)
    assert got[0]["message"]["text"] == "prod-weu: SubnetIsFull"
    assert got[0]["response_url"]
    with pytest.raises(NotInSlack):
        await control.shortcut("requester", "no_such", message)


async def test_slack_lets_people_do_no_more_than_slack(
    app: SocketApp, client: AsyncWebClient, control: Control
) -> None:
    head = control.say("requester", "incidents", "head")
    with pytest.raises(NotInSlack, match="not supported in threads"):
        await control.slash("requester", "incidents", "/aks", "check", thread_ts=head.ts)
    with pytest.raises(NotInSlack, match="not a valid command"):
        await control.slash("requester", "incidents", "/kubectl", "get pods")
    with pytest.raises(NotInSlack, match="not in leads-private"):
        await control.slash("requester", "leads-private", "/aks")
    with pytest.raises(NotInSlack, match="archived"):
        control.say("requester", "old-incidents", "hello")
    with pytest.raises(NotInSlack, match="slash command"):
        control.say("requester", "incidents", "/aks check")
    with pytest.raises(NotInSlack, match="cannot join"):
        control.join("guest", "general")
    channel, user = control.team.channel("incidents").id, control.team.person("requester").id
    blocks = [{"type": "actions", "elements": [BUTTON]}]
    await client.chat_postEphemeral(channel=channel, user=user, text="x", blocks=blocks)
    [mine] = control.ephemerals("requester")
    with pytest.raises(NotInSlack, match="does not see"):
        await control.press("approver", mine, "again")
