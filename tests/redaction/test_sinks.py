"""Ids, kinds and structure survive redaction in every sink, for any input; secrets are removed by key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from bot.address import Address
from bot.audit.record import Actor, Entry, What
from bot.checks.request import CheckRequest
from bot.fixes.offering import holds_a_secret
from bot.incidents.model import Incident
from bot.incidents.mutes import Mute
from bot.incidents.watching import Watch
from bot.slack.api import outgoing
from bot.slack.api.attachments import Attached
from bot.slack.inbound.message_reader import Utterance
from bot.slack.inbound.redacting import typed
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit.message import Message, Pressed, actions, button, context, header, section
from bot.store.codec import encode, kept
from handlers.clients.redact import DEEPEST
from handlers.fleet.cluster_text import ClusterRef
from tests.fixes.plans import PLAN

SECRET = "Zk7wq9TmX2vL"
FLAG = "- rotate the admin token of prod-weu"
TEAM, CHANNEL, USER, TS = "T0123ABCDEF", "C0123ABCDEF", "U0123ABCDEF", "1795000000.000100"
DIGEST = "d" * 64
PARTS = [
    *(FLAG, "--admin-token", "--password", "-p", "mysql", "login", "curl -u", f"password={SECRET}", SECRET, "prod-weu"),
    *(
        "a &amp; b",
        "&",
        "<@U1>",
        '{"adminPassword": "',
        '"}',
        '["--token", "',
        "\n",
        " ",
        "name: DB_PASSWORD",
        "value:",
    ),
    *("kind: Secret\ndata:\n", "Cookie: ", "[redacted:token]", "https://u:p@h/x?sig=", "`", "'", "key=", "is"),
]
TEXTS = some.lists(some.sampled_from(PARTS) | some.text(max_size=8), max_size=6).map("".join)
PLACE = Address(TEAM, CHANNEL, USER, TS, TS, "https://hooks.slack.com/commands/T1/2/3?sig=abcdefgh12345678")


def _blocks(text: str) -> list[dict[str, Any]]:
    inside = {"type": "text", "text": text, "style": {"bold": True}}
    person = {"type": "user", "user_id": USER}
    row = {"type": "rich_text_section", "elements": [inside, person]}
    return [{"type": "rich_text", "block_id": "b1", "elements": [row]}]


def _event(text: str) -> dict[str, Any]:
    message = {"type": "message", "user": USER, "ts": TS, "team": TEAM, "text": text, "blocks": _blocks(text)}
    file = {"id": "F1", "name": text, "title": text, "preview": text, "url_private": f"https://x/{text}"}
    card = {"id": 1, "color": "a30200", "title": text, "fields": [{"title": text, "value": text, "short": True}]}
    return message | {
        "subtype": "message_changed",
        "channel": CHANNEL,
        "channel_type": "channel",
        "event_ts": TS,
        "client_msg_id": "0b7e0c2e-1111-4222-8333-444455556666",
        "message": message | {"files": [file], "attachments": [card]},
        "previous_message": message,
    }


def _request(text: str) -> dict[str, Any]:
    field = {"type": "plain_text_input", "value": text}
    state = {
        "values": {"b1": {"reason": field, "choice": {"type": "static_select", "selected_option": {"value": "x"}}}}
    }
    pressed = {"type": "button", "action_id": "fix_ask", "block_id": "b1", "value": '["--token","prod-weu"]'}
    return {
        "type": "message_action",
        "token": "verification",
        "trigger_id": "1.2.abc",
        "response_url": "https://hooks.slack.com/actions/T1/2/3",
        "user": {"id": USER, "team_id": TEAM},
        "text": text,
        "event": _event(text),
        "message": _event(text)["message"],
        "state": state,
        "view": {
            "id": "V1",
            "hash": "1.abc",
            "private_metadata": '["--token","x"]',
            "callback_id": "c",
            "state": state,
        },
        "actions": [pressed, field | {"action_id": "reason", "block_id": "b1"}],
    }


def _said(text: str) -> Message:
    pressed = button(text, "again", Pressed("command-0123456789abcdef01234567", "prod-weu"))
    rows = ({"type": "rich_text", "elements": _blocks(text)[0]["elements"]}, {"type": "divider"})
    return Message(
        text,
        (
            header(text),
            section(text),
            section("prod-weu"),
            context("quota-exceeded"),
            context(text, text),
            *rows,
            actions(pressed),
        ),
    )


def _window(text: str) -> dict[str, Any]:
    return {"type": "modal", "callback_id": "c", "private_metadata": "--token", "blocks": list(_said(text).blocks)}


def _records(text: str) -> list[Any]:
    """What is kept in Redis, with this text where people's words stand."""
    home = Address(channel=CHANNEL, thread_ts=TS)
    signs = (("quota-exceeded", text), ("subnet-full", text))
    incident = Incident("i-1", "prod-weu", ("quota-exceeded", "subnet-full"), text, home, TS, 1, 2, signs=signs)
    files = (Attached(text, "https://files.slack.com/a", text),)
    return [
        asdict(Utterance(TEAM, CHANNEL, TS, text, USER, "A1", text, TS, files=files)),
        json.loads(encode(CheckRequest("command-1", ClusterRef.of(text), PLACE))),
        asdict(Task("turn-1", Do.TURN, PLACE, me=USER, text=text, of=(TEAM, CHANNEL, f"{TS} {USER}"))),
        asdict(Mute("quota-exceeded", text, 1, USER, text)),
        asdict(Watch("w-1", TEAM, text, text, CHANNEL, TS, USER, 1, 2, text, (("quota-exceeded", "prod-weu"),))),
        json.loads(encode((incident,), tuple[Incident, ...])),
    ]


def _entry(text: str) -> Entry:
    word = {"team": TEAM, "user": USER, "name": text, "at_ms": 1, "reason": text}
    call = {"method": "PUT", "path": text, "request_id": DIGEST, "result": "202", "correlation_id": "c-1"}
    details = {"approvals": [word], "calls": [call], "end": "fixed"}
    who = Actor(TEAM, USER, text)
    return Entry(What.ENDED, who, PLAN.cluster, "p-1", "reconcile-pool", PLAN.target, DIGEST, text, details)


def _leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    inside = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list | tuple) else ()
    if not isinstance(node, Mapping | list | tuple) or not node:
        yield path, node
    for name, one in inside:
        yield from _leaves(one, (*path, name))


def _only_texts_change(make: Callable[[str], Any], text: str, clean: Callable[[Any], Any]) -> None:
    """Leaf by leaf: what does not hang on the text is as it was."""
    one, another = dict(_leaves(make("one"))), dict(_leaves(make("another")))
    before, after = dict(_leaves(make(text))), dict(_leaves(clean(make(text))))
    assert before.keys() == after.keys()
    assert [path for path in before if one[path] == another[path] and after[path] != before[path]] == []
    assert [path for path in before if type(after[path]) is not type(before[path])] == []


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_at_the_door_ids_and_structure_stay(text: str) -> None:
    _only_texts_change(_request, text, lambda request: request | asyncio.run(typed(request)))


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_what_goes_to_slack_keeps_its_ids_and_its_structure(text: str) -> None:
    _only_texts_change(lambda said: _said(said).blocks, text, lambda _: outgoing.message(_said(text)).blocks)
    _only_texts_change(_window, text, outgoing.view)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_what_goes_to_redis_keeps_its_ids_and_its_structure(text: str) -> None:
    _only_texts_change(
        lambda said: _json(_records(said)), text, lambda records: [json.loads(kept(json.dumps(one))) for one in records]
    )


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_what_goes_into_the_audit_keeps_its_ids_and_its_structure(text: str) -> None:
    _only_texts_change(lambda said: _json(asdict(_entry(said))), text, lambda _: json.loads(_entry(text).as_json()))


@pytest.mark.parametrize("other", ["message", "quota-exceeded", "prod-weu", USER])
async def test_a_line_that_begins_with_a_dash_says_nothing_about_another_text(other: str) -> None:
    assert (await typed({"event": {"a": FLAG, "b": other}}))["event"] == {"a": FLAG, "b": other}
    assert json.loads(kept(json.dumps({"a": FLAG, "b": other}))) == {"a": FLAG, "b": other}
    assert outgoing.message(_said(FLAG)) == _said(FLAG)


@pytest.mark.parametrize(
    "tree",
    [
        {"adminPassword": SECRET},
        {"x": {"name": "DB_PASSWORD", "value": SECRET}},
        {"rows": [{"args": ["--db-password", SECRET]}]},
    ],
)
async def test_a_secret_that_is_known_by_its_key_goes_in_every_sink(tree: dict[str, Any]) -> None:
    assert SECRET not in kept(json.dumps(tree))
    assert SECRET not in Entry(What.CALLED, Actor(), "c", details=tree).as_json()
    assert SECRET not in str(await typed({"event": tree}))
    assert holds_a_secret(replace(PLAN, before=tree))


def test_a_plan_for_a_pool_whose_name_speaks_of_secrets_holds_none() -> None:
    assert not holds_a_secret(PLAN)
    assert not holds_a_secret(replace(PLAN, before={"state of pool token": "Failed", "eTag of pool token": "e1-abc"}))
    assert holds_a_secret(replace(PLAN, before={"tag of pool apps": f"password={SECRET}"}))


async def test_a_field_that_people_fill_in_is_read_and_a_button_is_not() -> None:
    pressed = {"type": "button", "value": f"password={SECRET}"}
    field = {"type": "plain_text_input", "value": f"password={SECRET}"}
    clean = await typed({"actions": [pressed, field]})
    assert clean["actions"] == [pressed, field | {"value": "password=[redacted:password]"}]


@pytest.mark.parametrize("text", ["prod-weu", f"password={SECRET}"])
async def test_what_lies_too_deep_is_dropped_whatever_stands_beside_it(text: str) -> None:
    deep: Any = "prod-weu"
    for _ in range(DEEPEST + 2):
        deep = [deep]
    tree = {"text": text, "deep": deep}
    assert "prod-weu" not in json.dumps((await typed({"event": tree}))["event"]["deep"])
    assert "prod-weu" not in json.dumps(json.loads(kept(json.dumps(tree)))["deep"])
