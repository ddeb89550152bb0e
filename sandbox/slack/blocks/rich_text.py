"""Rich text, as produced by the composer and used in task cards and tables."""

from __future__ import annotations

from typing import Any

from sandbox.slack.blocks.composition import BLOCK_ID
from sandbox.slack.blocks.rules import (
    Check,
    Notes,
    array,
    boolean,
    by_type,
    choice,
    integer,
    record,
    string,
    url,
)

_TYPE: dict[str, Check] = {"type": string()}
_STYLE = record({}, {"bold": boolean, "italic": boolean, "strike": boolean, "code": boolean, "underline": boolean})
_MENTION_STYLE = record(
    {},
    {
        "bold": boolean,
        "italic": boolean,
        "strike": boolean,
        "highlight": boolean,
        "client_highlight": boolean,
        "unlink": boolean,
    },
)

_TEXT = record({**_TYPE, "text": string()}, {"style": _STYLE})
_LINK = record({**_TYPE, "url": url()}, {"text": string(), "unsafe": boolean, "style": _STYLE})

_INLINE = by_type(
    {
        "text": _TEXT,
        "link": _LINK,
        "user": record({**_TYPE, "user_id": string()}, {"style": _MENTION_STYLE}),
        "usergroup": record({**_TYPE, "usergroup_id": string()}, {"style": _MENTION_STYLE}),
        "channel": record({**_TYPE, "channel_id": string()}, {"style": _MENTION_STYLE}),
        "team": record({**_TYPE, "team_id": string()}, {"style": _MENTION_STYLE}),
        "broadcast": record({**_TYPE, "range": choice("here", "channel", "everyone")}),
        "color": record({**_TYPE, "value": string()}),
        "date": record({**_TYPE, "timestamp": integer(), "format": string()}, {"url": url(), "fallback": string()}),
        "emoji": record({**_TYPE, "name": string()}, {"unicode": string(), "skin_tone": integer(), "url": url()}),
    }
)

_SECTION = record({**_TYPE, "elements": array(_INLINE, least=0)})

_PARTS = by_type(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": record(
            {
                **_TYPE,
                "style": choice("bullet", "ordered"),
                "elements": array(by_type({"rich_text_section": _SECTION})),
            },
            {"indent": integer(0, 8), "offset": integer(0), "border": choice(0, 1)},
        ),
        "rich_text_preformatted": record(
            {**_TYPE, "elements": array(by_type({"text": _TEXT, "link": _LINK}))},
            {"border": choice(0, 1), "language": string()},
        ),
        "rich_text_quote": record({**_TYPE, "elements": array(_INLINE)}, {"border": choice(0, 1)}),
    }
)

RICH_TEXT = record({**_TYPE, "elements": array(_PARTS)}, {"block_id": BLOCK_ID})


def one_rich_text(value: Any, place: str, notes: Notes) -> None:
    """A single rich_text entity, as required in a task card."""
    by_type({"rich_text": RICH_TEXT})(value, place, notes)
    elements = value.get("elements") if isinstance(value, dict) else None
    if isinstance(elements, list) and len(elements) > 1:
        notes.add("no more than 1 items allowed", f"{place}/elements")
