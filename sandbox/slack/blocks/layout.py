"""The block types, and which of them each surface allows."""

from __future__ import annotations

from typing import Any

from sandbox.slack.blocks.composition import BLOCK_ID, SLACK_FILE, plain, text
from sandbox.slack.blocks.elements import IN_ACTIONS, IN_CONTEXT, IN_INPUT, IN_SECTION
from sandbox.slack.blocks.rich_text import RICH_TEXT, one_rich_text
from sandbox.slack.blocks.rules import (
    Check,
    Notes,
    array,
    boolean,
    by_type,
    choice,
    every,
    framed,
    record,
    string,
    url,
)

_TYPE: dict[str, Check] = {"type": string()}
_ID: dict[str, Check] = {"block_id": BLOCK_ID}


def _text_or_fields(value: Any, place: str, notes: Notes) -> None:
    if value.get("text") is None and value.get("fields") is None:
        notes.add("must define either `text` or `fields`", place)


def _one_picture(value: Any, place: str, notes: Notes) -> None:
    if (value.get("image_url") is None) == (value.get("slack_file") is None):
        notes.add("must define either `image_url` or `slack_file`", place)


def _table_shape(value: Any, place: str, notes: Notes) -> None:
    rows = value.get("rows")
    if isinstance(rows, list) and len({len(row) for row in rows if isinstance(row, list)}) > 1:
        notes.add("all rows must have the same number of cells", f"{place}/rows")


_CELL = by_type(
    {
        "raw_text": record({**_TYPE, "text": string()}),
        "rich_text": RICH_TEXT,
    }
)

_TASK_CARD = record(
    {**_TYPE, "task_id": string(), "title": string()},
    {
        **_ID,
        "details": one_rich_text,
        "output": one_rich_text,
        "sources": array(record({**_TYPE, "url": url(), "text": string()}), least=0),
        "status": choice("pending", "in_progress", "complete", "error"),
    },
)

_EVERYWHERE: dict[str, Check] = {
    "section": every(
        record(
            _TYPE,
            {
                **_ID,
                "text": text(3000),
                "fields": array(text(2000), 10),
                "accessory": framed(IN_SECTION),
                "expand": boolean,
            },
        ),
        _text_or_fields,
    ),
    "divider": record(_TYPE, _ID),
    "header": record({**_TYPE, "text": plain(150)}, _ID),
    "context": record({**_TYPE, "elements": array(IN_CONTEXT, 10)}, _ID),
    "actions": record({**_TYPE, "elements": array(framed(IN_ACTIONS), 25)}, _ID),
    "image": every(
        record(
            {**_TYPE, "alt_text": string(2000)},
            {**_ID, "image_url": url(), "slack_file": SLACK_FILE, "title": plain(2000)},
        ),
        _one_picture,
    ),
    "input": record(
        {**_TYPE, "label": plain(2000), "element": framed(IN_INPUT)},
        {**_ID, "hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": RICH_TEXT,
}

MARKDOWN_LONGEST = 12_000

_IN_MESSAGES: dict[str, Check] = {
    "markdown": record({**_TYPE, "text": string(MARKDOWN_LONGEST)}, _ID),
    "table": every(
        record(
            {**_TYPE, "rows": array(array(_CELL, 20), 100)},
            {
                **_ID,
                "column_settings": array(
                    record({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean}), 20, least=0
                ),
            },
        ),
        _table_shape,
    ),
}

PLAN_BLOCKS = "plan-blocks"
"""The workspace feature that enables `plan` and `task_card`."""

_WITH_PLANS: dict[str, Check] = {
    "task_card": _TASK_CARD,
    "plan": record({**_TYPE, "title": string()}, {**_ID, "tasks": array(by_type({"task_card": _TASK_CARD}), least=0)}),
}


def block(value: Any, place: str, notes: Notes) -> None:
    """Check one block for the surface given in the notes."""
    kinds = dict(_EVERYWHERE)
    if notes.surface == "message":
        kinds |= _IN_MESSAGES
        if PLAN_BLOCKS in notes.features:
            kinds |= _WITH_PLANS
    if not isinstance(value, dict):
        notes.add("must provide an object", place)
        return
    by_type(kinds)(value, place, notes)
