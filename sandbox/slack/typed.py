"""Converts typed text as Slack's composer does: escapes it and encodes mentions and links."""

from __future__ import annotations

import re
from typing import Any

from sandbox.slack.workspace import Workspace

_MARK = re.compile(r"`(?P<code>[^`\n]+)`|(?P<url>https?://[^\s<>|]+)|(?P<sign>[@#])(?P<name>[a-z0-9][a-z0-9._-]*)")
_BROADCAST = {"here", "channel", "everyone"}


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def compose(team: Workspace, text: str) -> str:
    """The stored text of a message that a person typed."""
    parts, end = [], 0
    for match in _MARK.finditer(text):
        parts.append(escaped(text[end : match.start()]))
        parts.append(_reference(team, match) or escaped(match.group()))
        end = match.end()
    return "".join([*parts, escaped(text[end:])])


def _reference(team: Workspace, match: re.Match[str]) -> str | None:
    if match["code"]:
        return None
    if match["url"]:
        return f"<{escaped(match['url'])}>"
    name = match["name"]
    if match["sign"] == "#":
        channel = team.find_channel(name, by_name=True)
        return f"<#{channel.id}|{channel.name if channel.kind == 'public' else ''}>" if channel else None
    if name in _BROADCAST:
        return f"<!{name}>"
    for person in team.everybody():
        if person.name == name:
            return f"<@{person.id}>"
    group = next((group for group in team.groups if group.handle == name), None)
    return f"<!subteam^{group.id}>" if group else None


def rich_text(team: Workspace, text: str) -> list[dict[str, Any]]:
    """The rich_text block that the composer generates along with the text."""
    elements: list[dict[str, Any]] = []
    end = 0
    for match in _MARK.finditer(text):
        element = _element(team, match)
        if element is None:
            continue
        if match.start() > end:
            elements.append({"type": "text", "text": text[end : match.start()]})
        elements.append(element)
        end = match.end()
    if end < len(text):
        elements.append({"type": "text", "text": text[end:]})
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}]


def _element(team: Workspace, match: re.Match[str]) -> dict[str, Any] | None:
    if match["code"]:
        return {"type": "text", "text": match["code"], "style": {"code": True}}
    reference = _reference(team, match)
    if match["url"]:
        return {"type": "link", "url": match["url"]}
    if reference is None:
        return None
    inner = reference[2:-1]
    if reference.startswith("<!subteam^"):
        return {"type": "usergroup", "usergroup_id": inner.removeprefix("subteam^")}
    if reference.startswith("<!"):
        return {"type": "broadcast", "range": inner}
    if reference.startswith("<#"):
        return {"type": "channel", "channel_id": inner.split("|")[0]}
    return {"type": "user", "user_id": inner}
