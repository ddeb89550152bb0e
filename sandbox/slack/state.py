"""The values people entered into elements, in the format sent to the app (`state.values`)."""

from __future__ import annotations

from typing import Any

from sandbox.slack.blocks.ids import elements_of
from sandbox.slack.errors import NotInSlack

Body = dict[str, Any]

_ONE_OPTION = {"static_select", "external_select", "radio_buttons", "overflow"}
_MANY_OPTIONS = {"multi_static_select", "multi_external_select", "checkboxes"}
_ONE_ID = {
    "users_select": ("selected_user", "initial_user"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "channels_select": ("selected_channel", "initial_channel"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
}
_MANY_IDS = {
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
}
_WRITTEN = {"plain_text_input", "email_text_input", "url_text_input", "number_input"}


def initial(element: Body) -> Body | None:
    """An element's initial value; None for elements without a value."""
    kind = element["type"]
    if kind in _WRITTEN:
        return {"type": kind, "value": element.get("initial_value")}
    if kind in _ONE_OPTION - {"overflow"}:
        return {"type": kind, "selected_option": element.get("initial_option")}
    if kind in _MANY_OPTIONS:
        return {"type": kind, "selected_options": element.get("initial_options") or []}
    if kind in _ONE_ID:
        field, first = _ONE_ID[kind]
        return {"type": kind, field: element.get(first)}
    if kind in _MANY_IDS:
        field, first = _MANY_IDS[kind]
        return {"type": kind, field: element.get(first) or []}
    return None


def chosen(element: Body, value: Any, offered: list[Body] | None = None) -> Body:
    """An element's value after somebody chose or typed this. Options are given by their value."""
    kind = element["type"]
    if kind in _WRITTEN:
        return {"type": kind, "value": value or None}
    options = offered if offered is not None else options_of(element)
    if kind in _ONE_OPTION:
        return {"type": kind, "selected_option": None if value is None else _option(options, value)}
    if kind in _MANY_OPTIONS:
        return {"type": kind, "selected_options": [_option(options, chosen) for chosen in value or []]}
    if kind in _ONE_ID:
        return {"type": kind, _ONE_ID[kind][0]: value}
    if kind in _MANY_IDS:
        return {"type": kind, _MANY_IDS[kind][0]: list(value or [])}
    raise NotInSlack(f"nobody can choose anything in a {kind}")


def options_of(element: Body) -> list[Body]:
    groups = element.get("option_groups") or []
    return [*(element.get("options") or []), *(option for group in groups for option in group["options"])]


def _option(options: list[Body], value: Any) -> Body:
    for option in options:
        if option.get("value") == value:
            return option
    raise NotInSlack(f"the menu does not offer {value!r}; it offers {[option.get('value') for option in options]}")


def is_empty(stored: Body | None) -> bool:
    return not stored or not any(value for name, value in stored.items() if name != "type")


def values_of(blocks: list[Body], before: Body | None = None) -> Body:
    """The state of all elements; previous values are kept for elements that still exist."""
    values: Body = {}
    for block in blocks:
        for element in elements_of(block):
            first = initial(element)
            if first is None:
                continue
            stored = ((before or {}).get(block["block_id"]) or {}).get(element["action_id"])
            keep = stored is not None and stored["type"] == element["type"]
            values.setdefault(block["block_id"], {})[element["action_id"]] = stored if keep else first
    return values


def find(blocks: list[Body], action_id: str, block_id: str | None = None) -> tuple[Body, Body]:
    """The block and the element with this action id."""
    seen = []
    for block in blocks:
        for element in elements_of(block):
            seen.append(element["action_id"])
            if element["action_id"] == action_id and block_id in (None, block["block_id"]):
                return block, element
    raise NotInSlack(f"there is no {action_id!r} here; there are {seen}")
