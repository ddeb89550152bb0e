"""Events sent to the app, if it subscribed to them and may see them."""

from __future__ import annotations

from typing import Any

from sandbox.slack.message import Message
from sandbox.slack.site import Site
from sandbox.slack.workspace import Channel, Workspace

Body = dict[str, Any]

_MESSAGE_EVENT = {"public": "message.channels", "private": "message.groups", "im": "message.im"}
_CHANNEL_TYPE = {"public": "channel", "private": "group", "im": "im"}


def tell(site: Site, team: Workspace, name: str, event: Body, channel: Channel | None = None) -> None:
    """Send an event to the app, if its manifest subscribes to it."""
    if name not in site.manifest.events:
        return
    site.told.append(name)
    site.outbox.tell(
        {
            "token": "unused",
            "team_id": team.id,
            "context_team_id": team.id,
            "context_enterprise_id": None,
            "api_app_id": site.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": site.new_id("Ev"),
            "event_time": int(site.clock.now()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": team.id,
                    "user_id": team.bot.id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(channel and channel.shared_with),
            "event_context": site.new_id("4-"),
        }
    )


def tell_message(site: Site, team: Workspace, channel: Channel, message: Message) -> None:
    """Send the message and app_mention events of a message in a channel the app is a member of."""
    if not team.has_bot(channel):
        return
    event = {
        **message.show(metadata=True),
        "channel": channel.id,
        "channel_type": _CHANNEL_TYPE[channel.kind],
        "event_ts": message.ts,
    }
    author = team.find_person(message.user)
    if author is not None and author.home_team:
        event |= {"user_team": author.home_team, "source_team": author.home_team}
    tell(site, team, _MESSAGE_EVENT[channel.kind], event, channel)
    if f"<@{team.bot.id}>" in message.text and message.user != team.bot.id and channel.kind != "im":
        mention = {name: value for name, value in event.items() if name not in ("channel_type", "subtype")}
        tell(site, team, "app_mention", {**mention, "type": "app_mention"}, channel)


def tell_changed(site: Site, team: Workspace, channel: Channel, message: Message, before: Body) -> None:
    if not team.has_bot(channel):
        return
    event = {
        "type": "message",
        "subtype": "message_changed",
        "message": message.show(metadata=True),
        "previous_message": before,
        "channel": channel.id,
        "channel_type": _CHANNEL_TYPE[channel.kind],
        "hidden": True,
        "ts": (moment := site.new_ts()),
        "event_ts": moment,
    }
    tell(site, team, _MESSAGE_EVENT[channel.kind], event, channel)


def tell_deleted(site: Site, team: Workspace, channel: Channel, message: Message) -> None:
    if not team.has_bot(channel):
        return
    event = {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": message.show(metadata=True),
        "deleted_ts": message.ts,
        "channel": channel.id,
        "channel_type": _CHANNEL_TYPE[channel.kind],
        "hidden": True,
        "ts": (moment := site.new_ts()),
        "event_ts": moment,
    }
    tell(site, team, _MESSAGE_EVENT[channel.kind], event, channel)


def tell_joined(site: Site, team: Workspace, channel: Channel, user: str, inviter: str = "") -> None:
    """Send member_joined_channel, if the app is in the channel or is the one who joined."""
    if not team.has_bot(channel):
        return
    event = {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": "C" if channel.kind == "public" else "G",
        "team": team.id,
        "event_ts": site.new_ts(),
    }
    tell(site, team, "member_joined_channel", event | ({"inviter": inviter} if inviter else {}), channel)
