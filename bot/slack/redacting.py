"""The door: what people type is redacted before any listener reads it, and so before anything is put into the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.redaction import is_long, replace_texts, replacements, texts_in

Body = dict[str, Any]

ADDRESSES = frozenset({"url_private", "url_private_download"})
"""Where a file is fetched: with the bot's token, and from Slack alone."""
OURS = frozenset({"selected_option", "selected_options"})
"""What was chosen from a list of ours."""
SHORTCUT = "message_action"


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
    found: Body = {name: await _clean(body[name], ADDRESSES) for name in ("text", "event") if name in body}
    if body.get("type") == SHORTCUT and "message" in body:
        found["message"] = await _clean(body["message"], ADDRESSES)
    if isinstance(state := body.get("state"), dict):
        found["state"] = await _clean(state, OURS)
    if isinstance(view := body.get("view"), dict) and view.get("state"):
        found["view"] = view | {"state": await _clean(view["state"], OURS)}
    return found


async def _clean(value: Any, but: frozenset[str]) -> Any:
    """What is large is looked at in a thread: the event loop must go on."""
    texts = texts_in(value, but)
    replaced = await asyncio.to_thread(_replacements, texts) if is_long(list(texts)) else _replacements(texts)
    return replace_texts(value, replaced, but) if replaced else value


def _replacements(texts: set[str]) -> dict[str, str]:
    """Slack escapes `&`, which a secret may hold: redaction sees what was typed."""
    spelled = {text: text.replace("&amp;", "&") for text in texts}
    found = replacements(set(spelled.values()))
    return {text: _escaped(found[plain]) for text, plain in spelled.items() if plain in found}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("&amp;lt;", "&lt;").replace("&amp;gt;", "&gt;")
