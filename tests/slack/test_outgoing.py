"""The final filter before Slack: no secrets, unchanged ids and commands, and nothing over a limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.slack.api import outgoing
from bot.slack.kit import limits
from bot.slack.kit.message import (
    AnswerMessages,
    Attachment,
    Message,
    Pressed,
    actions,
    button,
    context,
    header,
    section,
)
from handlers.clients.redact import redact_text
from sandbox.slack.blocks.surfaces import check_message_blocks, check_view
from tests.slack.surfaces import SURFACES

TESTS = Path(__file__).parents[1]
GOLDEN = sorted((TESTS / "slack" / "golden").rglob("*.txt")) + sorted((TESTS / "runbooks" / "golden").rglob("*.*"))
SECRET = "password=hunter2-Zq9"
PLANTED = "hunter2-Zq9"


def _everything(text: str) -> Message:
    return Message(
        text, (header(text), section(text), context(text), actions(button(text, "again", Pressed("r", "c"))))
    )


def test_no_text_of_a_message_holds_a_secret() -> None:
    shown = outgoing.message(_everything(SECRET))
    assert PLANTED not in str(shown)
    assert str(shown).count("[redacted:password]") == 5


@pytest.mark.parametrize("length", [75, 150, 2000, 3000, 4000])
def test_a_mark_that_is_longer_than_its_secret_breaks_no_limit(length: int) -> None:
    filled = ("pwd=abc1 " * 1000)[:length]
    shown = outgoing.message(_everything(filled))
    assert "abc1" not in str(shown)
    assert len(shown.text) <= limits.MESSAGE_TEXT
    check_message_blocks(list(shown.blocks), frozenset())


def test_no_text_of_a_window_holds_a_secret_and_what_it_is_found_by_stays() -> None:
    window = {
        "type": "modal",
        "callback_id": "fix_ask",
        "private_metadata": json.dumps(["prop-1", "d" * 64, "prod-weu", "C1", "1.2"]),
        "title": {"type": "plain_text", "text": "pwd=abc1 pwd=abc1"},
        "submit": {"type": "plain_text", "text": "pwd=abc1 pwd=abc1"},
        "blocks": [section(SECRET)],
    }
    shown = outgoing.view(window)
    assert PLANTED not in str(shown)
    assert "abc1" not in str(shown)
    assert [shown[name] for name in ("callback_id", "private_metadata")] == [
        window[name] for name in ("callback_id", "private_metadata")
    ]
    check_view(shown, "modal", frozenset())


async def test_a_file_holds_no_secret_in_its_text_and_its_name() -> None:
    long = "\n".join(f"line {number} {SECRET}" for number in range(5000))
    shown = await outgoing.file(Attachment(f"{SECRET} x.txt", long))
    assert PLANTED not in shown.text + shown.name
    assert shown.text.count("\n") == long.count("\n")


def test_a_button_carries_no_secret_and_finds_its_answer() -> None:
    pressed = Pressed.load(Pressed("command-0123456789abcdef01234567", SECRET).dump())
    assert (pressed.request, pressed.cluster) == ("command-0123456789abcdef01234567", "password=[redacted:password]")


@pytest.mark.parametrize("name", SURFACES)
def test_everything_the_bot_says_goes_out_as_it_was_written(name: str) -> None:
    for said in _messages(SURFACES[name]()):
        assert (outgoing.message(said) if isinstance(said, Message) else outgoing.view(said)) == said


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_the_bot_writes_for_people_is_no_secret(file: Path) -> None:
    """Commands, ids and portal links in it must stay intact for copying."""
    written = file.read_text(encoding="utf-8")
    assert redact_text(written) == written


def _messages(said: Any) -> list[Any]:
    return [said.head, *said.thread] if isinstance(said, AnswerMessages) else [said]
