"""Slack files in image blocks: checks that they can be shown, and lists those that a message shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.slack.errors import invalid
from sandbox.slack.message import StoredFile
from sandbox.slack.site import Site

_PICTURES = frozenset({"gif", "jpeg", "jpg", "png"})


def shown_files(site: Site, blocks: Any) -> list[StoredFile]:
    """The files that these blocks show. Raises if one is missing, not an image or not processed yet."""
    found, wrong = [], []
    for place, asked in _asked_for(blocks, "/blocks"):
        stored = _named(site, asked)
        if stored is None or stored.type not in _PICTURES or site.clock.now() < stored.ready_at or not stored.ready_at:
            wrong.append(f"invalid slack file [json-pointer:{place}/slack_file]")
        else:
            found.append(stored)
    if wrong:
        raise invalid("invalid_blocks", wrong)
    return found


def shows(site: Site, blocks: Any) -> list[StoredFile]:
    """The files shown in a message's blocks."""
    return [stored for _, asked in _asked_for(blocks, "/blocks") if (stored := _named(site, asked))]


def _named(site: Site, asked: Any) -> StoredFile | None:
    if asked.get("id"):
        return site.files.get(str(asked["id"]))
    url = asked.get("url")
    return next((file for file in site.files.values() if url and url in file.more.values()), None)


def _asked_for(node: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from _asked_for(item, f"{place}/{number}")
    elif isinstance(node, dict):
        if isinstance(node.get("slack_file"), dict):
            yield place, node["slack_file"]
        for key, item in node.items():
            if key != "slack_file":
                yield from _asked_for(item, f"{place}/{key}")
