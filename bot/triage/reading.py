"""Reads a Slack message or an alert as one text: what people wrote, cards, attachments, code, text files."""

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
    """A message from Slack's events, with the content of its text files if they were fetched."""
    previews = [
        str(file.get("preview") or file.get("plain_text") or "")
        for file in message.get("files") or ()
        if isinstance(file, Mapping) and (file.get("filetype") in _TEXT_FILES or file.get("plain_text"))
    ]
    return "\n".join(filter(None, (readable(dict(message)), *previews, *files)))


def read_alert(body: Mapping[str, Any]) -> str:
    """An alert webhook's body (Azure Monitor's common schema, Alertmanager and others) as lines `name: value`.

    No schema is hard-coded: the leaves hold what an alert says, and their names say what they are.
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
