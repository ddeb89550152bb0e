"""Workers die at every boundary of every fix, and others continue: the result is as if nothing had happened, or a
person is asked. No write is sent twice, a relaxed budget is restored, a probe pod is removed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from handlers.remedy.cleanup import restore_relaxed_budgets
from handlers.remedy.execution import Execution, Outcome
from sandbox.arm.server import Fault
from sandbox.kube.faults import Fault as KubeFault
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.remedy_execution.inside import as_people_wrote_it, running
from tests.remedy_execution.plans import CASES
from tests.remedy_execution.stage import Body, FileLedger, Stage

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
NOW = datetime.now(UTC)
"""Two loads of a scenario are equal only at one moment."""
_OWN_TIME = {"etag", "resourceversion", "uid", "creationtimestamp", "generation", "lasttransitiontime", "renewtime"}


class Died(Exception):
    """The worker is gone."""


@dataclass(frozen=True)
class End:
    """What is left of a run."""

    execution: Execution
    writes: Counter[tuple[str, str]]
    world: Any
    sent: tuple[tuple[bool, str], ...]
    boundaries: tuple[str, ...] = ()


@asynccontextmanager
async def stage_of(name: str) -> AsyncIterator[Stage]:
    async with azure(Scenario.load(CASES[name].scenario, now=NOW).world) as server:
        yield Stage(server, CASES[name].cluster)


def end_of(stage: Stage, execution: Execution, boundaries: tuple[str, ...] = ()) -> End:
    return End(
        execution, Counter([*stage.writes, *stage.kube_writes]), world_of(stage), tuple(sent_by(stage)), boundaries
    )


def world_of(stage: Stage) -> Any:
    """Everything that a write could have changed, without what every write leaves behind."""
    kubes = stage.azure.world.kubes
    kube = kubes.get(stage.cluster.lower()) or next(iter(kubes.values()))  # a Nexus cluster has none here
    nodes = {node["metadata"]["name"]: timeless(node["spec"]) for node in kube.every("nodes", group="")}
    budgets = {
        one["metadata"]["name"]: timeless(
            [one["spec"], one["metadata"].get("labels"), one["metadata"].get("annotations")]
        )
        for one in kube.every("poddisruptionbudgets", group="policy")
    }
    pods = Counter((pod["metadata"]["namespace"], owner_of(pod)) for pod in kube.every("pods", group=""))
    return timeless(stage.azure.world.resources), nodes, budgets, pods


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other}, key=str)
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{path}/{key}")]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for number, (a, b) in pairs for found in differences(a, b, f"{path}[{number}]")]
    return [] if one == other else [f"{path}: {one!r} is not {other!r}"]


def owner_of(pod: Body) -> str:
    owners = pod["metadata"].get("ownerReferences") or ()
    return str(owners[0]["name"] if owners else pod["metadata"]["name"])


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key.lower() not in _OWN_TIME}
    return [timeless(one) for one in value] if isinstance(value, list) else value


async def undisturbed(name: str) -> End:
    passed: list[str] = []

    async def note(boundary: str) -> None:
        passed.append(boundary)

    async with stage_of(name) as stage:
        return end_of(stage, await stage.run(CASES[name].make(stage), note), tuple(passed))


def assert_kept_the_promise(name: str, end: End, calm: End) -> None:
    assert end.execution.ended
    assert end.writes <= calm.writes, "a write was sent twice, or one that was never planned"
    if end.execution.outcome is Outcome.UNKNOWN:
        assert end.execution.why
        assert end.execution.ask
        assert end.world[2] == calm.world[2], "a budget is not as it was"
    else:
        assert (end.execution.outcome, end.execution.failing == "") == (
            calm.execution.outcome,
            calm.execution.failing == "",
        )
        assert differences(end.world, calm.world) == []
    if name == "probe-from-pod":
        assert end.world[3] == calm.world[3], "the probe pod is still there"


# -- the worker as an exception: every boundary, quickly ------------------------------------------------------


@pytest.mark.parametrize("name", list(CASES))
async def test_whoever_dies_at_whatever_boundary_another_one_carries_on(name: str) -> None:
    calm = await undisturbed(name)
    assert len(set(calm.boundaries)) >= 6
    for number in range(len(calm.boundaries)):
        async with stage_of(name) as stage:
            end = await died_at(stage, name, number)
        assert_kept_the_promise(name, end, calm)


async def died_at(stage: Stage, name: str, number: int) -> End:
    begun = Execution.begin("fix-1", CASES[name].make(stage))
    await dies_at(stage, begun, number)
    stage.azure.finish_operations()
    return end_of(stage, await stage.run(stage.ledger.last if stage.ledger.saved else begun))


async def dies_at(stage: Stage, begun: Execution, number: int) -> None:
    left = number

    async def die(_: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            raise Died

    with pytest.raises(Died):
        await stage.run(begun, die)


async def test_wherever_it_dies_and_all_records_are_lost_a_relaxed_budget_is_put_back() -> None:
    calm = await undisturbed("relax-budget")
    relaxed = 0
    for number in range(len(calm.boundaries)):
        async with stage_of("relax-budget") as stage:
            before = as_people_wrote_it(stage)
            await dies_at(stage, Execution.begin("lost", CASES["relax-budget"].make(stage)), number)
            stage.azure.finish_operations()
            relaxed += as_people_wrote_it(stage) != before
            async with stage.doors().write_clients() as write_clients:
                found = await restore_relaxed_budgets(write_clients, running())
            assert [one.trouble for one in found] == [""] * len(found)
            assert as_people_wrote_it(stage) == before
    assert relaxed > 6


# -- the worker as a process, killed ---------------------------------------------------------------------------


class Workers:
    """Processes that carry on with one fix, one after the other."""

    def __init__(self, stage: Stage, name: str, folder: Path) -> None:
        self.ledger = FileLedger(folder / "ledger.json")
        self.ledger.file.write_text(Execution.begin("fix-1", CASES[name].make(stage)).as_json())
        self.file = folder / "stage.json"
        self.file.write_text(json.dumps(asdict(stage.doors()) | {"ledger": str(self.ledger.file)}))

    async def start(self, boundary: str = "", passes: int = 0) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.remedy_execution.worker_process", str(self.file), boundary, str(passes)),
            cwd=ROOT,
        )

    async def carry_on(self, stage: Stage) -> End:
        """Time passes without any worker; then there is one, and it stays."""
        stage.azure.finish_operations()
        worker = await self.start()
        async with asyncio.timeout(PATIENCE_S):
            assert await worker.wait() == 0
        return end_of(stage, self.ledger.load())


async def killed_at(name: str, calm: End, number: int, folder: Path) -> None:
    boundary = calm.boundaries[number]
    async with stage_of(name) as stage:
        workers = Workers(stage, name, folder)
        worker = await workers.start(boundary, calm.boundaries[:number].count(boundary))
        async with asyncio.timeout(PATIENCE_S):
            assert await worker.wait() == -signal.SIGKILL
        assert_kept_the_promise(name, await workers.carry_on(stage), calm)


async def killed_before_the_answer(name: str, calm: End, number: int, folder: Path) -> None:
    """The server has taken the write and does not answer; the worker dies while it waits."""
    inside, method = calm.sent[number]
    skip = calm.sent[:number].count((inside, method))
    async with stage_of(name) as stage:
        workers = Workers(stage, name, folder)
        if inside:
            stage.kube.faults.append(KubeFault("timeout", method=method, skip=skip, times=1, executed=True))
        else:
            fault = Fault("timeout", method=method, principal="writer", skip=skip, times=1, executed=True)
            stage.azure.faults.append(fault)
        worker = await workers.start()
        async with asyncio.timeout(PATIENCE_S):
            while not hanging(stage, number):  # noqa: ASYNC110 - the servers tell nobody
                await asyncio.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)
        await worker.wait()
        assert_kept_the_promise(name, await workers.carry_on(stage), calm)


def hanging(stage: Stage, number: int) -> bool:
    """Whether the write of this number has been taken, and its answer is kept back."""
    sent = sent_by(stage)
    faults = [*stage.azure.faults, *stage.kube.faults]
    return len(sent) == number + 1 and not any(fault.times for fault in faults)


def sent_by(stage: Stage) -> list[tuple[bool, str]]:
    """Every write in order: whether it went to the API server, and its method."""
    azure_writes = [(one.started, False, one.method) for one in stage.azure.log if one.is_write and one.principal]
    inside = [(one.started, True, one.method) for one in stage.kube.log if one.is_write]
    return [(where, method) for _, where, method in sorted([*azure_writes, *inside])]


@pytest.mark.parametrize("seed", range(6))
async def test_a_killed_worker_is_replaced(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    name = list(CASES)[seed * 7 % len(CASES)]
    calm = await undisturbed(name)
    if seed % 3:
        await killed_at(name, calm, chance.randrange(len(calm.boundaries)), tmp_path)
    else:
        await killed_before_the_answer(name, calm, chance.randrange(len(calm.sent)), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", list(CASES))
async def test_a_worker_killed_at_any_boundary_is_replaced(name: str, tmp_path: Path) -> None:
    calm = await undisturbed(name)
    for number in range(len(calm.boundaries)):
        folder = tmp_path / str(number)
        folder.mkdir()
        await killed_at(name, calm, number, folder)


@pytest.mark.soak
@pytest.mark.parametrize("name", list(CASES))
async def test_a_worker_killed_while_it_waits_for_any_answer_is_replaced(name: str, tmp_path: Path) -> None:
    calm = await undisturbed(name)
    for number in range(len(calm.sent)):
        folder = tmp_path / str(number)
        folder.mkdir()
        await killed_before_the_answer(name, calm, number, folder)
