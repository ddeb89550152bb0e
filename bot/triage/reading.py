"""What a Slack message or an alert's body says, as one text: people's words, cards, attachments, code, text files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.triage.message_text import readable

_TEXT_FILES = frozenset({"text", "log", "json", "yaml", "shell", "csv", "markdown", "javascript", "xml", "powershell"})
"""Slack's file types whose preview is text."""
_LONGEST_VALUE = 4_000
_DEEPEST = 6
_MOST_LINES = 400

_STATES = ("status", "monitorcondition", "state", "alert_status", "currenthealthstatus")
"""What says that an alert is over; kept in front, where the rest of triage looks for it."""


def read_message(message: Mapping[str, Any], files: Iterable[str] = ()) -> str:
    """A message as Slack's events give it, and the content of its text files where somebody fetched it."""
    previews = [
        str(one.get("preview") or one.get("plain_text") or "")
        for one in message.get("files") or ()
        if isinstance(one, Mapping) and (one.get("filetype") in _TEXT_FILES or one.get("plain_text"))
    ]
    return "\n".join(filter(None, (readable(dict(message)), *previews, *files)))


def read_alert(body: Mapping[str, Any]) -> str:
    """The body of an alert's webhook (Azure Monitor's common schema, Alertmanager and the like) as lines `name: value`.

    Nobody's schema is spelt out here: what an alert says stands in the leaves, and its names say what they are.
    """
    lines = list(_lines(body, "", 0))
    first = [line for line in lines if line.partition(":")[0].lower() in _STATES]
    return "\n".join(dict.fromkeys((*first, *lines)))


def _lines(value: Any, name: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, inner in list(value.items())[:_MOST_LINES]:
            yield from _lines(inner, str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value[:_MOST_LINES]:
            yield from _lines(inner, name, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield f"{name}: {str(value).strip()[:_LONGEST_VALUE]}" if name else str(value)[:_LONGEST_VALUE]
