"""`aksbot support`, as a subprocess: the packet of a cluster in a file, also without a bot on this machine."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bot.conftest import Started

DEPLOYMENTS = "Microsoft.Resources/deployments/read"
PATIENT = {"AKSBOT_CHECK_TIMEOUT_S": "300"}


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    async with ArmServer(Scenario.load("hybrid-cluster-failed").world) as arm:
        yield arm


async def test_the_file_is_private_replays_and_names_the_site_from_the_top(
    azure: ArmServer, started: Started, tmp_path: Path
) -> None:
    environment = azure.environment("reader")
    cluster = next(name for name, found in Scenario.load("hybrid-cluster-failed").expect.items() if found)
    ran = await started("support", cluster, "--file", "packet.zip", environment=environment | PATIENT)
    assert ran.code == 0, ran.err
    file = tmp_path / "packet.zip"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with zipfile.ZipFile(file) as packet:
        assert all(name in ran.out for name in packet.namelist())
        summary = packet.read("summary.md").decode()
    cells = [line.strip("| ").split(" | ") for line in summary.splitlines() if line.startswith("| ")]
    rows = {row[0]: row[-1] for row in cells}
    order = [*rows]
    assert order.index("Tenant") < order.index("Network fabric controller") < order.index("Nexus cluster")
    assert "(resource group " in rows["Network fabric controller"]
    assert "(resource group " in rows["Nexus cluster"]
    assert "what aksbot itself did" in summary
    again = await started("replay", "packet.zip")
    assert again.out.startswith(cluster)


async def test_what_may_not_be_read_is_named_and_the_packet_is_made_all_the_same(
    azure: ArmServer, started: Started
) -> None:
    azure.deny("reader", DEPLOYMENTS)
    environment = azure.environment("reader")
    cluster = next(iter(Scenario.load("hybrid-cluster-failed").expect))
    ran = await started("support", cluster, "--output", "json", environment=environment)
    told = json.loads(ran.out)
    assert told["contents"][0]["name"] == "summary.md"
    with zipfile.ZipFile(
        Path(told["file"]) if Path(told["file"]).is_absolute() else Path.cwd() / told["file"]
    ) as packet:
        assert f"grant `{DEPLOYMENTS}`" in packet.read("summary.md").decode()


async def test_an_unknown_cluster_and_a_folder_that_is_not_there_are_told_in_three_parts(
    azure: ArmServer, started: Started
) -> None:
    environment = azure.environment("reader")
    ran = await started("support", "no-such-cluster", environment=environment)
    assert ran.code != 0
    assert "why: " in ran.err
    assert "do: " in ran.err
    ran = await started("support", "edge-nexus-01", "--file", "nowhere/packet.zip", environment=environment)
    assert ran.code == 64
    assert "cannot write to nowhere/packet.zip" in ran.err
