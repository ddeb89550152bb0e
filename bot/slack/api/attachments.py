"""The text files of a message: which of them are worth fetching. Pure.

The bot's token goes with the request, so only files that Slack itself holds count: an external one has somebody else's
address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

MOST = 3
"""Of one message; who shares more wants them looked through by people."""
_TEXT_TYPES = frozenset(
    {"application/json", "application/x-yaml", "application/yaml", "application/xml", "application/x-ndjson"}
)
_NO_TEXT = frozenset({"text/html", "text/rtf"})
_ENDINGS = (
    *(".log", ".txt", ".out", ".err", ".json", ".yaml", ".yml", ".xml", ".csv", ".md", ".conf", ".ini", ".ps1"),
    *(".sh", ".trace", ".stderr", ".stdout"),
)
"""Slack calls a log that it does not know `binary`; whether it is text, its content says."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A text file that stands in Slack."""

    name: str
    url: str
    preview: str = ""
    """Its first lines, as Slack shows them: all there is where it cannot be fetched."""


def attached(message: Mapping[str, Any]) -> tuple[Attached, ...]:
    """Those of a person's message, as its event has them. What an app has to say stands in its card."""
    files = message.get("files") if not message.get("bot_id") else None
    if not isinstance(files, list | tuple):
        return ()
    found = (file for file in files[:50] if isinstance(file, Mapping) and _is_text(file) and _is_slacks(file))
    return tuple(_of(item) for item in islice(found, MOST))


def others(message: Mapping[str, Any]) -> list[Any]:
    """The files of which no more is read than Slack shows."""
    files, known = message.get("files"), {attachment.url for attachment in attached(message)}
    if not isinstance(files, list | tuple):
        return []
    return [file for file in files if not (isinstance(file, Mapping) and str(file.get("url_private"))[:2000] in known)]


def _of(file: Mapping[str, Any]) -> Attached:
    name, preview = str(file.get("name") or "")[:200], str(file.get("preview") or "")[:4000]
    return Attached(name, str(file["url_private"])[:2000], preview)


def _is_slacks(file: Mapping[str, Any]) -> bool:
    """A file of another company's workspace comes without an address."""
    hosted = file.get("mode") in ("hosted", "snippet") and not file.get("is_external")
    return hosted and bool(file.get("url_private"))


def _is_text(file: Mapping[str, Any]) -> bool:
    kind, name = str(file.get("mimetype") or "").lower(), str(file.get("name") or "").lower()
    if kind in _NO_TEXT:
        return False
    return file.get("mode") == "snippet" or kind.startswith("text/") or kind in _TEXT_TYPES or name.endswith(_ENDINGS)
