"""`aksbot check --detectors`, as a subprocess: shows Azure's own detectors next to the findings, only on request."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bot.conftest import Started

GRANT = "Microsoft.ContainerService/managedClusters/detectors/read"


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    """A fleet of which one cluster has a failed node pool."""
    async with ArmServer(Scenario.load("nodepool-failed").world) as arm:
        yield arm


def runs(azure: ArmServer) -> list[str]:
    return [call.path for call in azure.calls if "/detectors" in call.path]


async def test_what_the_findings_say_already_is_said_once(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "staging-neu", "--detectors", environment=azure.environment("reader"))
    assert ran.code == 1
    shown = " ".join(ran.out.split())
    assert "the same as found above: Node Pool Provisioning State (nodepool-failed), Node Pool Put" in shown
    assert "8 of 10 run over the last 24 hours, 6 found nothing" in shown
    assert len(runs(azure)) == 1 + 8


async def test_without_the_word_none_is_run(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "staging-neu", "--output", "json", environment=azure.environment("reader"))
    assert runs(azure) == []
    assert "detectors" not in json.loads(ran.out)


async def test_for_programs_each_stands_with_our_own_verdict(azure: ArmServer, started: Started) -> None:
    ran = await started(
        "check", "staging-neu", "--detectors", "--output", "json", environment=azure.environment("reader")
    )
    whole = json.loads(ran.out)
    by_id = {one["id"]: one for one in whole["detectors"]["ran"]}
    assert by_id["ProvisioningStatusNodePool"]["same_as"] == ["nodepool-failed"]
    assert by_id["cluster-dns"]["status"] == "Success"
    assert whole["calls"]["arm"] == len(azure.calls)


async def test_who_may_not_run_them_is_told_the_permission_and_still_gets_the_verdict(
    azure: ArmServer, started: Started
) -> None:
    azure.deny("reader", GRANT)
    ran = await started("check", "staging-neu", "--detectors", environment=azure.environment("reader"))
    assert ran.code == 1
    shown = " ".join(ran.out.split())
    assert "could not be read:" in shown
    assert f"grant {GRANT} to the identity that aksbot runs as" in shown
    assert "A node pool is in a failed state" in shown
