"""A write without a response is never sent again: the actual state decides, or a person if that is inconclusive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from handlers.clients.arm.operation import Via
from handlers.remedy.acts.act import SETTLE
from handlers.remedy.execution import Execution, Outcome, Phase
from sandbox.arm.server import Fault
from sandbox.scenario import Scenario
from sandbox.world import WriteRule
from tests.checking import azure
from tests.remedy_execution.plans import CASES
from tests.remedy_execution.stage import Stage

LOST = ["reconcile-pool", "update-instances", "reapply-machine", "register-provider", "abort-operation"]
"""Fixes with a single Azure write."""


@asynccontextmanager
async def stage_of(name: str) -> AsyncIterator[Stage]:
    async with azure(Scenario.load(CASES[name].scenario).world) as server:
        yield Stage(server, CASES[name].cluster)


class Died(Exception):
    """The process is gone."""


async def run_until(stage: Stage, execution: Execution, boundary: str) -> Execution:
    """Up to a boundary, where the worker dies; then another one carries on from what was written down."""

    async def die(name: str) -> None:
        if name.endswith(boundary):
            raise Died

    with pytest.raises(Died):
        await stage.run(execution, die)
    return stage.ledger.last if stage.ledger.saved else execution


@pytest.mark.parametrize("name", LOST)
@pytest.mark.parametrize("kind", ["504", "503", "half"])
async def test_a_write_that_was_accepted_is_found_and_followed(name: str, kind: str) -> None:
    async with stage_of(name) as stage:
        method = "PUT" if name == "reconcile-pool" else "POST"
        stage.azure.faults.append(Fault(kind, method=method, principal="writer", times=1, executed=True))  # type: ignore[arg-type]
        ended = await stage.run(CASES[name].make(stage))
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        assert len(stage.writes) == 1
        assert ended.calls[0].result.startswith("no answer")


@pytest.mark.parametrize("name", LOST)
async def test_a_write_that_never_arrived_is_asked_about_and_not_sent_again(name: str) -> None:
    async with stage_of(name) as stage:
        method = "PUT" if name == "reconcile-pool" else "POST"
        stage.azure.faults.append(Fault("504", method=method, principal="writer", times=1))
        before = stage.clock.now()
        ended = await stage.run(CASES[name].make(stage))
        assert ended.outcome is Outcome.UNKNOWN
        assert "never sent twice" in ended.why
        assert "the request was never answered (" in ended.why
        assert "died" not in ended.why
        assert ended.ask.startswith("Look at ")
        assert len(stage.writes) == 1
        assert stage.clock.now() - before >= SETTLE


@pytest.mark.parametrize("name", LOST)
async def test_who_died_before_sending_is_not_carried_on_by_sending(name: str) -> None:
    async with stage_of(name) as stage:
        left = await run_until(stage, Execution.begin("fix-1", CASES[name].make(stage)), "intent recorded, not sent")
        assert left.phase is Phase.INTENDED
        ended = await stage.run(left)
        assert (ended.outcome, stage.writes) == (Outcome.UNKNOWN, [])
        assert "the worker died before the request was answered" in ended.why
        assert ended.ask


@pytest.mark.parametrize("name", LOST)
async def test_who_died_after_sending_is_carried_on(name: str) -> None:
    async with stage_of(name) as stage:
        left = await run_until(stage, Execution.begin("fix-1", CASES[name].make(stage)), "sent, not recorded")
        assert left.phase is Phase.INTENDED
        ended = await stage.run(left)
        assert (ended.outcome, ended.why, len(stage.writes)) == (Outcome.DONE, "", 1)


@pytest.mark.parametrize("name", [*LOST, "reconcile-cluster"])
@pytest.mark.parametrize("boundary", ["ready, no intent recorded", "answer recorded", "ended, not recorded"])
async def test_who_died_where_all_is_known_is_carried_on_as_if_nothing_had_happened(name: str, boundary: str) -> None:
    async with stage_of(name) as stage:
        planned = CASES[name].make(stage)
        ended = await stage.run(await run_until(stage, Execution.begin("fix-1", planned), boundary))
        assert (ended.outcome, ended.why, len(stage.writes)) == (Outcome.DONE, "", len(planned.steps))


@pytest.mark.parametrize("via", [Via.STATUS, Via.LOCATION])
@pytest.mark.parametrize("url", ["https://[", "https://example.com/operations/1"])
async def test_an_operation_whose_link_leads_nowhere_is_read_at_its_resource(
    failed_pool: Stage, url: str, via: Via
) -> None:
    """It goes on in Azure, whatever the link says: it is neither failed nor started again."""
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    left = await run_until(stage, Execution.begin("fix-1", plan), "answer recorded")
    astray = replace(left, data={**left.data, "url": url, "via": via.value})
    ended = await stage.run(astray)
    assert (ended.outcome, ended.why, len(stage.writes)) == (Outcome.DONE, "", 1)


async def test_somebody_elses_write_is_not_taken_for_ours(failed_pool: Stage) -> None:
    """The pool moved while nobody knew; the log knows only of a request that is not ours."""
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    left = await run_until(stage, Execution.begin("fix-1", plan), "intent recorded, not sent")
    other = await Stage(stage.azure, stage.name).run(plan)
    assert other.outcome is Outcome.DONE
    ended = await stage.run(left)
    assert ended.outcome is Outcome.UNKNOWN
    assert "whose request that was cannot be told" in ended.why
    assert len(stage.writes) == 1


async def test_a_request_that_azure_took_and_refused_is_a_failure(failed_pool: Stage) -> None:
    """The answer was lost, and it was a no: the log says so."""
    stage = failed_pool
    body = {"code": "SubnetIsFull", "message": "full"}
    stage.azure.world.writes.insert(0, WriteRule("PUT", stage.pool("general"), refuse=(400, body)))
    stage.azure.faults.append(Fault("504", method="PUT", principal="writer", times=1, executed=True))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "SubnetIsFull" in ended.why, len(stage.writes)) == (Outcome.FAILED, True, 1)


async def test_a_log_that_cannot_be_read_proves_nothing(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.deny("reader", "Microsoft.Insights/eventtypes/values/Read")
    stage.azure.faults.append(Fault("504", method="PUT", principal="writer", times=1, executed=True))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, len(stage.writes)) == (Outcome.UNKNOWN, 1)
    assert ended.ask
