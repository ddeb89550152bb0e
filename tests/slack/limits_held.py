"""Checks that Slack would accept a message, by its published limits and slack_sdk's models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from slack_sdk.models.blocks import Block

from bot.slack.kit import limits
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.kit.rich_text import entity_of, size

_TEXTS = {"section": limits.SECTION_TEXT, "header": limits.HEADER_TEXT, "button": limits.BUTTON_TEXT}
_OURS = re.compile(r"[^<>]*")


def assert_accepted(said: Message | AnswerMessages) -> None:
    if isinstance(said, AnswerMessages):
        for message in (said.head, *said.thread):
            assert_accepted(message)
        return
    assert 0 < len(said.text) <= limits.MESSAGE_TEXT
    assert _OURS.fullmatch(without_the_named(said)), "nothing may become a mention or a link in a notification"
    assert_blocks_accepted(list(said.blocks), limits.BLOCKS_IN_MESSAGE)
    as_sent = json.dumps(list(said.blocks), ensure_ascii=False, separators=(",", ":"))
    assert len(as_sent) <= limits.MESSAGE_CHARACTERS + 1000


def without_the_named(said: Message) -> str:
    """The notification text, without the mentions that are also in the blocks and without our timestamps."""
    text = re.sub(r"<!date\^\d+\^\{time\}\|[0-9:]+ UTC>", "", said.text)
    for element in (one for block in said.blocks for one in _all(block)):
        if element.get("type") in ("user", "usergroup"):
            text = text.replace(str(entity_of(element)), "")
    return text


def assert_blocks_accepted(blocks: list[dict[str, Any]], most: int) -> None:
    assert 0 < len(blocks) <= most
    ids = [element["action_id"] for block in blocks for element in block.get("elements", ()) if "action_id" in element]
    assert len(ids) == len(set(ids))
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None, f"slack_sdk knows no block {block['type']}"
        parsed.to_dict()
        for element in _all(block):
            _assert_element(element)


def _assert_element(element: dict[str, Any]) -> None:
    kind, text = element.get("type"), element.get("text")
    if isinstance(text, dict):
        otherwise = limits.CONFIRM_TEXT if "deny" in element else limits.OPTION_TEXT
        assert 0 < len(text["text"]) <= _TEXTS.get(str(kind), otherwise)
    elif isinstance(text, str):
        assert text, "Slack refuses an empty text"
        assert len(text) <= limits.SECTION_TEXT
    if kind == "mrkdwn":
        assert element["verbatim"] is True
        assert _OURS.fullmatch(element["text"]), "nothing may become a mention or a link"
    if kind == "context":
        assert 0 < len(element["elements"]) <= limits.CONTEXT_ELEMENTS
        assert all(len(one["text"]) <= limits.FIELD_TEXT for one in element["elements"])
    if kind == "actions":
        assert 0 < len(element["elements"]) <= limits.ACTIONS_ELEMENTS
    if kind == "button":
        assert len(element["value"]) <= limits.BUTTON_VALUE
        assert len(element["action_id"]) <= limits.ACTION_ID
    if kind is None and "value" in element:
        assert len(element["value"]) <= limits.OPTION_VALUE
    if kind == "static_select":
        assert 0 < len(element["options"]) <= limits.OPTIONS
    if kind == "link":
        assert len(element["url"]) <= limits.URL
    if kind in ("rich_text", "rich_text_section", "rich_text_list", "rich_text_preformatted"):
        assert element["elements"]
    if kind == "rich_text":
        assert size(element) <= limits.RICH_TEXT
    if kind == "plan":
        assert len(element["tasks"]) <= limits.TASKS_IN_PLAN


def _all(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _all(one)
    elif isinstance(value, list):
        for one in value:
            yield from _all(one)
