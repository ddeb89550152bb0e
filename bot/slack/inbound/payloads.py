"""What Slack sends, read: where somebody asked, who it was, and an id that is the same when Slack repeats itself."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from bot.address import Address

Body = dict[str, Any]


def command_place(body: Body) -> Address:
    return Address(body["team_id"], body["channel_id"], body["user_id"], response_url=body.get("response_url") or "")


def mention_place(body: Body) -> Address:
    """Answers go into the thread of the mention; where there is none, it begins one."""
    event = body["event"]
    thread_ts = event.get("thread_ts") or event["ts"]
    return Address(body["team_id"], event["channel"], event["user"], thread_ts=thread_ts)


def click_place(body: Body) -> Address:
    """Answers to a click go into the thread of the message. What only one person sees has no thread.

    Slack names the thread in the message, and in practice in the container, too.
    """
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or body["user"]["id"])
    named = (container.get("thread_ts"), message.get("thread_ts"), container.get("message_ts"))
    thread_ts = "" if container.get("is_ephemeral") else next(filter(None, named), "")
    url = body.get("response_url") or ""
    return Address(body["team"]["id"], channel, body["user"]["id"], thread_ts=thread_ts, response_url=url)


def direct_place(body: Body) -> Address:
    """In a conversation with the bot the answer is the next message; in a thread of it, it stays there."""
    event = body["event"]
    return Address(body["team_id"], event["channel"], event["user"], thread_ts=event.get("thread_ts") or "")


def home_place(body: Body) -> Address:
    """App Home has no channel: what is said to somebody there goes into their conversation with the bot."""
    event = body["event"]
    return Address(body["team_id"], event.get("channel") or event["user"], event["user"])


def home_click_place(body: Body) -> Address:
    """The page remembers which conversation that is."""
    user = body["user"]["id"]
    return Address(body["team"]["id"], (body.get("view") or {}).get("private_metadata") or user, user)


def shortcut_place(body: Body) -> Address:
    """Only the one who pointed at the message is answered."""
    return Address(body["team"]["id"], body["channel"]["id"], body["user"]["id"], response_url=body["response_url"])


def command_id(body: Body) -> str:
    return _id("command", body["team_id"], body["trigger_id"])


def mention_id(body: Body) -> str:
    return _id("mention", body["team_id"], body["event"]["channel"], body["event"]["ts"])


def click_id(body: Body) -> str:
    action, container = body["actions"][0], body.get("container") or {}
    place = str(container.get("message_ts") or container.get("view_id") or "")
    return _id("click", body["team"]["id"], body["user"]["id"], place, action["action_id"], action["action_ts"])


def home_id(body: Body) -> str:
    event = body["event"]
    return _id("home", body["team_id"], event["user"], str(event.get("event_ts") or body.get("event_id")))


def shortcut_id(body: Body) -> str:
    return _id("shortcut", body["team"]["id"], body["user"]["id"], body["message"]["ts"], body["action_ts"])


def view_id(body: Body) -> str:
    """Of a window that was sent."""
    return _id("view", body["team"]["id"], body["user"]["id"], body["view"]["id"])


def typed_into(view: Body, block: str, action: str) -> str:
    """What somebody has typed into a field of a window."""
    field = (((view.get("state") or {}).get("values") or {}).get(block) or {}).get(action) or {}
    return str(field.get("value") or "")


def is_said_to_us(body: Body) -> bool:
    """Whether a message event is somebody's own words in a conversation with the bot: no edit, no bot, no join."""
    event = body["event"]
    spoken = event.get("subtype") in (None, "file_share", "thread_broadcast")
    return event.get("channel_type") == "im" and spoken and bool(event.get("user")) and not event.get("bot_id")


def has_an_author(body: Body) -> bool:
    """Whether somebody whom Slack knows has said it. Webhooks and workflows can name us, too, and are nobody."""
    return bool(body["event"].get("user"))


def is_stranger(body: Body) -> bool:
    """Whether somebody of another company, in a shared channel, asks."""
    event = body.get("event") or {}
    if event:
        home = event.get("user_team") or event.get("source_team")
        return bool(home) and home != body["team_id"]
    team = (body.get("team") or {}).get("id")
    home = (body.get("user") or {}).get("team_id") if isinstance(body.get("user"), dict) else None
    return bool(home) and bool(team) and home != team


def _id(*parts: str) -> str:
    return f"{parts[0]}-{sha256(chr(0).join(parts).encode()).hexdigest()[:24]}"
