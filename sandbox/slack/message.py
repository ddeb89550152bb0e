"""A message as it is kept, and as Slack shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass
class StoredFile:
    """A file that was uploaded; `content` is there once it has been sent."""

    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    shared: bool = False
    ready_at: float = 0.0
    """When Slack has taken it apart; a block can show it from then on."""
    more: Body = field(default_factory=dict)
    """What else Slack says of it where somebody shared it: its address, its type, its first lines."""

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
    """One message. An ephemeral one has `only_for`, the person who sees it."""

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
    """The name an app posts under, where it is not its own."""
    metadata: Body | None = None
    edited_ts: str | None = None
    unfurl: Body = field(default_factory=dict)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    only_for: str | None = None
    state: Body = field(default_factory=dict)
    """What was chosen in its elements."""
    version: int = 0
    """Counts the changes, so that a page knows what to draw again."""

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    def show(self, *, metadata: bool = False) -> Body:
        """The message as the Web API and events have it, without what only its thread knows."""
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
