"""What Slack sends, read: where somebody asked, who it was, and an id that is the same when Slack repeats itself."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from bot.jobs.request import Place

Body = dict[str, Any]


def command_place(body: Body) -> Place:
    return Place(body["team_id"], body["channel_id"], body["user_id"], response_url=body.get("response_url"))


def mention_place(body: Body) -> Place:
    """Answers go into the thread of the mention; where there is none, it begins one."""
    event = body["event"]
    thread_ts = event.get("thread_ts") or event["ts"]
    return Place(body["team_id"], event["channel"], event["user"], thread_ts=thread_ts)


def click_place(body: Body) -> Place:
    """Answers to a click go into the thread of the message. What only one person sees has no thread."""
    container = body.get("container") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or body["user"]["id"])
    thread_ts = None if container.get("is_ephemeral") else container.get("thread_ts") or container.get("message_ts")
    return Place(
        body["team"]["id"], channel, body["user"]["id"], thread_ts=thread_ts, response_url=body.get("response_url")
    )


def command_id(body: Body) -> str:
    return _id("command", body["team_id"], body["trigger_id"])


def mention_id(body: Body) -> str:
    return _id("mention", body["team_id"], body["event"]["channel"], body["event"]["ts"])


def click_id(body: Body) -> str:
    action = body["actions"][0]
    message = str((body.get("container") or {}).get("message_ts", ""))
    return _id("click", body["team"]["id"], body["user"]["id"], message, action["action_id"], action["action_ts"])


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
