"""Leftovers in a cluster of fixes whose records were lost are found by the next worker and recorded."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from handlers.remedy.acts.probe_from_pod import MADE_BY
from handlers.remedy.probe_from_pod import manifest
from sandbox.arm.server import ArmServer
from sandbox.kube.faults import Fault
from sandbox.kube.world import KubeWorld
from sandbox.objects import find_object
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import audited, policy
from tests.store.servers import until

POD = "default/Pod/aksbot-probe"


@pytest.fixture
def left(arm: ArmServer, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, KubeWorld]:
    """A probe pod in two clusters; the policy lets fixes run in one of them."""
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, clusters=["prod-weu"]))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    pod = manifest(("https://10.0.0.1/",), "mcr.microsoft.com/probe")
    pod["metadata"]["annotations"] = {MADE_BY: "lost"}
    kubes = {key.rpartition("/")[2]: kube for key, kube in arm.world.kubes.items()}
    for name in ("prod-weu", "prod-eus2"):
        kubes[name].put(dict(pod))
    return kubes


async def test_a_probe_pod_of_a_lost_fix_is_removed_where_fixes_may_run(
    start: Start, redis: Connection, left: dict[str, KubeWorld]
) -> None:
    async with start(times=ShortenedPauses()), asyncio.timeout(60):
        while True:
            if "restored" in await audited(redis):
                break
            await asyncio.sleep(0.05)
    assert find_object(left["prod-weu"], POD) is None
    assert find_object(left["prod-eus2"], POD) is not None


async def test_what_cannot_be_removed_is_recorded_once_however_often_it_is_tried(
    start: Start, redis: Connection, left: dict[str, KubeWorld], arm: ArmServer
) -> None:
    for server in arm.kube.values():
        server.faults.append(Fault("403", method="DELETE"))

    async def tried(times: int) -> bool:
        return sum(one.method == "DELETE" for server in arm.kube.values() for one in server.log) >= times

    for times in (1, 2):
        async with start(times=ShortenedPauses()):
            await until(partial(tried, times), 60)
            await until(lambda: recorded(redis), 60)
    assert (await audited(redis)).count("restored") == 1


async def recorded(redis: Connection) -> bool:
    return "restored" in await audited(redis)
