"""A sovereign cloud lags behind: the same is found there, and the sources say in which version it was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from handlers.clients.recording.case import Recorder
from handlers.model import State
from sandbox.scenario import Scenario
from tests.checking import azure, check, cluster_id
from tests.replaying import replayed, verdict

AS_OF = ["2025-08-15", "2024-06-30"]


@pytest.mark.parametrize("as_of", AS_OF)
@pytest.mark.parametrize("name", ["quota-blocks-upgrade", "lock-blocks-delete"])
async def test_a_cloud_that_lags_behind_gets_the_same_diagnosis(name: str, as_of: str, tmp_path: Path) -> None:
    scenario = Scenario.load(name)
    cluster = next(one for one, findings in scenario.expect.items() if findings)
    recorder = Recorder(str(cluster_id(scenario.world, cluster)))
    scenario.world.cloud_as_of = as_of
    async with azure(scenario.world) as server:
        first = await check(server, cluster, recorder=recorder)
    assert {one.finding.code for one in first.findings} == {one.code for one in scenario.expect[cluster]}
    assert first.unseen == ()
    assert any(one.status == 400 for one in server.calls)
    recorder.save(tmp_path / "case.zip")
    assert verdict(await replayed(tmp_path / "case.zip")) == verdict(first)


@pytest.mark.parametrize("as_of", AS_OF)
async def test_a_healthy_cluster_is_clear_there(as_of: str) -> None:
    world = Scenario.load("healthy-fleet").world
    world.cloud_as_of = as_of
    async with azure(world) as server:
        diagnosis = await check(server, "prod-weu")
    assert diagnosis.state is State.CLEAR, [(one.id, one.why) for one in diagnosis.checks]
