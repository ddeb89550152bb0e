from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.control import Control
from sandbox.slack.manifest import Manifest
from sandbox.slack.server import SlackServer

Body = dict[str, Any]


def told(slack: SlackServer) -> list[Body]:
    """The events that were sent, each once."""
    return [one.payload["event"] for one in slack.outbox.attempts if one.attempt == 0]


@pytest.fixture
def quick(slack: SlackServer) -> SlackServer:
    """Nobody listens: what is sent is enough to look at."""
    return slack


async def _sent(slack: SlackServer, number: int) -> list[Body]:
    await slack.until(lambda: len(told(slack)) >= number)
    return told(slack)


async def test_the_app_hears_messages_where_it_is_a_member(quick: SlackServer, control: Control) -> None:
    control.say("requester", "general", "not for the app")
    control.say("requester", "incidents", "a < b & prod-weu")
    control.say("requester", "payments-private", "quietly")
    control.say("requester", control.direct("requester").id, "you alone")
    events = await _sent(quick, 3)
    assert [one["channel_type"] for one in events] == ["channel", "group", "im"]
    assert events[0]["text"] == "a &lt; b &amp; prod-weu"
    assert quick.told_events == {"message.channels", "message.groups", "message.im"}


async def test_a_mention_is_told_beside_the_message(quick: SlackServer, control: Control) -> None:
    message = control.mention("requester", "incidents", "check prod-weu")
    events = await _sent(quick, 2)
    assert [one["type"] for one in events] == ["message", "app_mention"]
    assert events[1]["text"] == message.text == f"<@{control.team.bot.id}> check prod-weu"


async def test_what_people_type_becomes_what_slack_makes_of_it(control: Control) -> None:
    message = control.say("requester", "incidents", "@approver see #general and https://x.example/?a=1&b=2 @nobody")
    person, channel = control.team.person("approver").id, control.team.channel("general").id
    assert message.text == f"<@{person}> see <#{channel}|general> and <https://x.example/?a=1&amp;b=2> @nobody"
    assert message.blocks[0]["elements"][0]["elements"][0] == {"type": "user", "user_id": person}


async def test_own_messages_changes_and_deletions_are_told_too(
    quick: SlackServer, client: AsyncWebClient, control: Control
) -> None:
    channel = control.team.channel("incidents").id
    ts = (await client.chat_postMessage(channel=channel, text="one"))["ts"]
    await client.chat_update(channel=channel, ts=ts, text="two")
    await client.chat_delete(channel=channel, ts=ts)
    events = await _sent(quick, 3)
    assert [one.get("subtype") for one in events] == [None, "message_changed", "message_deleted"]
    assert events[0]["bot_id"]
    assert (events[1]["message"]["text"], events[1]["previous_message"]["text"]) == ("two", "one")


async def test_other_apps_post_as_bots(quick: SlackServer, control: Control) -> None:
    control.say_as_app("alertmanager", "incidents", "", attachments=[{"text": "KubeNodeNotReady", "color": "danger"}])
    [event] = await _sent(quick, 1)
    assert event["subtype"] == "bot_message"
    assert event["username"] == "alertmanager"
    assert event["attachments"][0]["text"] == "KubeNodeNotReady"


async def test_channels_that_come_and_are_renamed_and_who_joins_them(quick: SlackServer, control: Control) -> None:
    channel = control.create_channel("requester", "inc-42")
    control.rename_channel("inc-42", "inc-42-weu")
    control.invite_app("requester", channel.id)
    control.join("visitor", channel.id)
    events = await _sent(quick, 4)
    assert [one["type"] for one in events] == [
        "channel_created",
        "channel_rename",
        "member_joined_channel",
        "member_joined_channel",
    ]
    assert events[2]["inviter"] == control.team.person("requester").id


async def test_somebody_of_another_workspace_is_told_apart(quick: SlackServer, control: Control) -> None:
    control.say("partner", "partner-support", "hello")
    [event] = await _sent(quick, 1)
    assert event["user_team"] == "T0NORTHWIND"
    assert quick.outbox.attempts[0].payload["is_ext_shared_channel"] is True


async def test_only_events_of_the_manifest_are_told() -> None:
    manifest = Manifest(events=("app_mention",))
    async with SlackServer(on_call_workspace(), manifest=manifest) as slack:
        slack.control.mention("requester", "incidents", "hello")
        slack.control.open_home("requester")
        assert slack.told_events == {"app_mention"}
