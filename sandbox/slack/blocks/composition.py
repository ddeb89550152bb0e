"""Composition objects: text, options, confirmations, filters."""

from __future__ import annotations

from typing import Any

from sandbox.slack.blocks.rules import Check, Notes, array, boolean, by_type, choice, framed, record, string, url

ACTION_ID = string(255)
BLOCK_ID = string(255)

_TYPE: dict[str, Check] = {"type": string()}


def plain(longest: int) -> Check:
    """A plain_text object."""
    rules = record({**_TYPE, "text": string(longest)}, {"emoji": boolean})
    return framed(by_type({"plain_text": rules}))


def text(longest: int) -> Check:
    """A text object, plain or mrkdwn. Only plain text has `emoji`, only mrkdwn `verbatim`."""
    return framed(
        by_type(
            {
                "plain_text": record({**_TYPE, "text": string(longest)}, {"emoji": boolean}),
                "mrkdwn": record({**_TYPE, "text": string(longest)}, {"verbatim": boolean}),
            }
        )
    )


CONFIRM = framed(
    record(
        {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
        {"style": choice("primary", "danger")},
    )
)

_OPTION_FIELDS: dict[str, Check] = {"value": string(150)}

PLAIN_OPTION = record({"text": plain(75), **_OPTION_FIELDS}, {"description": plain(75)})
"""An option of a select menu, which allows no mrkdwn and no links."""

ANY_OPTION = record({"text": text(75), **_OPTION_FIELDS}, {"description": text(75)})
"""An option of checkboxes and radio buttons."""

OVERFLOW_OPTION = record({"text": plain(75), **_OPTION_FIELDS}, {"description": plain(75), "url": url()})

OPTION_GROUP = record({"label": plain(75), "options": array(PLAIN_OPTION, 100)})

CONVERSATION_FILTER = record(
    {},
    {
        "include": array(choice("im", "mpim", "private", "public")),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)


def options_or_groups(value: Any, place: str, notes: Notes) -> None:
    """A menu has either options or option groups."""
    if not isinstance(value, dict):
        return
    if value.get("options") is None and value.get("option_groups") is None:
        notes.add("missing required field: options", place)
    if value.get("options") is not None and value.get("option_groups") is not None:
        notes.add("only one of `options` or `option_groups` can be specified", place)


SLACK_FILE = record({}, {"id": string(), "url": url()})
