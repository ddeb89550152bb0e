"""One API call: its arguments and caller, and the registry of methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox.slack.errors import Refused, invalid
from sandbox.slack.site import Site
from sandbox.slack.workspace import Channel, Workspace

Body = dict[str, Any]
Method = Callable[["Call"], Body]


@dataclass
class Call:
    """An authenticated call."""

    site: Site
    team: Workspace
    args: Body
    used: set[str] = field(default_factory=set)
    """The scopes that the call used."""

    def need(self, *any_of: str) -> None:
        """Raise missing_scope if the app has none of these scopes. The method itself records which one it used."""
        self.site.need_scope(*any_of)
        if len(any_of) == 1:
            self.used.add(*any_of)

    def text(self, name: str) -> str:
        """A required argument."""
        value = self.args.get(name)
        if value is None or value == "":
            raise invalid("invalid_arguments", [f"missing required field: {name} [json-pointer:/{name}]"])
        return str(value)

    def flag(self, name: str) -> bool:
        return self.args.get(name) in (True, 1, "true", "True", "1")

    def number(self, name: str, default: int, most: int) -> int:
        value = self.args.get(name)
        if value in (None, ""):
            return default
        try:
            number = int(str(value))
        except ValueError:
            raise invalid("invalid_arguments", [f"must be a valid integer [json-pointer:/{name}]"]) from None
        if not 1 <= number <= most:
            raise Refused("invalid_limit")
        return number

    def structure(self, name: str) -> Any:
        """An argument that is JSON; forms carry it as text."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise Refused(_BAD_JSON.get(name, "invalid_arguments")) from None

    def channel(self, name: str = "channel") -> Channel:
        """A channel visible to the app, by id or by name."""
        where = self.args.get(name)
        if not where:
            raise Refused("channel_not_found")
        found = self.team.find_channel(str(where)) or self.team.find_channel(str(where).lstrip("#"), by_name=True)
        if found is None or (found.kind != "public" and not self.team.has_bot(found)):
            raise Refused("channel_not_found")
        return found

    def thread(self, channel: Channel) -> str | None:
        """The ts of the message to reply to. Slack says never to give a reply's, and not what it does then."""
        ts = self.args.get("thread_ts")
        if not ts:
            return None
        parent = channel.find(str(ts))
        if parent is None:
            raise Refused("thread_not_found")
        if parent.is_reply:
            raise Refused("cannot_reply_to_message")
        return parent.ts


_BAD_JSON = {
    "blocks": "invalid_blocks_format",
    "attachments": "invalid_attachments",
    "metadata": "invalid_metadata_format",
}


@dataclass(frozen=True)
class Entry:
    """A method and its required scopes."""

    run: Method
    scopes: tuple[str, ...]
    caller: Literal["bot", "app"]


METHODS: dict[str, Entry] = {}


def method(name: str, *scopes: str, caller: Literal["bot", "app"] = "bot") -> Callable[[Method], Method]:
    """Register a method; the app needs any one of the scopes."""

    def register(run: Method) -> Method:
        METHODS[name] = Entry(run, scopes, caller)
        return run

    return register


def page(rows: list[Any], call: Call, *, default: int = 100, most: int = 1000) -> tuple[list[Any], Body]:
    """A page of a list, and the next cursor."""
    cursor = str(call.args.get("cursor") or "")
    start = 0
    if cursor:
        if not cursor.startswith("at:") or not cursor[3:].isdigit():
            raise Refused("invalid_cursor")
        start = int(cursor[3:])
    end = start + call.number("limit", default, most)
    return rows[start:end], {"next_cursor": f"at:{end}" if end < len(rows) else ""}
