"""A modal with one button: *Close*."""

from __future__ import annotations

from typing import Any

from bot.slack.kit import escaping, limits
from bot.slack.kit.message import Block

CALLBACK = "runbook_steps"


TITLE = "Runbook"


CLOSE = "Close"


def modal(blocks: list[Block], *, title: str = TITLE) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": {"type": "plain_text", "text": escaping.cut(title, limits.VIEW_TITLE), "emoji": False},
        "close": {"type": "plain_text", "text": CLOSE, "emoji": False},
        "blocks": blocks,
    }
