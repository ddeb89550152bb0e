"""The text of a message as people see it, including the blocks and attachments that alert bots use."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from typing import Any

from runbooks.linear import compile_linear

LONGEST = 40_000
"""Slack's own limit for a message's text."""

# No `<` inside: Slack escapes it, and a text of many link starts would otherwise take minutes.
_LINK = compile_linear(r"<((?:https?|mailto):[^|<>]+)(?:\|([^<>]*))?>")
_MENTION = compile_linear(r"<[@#!][^<>]*>")
_ATTACHMENT = ("pretext", "author_name", "title", "title_link", "text", "fields", "blocks", "footer")
_LABELLED = ("title", "value")
_PARTS = ("text", "fields", "elements", "accessory", "rows", "columns", "tasks", "title", "details", "output", "url")


def readable(message: dict[str, Any]) -> str:
    """All text, each line once. Alert bots often repeat the same in `text`, in blocks and in `fallback`."""
    lines = [line for part in _parts(message) for line in _plain(part).splitlines() if line.strip()]
    return "\n".join(dict.fromkeys(lines))[:LONGEST]


def _parts(message: dict[str, Any]) -> Iterator[str]:
    yield str(message.get("text") or "")
    for block in message.get("blocks") or ():
        yield _words(block)
    for attachment in message.get("attachments") or ():
        shown = [_of_attachment(name, attachment.get(name)) for name in _ATTACHMENT]
        yield "\n".join(filter(None, shown)) or str(attachment.get("fallback") or "")


def _of_attachment(name: str, value: Any) -> str:
    if name == "fields":
        rows = (": ".join(str(field[key]) for key in _LABELLED if field.get(key)) for field in value or ())
        return "\n".join(rows)
    return value if isinstance(value, str) else _words(value)


def _words(value: Any) -> str:
    """The text of a block. The runs of one rich text line belong together; everything else is a line of its own."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value)))
    if not isinstance(value, dict):
        return ""
    if value.get("type") in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
        return "".join(map(_run, value.get("elements") or ()))
    return "\n".join(filter(None, (_words(value.get(name)) for name in _PARTS)))


def _run(run: Any) -> str:
    """Rich text is literal, not mrkdwn: what looks like an entity there is not one."""
    return str(run.get("text") or run.get("url") or "") if isinstance(run, dict) else ""


def _plain(mrkdwn: str) -> str:
    """Links become their label and address; mentions and entities are removed."""
    spelled = _LINK.sub(lambda link: " ".join(dict.fromkeys(filter(None, (link[2], link[1])))), mrkdwn)
    return unescape(_MENTION.sub("", spelled))
