"""Secrets out of what people type: at the door, and once more in each sink (Slack, Redis, the audit, the log).

Redacting twice is redacting once, so a sink never needs to know who was there before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from handlers.clients.redact import LONG, NOTHING, redact

IDS = frozenset(
    {
        *("type", "subtype", "ts", "thread_ts", "event_ts", "message_ts", "deleted_ts", "hash", "id"),
        *("channel", "channel_id", "channel_type", "user", "user_id", "usergroup_id", "team", "team_id"),
        *("app_id", "bot_id", "client_msg_id", "event_id", "view_id", "root_view_id", "external_id", "trigger_id"),
        *("action_id", "block_id", "callback_id", "private_metadata", "response_url", "digest"),
    }
)
"""Keys under which ids and kinds stand, Slack's and the bot's own: another letter, and nothing is found by them."""


def redacted(value: Any, *, but: Collection[str] = NOTHING) -> Any:
    """A tree of JSON, or a text, without secrets. `but`: the keys under which ids and addresses stay as they are.

    What holds no secret is returned as it is.
    """
    return redact(value, exempt=but)


def is_long(value: Any, *, but: Collection[str] = NOTHING) -> bool:
    """Whether so much text stands in it that it is read in a thread: the event loop must go on."""
    return sum(map(len, set(_texts(value, but)))) > LONG


def _texts(value: Any, but: Collection[str]) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            stack.extend(inner for key, inner in node.items() if key not in but)
        elif isinstance(node, (list, tuple)):
            stack.extend(node)
