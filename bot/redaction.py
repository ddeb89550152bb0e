"""Removes secrets from what people type: on input, and again in each sink (Slack, Redis, the audit, the log).

Redacting twice gives the same as redacting once, so a sink need not know what was redacted before.
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
    """A JSON tree, or a text, without secrets. `but`: the keys whose ids and addresses stay unchanged.

    Returns the same object if it holds no secret.
    """
    return redact(value, exempt=but)


def is_long(value: Any, *, but: Collection[str] = NOTHING) -> bool:
    """Whether there is so much text that it must be scanned in a thread, to keep the event loop free."""
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
