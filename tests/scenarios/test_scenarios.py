"""Every scenario, checked for real: what is expected is found, its decoy is not, and its twin is quiet about it."""

import json
from pathlib import Path

import pytest

from bot.events import Report
from bot.render.json_report import as_dict
from handlers.clients.access import AzureAccess
from handlers.clients.arm import ArmReader
from handlers.clients.recording import Recorder, Recording
from handlers.engine.run import Engine
from handlers.model import Diagnosis, State, Target
from handlers.resource_id import ResourceId
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import GRAPH, LIBRARY, azure, check, cluster_id

Found = set[tuple[str, str, frozenset[str]]]


def found(diagnosis: Diagnosis) -> Found:
    return {
        (one.finding.code, one.finding.subject.lower(), frozenset(code for code, _ in one.explained_by))
        for one in diagnosis.findings
    }


def managed(world: World) -> list[str]:
    return [body["name"] for key, body in world.resources.items() if "/managedclusters/" in key and key.count("/") == 8]


async def play(world: World, expect: dict[str, Found]) -> None:
    async with azure(world) as server:
        for name in managed(world):
            diagnosis = await check(server, name)
            assert diagnosis.unseen == (), name
            assert found(diagnosis) == expect.get(name, set()), name
            wanted = State.FOUND if expect.get(name) else State.CLEAR
            assert diagnosis.state is wanted, [(one.id, one.outcome, one.why) for one in diagnosis.checks]


def expectation(expect: object) -> dict[str, Found]:
    return {
        name: {(one.code, one.subject.lower(), frozenset(one.explained_by)) for one in findings}
        for name, findings in expect.items()  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("name", Scenario.names())
async def test_a_scenario_is_diagnosed_as_expected_and_the_rest_of_the_fleet_is_quiet(name: str) -> None:
    scenario = Scenario.load(name)
    await play(scenario.world, expectation(scenario.expect))


@pytest.mark.parametrize("name", [name for name in Scenario.names() if Scenario.load(name).twin])
async def test_the_twin_differs_in_one_fact_and_is_not_reported(name: str) -> None:
    scenario = Scenario.load(name)
    assert scenario.twin is not None
    await play(scenario.twin_world(), expectation(scenario.twin.expect))


@pytest.mark.parametrize("name", Scenario.names())
async def test_a_recorded_check_replays_offline_byte_for_byte(name: str, tmp_path: Path) -> None:
    scenario = Scenario.load(name)
    cluster = next((one for one, findings in scenario.expect.items() if findings), "prod-weu")
    case = tmp_path / "case.zip"
    async with azure(scenario.world) as server:
        recorder = Recorder(str(cluster_id(scenario.world, cluster)))
        first = await check(server, cluster, recorder=recorder)
    recorder.save(case)
    recording = Recording.load(case)
    target = Target(ResourceId.parse(recording.target), recording.recorded_at)
    async with ArmReader(AzureAccess(), transport=recording.transport()) as arm:
        again = await Engine(GRAPH, LIBRARY.explains).diagnose(target, {ArmReader: arm})
    assert verdict(again) == verdict(first)


def verdict(diagnosis: Diagnosis) -> bytes:
    whole = as_dict(Report(diagnosis, 0.0, 0), LIBRARY)
    checks = [{key: one[key] for key in ("id", "outcome", "why")} for one in whole["checks"]]
    return json.dumps([whole["findings"], checks, whole["state"]], sort_keys=True).encode()
