"""`aksbot changes`, `history`, `clusters` and `check all`, as subprocesses, for use when Slack is down."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.checks.store.verdicts import PastVerdict, Verdicts
from bot.store.connect import connected
from handlers.model import State
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bot.conftest import Started
from tests.checking import cluster_id

FAILED = ("quota-exceeded", "/subscriptions/x/usages/cores")


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    async with ArmServer(Scenario.load("quota-blocks-upgrade").world) as arm:
        yield arm
        assert not [one for one in arm.log if one.is_write]


async def test_what_changed_is_printed_newest_first_and_for_programs(azure: ArmServer, started: Started) -> None:
    environment = azure.environment("reader")
    ran = await started("changes", "prod-weu", "3d", environment=environment)
    assert ran.code == 0, ran.err
    first, *lines = ran.out.splitlines()
    assert first.startswith("prod-weu: ")
    assert "changes in the last 3 d" in first
    assert any("by AKS" in line for line in lines)
    told = json.loads((await started("changes", "prod-weu", "3d", "-o", "json", environment=environment)).out)
    moments = [change["at"] for change in told["changes"]]
    assert moments == sorted(moments, reverse=True)
    assert set(told) == {"cluster", "since", "until", "groups", "changes", "unseen", "cut"}


async def test_a_log_that_may_not_be_read_is_inconclusive_and_says_what_to_grant(
    azure: ArmServer, started: Started
) -> None:
    azure.deny("reader", "Microsoft.Insights/eventtypes/values/read")
    ran = await started("changes", "prod-weu", environment=azure.environment("reader"))
    assert ran.code == 2
    assert "could not be seen" in ran.out
    assert "grant Microsoft.Insights/eventtypes/values/read" in " ".join(ran.out.split())


async def test_a_time_that_is_none_is_refused_in_three_parts(started: Started) -> None:
    ran = await started("changes", "prod-weu", "yesterday")
    assert ran.code == 64
    assert "cannot tell how far back to look" in ran.err
    assert "do: say it like 90m, 2h or 3d" in ran.err


async def test_the_fleet_and_a_history_are_told_from_what_the_bot_remembers(
    azure: ArmServer, started: Started, tmp_path: Path
) -> None:
    id_ = str(cluster_id(azure.world, "prod-weu"))
    async with connected(None, tmp_path / "data") as connection:
        for hours in (5, 3):
            at = datetime.now(UTC) - timedelta(hours=hours)
            await Verdicts(connection.redis).add(PastVerdict("prod-weu", id_, at, State.FOUND, "error", (FAILED,)))
    environment = {**azure.environment("reader"), "AKSBOT_DATA_DIR": str(tmp_path / "data")}
    listed = (await started("clusters", environment=environment)).out.splitlines()
    assert listed[0] == "8 clusters by last verdict: 1 unhealthy, 7 never checked"
    assert listed[1].startswith("prod-weu")
    assert "unhealthy: A core quota is used up · checked 3 h ago" in listed[1]
    told = (await started("history", "prod-weu", environment=environment)).out
    assert "prod-weu: 2 verdicts" in told
    assert "unhealthy: A core quota is used up, 2 checks alike" in told


async def test_all_clusters_are_checked_and_the_exit_code_is_the_worst_verdict(
    azure: ArmServer, started: Started
) -> None:
    environment = azure.environment("reader")
    ran = await started("check", "all", "--only", "quota-exceeded", environment=environment)
    assert ran.code == 1, ran.err
    *lines, last = ran.out.splitlines()
    assert len(lines) == 8
    assert any(line.startswith("prod-weu ") and "unhealthy: A core quota is used up" in line for line in lines)
    assert last.startswith("8 clusters: 1 unhealthy")
    assert any("healthy · for quota-exceeded only" in line for line in lines), "healthy in what was asked, not more"
