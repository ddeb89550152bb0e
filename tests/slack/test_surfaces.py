"""Every surface in every state: what Slack takes, and how it reads. The golden files are for people to look at.

`make generate` writes them anew; then read what has changed as somebody would at night, on a phone.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import pkgutil
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

import bot.slack
from bot.checks.reporter import Answer
from bot.report.events import Report
from bot.slack.api import messages, outgoing
from bot.slack.checks import view as checks_view
from bot.slack.checks.steps import steps
from bot.slack.kit.message import AnswerMessages, Message
from handlers.model import Diagnosis
from sandbox.scenario import FOLDER, Scenario
from sandbox.slack.blocks.surfaces import check_message_blocks, check_message_size, check_view
from sandbox.slack.workspace import PLAN_BLOCKS
from tests.checking import LIBRARY, azure, check
from tests.slack.limits_held import assert_accepted
from tests.slack.reading import read
from tests.slack.surfaces import PRESSED, SURFACES

GOLDEN = Path(__file__).parent / "golden"
SAID = Message | AnswerMessages | dict[str, Any]
FEATURES = frozenset({PLAN_BLOCKS})

NOT_FOR_PEOPLE = {messages.as_text, outgoing.message, outgoing.view}
"""Functions that transform an existing message."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
_CLOCK = re.compile(r"\b\d\d:\d\d(:\d\d)?(?= UTC)")
_SPAN = re.compile(r"\b(\d+ (d|h|min) ?)+\b")
_LINE = re.compile(r"(?<=\.md, line )\d+")
"""A line number, which changes with every edit of a runbook."""


@pytest.mark.parametrize("name", SURFACES)
def test_every_state_of_every_surface_reads_as_it_should(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        said = SURFACES[name]()
        _assert_taken(said)
    assert caplog.text == "", "slack_sdk does not know everything that is used"
    _assert_golden(f"{name}.txt", read(said))


def test_whatever_shows_something_to_people_has_a_golden_file() -> None:
    covered = {surface.func for surface in SURFACES.values()}
    missing = [f"{one.__module__}.{one.__qualname__}" for one in _producers() if one not in covered]
    assert missing == [], "add their states to tests/slack/surfaces.py"


def test_no_golden_file_is_left_over() -> None:
    known = {f"{name}.txt" for name in SURFACES} | {f"{kind}/{code}.txt" for kind in CASES for code in LIBRARY}
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*.txt")} - known == set()


CASES: dict[str, Callable[[Diagnosis, str], SAID]] = {
    "answer": lambda diagnosis, _: checks_view.answer(
        Answer(Report(diagnosis, 689.0, 23, 5), timedelta()), PRESSED, LIBRARY
    ),
    "steps": lambda diagnosis, code: steps(
        LIBRARY[code], next(one.finding for one in diagnosis.findings if one.finding.code == code)
    ),
}


@pytest.mark.parametrize("code", LIBRARY)
async def test_what_is_really_found_reads_as_it_should_with_the_steps_of_its_runbook(code: str) -> None:
    scenario, cluster = _scenario(code)
    async with azure(scenario.world) as server:
        diagnosis = await check(server, cluster)
    for kind, show in CASES.items():
        said = show(diagnosis, code)
        _assert_taken(said)
        shown = read(said).partition("\nFILE ")[0].rstrip("─\n") + "\n"  # the file has golden files of its own
        _assert_golden(f"{kind}/{code}.txt", _without_times(shown))


def _scenario(code: str) -> tuple[Scenario, str]:
    """The plainest scenario in which this is found: its own, or else one in which it is a cause."""
    speaking = (file.parent.name for file in FOLDER.glob("*/scenario.yaml") if f"code: {code}" in file.read_text())
    for scenario in map(Scenario.load, sorted(speaking, key=lambda name: (name != code, name))):
        for cluster, findings in scenario.expect.items():
            if any(one.code == code and (one.root or scenario.name == code) for one in findings):
                return scenario, cluster
    pytest.skip(f"no scenario finds {code}")


def _producers() -> Iterator[Callable[..., Any]]:
    """Public functions that make something for people to see; those that make only a part of it are not meant."""
    for module in pkgutil.walk_packages(bot.slack.__path__, "bot.slack."):
        for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if one.__module__ == module.name and not name.startswith("_") and one not in NOT_FOR_PEOPLE:
                hint = get_type_hints(one).get("return")
                if hint in (Message, AnswerMessages, Message | None) or _makes_a_view(module.name, hint):
                    yield one


def _makes_a_view(module: str, hint: Any) -> bool:
    return hint == dict[str, Any] and module.rpartition(".")[2] in {"steps", "home"}


def _assert_taken(said: SAID) -> None:
    """By Slack's published limits, by slack_sdk's models, and by the sandbox, which is as strict as Slack."""
    if isinstance(said, dict):
        check_view(said, said["type"], FEATURES)
        View(**said).validate_json()
        _assert_models(said["blocks"])
        return
    assert_accepted(said)
    for message in (said.head, *said.thread) if isinstance(said, AnswerMessages) else (said,):
        check_message_blocks(list(message.blocks), FEATURES)
        check_message_size(list(message.blocks))
        _assert_models(list(message.blocks))


def _assert_models(shown: list[dict[str, Any]]) -> None:
    for one in shown:
        model = Block.parse(one)
        assert model is not None, one["type"]
        model.validate_json()
        assert model.to_dict()["type"] == one["type"]


def _assert_golden(name: str, shown: str) -> None:
    file, shown = GOLDEN / name, _LINE.sub("<number>", shown)
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown, "utf-8")
    assert file.exists(), f"{name} is new: make generate writes it"
    assert shown == file.read_text("utf-8")


def _without_times(shown: str) -> str:
    return _SPAN.sub("<span>", _CLOCK.sub("<time>", _MOMENT.sub("<moment>", shown)))
