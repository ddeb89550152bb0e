from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.control import Control
from sandbox.slack.manifest import Manifest
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import refusal

Body = dict[str, Any]


def _id(control: Control, channel: str) -> str:
    return control.team.channel(channel).id


async def test_a_message_is_posted_and_keeps_what_it_was_given(client: AsyncWebClient, control: Control) -> None:
    metadata = {"event_type": "aks_job", "event_payload": {"job": "j-1"}}
    answer = await client.chat_postMessage(
        channel=_id(control, "incidents"),
        text="a &lt;b&gt; &amp; *c*",
        metadata=metadata,
        unfurl_links=False,
    )
    [message] = control.messages("incidents")
    assert message.text == "a &lt;b&gt; &amp; *c*"
    assert message.unfurl == {"unfurl_links": False}
    assert answer["message"]["metadata"] == metadata
    assert answer["ts"] == message.ts
    assert answer["message"]["bot_id"]


async def test_blocks_and_their_actions_get_ids_where_they_have_none(client: AsyncWebClient, control: Control) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Check again"}}
    blocks: list[Body] = [{"type": "divider"}, {"type": "actions", "block_id": "mine", "elements": [button]}]
    answer = await client.chat_postMessage(channel=_id(control, "incidents"), text="x", blocks=blocks)
    shown = answer["message"]["blocks"]
    assert shown[0]["block_id"]
    assert shown[1]["block_id"] == "mine"
    assert shown[1]["elements"][0]["action_id"]


async def test_form_bodies_and_json_bodies_are_the_same(slack: SlackServer, control: Control) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}]
    fields = {"channel": _id(control, "incidents"), "text": "hello"}
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    url = slack.url + "chat.postMessage"
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(url, json={**fields, "blocks": blocks}) as response:
            assert (await response.json())["ok"]
        async with session.post(url, data={**fields, "blocks": json.dumps(blocks)}) as response:
            assert (await response.json())["ok"]
        async with session.post(url, data=b"{", headers={"Content-Type": "application/json"}) as response:
            assert (await response.json())["error"] == "invalid_json"
        async with session.post(url, data=b"x", headers={"Content-Type": "text/plain"}) as response:
            assert (await response.json())["error"] == "invalid_post_type"
        async with session.post(slack.url + "chat.sing", data=fields) as response:
            assert (await response.json())["error"] == "unknown_method"
    texts = [one.blocks[0]["text"]["text"] for one in control.messages("incidents")]
    assert texts == ["hello", "hello"]


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("general", "not_in_channel"),
        ("old-incidents", "is_archived"),
        ("leads-private", "channel_not_found"),
        ("C0UNKNOWN", "channel_not_found"),
        ("incidents", None),
        ("#incidents", None),
        ("payments-private", None),
    ],
)
async def test_where_the_app_may_post(
    client: AsyncWebClient, control: Control, channel: str, error: str | None
) -> None:
    known = control.team.find_channel(channel, by_name=True)
    call = client.chat_postMessage(channel=known.id if known else channel, text="hello")
    if error is None:
        assert (await call)["ok"]
    else:
        assert (await refusal(call))["error"] == error


async def test_an_app_that_may_write_in_public_needs_not_be_a_member() -> None:
    manifest = Manifest(scopes=("chat:write", "chat:write.public"), events=(), commands=())
    async with SlackServer(on_call_workspace(), manifest=manifest) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
        await client.chat_postMessage(channel=slack.control.team.channel("general").id, text="hello")
        assert slack.used_scopes == {"chat:write", "chat:write.public"}


async def test_the_id_of_a_person_is_their_direct_conversation(client: AsyncWebClient, control: Control) -> None:
    person = control.team.person("requester")
    answer = await client.chat_postMessage(channel=person.id, text="hello")
    assert answer["channel"].startswith("D")
    assert [one.text for one in control.messages(answer["channel"])] == ["hello"]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "  \n"}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "x", "blocks": "[{"}, "invalid_blocks_format"),
        ({"text": "x", "blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"text": "x", "attachments": [{"text": "a"}] * 101}, "too_many_attachments"),
        ({"text": "x", "attachments": "[1]"}, "invalid_attachments"),
        ({"text": "x", "attachments": [{"blocks": [{"type": "sing"}]}]}, "invalid_attachments"),
        ({"text": "x", "metadata": "[]"}, "invalid_metadata_format"),
        ({"text": "x", "metadata": {"event_type": "a"}}, "invalid_metadata_schema"),
        (
            {"text": "x", "metadata": {"event_type": "a", "event_payload": {"a": "x" * 8000}}},
            "metadata_too_large",
        ),
        ({"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
        ({"text": "x", "username": "somebody"}, "missing_scope"),
    ],
)
async def test_what_a_message_may_not_be(client: AsyncWebClient, control: Control, fields: Body, error: str) -> None:
    call = client.api_call("chat.postMessage", json={"channel": _id(control, "incidents"), **fields})
    assert (await refusal(call))["error"] == error
    assert control.messages("incidents") == []


async def test_forty_thousand_characters_are_just_short_enough(client: AsyncWebClient, control: Control) -> None:
    await client.chat_postMessage(channel=_id(control, "incidents"), text="x" * 40_000)


async def test_nobody_replies_to_a_reply(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    head = await client.chat_postMessage(channel=channel, text="head")
    reply = await client.chat_postMessage(channel=channel, text="reply", thread_ts=head["ts"])
    again = client.chat_postMessage(channel=channel, text="again", thread_ts=reply["ts"])
    assert (await refusal(again))["error"] == "cannot_reply_to_message"
    shared = client.files_upload_v2(channel=channel, thread_ts=reply["ts"], filename="a.txt", content="again")
    assert (await refusal(shared))["error"] == "cannot_reply_to_message"
    assert [one.text for one in control.thread("incidents", head["ts"])] == ["head", "reply"]


async def test_an_update_keeps_what_it_does_not_name(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    blocks = [{"type": "divider"}]
    metadata = {"event_type": "job", "event_payload": {}}
    ts = (await client.chat_postMessage(channel=channel, text="one", blocks=blocks, metadata=metadata))["ts"]
    answer = await client.chat_update(channel=channel, ts=ts, text="two")
    assert answer["message"]["blocks"][0]["type"] == "divider"
    assert answer["message"]["metadata"] == metadata
    assert answer["message"]["edited"]
    answer = await client.chat_update(channel=channel, ts=ts, text="three", blocks=[])
    assert "blocks" not in answer["message"]


async def test_only_own_messages_that_are_there_can_be_changed(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    theirs = control.say("requester", "incidents", "mine").ts
    update = await refusal(client.chat_update(channel=channel, ts=theirs, text="x"))
    missing = await refusal(client.chat_update(channel=channel, ts="1.000001", text="x"))
    delete = await refusal(client.chat_delete(channel=channel, ts=theirs))
    gone = await refusal(client.chat_delete(channel=channel, ts="1.000001"))
    assert [one["error"] for one in (update, missing, delete, gone)] == [
        "cant_update_message",
        "message_not_found",
        "cant_delete_message",
        "message_not_found",
    ]


async def test_a_message_is_deleted(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    ts = (await client.chat_postMessage(channel=channel, text="one"))["ts"]
    await client.chat_delete(channel=channel, ts=ts)
    assert control.messages("incidents") == []


async def test_an_ephemeral_message_is_for_one_member_and_cannot_be_changed(
    client: AsyncWebClient, control: Control
) -> None:
    channel = _id(control, "incidents")
    user, outsider = control.team.person("requester").id, control.team.person("partner").id
    ts = (await client.chat_postEphemeral(channel=channel, user=user, text="psst"))["message_ts"]
    assert [one.text for one in control.ephemerals("requester", "incidents")] == ["psst"]
    assert control.messages("incidents") == []
    assert (await refusal(client.chat_update(channel=channel, ts=ts, text="x")))["error"] == "message_not_found"
    call = client.chat_postEphemeral(channel=channel, user=outsider, text="psst")
    assert (await refusal(call))["error"] == "user_not_in_channel"


async def test_a_permalink_leads_to_a_message_and_its_thread(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    head = await client.chat_postMessage(channel=channel, text="head")
    reply = await client.chat_postMessage(channel=channel, text="reply", thread_ts=head["ts"])
    link = (await client.chat_getPermalink(channel=channel, message_ts=reply["ts"]))["permalink"]
    assert link.endswith(f"p{reply['ts'].replace('.', '')}?thread_ts={head['ts']}&cid={channel}")


async def test_who_may_call(slack: SlackServer) -> None:
    nobody = AsyncWebClient(base_url=slack.url)
    stranger = AsyncWebClient(token="xoxb-not-one-of-ours", base_url=slack.url)
    assert (await refusal(nobody.auth_test()))["error"] == "not_authed"
    assert (await refusal(stranger.auth_test()))["error"] == "invalid_auth"


async def test_a_call_without_its_scope_is_refused_with_what_it_needs() -> None:
    manifest = Manifest(scopes=("users:read",), events=(), commands=())
    async with SlackServer(on_call_workspace(), manifest=manifest) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
        answer = await refusal(client.chat_postMessage(channel="C1", text="x"))
    assert (answer["error"], answer["needed"], answer["provided"]) == ("missing_scope", "chat:write", "users:read")
    assert answer["headers"]["x-oauth-scopes"] == "users:read"


async def test_a_workspace_has_its_own_token_and_its_own_channels(slack: SlackServer) -> None:
    other = AsyncWebClient(token=slack.bot_token_of("Fabrikam"), base_url=slack.url)
    assert (await other.auth_test())["team"] == "Fabrikam"
    theirs = slack.control_of("Fabrikam")
    await other.chat_postMessage(channel=theirs.team.channel("incidents").id, text="hello")
    here = slack.control.team.channel("incidents").id
    assert (await refusal(other.chat_postMessage(channel=here, text="x")))["error"] == "channel_not_found"
    assert slack.control.messages("incidents") == []


async def test_the_log_has_what_was_asked_and_no_token(slack: SlackServer, client: AsyncWebClient) -> None:
    await refusal(client.api_call("chat.postMessage", json={"channel": "C1", "text": "x", "token": slack.bot_token}))
    [call] = slack.log
    assert (call.method, call.error, call.status) == ("chat.postMessage", "channel_not_found", 200)
    assert "xoxb" not in str(call)
