from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.control import Control
from sandbox.slack.manifest import BadManifest, Manifest
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import refusal


def _id(control: Control, channel: str) -> str:
    return control.team.channel(channel).id


async def test_channels_are_listed_in_pages_without_foreign_private_ones(
    client: AsyncWebClient,
) -> None:
    names: list[str] = []
    async for page in await client.conversations_list(types="public_channel,private_channel", limit=3):
        assert len(page["channels"]) <= 3
        names += [one["name"] for one in page["channels"]]
    assert "payments-private" in names
    assert "leads-private" not in names
    shown = await client.conversations_list(exclude_archived=True)
    assert "old-incidents" not in [one["name"] for one in shown["channels"]]


async def test_the_channels_of_the_app_are_those_in_which_it_is(client: AsyncWebClient) -> None:
    answer = await client.users_conversations(types="public_channel,private_channel", exclude_archived=True)
    names = [one["name"] for one in answer["channels"]]
    assert names == ["incidents", "platform-on-call", "payments-private", "partner-support", "contractors"]
    assert all("is_member" not in one for one in answer["channels"])


async def test_a_channel_says_what_it_is(client: AsyncWebClient, control: Control) -> None:
    shared = (await client.conversations_info(channel=_id(control, "partner-support")))["channel"]
    private = (await client.conversations_info(channel=_id(control, "payments-private")))["channel"]
    general = (await client.conversations_info(channel=_id(control, "general")))["channel"]
    assert (shared["is_ext_shared"], shared["is_pending_ext_shared"]) == (True, False)
    control.team.channel("general").sharing_pending = True
    invited = (await client.conversations_info(channel=_id(control, "general")))["channel"]
    assert (invited["is_ext_shared"], invited["is_pending_ext_shared"]) == (False, True)
    assert private["is_private"]
    assert general["is_member"] is False
    hidden = await refusal(client.conversations_info(channel=_id(control, "leads-private")))
    assert hidden["error"] == "channel_not_found"


async def test_history_is_read_newest_first_without_replies_and_only_by_members(
    client: AsyncWebClient, control: Control
) -> None:
    head = control.say("requester", "incidents", "first")
    control.say("requester", "incidents", "in the thread", thread_ts=head.ts)
    last = control.say("approver", "incidents", "second")
    channel = _id(control, "incidents")
    found = await client.conversations_history(channel=channel)
    assert [one["text"] for one in found["messages"]] == ["second", "first"]
    assert found["messages"][1]["reply_count"] == 1
    later = await client.conversations_history(channel=channel, oldest=head.ts)
    assert [one["ts"] for one in later["messages"]] == [last.ts]
    both = await client.conversations_history(channel=channel, oldest=head.ts, inclusive=True, limit=1)
    assert both["has_more"]
    outside = await refusal(client.conversations_history(channel=_id(control, "general")))
    assert outside["error"] == "not_in_channel"


async def test_metadata_is_shown_only_when_it_is_asked_for(client: AsyncWebClient, control: Control) -> None:
    channel = _id(control, "incidents")
    await client.chat_postMessage(channel=channel, text="x", metadata={"event_type": "job", "event_payload": {}})
    without = await client.conversations_history(channel=channel)
    with_it = await client.conversations_history(channel=channel, include_all_metadata=True)
    assert "metadata" not in without["messages"][0]
    assert with_it["messages"][0]["metadata"]["event_type"] == "job"


async def test_replies_have_their_parent_first(client: AsyncWebClient, control: Control) -> None:
    head = control.say("requester", "incidents", "head")
    for number in range(3):
        control.say("approver", "incidents", str(number), thread_ts=head.ts)
    channel = _id(control, "incidents")
    found = await client.conversations_replies(channel=channel, ts=head.ts)
    assert [one["text"] for one in found["messages"]] == ["head", "0", "1", "2"]
    missing = await refusal(client.conversations_replies(channel=channel, ts="1.000001"))
    assert missing["error"] == "thread_not_found"


async def test_the_app_joins_public_channels_only(client: AsyncWebClient, control: Control) -> None:
    await client.conversations_join(channel=_id(control, "general"))
    again = await client.conversations_join(channel=_id(control, "general"))
    await client.chat_postMessage(channel=_id(control, "general"), text="hello")
    private = await refusal(client.conversations_join(channel=_id(control, "payments-private")))
    archived = await refusal(client.conversations_join(channel=_id(control, "old-incidents")))
    assert again["warning"] == "already_in_channel"
    assert (private["error"], archived["error"]) == ("method_not_supported_for_channel_type", "is_archived")


async def test_members_and_direct_conversations(client: AsyncWebClient, control: Control) -> None:
    person = control.team.person("requester")
    members = (await client.conversations_members(channel=_id(control, "incidents")))["members"]
    assert person.id in members
    opened = await client.conversations_open(users=[person.id])
    assert opened["channel"]["id"] == control.direct("requester").id
    nobody = await refusal(client.conversations_open(users=["U0NOBODY"]))
    assert nobody["error"] == "user_not_found"


async def test_people_say_what_kind_of_account_they_have(client: AsyncWebClient, control: Control) -> None:
    async def user(name: str) -> dict[str, object]:
        answer = await client.users_info(user=control.team.person(name).id)
        shown: dict[str, object] = answer["user"]
        return shown

    guest, partner, former = await user("guest"), await user("partner"), await user("former")
    assert (guest["is_restricted"], guest["is_ultra_restricted"]) == (True, True)
    assert (partner["is_stranger"], partner["team_id"]) == (True, "T0NORTHWIND")
    assert former["deleted"] is True
    assert (await refusal(client.users_info(user="U0NOBODY")))["error"] == "user_not_found"


async def test_addresses_are_seen_only_with_the_scope_for_them(client: AsyncWebClient, control: Control) -> None:
    email = control.team.person("requester").email
    assert (await client.users_lookupByEmail(email=email))["user"]["name"] == "requester"
    assert (await refusal(client.users_lookupByEmail(email="no@where.example")))["error"] == "users_not_found"
    manifest = Manifest(scopes=("users:read",), events=(), commands=())
    async with SlackServer(on_call_workspace(), manifest=manifest) as slack:
        narrow = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
        assert all("email" not in one["profile"] for one in (await narrow.users_list())["members"])


async def test_user_groups_and_the_team(client: AsyncWebClient, control: Control) -> None:
    groups = (await client.usergroups_list(include_users=True))["usergroups"]
    oncall = next(one for one in groups if one["handle"] == "aks-oncall")
    people = (await client.usergroups_users_list(usergroup=oncall["id"]))["users"]
    assert people == oncall["users"] == [control.team.person(one).id for one in ("requester", "approver")]
    assert (await refusal(client.usergroups_users_list(usergroup="S0NONE")))["error"] == "no_such_subteam"
    assert (await client.team_info())["team"]["name"] == "Contoso Platform"


async def test_reactions_come_and_go_once(client: AsyncWebClient, control: Control) -> None:
    message = control.say("requester", "incidents", "prod-weu is slow")
    where = {"channel": _id(control, "incidents"), "timestamp": message.ts, "name": "eyes"}
    await client.reactions_add(**where)
    assert (await refusal(client.reactions_add(**where)))["error"] == "already_reacted"
    assert message.show()["reactions"][0]["count"] == 1
    await client.reactions_remove(**where)
    assert (await refusal(client.reactions_remove(**where)))["error"] == "no_reaction"
    assert (await refusal(client.reactions_add(**{**where, "name": "No Such"})))["error"] == "invalid_name"


@pytest.mark.parametrize(("types", "needed"), [("private_channel", "groups:read"), ("public_channel,im", "im:read")])
async def test_each_kind_of_channel_has_its_scope(types: str, needed: str) -> None:
    manifest = Manifest(scopes=("channels:read",), events=(), commands=())
    async with SlackServer(on_call_workspace(), manifest=manifest) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
        answer = await refusal(client.conversations_list(types=types))
    assert (answer["error"], answer["needed"]) == ("missing_scope", needed)


def test_a_manifest_with_an_event_beyond_its_scopes_is_refused() -> None:
    with pytest.raises(BadManifest, match="channels:history"):
        Manifest(scopes=("chat:write",), events=("message.channels",), commands=())


def test_a_manifest_is_read_from_its_document() -> None:
    document = {
        "display_information": {"name": "aksbot"},
        "features": {
            "app_home": {"home_tab_enabled": True},
            "slash_commands": [{"command": "/aks", "description": "Check a cluster", "should_escape": True}],
            "shortcuts": [{"name": "Triage this", "type": "message", "callback_id": "triage_this"}],
        },
        "oauth_config": {"scopes": {"bot": ["commands", "app_mentions:read"]}},
        "settings": {
            "event_subscriptions": {"bot_events": ["app_mention"]},
            "interactivity": {"is_enabled": True},
            "socket_mode_enabled": True,
        },
    }
    manifest = Manifest.read(document)
    assert manifest.commands == manifest.escaped_commands == ("/aks",)
    assert manifest.message_shortcuts == (("triage_this", "Triage this"),)
    assert (manifest.home_tab, manifest.messages_tab, manifest.socket_mode) == (True, False, True)
