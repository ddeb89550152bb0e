"""Scenarios played through Slack: over a socket and over HTTP, a seeded sample here and all of them in the soak."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.drill.play import drill, follow, reasons
from bot.drill.result import Played
from bot.drill.steps import WHO_ASKS, Scene
from bot.playground.scenarios import scenario_called
from bot.playground.surroundings import azure, running_bot, slack
from bot.store.connect import connected
from handlers.problem import Problem
from sandbox.scenario import Scenario
from sandbox.slack.cast import drill_workspace
from sandbox.slack.http_road import HttpRoad
from tests import sample
from tests.checking import LIBRARY

NAMES = Scenario.names()


async def played(names: Sequence[str], *, twins: bool = False, over_http: bool = False) -> list[Played]:
    told: list[Played] = []
    done = await drill(scenario_called, names, twins=twins, over_http=over_http, tell=told.append)
    assert {one.scenario for one in told} == {one.scenario for one in done}
    return done


def described(tmp_path: Path, **more: Any) -> str:
    (tmp_path / "scenario.yaml").write_text(
        json.dumps({"title": "T", "story": "S", "based_on": "quota-blocks-upgrade", **more})
    )
    return str(tmp_path)


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_a_sample_of_scenarios_and_twins_is_answered_in_slack_as_expected(over_http: bool) -> None:
    names = sample.dice(f"drills {over_http}").sample(NAMES, 4)
    done = await played(names, twins=True, over_http=over_http)
    assert [one.why for one in done if not one.ok] == []
    assert [one.scenario for one in done if "/" not in one.scenario] == names
    assert all(one.found == () or {x.key for x in one.found} == {x.key for x in one.expected} for one in done)


@pytest.mark.soak
@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_every_scenario_and_every_twin_is_answered_in_slack_as_expected(over_http: bool) -> None:
    done = await played(NAMES, twins=True, over_http=over_http)
    assert [(one.scenario, one.why) for one in done if not one.ok] == []
    assert len(done) > len(NAMES)


async def test_what_is_missing_and_what_is_too_much_fails_a_drill(tmp_path: Path) -> None:
    wrong = [{"code": "subnet-full", "subject": "${prod-weu.subnet}"}]
    [done] = await played([described(tmp_path, expect={"prod-weu": wrong})])
    assert not done.ok
    [why] = done.why
    assert why.startswith("prod-weu: not found: subnet-full on ")
    assert "found, but not expected: quota-exceeded on " in why
    assert [one.code for one in done.expected] == ["subnet-full"]
    assert {one.code for one in done.found} >= {"quota-exceeded", "cluster-failed"}


async def test_what_goes_wrong_in_one_scenario_is_its_own_failure_and_the_others_are_played(tmp_path: Path) -> None:
    unknown = "/subscriptions/0/resourceGroups/g/providers/Microsoft.Nowhere/things/x"
    unserved, unread = tmp_path / "unserved", tmp_path / "unread"
    unserved.mkdir()
    unread.mkdir()
    described(unserved, changes=[{"id": unknown, "body": {}}])
    described(unread, expects={})
    names = [str(unserved), str(unread), "subnet-full"]
    cannot_serve, cannot_read, well = await played(names)
    assert "UnknownTypes" in cannot_serve.why[0]
    assert "expects" in cannot_read.why[0]
    assert (well.scenario, well.why) == ("subnet-full", ())


def test_what_went_wrong_side_by_side_is_told_one_by_one() -> None:
    both = ExceptionGroup("two tasks", [Problem("cannot see", "it is dark", "wait"), ExceptionGroup("", [KeyError(1)])])
    assert list(reasons(both)) == ["cannot see: it is dark", "KeyError: 1"]


@dataclass(frozen=True, slots=True)
class Use:
    """A step in which somebody uses a shortcut of a message, which the bot has to acknowledge."""

    shortcut: str

    async def take(self, scene: Scene) -> None:
        control = scene.around.slack.control
        said = control.say(WHO_ASKS, "prod-weu", "hello")
        await control.shortcut(WHO_ASKS, self.shortcut, said)


async def test_what_the_bot_does_not_acknowledge_in_time_fails_that_cluster_with_the_reason(tmp_path: Path) -> None:
    async with (
        azure(Scenario.load("healthy-fleet").world) as arm,
        slack(drill_workspace(["prod-weu"])) as chat,
        connected(None, tmp_path) as state,
    ):
        async with running_bot(arm, chat, state.url, tmp_path) as around:
            scene = Scene(around, LIBRARY, 1.0)
        [(shortcut, _)] = chat.site.manifest.message_shortcuts
        why = await follow(scene, "prod-weu", (Use(shortcut),))
    assert why == "prod-weu: the bot did not acknowledge what was pressed in Slack: no_connection"


async def test_a_cluster_that_cannot_be_checked_fails_a_drill(tmp_path: Path) -> None:
    change = {"id": "${dev-shared}", "delete": True}
    [done] = await played([described(tmp_path, changes=[change], expect={"dev-shared": []})])
    assert not done.ok
    assert "I cannot find the cluster `dev-shared`" in done.why[0]


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_the_bot_is_reached_by_the_way_that_was_asked_for(tmp_path: Path, over_http: bool) -> None:
    async with (
        azure(Scenario.load("healthy-fleet").world) as arm,
        slack(drill_workspace(["prod-weu"])) as chat,
        connected(None, tmp_path) as state,
        running_bot(arm, chat, state.url, tmp_path, over_http=over_http),
    ):
        assert isinstance(chat.outbox.road, HttpRoad) == over_http
        assert any(one.method == "apps.connections.open" for one in chat.log) != over_http


def test_a_name_that_no_scenario_has_is_told_with_the_nearest_one() -> None:
    with pytest.raises(Problem) as told:
        scenario_called("quota-block-upgrade")
    assert "perhaps you mean quota-blocks-upgrade" in told.value.why
    assert "subnet-full" in told.value.do
