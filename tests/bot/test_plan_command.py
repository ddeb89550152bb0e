"""`aksbot plan`, as a subprocess, for use when Slack is down."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bot.conftest import Here, Started


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    async with ArmServer(Scenario.load("node-vm-failed").world) as arm:
        yield arm
        assert not [one for one in arm.log if one.is_write]


async def test_a_plan_is_printed_with_its_commands_whole(azure: ArmServer, started: Started) -> None:
    ran = await started("plan", "prod-weu", "update-instances", environment=azure.environment("reader"))
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Update 1 failed instance of pool apps  update-instances\n")
    lines = [line.strip() for line in ran.out.splitlines()]
    [command] = [line for line in lines if line.startswith("az vmss update-instances ")]
    assert command.endswith("--instance-ids 20")
    for part in ("Steps", "Only if this is still so", "What could go wrong", "Undo"):
        assert part in lines
    assert "risk medium, about 3 min, given up after 20 min" in lines


async def test_a_program_gets_all_that_an_approval_is_for(azure: ArmServer, started: Started) -> None:
    words = ("plan", "prod-weu", "update-instances", "--output", "json")
    [offer] = json.loads((await started(*words, environment=azure.environment("reader"))).out)
    assert offer["code"] == "node-vm-failed"
    assert offer["forbidden"] == []
    assert set(offer["plan"]) >= {"steps", "before", "undo", "verify", "risk", "eta_s", "digest", "warnings"}
    assert offer["plan"]["steps"][0]["verb"] == "update-instance"


async def test_reasons_against_it_are_printed_and_the_exit_code_says_so(azure: ArmServer, started: Started) -> None:
    azure.deny("writer", "Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action")
    ran = await started("plan", "prod-weu", "update-instances", environment=azure.environment("reader"))
    assert ran.code == 1
    assert "Why there is no plan" in ran.out
    assert "grant Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action" in ran.out


async def test_a_remedy_that_nothing_calls_for_is_said_in_three_parts(azure: ArmServer, started: Started) -> None:
    ran = await started("plan", "prod-eus2", "reconcile-pool", environment=azure.environment("reader"))
    assert ran.code == 69
    assert ran.out == ""
    assert "cannot plan reconcile-pool for prod-eus2" in ran.err
    assert "why: it is for nodepool-failed; found was nothing" in ran.err


async def test_what_follows_from_another_cause_is_not_planned(started: Started) -> None:
    async with ArmServer(Scenario.load("quota-blocks-upgrade").world) as arm:
        ran = await started("plan", "prod-weu", "reconcile-pool", environment=arm.environment("reader"))
    assert ran.code == 69
    assert "nodepool-failed follows from quota-exceeded" in " ".join(ran.err.split())


def test_an_unknown_remedy_gets_the_nearest_name(here: Here) -> None:
    ran = here("plan", "prod-weu", "reconcile-poll")
    assert ran.code == 64
    assert "reconcile-pool" in ran.err


async def test_without_a_remedy_all_that_fit_are_listed(azure: ArmServer, started: Started) -> None:
    ran = await started("plan", "prod-weu", environment=azure.environment("reader"))
    assert ran.code == 0, ran.err
    first, second, *_ = ran.out.splitlines()
    assert first.startswith("update-instances  ")
    assert second.strip() == "Update 1 failed instance of pool apps: 1 step, risk medium, about 3 min"
    assert ran.out.splitlines()[-1] == "`aksbot plan prod-weu REMEDY` shows one of them call by call"


async def test_a_list_names_the_reason_where_there_is_no_plan(azure: ArmServer, started: Started) -> None:
    azure.deny("writer", "Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action")
    ran = await started("plan", "prod-weu", environment=azure.environment("reader"))
    assert ran.code == 1
    assert "no plan: " in ran.out
    assert "grant Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action" in " ".join(ran.out.split())


async def test_where_nothing_was_found_there_is_nothing_to_list(azure: ArmServer, started: Started) -> None:
    ran = await started("plan", "prod-eus2", environment=azure.environment("reader"))
    assert (ran.code, ran.out.splitlines()[0]) == (0, "prod-eus2: aksbot found nothing to fix")
    as_json = await started("plan", "prod-eus2", "--output", "json", environment=azure.environment("reader"))
    assert json.loads(as_json.out) == []
