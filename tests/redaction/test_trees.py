"""A tree is redacted as one: ids stay, a branch that is all secret goes, and what lies too deep is always dropped."""

from __future__ import annotations

import base64
import tracemalloc
from typing import Any

import orjson
import pytest

from handlers.clients.redact import DEEPEST, NESTED, redact, redact_json, redact_text

SECRET = "hunter2-Zq9"
TYPED = f"password={SECRET}"


def test_what_stands_under_an_exempt_key_stays_as_it_is() -> None:
    tree = {"id": TYPED, "text": TYPED, "rows": [{"id": [TYPED], "admin_password": SECRET}]}
    assert redact(tree, exempt={"id"}) == {
        "id": TYPED,
        "text": "password=[redacted:password]",
        "rows": [{"id": [TYPED], "admin_password": "[redacted:password]"}],
    }


def test_without_exempt_keys_every_key_is_read() -> None:
    assert SECRET not in str(redact({"id": TYPED, "rows": [{"id": [TYPED]}]}))


def test_no_key_is_exempt_in_a_branch_that_is_all_secret() -> None:
    tree = {"protectedSettings": {"id": SECRET, "nested": {"id": SECRET}}}
    assert SECRET not in str(redact(tree, exempt={"id"}))


def test_a_tree_that_holds_nothing_is_returned_as_it_is() -> None:
    tree = {"id": TYPED, "rows": ("prod-weu", ["--port", "8080"])}
    assert redact(tree, exempt={"id"}) is tree


def test_tuples_are_read_like_lists() -> None:
    assert SECRET not in str(redact({"rows": ((TYPED,), {"args": ("--db-password", SECRET)})}))
    assert redact(("--db-password", SECRET)) == ["--db-password", "[redacted:password]"]


def test_a_number_on_its_own_is_no_tree() -> None:
    assert redact(7) == 7


def test_what_lies_too_deep_is_dropped_whether_or_not_something_else_was_redacted() -> None:
    deep = _nested("prod-weu", DEEPEST + 2)
    assert redact({"text": "prod-weu", "deep": deep})["deep"] == redact({"text": TYPED, "deep": deep})["deep"]
    assert "prod-weu" not in str(redact(deep))
    assert "prod-weu" in str(redact(_nested("prod-weu", DEEPEST + 1)))


@pytest.mark.parametrize("depth", [DEEPEST, 280, 1000])
def test_a_deep_answer_without_its_secret_can_be_written(depth: int) -> None:
    body, raw = redact_json(b"[" * depth + orjson.dumps(TYPED) + b"]" * depth)
    assert SECRET not in str(body)
    assert orjson.loads(raw) == body


def test_what_passes_deep_inside_is_still_read_where_it_stands_alone() -> None:
    text = f"data {base64.b64encode(f'{TYPED} and more words'.encode()).decode()}"
    wrapped = text
    for _ in range(NESTED):
        wrapped = orjson.dumps([wrapped]).decode()
    redact([wrapped])
    assert redact([text]) == ["data [redacted:encoded]"]


def test_what_was_found_clean_is_remembered_within_bounds() -> None:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(20_000):
        redact_text(f"the token of request {number:0400} was refreshed")
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 5_000_000


def _nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value
