"""The door: what people type is redacted before any listener reads it, and so before anything is put into the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.redaction import IDS, is_long, redacted
from handlers.clients.redact import DEEPEST

Body = dict[str, Any]

SAID = IDS | {"url_private", "url_private_download"}
"""In a message: ids, and where a file is fetched, with the bot's token and from Slack alone."""
CHOSEN = IDS | {"selected_option", "selected_options"}
"""In a window: ids, and what was chosen from a list of ours."""
SHORTCUT = "message_action"
FIELD = "plain_text_input"


class Redacts(AsyncMiddleware):
    """Middleware, before all listeners."""

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse:
        req.body.update(await typed(req.body))
        return await next()


async def typed(body: Body) -> Body:
    """The parts of a request that people typed, without secrets. The rest (ids, buttons of ours) stays as it is."""
    found: Body = {name: await _clean(body[name], SAID) for name in ("text", "event") if name in body}
    if body.get("type") == SHORTCUT and "message" in body:
        found["message"] = await _clean(body["message"], SAID)
    if isinstance(state := body.get("state"), dict):
        found["state"] = await _clean(state, CHOSEN)
    if isinstance(view := body.get("view"), dict) and view.get("state"):
        found["view"] = view | {"state": await _clean(view["state"], CHOSEN)}
    if isinstance(actions := body.get("actions"), list):
        found["actions"] = [await _clean(action, CHOSEN) if _is_typed(action) else action for action in actions]
    return found


def _is_typed(action: Any) -> bool:
    """A field's `value` is typed; a button's is ours, without secrets, and finds the answer it stands under."""
    return isinstance(action, dict) and action.get("type") == FIELD


async def _clean(value: Any, but: frozenset[str]) -> Any:
    """What is large is looked at in a thread: the event loop must go on."""
    if is_long(value, but=but):
        return await asyncio.to_thread(_without_secrets, value, but)
    return _without_secrets(value, but)


def _without_secrets(value: Any, but: frozenset[str]) -> Any:
    """Slack escapes `&`, which a secret may hold: redaction sees what was typed."""
    plain = _unescaped(value)
    clean = redacted(plain, but=but)
    return value if clean is plain else _as_slack_spells(clean, value)


def _unescaped(node: Any, depth: int = 0) -> Any:
    if isinstance(node, str):
        return _plain(node)
    if not isinstance(node, dict | list):
        return node
    if depth > DEEPEST:  # dropped in any case
        return type(node)()
    if isinstance(node, dict):
        return {key: _unescaped(inner, depth + 1) for key, inner in node.items()}
    return [_unescaped(inner, depth + 1) for inner in node]


def _as_slack_spells(clean: Any, before: Any) -> Any:
    """What was redacted is escaped again; the rest is what stood there before."""
    if isinstance(clean, str):
        return before if clean == _plain(before) else _escaped(clean)
    if isinstance(clean, dict):
        return {key: _as_slack_spells(inner, before[key]) for key, inner in clean.items()}
    if isinstance(clean, list):
        return [_as_slack_spells(*pair) for pair in zip(clean, before, strict=False)]
    return before


def _plain(text: str) -> str:
    return text.replace("&amp;", "&")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("&amp;lt;", "&lt;").replace("&amp;gt;", "&gt;")
