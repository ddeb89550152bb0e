"""Every planted secret is removed, in any location."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from handlers.clients.redact import redact, redact_text
from tests.redaction.planted import EVERY, Planted

IDS = [f"{one.kind} {number}" for number, one in enumerate(EVERY)]
PLACES: dict[str, Callable[[str], Any]] = {
    "alone": lambda text: text,
    "behind a line": lambda text: f"2026-11-19T10:00:00Z it failed:\n{text}\nthe end",
    "a tag": lambda text: {"tags": {"note": text}},
    "a message in a string": lambda text: {"statusMessage": json.dumps({"error": {"code": "X", "message": text}})},
    "an annotation": lambda text: [{"metadata": {"annotations": {"a/b": text}}}],
    "a script": lambda text: {"command": ["sh", "-c", text]},
}


NESTED = (
    "curl -u -pxox" + 'b-123456789-abcdefghcGFzc3dvcmQ9aHVudGVyMjEyMw==|"name: DB_PASSWORD',
    "see <https://portal.example.com/x?token=Zk7wq9TmX2vL|open> now",
    "password=<https://Zk7.example.com|Zk7.example.com> and <https://x.example.com|x>",
)


@pytest.mark.parametrize("text", NESTED)
def test_a_mark_is_never_inside_another_and_a_second_look_changes_nothing(text: str) -> None:
    clean = redact_text(text)
    assert "[redacted:" in clean
    assert "[redacted:[" not in clean
    assert redact_text(clean) == clean


def test_the_label_of_a_link_stays() -> None:
    assert redact_text(NESTED[1]) == "see <https://portal.example.com/x?token=[redacted:token]|open> now"


@pytest.mark.parametrize("one", EVERY, ids=IDS)
def test_a_text_in_a_tree_loses_what_it_loses_alone(one: Planted) -> None:
    assert redact({"note": one.text})["note"] == redact_text(one.text)


@pytest.mark.parametrize("text", ["mysql-prod-weu is down", "mysql -p7Horse9x", "password\tTr0ub4dor", "pw: Tr0ub4dor"])
def test_so_does_one_that_is_hard_to_tell(text: str) -> None:
    assert redact({"note": text})["note"] == redact_text(text)


def test_there_are_two_hundred_of_forty_kinds() -> None:
    assert len(EVERY) >= 200
    assert len(Counter(one.kind for one in EVERY)) >= 40
    assert all(one.secret in one.text for one in EVERY)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("one", EVERY, ids=IDS)
def test_a_planted_secret_goes(one: Planted, place: Callable[[str], Any]) -> None:
    clean = redact(place(one.text))
    said = clean if isinstance(clean, str) else json.dumps(clean)
    assert one.secret not in said
    assert json.dumps(one.secret)[1:-1] not in said
    assert "[redacted:" in said
    assert redact(clean) == clean


@pytest.mark.parametrize("one", EVERY, ids=IDS)
def test_no_half_of_it_stays(one: Planted) -> None:
    """What is left of the secret is no longer than four letters in a row."""
    clean = redact_text(one.text)
    template = one.text.replace(one.secret, "")
    left = [one.secret[at : at + 5] for at in range(len(one.secret) - 4)]
    assert [part for part in left if part in clean and part not in template] == []
