"""Block elements: buttons, menus, inputs."""

from __future__ import annotations

from typing import Any

from sandbox.slack.blocks.composition import (
    ACTION_ID,
    ANY_OPTION,
    CONFIRM,
    CONVERSATION_FILTER,
    OPTION_GROUP,
    OVERFLOW_OPTION,
    PLAIN_OPTION,
    SLACK_FILE,
    options_or_groups,
    plain,
    text,
)
from sandbox.slack.blocks.rules import (
    Check,
    Notes,
    anything,
    array,
    boolean,
    by_type,
    choice,
    every,
    integer,
    record,
    string,
    url,
)

_TYPE: dict[str, Check] = {"type": string()}
_ACTING: dict[str, Check] = {"action_id": ACTION_ID, "focus_on_load": boolean}
_MENU: dict[str, Check] = {**_ACTING, "placeholder": plain(150), "confirm": CONFIRM}
_MANY: dict[str, Check] = {**_MENU, "max_selected_items": integer(1)}
_STATIC: dict[str, Check] = {"options": array(PLAIN_OPTION, 100), "option_groups": array(OPTION_GROUP, 100)}
_DISPATCH = record({}, {"trigger_actions_on": array(choice("on_enter_pressed", "on_character_entered"), 2)})
_IDS = array(string(), least=0)

BUTTON = record(
    {**_TYPE, "text": plain(75)},
    {
        "action_id": ACTION_ID,
        "url": url(),
        "value": string(2000),
        "style": choice("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
    },
)


def _chosen_exist(value: Any, place: str, notes: Notes) -> None:
    """A menu's initial options must be among its options."""
    groups = value.get("option_groups") or []
    offered = [*(value.get("options") or []), *(option for group in groups for option in group.get("options") or [])]
    chosen = [value["initial_option"]] if value.get("initial_option") else (value.get("initial_options") or [])
    field = "initial_option" if value.get("initial_option") else "initial_options"
    if offered and any(item not in offered for item in chosen):
        notes.add(f"`{field}` must exactly match one of the provided `options`", f"{place}/{field}")


def _static(fields: dict[str, Check]) -> Check:
    return every(record(_TYPE, {**fields, **_STATIC}), options_or_groups, _if_sound(_chosen_exist))


def _if_sound(check: Check) -> Check:
    def only_if(value: Any, place: str, notes: Notes) -> None:
        before = len(notes.messages)
        try:
            check(value, place, notes)
        except (AttributeError, TypeError):
            # Invalid structure: already reported by an earlier rule.
            del notes.messages[before:]

    return only_if


MENUS: dict[str, Check] = {
    "static_select": _static({**_MENU, "initial_option": PLAIN_OPTION}),
    "multi_static_select": _static({**_MANY, "initial_options": array(PLAIN_OPTION)}),
    "external_select": record(_TYPE, {**_MENU, "initial_option": PLAIN_OPTION, "min_query_length": integer(0)}),
    "multi_external_select": record(
        _TYPE, {**_MANY, "initial_options": array(PLAIN_OPTION), "min_query_length": integer(0)}
    ),
    "users_select": record(_TYPE, {**_MENU, "initial_user": string()}),
    "multi_users_select": record(_TYPE, {**_MANY, "initial_users": _IDS}),
    "conversations_select": record(
        _TYPE,
        {
            **_MENU,
            "initial_conversation": string(),
            "default_to_current_conversation": boolean,
            "response_url_enabled": boolean,
            "filter": CONVERSATION_FILTER,
        },
    ),
    "multi_conversations_select": record(
        _TYPE,
        {
            **_MANY,
            "initial_conversations": _IDS,
            "default_to_current_conversation": boolean,
            "filter": CONVERSATION_FILTER,
        },
    ),
    "channels_select": record(_TYPE, {**_MENU, "initial_channel": string(), "response_url_enabled": boolean}),
    "multi_channels_select": record(_TYPE, {**_MANY, "initial_channels": _IDS}),
}

_CHECKS: dict[str, Check] = {
    "checkboxes": every(
        record(
            {**_TYPE, "options": array(ANY_OPTION, 10)},
            {**_ACTING, "initial_options": array(ANY_OPTION), "confirm": CONFIRM},
        ),
        _if_sound(_chosen_exist),
    ),
    "radio_buttons": every(
        record(
            {**_TYPE, "options": array(ANY_OPTION, 10)},
            {**_ACTING, "initial_option": ANY_OPTION, "confirm": CONFIRM},
        ),
        _if_sound(_chosen_exist),
    ),
}

_PICKERS: dict[str, Check] = {
    "datepicker": record(_TYPE, {**_MENU, "initial_date": string(10)}),
    "timepicker": record(_TYPE, {**_MENU, "initial_time": string(5), "timezone": string()}),
    "datetimepicker": record(_TYPE, {**_ACTING, "initial_date_time": integer(), "confirm": CONFIRM}),
}

_TYPED: dict[str, Check] = {**_ACTING, "placeholder": plain(150), "dispatch_action_config": _DISPATCH}

_WRITTEN: dict[str, Check] = {
    "plain_text_input": record(
        _TYPE,
        {
            **_TYPED,
            "initial_value": string(3000, shortest=0),
            "multiline": boolean,
            "min_length": integer(0, 3000),
            "max_length": integer(1, 3000),
        },
    ),
    "email_text_input": record(_TYPE, {**_TYPED, "initial_value": string(shortest=0)}),
    "url_text_input": record(_TYPE, {**_TYPED, "initial_value": string(shortest=0)}),
    "number_input": record(
        {**_TYPE, "is_decimal_allowed": boolean},
        {**_TYPED, "initial_value": string(), "min_value": string(), "max_value": string()},
    ),
    "rich_text_input": record(_TYPE, {**_TYPED, "initial_value": anything}),
    "file_input": record(_TYPE, {"action_id": ACTION_ID, "filetypes": array(string()), "max_files": integer(1, 10)}),
}

IMAGE = record({**_TYPE, "alt_text": string(2000)}, {"image_url": url(), "slack_file": SLACK_FILE})

_BUTTONS: dict[str, Check] = {
    "button": BUTTON,
    "overflow": record({**_TYPE, "options": array(OVERFLOW_OPTION, 5)}, {"action_id": ACTION_ID, "confirm": CONFIRM}),
}

IN_ACTIONS = by_type({**_BUTTONS, **MENUS, **_CHECKS, **_PICKERS, "rich_text_input": _WRITTEN["rich_text_input"]})
IN_SECTION = by_type(
    {**_BUTTONS, **MENUS, **_CHECKS, "image": IMAGE, "datepicker": _PICKERS["datepicker"]}
    | {"timepicker": _PICKERS["timepicker"]}
)
IN_INPUT = by_type({**MENUS, **_CHECKS, **_PICKERS, **_WRITTEN})
IN_CONTEXT = by_type(
    {
        "image": IMAGE,
        "mrkdwn": text(2000),
        "plain_text": text(2000),
    }
)
"""Slack documents no limit for text in a context block; the limit of section fields is used."""
