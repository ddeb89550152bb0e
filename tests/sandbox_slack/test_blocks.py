from __future__ import annotations

from typing import Any

import pytest

from sandbox.slack.blocks.layout import PLAN_BLOCKS
from sandbox.slack.blocks.surfaces import check_message_blocks, check_message_size, check_view
from sandbox.slack.errors import Refused

Body = dict[str, Any]
ALL = frozenset({PLAN_BLOCKS})


def plain(text: str) -> Body:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Body:
    return {"type": "mrkdwn", "text": text}


def option(value: str = "v", text: str = "t") -> Body:
    return {"text": plain(text), "value": value}


def button(**more: Any) -> Body:
    return {"type": "button", "text": plain("Go"), "action_id": "go", **more}


def actions(*elements: Body) -> Body:
    return {"type": "actions", "elements": list(elements)}


def section(**more: Any) -> Body:
    return {"type": "section", "text": mrkdwn("x"), **more}


def menu(**more: Any) -> Body:
    return {"type": "static_select", "action_id": "pick", "options": [option()], **more}


def rich(*elements: Body) -> Body:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def card(**more: Any) -> Body:
    return {"type": "task_card", "task_id": "a", "title": "Nodes", "status": "complete", **more}


def table(rows: list[list[str]]) -> Body:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": one} for one in row] for row in rows]}


def messages(blocks: Any, features: frozenset[str] = ALL) -> list[str]:
    try:
        check_message_blocks(blocks, features)
    except Refused as refusal:
        return [one.removeprefix("[ERROR] ") for one in refusal.body["response_metadata"]["messages"]]
    return []


LONG = "x" * 5000

AT_THE_LIMIT: list[tuple[Body, Body, str]] = [
    (section(text=mrkdwn(LONG[:3000])), section(text=mrkdwn(LONG[:3001])), "less than 3001 characters"),
    (section(text=mrkdwn("x")), section(text=mrkdwn("")), "more than 0 characters"),
    (section(fields=[mrkdwn("x")] * 10), section(fields=[mrkdwn("x")] * 11), "no more than 10 items"),
    (section(fields=[mrkdwn(LONG[:2000])]), section(fields=[mrkdwn(LONG[:2001])]), "less than 2001 characters"),
    (section(), {"type": "section"}, "must define either `text` or `fields`"),
    (section(), section(text=None), "must define either `text` or `fields`"),
    (section(), section(colour="red"), "invalid additional property: colour"),
    (section(), section(text={**mrkdwn("x"), "emoji": True}), "invalid additional property: emoji"),
    (section(text=plain("x")), section(text={"type": "html", "text": "x"}), "unsupported type: html"),
    (section(block_id=LONG[:255]), section(block_id=LONG[:256]), "less than 256 characters"),
    ({"type": "header", "text": plain(LONG[:150])}, {"type": "header", "text": plain(LONG[:151])}, "less than 151"),
    ({"type": "header", "text": plain("x")}, {"type": "header", "text": mrkdwn("x")}, "unsupported type: mrkdwn"),
    (
        {"type": "context", "elements": [mrkdwn("x")] * 10},
        {"type": "context", "elements": [mrkdwn("x")] * 11},
        "no more than 10 items",
    ),
    ({"type": "context", "elements": [mrkdwn("x")]}, {"type": "context", "elements": [button()]}, "unsupported type"),
    (
        actions(*(button(action_id=str(one)) for one in range(25))),
        actions(*(button(action_id=str(one)) for one in range(26))),
        "no more than 25 items",
    ),
    (actions(button()), actions(), "no less than 1 items"),
    (actions(button()), actions(button(), button()), '`action_id` "go" already exists'),
    (actions(button(text=plain(LONG[:75]))), actions(button(text=plain(LONG[:76]))), "less than 76 characters"),
    (actions(button(value=LONG[:2000])), actions(button(value=LONG[:2001])), "less than 2001 characters"),
    (actions(button(action_id=LONG[:255])), actions(button(action_id=LONG[:256])), "less than 256 characters"),
    (actions(button(style="danger")), actions(button(style="red")), "must be a valid enum value"),
    (
        actions(button(url="https://x.example/" + LONG[:2982])),
        actions(button(url="https://x.example/" + LONG[:2983])),
        "less than 3001 characters",
    ),
    (actions(button(url="https://x.example")), actions(button(url="javascript:alert(1)")), "invalid url"),
    (
        actions(menu(options=[option(str(one)) for one in range(100)])),
        actions(menu(options=[option(str(one)) for one in range(101)])),
        "no more than 100 items",
    ),
    (actions(menu(options=[option(LONG[:150])])), actions(menu(options=[option(LONG[:151])])), "less than 151"),
    (actions(menu(options=[option("v", LONG[:75])])), actions(menu(options=[option("v", LONG[:76])])), "less than 76"),
    (actions(menu(placeholder=plain(LONG[:150]))), actions(menu(placeholder=plain(LONG[:151]))), "less than 151"),
    (actions(menu(initial_option=option())), actions(menu(initial_option=option("w"))), "must exactly match one"),
    (actions(menu()), actions(menu(option_groups=[{"label": plain("x"), "options": [option()]}])), "only one of"),
    (
        section(accessory={"type": "overflow", "options": [option(str(one)) for one in range(5)]}),
        section(accessory={"type": "overflow", "options": [option(str(one)) for one in range(6)]}),
        "no more than 5 items",
    ),
    (
        section(accessory={"type": "checkboxes", "options": [option(str(one)) for one in range(10)]}),
        section(accessory={"type": "checkboxes", "options": [option(str(one)) for one in range(11)]}),
        "no more than 10 items",
    ),
    (
        actions(button(confirm={"title": plain("x"), "text": plain("x"), "confirm": plain("x"), "deny": plain("x")})),
        actions(button(confirm={"title": plain("x"), "text": plain("x"), "confirm": plain("x")})),
        "missing required field: deny",
    ),
    (
        {"type": "image", "image_url": "https://x.example/a.png", "alt_text": LONG[:2000]},
        {"type": "image", "image_url": "https://x.example/a.png", "alt_text": LONG[:2001]},
        "less than 2001 characters",
    ),
    (
        {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "x"},
        {"type": "image", "alt_text": "x"},
        "must define either `image_url` or `slack_file`",
    ),
    ({"type": "markdown", "text": "x" * 12_000}, {"type": "markdown", "text": "x" * 12_001}, "less than 12001"),
    (rich({"type": "text", "text": "x"}), rich({"type": "text", "text": ""}), "more than 0 characters"),
    (rich({"type": "text", "text": "x"}), rich({"type": "song", "text": "x"}), "unsupported type: song"),
    (table([["a"]] * 100), table([["a"]] * 101), "no more than 100 items"),
    (table([["a"] * 20]), table([["a"] * 21]), "no more than 20 items"),
    (table([["x" * 5000, "x" * 5000]]), table([["x" * 5000, "x" * 5001]]), "less than 10001 characters"),
    (table([["a", "b"]]), table([["a", "b"], ["c"]]), "same number of cells"),
    (table([["a"]]), table([[""]]), "more than 0 characters"),
    (card(), card(status="done"), "must be a valid enum value"),
    (card(), {"type": "task_card", "title": "x"}, "missing required field: task_id"),
    (card(details=rich({"type": "text", "text": "x"})), card(details="x"), "must provide an object"),
    (
        {"type": "plan", "title": "Checking", "tasks": [card()]},
        {"type": "plan", "title": "x", "tasks": [section()]},
        "un",
    ),
    ({"type": "divider"}, {"type": "song"}, "unsupported type: song"),
    ({"type": "divider"}, {}, "missing required field: type"),
]


@pytest.mark.parametrize(
    ("good", "bad", "why"), AT_THE_LIMIT, ids=[f"{one[2]}-{i}" for i, one in enumerate(AT_THE_LIMIT)]
)
def test_what_is_just_within_a_rule_passes_and_what_is_just_beyond_it_is_named(good: Body, bad: Body, why: str) -> None:
    assert messages([good]) == []
    assert any(why in one for one in messages([bad]))


def test_what_is_wrong_is_said_twice_as_slack_does() -> None:
    with pytest.raises(Refused) as refused:
        check_message_blocks([{"type": "song"}], ALL)
    assert refused.value.body == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": ["unsupported type: song [json-pointer:/blocks/0/type]"],
        "response_metadata": {"messages": ["[ERROR] unsupported type: song [json-pointer:/blocks/0/type]"]},
    }


def test_slacks_own_words_for_a_text_that_is_too_long() -> None:
    assert messages([section(text=mrkdwn("x" * 3001))]) == [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ]


def test_fifty_blocks_fit_and_fifty_one_do_not() -> None:
    assert messages([{"type": "divider"}] * 50) == []
    assert messages([{"type": "divider"}] * 51) == ["no more than 50 items allowed [json-pointer:/blocks]"]


def test_a_block_id_stands_once() -> None:
    twice = [section(block_id="a"), section(block_id="a")]
    assert messages(twice) == ['`block_id` "a" already exists [json-pointer:/blocks/1/block_id]']


def test_one_table_fits_in_a_message() -> None:
    assert messages([table([["a"]]), table([["a"]])]) == ["only_one_table_allowed [json-pointer:/blocks]"]


@pytest.mark.parametrize("block", [card(), {"type": "plan", "title": "x"}])
def test_plans_are_unknown_where_the_workspace_does_not_have_them(block: Body) -> None:
    found = messages([block], frozenset())
    assert found == [f"unsupported type: {block['type']} [json-pointer:/blocks/0/type]"]
    assert messages([block]) == []


@pytest.mark.parametrize("blocks", [{}, "x", 3])
def test_blocks_are_a_list(blocks: Any) -> None:
    with pytest.raises(Refused, match="invalid_blocks_format"):
        check_message_blocks(blocks, ALL)


def test_all_markdown_of_a_message_has_one_limit() -> None:
    check_message_size([{"type": "markdown", "text": "x" * 6000}] * 2)
    with pytest.raises(Refused, match="msg_blocks_too_long"):
        check_message_size([{"type": "markdown", "text": "x" * 6000}, {"type": "markdown", "text": "x" * 6001}])


def test_all_blocks_of_a_message_have_a_limit_together() -> None:
    check_message_size([section(text=mrkdwn("x" * 3000))] * 4)
    with pytest.raises(Refused, match="msg_blocks_too_long"):
        check_message_size([section(text=mrkdwn("x" * 3000))] * 5)


def modal(**more: Any) -> Body:
    return {"type": "modal", "title": plain("Pick"), "blocks": [], **more}


def field(**more: Any) -> Body:
    return {"type": "input", "label": plain("x"), "element": {"type": "plain_text_input"}, **more}


VIEWS: list[tuple[Body, Body, str]] = [
    (modal(title=plain("x" * 24)), modal(title=plain("x" * 25)), "less than 25 characters [json-pointer:/view/title"),
    (modal(submit=plain("x" * 24)), modal(submit=plain("x" * 25)), "less than 25 characters"),
    (modal(private_metadata="x" * 3000), modal(private_metadata="x" * 3001), "less than 3001 characters"),
    (modal(callback_id="x" * 255), modal(callback_id="x" * 256), "less than 256 characters"),
    (modal(blocks=[{"type": "divider"}] * 100), modal(blocks=[{"type": "divider"}] * 101), "no more than 100 items"),
    (modal(submit=plain("Go"), blocks=[field()]), modal(blocks=[field()]), "missing required field: submit"),
    (modal(), {"type": "modal", "blocks": []}, "missing required field: title"),
    (modal(), modal(blocks=[{"type": "markdown", "text": "x"}]), "unsupported type: markdown"),
    (
        modal(submit=plain("Go"), blocks=[field(element={"type": "plain_text_input", "max_length": 3000})]),
        modal(submit=plain("Go"), blocks=[field(element={"type": "plain_text_input", "max_length": 3001})]),
        "less than or equal to 3000",
    ),
    (modal(), {"type": "home", "blocks": []}, "unsupported type: home"),
]


@pytest.mark.parametrize(("good", "bad", "why"), VIEWS, ids=[one[2] for one in VIEWS])
def test_views_have_rules_of_their_own(good: Body, bad: Body, why: str) -> None:
    check_view(good, "modal", ALL)
    with pytest.raises(Refused) as refused:
        check_view(bad, "modal", ALL)
    assert refused.value.error == "invalid_arguments"
    assert any(why in one for one in refused.value.body["response_metadata"]["messages"])


@pytest.mark.parametrize("view", ["x", None, 3, {"type": "modal", "blocks": "x", "title": 3}, {"blocks": [[]]}])
def test_nonsense_is_refused_and_does_not_break_anything(view: Any) -> None:
    with pytest.raises(Refused):
        check_view(view, "modal", ALL)


@pytest.mark.parametrize(
    "block",
    [
        None,
        3,
        "x",
        [],
        {"type": 3},
        {"type": "section", "fields": "x"},
        {"type": "section", "accessory": {"type": "static_select", "options": 3, "initial_option": 4}},
        {"type": "actions", "elements": [None, 3, {"type": "static_select", "option_groups": [3]}]},
        {"type": "context", "elements": None},
        {"type": "image", "image_url": 3, "alt_text": None},
        {"type": "table", "rows": [3, [4], [[5]]]},
        {"type": "plan", "tasks": {"x": 1}},
        {"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": 3}]},
    ],
)
def test_blocks_of_the_wrong_shape_are_named_and_break_nothing(block: Any) -> None:
    assert messages([block])
