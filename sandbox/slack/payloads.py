"""The payloads sent to the app: commands, block actions, modals, shortcuts."""

from __future__ import annotations

from typing import Any

from sandbox.slack.message import Message
from sandbox.slack.site import Site
from sandbox.slack.views import View
from sandbox.slack.workspace import Channel, Person, Workspace

Body = dict[str, Any]

CHANNEL_NAMES = {"private": "privategroup", "im": "directmessage"}


def channel_name(channel: Channel) -> str:
    """The channel name in a payload; for private channels and DMs it is a generic name."""
    return CHANNEL_NAMES.get(channel.kind, channel.name)


def about(site: Site, team: Workspace, person: Person) -> Body:
    """The fields common to all interactions."""
    return {
        "team": {"id": team.id, "domain": team.domain},
        "user": {
            "id": person.id,
            "username": person.name,
            "name": person.name,
            "team_id": person.home_team or team.id,
        },
        "api_app_id": site.app_id,
        "token": "unused",
        "enterprise": None,
        "is_enterprise_install": False,
    }


def place(channel: Channel) -> Body:
    return {"id": channel.id, "name": channel_name(channel)}


def command(
    site: Site, team: Workspace, person: Person, channel: Channel, word: str, text: str, response_url: str
) -> Body:
    return {
        "token": "unused",
        "team_id": team.id,
        "team_domain": team.domain,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": person.id,
        "user_name": person.name,
        "command": word,
        "text": text,
        "api_app_id": site.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": site.triggers.give(team.id, person.id),
    }


def action(block: Body, element: Body, stored: Body | None, ts: str) -> Body:
    """One entry of `actions`: the use of one element."""
    done = {
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "type": element["type"],
        "action_ts": ts,
    }
    copied = {name: element[name] for name in ("text", "value", "style", "placeholder") if element.get(name)}
    return {**copied, **(stored or {}), **done}


def in_message(channel: Channel, message: Message, values: Body) -> Body:
    """The message fields, if the interaction was in a message."""
    return {
        "container": {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": channel.id,
            "is_ephemeral": message.only_for is not None,
            **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
        },
        "channel": place(channel),
        "state": {"values": values},
        **({} if message.only_for else {"message": message.show(metadata=True)}),
    }


def in_view(view: View) -> Body:
    return {"container": {"type": "view", "view_id": view.id}, "view": view.show()}
