"""Stored messages and their representation in the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass
class StoredFile:
    """An uploaded file; `content` is set once the upload has arrived."""

    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    shared: bool = False
    ready_at: float = 0.0
    """When Slack has finished processing it; only then can a block show it."""
    more: Body = field(default_factory=dict)
    """Additional fields for a shared file: URL, type, preview."""

    @property
    def type(self) -> str:
        return self.name.rsplit(".", 1)[-1].lower() if "." in self.name else "text"

    def show(self) -> Body:
        return {
            "id": self.id,
            "name": self.name,
            "title": self.title or self.name,
            "filetype": self.type,
            "size": self.length,
            "mode": "hosted",
            "is_external": False,
            **self.more,
        }


@dataclass
class Message:
    """One message. If it is ephemeral, `only_for` is the person who sees it."""

    ts: str
    channel: str
    user: str
    text: str = ""
    team: str = ""
    blocks: list[Body] = field(default_factory=list)
    attachments: list[Body] = field(default_factory=list)
    files: list[StoredFile] = field(default_factory=list)
    thread_ts: str | None = None
    subtype: str | None = None
    broadcast: bool = False
    """Whether a reply in a thread is shown in the channel too."""
    bot_id: str | None = None
    app_id: str | None = None
    author: str = ""
    """The custom name an app posts under, if any."""
    metadata: Body | None = None
    edited_ts: str | None = None
    unfurl: Body = field(default_factory=dict)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    only_for: str | None = None
    state: Body = field(default_factory=dict)
    """The current values of its interactive elements."""
    version: int = 0
    """Increments with every change, so that the page knows what to redraw."""

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    def show(self, *, metadata: bool = False) -> Body:
        """The message as in the Web API and in events, without its thread's reply fields."""
        shown: Body = {"type": "message", "user": self.user, "ts": self.ts, "text": self.text, "team": self.team}
        extra: Body = {
            "subtype": self.subtype,
            "bot_id": self.bot_id,
            "app_id": self.app_id,
            "username": self.author,
            "blocks": self.blocks,
            "attachments": self.attachments,
            "files": [file.show() for file in self.files],
            "thread_ts": self.thread_ts,
            "edited": {"user": self.user, "ts": self.edited_ts} if self.edited_ts else None,
            "reactions": [
                {"name": name, "users": users, "count": len(users)} for name, users in self.reactions.items()
            ],
            "metadata": self.metadata if metadata else None,
        }
        return shown | {name: value for name, value in extra.items() if value}
