"""Whole messages and views: number of blocks, total text length, and other rules of the surface."""

from __future__ import annotations

import json
from typing import Any

from sandbox.slack.blocks.composition import plain
from sandbox.slack.blocks.ids import check_unique
from sandbox.slack.blocks.layout import MARKDOWN_LONGEST, block
from sandbox.slack.blocks.rules import Check, Notes, array, boolean, by_type, every, record, string
from sandbox.slack.errors import Refused, invalid

TEXT_LONGEST = 40_000
ATTACHMENTS_MOST = 100
BLOCKS_IN_MESSAGE = 50
BLOCKS_IN_VIEW = 100
TABLE_CHARACTERS = 10_000
VIEW_BYTES = 250_000

MESSAGE_BLOCKS_CHARACTERS = 13_200
"""The total size of a posted message's blocks as JSON. Undocumented: `msg_blocks_too_long` was seen at 13,172 to 13,297
characters (github.com/slackapi/bolt-js/issues/2509 and 2867); a response URL has no such limit."""


def check_message_blocks(blocks: Any, features: frozenset[str]) -> None:
    """Reject invalid blocks, listing every violation."""
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    notes = Notes(features)
    array(block, BLOCKS_IN_MESSAGE, least=0)(blocks, "/blocks", notes)
    check_unique(blocks, "/blocks", notes)
    _check_tables(blocks, notes)
    if notes.messages:
        raise invalid("invalid_blocks", notes.messages)


def check_message_size(blocks: list[dict[str, Any]]) -> None:
    """Check the total size of all blocks of a posted message."""
    markdown = sum(len(block["text"]) for block in blocks if block.get("type") == "markdown")
    size = len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))
    if markdown > MARKDOWN_LONGEST or size > MESSAGE_BLOCKS_CHARACTERS:
        raise Refused("msg_blocks_too_long")


def _check_tables(blocks: list[Any], notes: Notes) -> None:
    tables = [block for block in blocks if isinstance(block, dict) and block.get("type") == "table"]
    if len(tables) > 1:
        notes.add("only_one_table_allowed", "/blocks")
    if sum(_characters(table.get("rows")) for table in tables) > TABLE_CHARACTERS:
        notes.add(f"table cells must be less than {TABLE_CHARACTERS + 1} characters altogether", "/blocks")


def _characters(value: Any) -> int:
    if isinstance(value, dict):
        own = len(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_characters(item) for name, item in value.items() if name != "text")
    return sum(_characters(item) for item in value) if isinstance(value, list) else 0


_TYPE: dict[str, Check] = {"type": string()}
_ANY_VIEW: dict[str, Check] = {
    "blocks": array(block, BLOCKS_IN_VIEW, least=0),
    "private_metadata": string(3000, shortest=0),
    "callback_id": string(255, shortest=0),
    "external_id": string(255, shortest=0),
}


def _submit_for_inputs(value: Any, place: str, notes: Notes) -> None:
    blocks = value.get("blocks")
    if value.get("submit") is None and isinstance(blocks, list):
        for number, block in enumerate(blocks):
            if isinstance(block, dict) and block.get("type") == "input":
                notes.add("missing required field: submit", place)
                notes.add(
                    "`submit` is required when an `input` block is within the `blocks` array",
                    f"{place}/blocks/{number}",
                )
                return


_MODAL = every(
    record(
        {**_TYPE, "title": plain(24), "blocks": _ANY_VIEW["blocks"]},
        {
            **_ANY_VIEW,
            "close": plain(24),
            "submit": plain(24),
            "clear_on_close": boolean,
            "notify_on_close": boolean,
            "submit_disabled": boolean,
        },
    ),
    _submit_for_inputs,
)
_HOME = record({**_TYPE, "blocks": _ANY_VIEW["blocks"]}, _ANY_VIEW)


def check_view(view: Any, kind: str, features: frozenset[str]) -> None:
    """Reject an invalid modal or Home tab."""
    notes = Notes(features, surface=kind)
    with notes.inside("/view"):
        by_type({"modal": _MODAL} if kind == "modal" else {"home": _HOME})(view, "/view", notes)
        if isinstance(view, dict) and isinstance(view.get("blocks"), list):
            check_unique(view["blocks"], "/view/blocks", notes)
    if notes.messages:
        raise invalid("invalid_arguments", notes.messages)
    if len(json.dumps(view).encode()) > VIEW_BYTES:
        raise Refused("view_too_large")
