from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from handlers.evidence.budgets import RELAXED_FROM
from handlers.remedy.acts.budgets.budget import OURS
from handlers.remedy.cleanup import Restored, restore_relaxed_budgets
from handlers.remedy.execution import Execution, Outcome, StepEnd
from sandbox.kube.faults import Fault as KubeFault
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.remedy_execution.inside import BUDGET, as_people_wrote_it, budget_steps, change, drain, running
from tests.remedy_execution.stage import Stage


@pytest.fixture(params=[True, False], ids=["with annotations", "without"])
async def blocked(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """prod-weu: a budget of shop lets no pod go, and the upgrade of pool apps failed because of it."""
    async with azure(Scenario.load("pdb-blocks-drain").world) as server:
        stage = Stage(server, "prod-weu")
        if request.param:
            change(stage, BUDGET, {"metadata": {"annotations": {"team": "shop"}, "labels": {"app": "web"}}})
        yield stage


async def test_a_budget_is_relaxed_for_the_upgrade_and_put_back(blocked: Stage) -> None:
    stage, before, between = blocked, as_people_wrote_it(blocked), []

    async def look(here: Execution) -> None:
        between.append(as_people_wrote_it(stage)[0])

    ended = await stage.run(drain(stage), between=look)
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert any(spec.get("maxUnavailable") == 1 and "minAvailable" not in spec for spec in between)
    assert as_people_wrote_it(stage) == before
    assert [method for method, _ in stage.kube_writes] == ["PATCH", "PATCH"]
    assert stage.writes == [("PUT", stage.pool("apps"))]


async def test_a_budget_is_put_back_when_the_upgrade_fails_again(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)
    plan = drain(stage)
    ended = await stage.run(replace(plan, steps=(plan.steps[0], stage.put_pool("apps", etag="old"), plan.steps[2])))
    assert ended.outcome is Outcome.STALE
    assert as_people_wrote_it(stage) == before


async def test_a_budget_is_put_back_when_the_fix_is_cancelled(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)

    async def cancel(here: Execution) -> Execution:
        return replace(here, cancelled=True)

    ended = await stage.run(drain(stage), between=cancel)
    assert ended.outcome is Outcome.CANCELLED
    assert ended.ends == (StepEnd.DONE, StepEnd.SKIPPED, StepEnd.DONE)
    assert as_people_wrote_it(stage) == before
    assert stage.writes == []


async def test_a_budget_is_put_back_when_the_time_is_over(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)

    async def forever(here: Execution) -> None:
        if here.step == 1:
            stage.clock.wait(7200)

    ended = await stage.run(drain(stage), between=forever)
    assert ended.outcome is Outcome.TIMED_OUT
    assert ended.ends == (StepEnd.DONE, StepEnd.FAILED, StepEnd.DONE), "the step that failed is not the one after it"
    assert as_people_wrote_it(stage) == before


async def test_an_api_server_that_fails_for_a_while_does_not_leave_a_budget_relaxed(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)
    stage.kube.faults.append(KubeFault("500", method="PATCH", skip=1, times=5))
    stage.kube.faults.append(KubeFault("500", method="PATCH", times=2, executed=True, skip=6))
    ended = await stage.run(drain(stage))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert as_people_wrote_it(stage) == before


async def test_a_budget_that_cannot_be_put_back_is_said_with_the_command(blocked: Stage) -> None:
    stage = blocked
    stage.kube.faults.append(KubeFault("500", method="PATCH", skip=1))
    plan = drain(stage)
    by_hand = replace(plan.steps[2], command="kubectl patch pdb web")
    ended = await stage.run(replace(plan, steps=(*plan.steps[:2], by_hand)))
    assert ended.outcome is Outcome.TIMED_OUT
    assert "do it by hand: kubectl patch pdb web" in ended.why
    assert as_people_wrote_it(stage)[0]["maxUnavailable"] == 1


async def test_a_budget_that_was_changed_since_the_plan_is_not_relaxed(blocked: Stage) -> None:
    stage, plan = blocked, drain(blocked)
    change(stage, BUDGET, {"spec": {"minAvailable": 7}})
    ended = await stage.run(plan)
    assert ended.outcome is Outcome.STALE
    assert "changed since the plan" in ended.why
    assert stage.kube_writes == []
    assert stage.writes == []


async def test_a_budget_that_another_fix_has_relaxed_is_left_to_that_one(blocked: Stage) -> None:
    stage = blocked
    relax, restore = budget_steps(stage)
    other = replace(Execution.begin("fix-2", stage.plan(relax)), began=stage.clock.now())
    await stage.run(other)
    ended = await stage.run(stage.plan(relax, restore))
    assert (ended.outcome, "relaxed already" in ended.why) == (Outcome.STALE, True)
    assert RELAXED_FROM in (as_people_wrote_it(stage)[2] or {})


async def test_what_somebody_changes_while_it_is_relaxed_is_kept_and_told(blocked: Stage) -> None:
    stage = blocked

    async def meddle(here: Execution) -> None:
        if here.step == 1 and as_people_wrote_it(stage)[0].get("maxUnavailable") == 1:
            change(stage, BUDGET, {"spec": {"maxUnavailable": 3}, "metadata": {"labels": {"new": "yes"}}})

    ended = await stage.run(drain(stage), between=meddle)
    spec, labels, annotations = as_people_wrote_it(stage)
    assert ended.outcome is Outcome.FAILED
    assert "someone has changed budget web" in ended.why
    assert spec["maxUnavailable"] == 3
    assert labels["new"] == "yes"
    assert RELAXED_FROM not in (annotations or {})


async def test_a_rule_that_somebody_has_put_back_already_is_restored(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)

    async def put_back(here: Execution) -> None:
        if here.step == 2:
            change(stage, BUDGET, {"spec": {**dict.fromkeys(OURS), **before[0]}})

    ended = await stage.run(drain(stage), between=put_back)
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert as_people_wrote_it(stage) == before


async def test_a_leftover_whose_rule_somebody_has_put_back_already_is_no_change(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)
    relax, _ = budget_steps(stage)
    await stage.run(replace(Execution.begin("lost", stage.plan(relax)), began=stage.clock.now()))
    change(stage, BUDGET, {"spec": {**dict.fromkeys(OURS), **before[0]}})
    async with stage.doors().write_clients() as write_clients:
        assert await restore_relaxed_budgets(write_clients, running()) == (Restored(BUDGET, "lost"),)
    assert as_people_wrote_it(stage) == before


async def test_a_label_that_somebody_adds_meanwhile_is_kept(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)

    async def add(here: Execution) -> None:
        if here.step == 1:
            change(stage, BUDGET, {"metadata": {"labels": {"new": "yes"}}})

    ended = await stage.run(drain(stage), between=add)
    spec, labels, _ = as_people_wrote_it(stage)
    assert (ended.outcome, spec) == (Outcome.DONE, before[0])
    assert labels == {**(before[1] or {}), "new": "yes"}


async def test_without_any_records_relaxed_budgets_are_found_and_put_back(blocked: Stage) -> None:
    stage, before = blocked, as_people_wrote_it(blocked)
    relax, _ = budget_steps(stage)
    await stage.run(replace(Execution.begin("lost", stage.plan(relax)), began=stage.clock.now()))
    async with stage.doors().write_clients() as write_clients:
        assert await restore_relaxed_budgets(write_clients, running("lost")) == ()
        (restored,) = await restore_relaxed_budgets(write_clients, running("another"))
        assert restored == Restored(BUDGET, "lost")
        assert as_people_wrote_it(stage) == before
        assert await restore_relaxed_budgets(write_clients, running()) == ()


async def test_what_somebody_changed_is_kept_when_a_leftover_is_put_back(blocked: Stage) -> None:
    stage = blocked
    relax, _ = budget_steps(stage)
    await stage.run(replace(Execution.begin("lost", stage.plan(relax)), began=stage.clock.now()))
    change(stage, BUDGET, {"spec": {"maxUnavailable": 4}})
    async with stage.doors().write_clients() as write_clients:
        assert await restore_relaxed_budgets(write_clients, running()) == (Restored(BUDGET, "lost", changed=True),)
    spec, _, annotations = as_people_wrote_it(stage)
    assert spec["maxUnavailable"] == 4
    assert RELAXED_FROM not in (annotations or {})


async def test_a_leftover_that_cannot_be_put_back_is_told(blocked: Stage) -> None:
    stage = blocked
    relax, _ = budget_steps(stage)
    await stage.run(replace(Execution.begin("lost", stage.plan(relax)), began=stage.clock.now()))
    stage.kube.faults.append(KubeFault("403", method="PATCH", times=1))
    async with stage.doors().write_clients() as write_clients:
        (told,) = await restore_relaxed_budgets(write_clients, running())
        assert "403" in told.trouble
        assert await restore_relaxed_budgets(write_clients, running()) == (Restored(BUDGET, "lost"),)


async def test_an_annotation_that_is_none_of_ours_is_told_and_left(blocked: Stage) -> None:
    stage = blocked
    change(stage, BUDGET, {"metadata": {"annotations": {RELAXED_FROM: "by hand"}}})
    async with stage.doors().write_clients() as write_clients:
        (told,) = await restore_relaxed_budgets(write_clients, running())
    assert "cannot be read" in told.trouble
    assert stage.kube_writes == []


async def test_a_fix_that_begins_while_somebody_looks_is_not_taken_for_lost(blocked: Stage) -> None:
    stage = blocked
    relax, _ = budget_steps(stage)
    await stage.run(replace(Execution.begin("new", stage.plan(relax)), began=stage.clock.now()))
    asked_after: list[int] = []

    async def look() -> list[str]:
        asked_after.append(sum(one.resource == "poddisruptionbudgets" for one in stage.kube.log))
        return ["new"]

    before = sum(one.resource == "poddisruptionbudgets" for one in stage.kube.log)
    async with stage.doors().write_clients() as write_clients:
        assert await restore_relaxed_budgets(write_clients, look) == ()
    assert asked_after[0] > before


async def test_a_budget_with_an_annotation_that_is_none_of_ours_is_not_relaxed(blocked: Stage) -> None:
    """Relaxing it would overwrite what somebody, or another version of us, has to put back."""
    stage, plan = blocked, drain(blocked)
    change(stage, BUDGET, {"metadata": {"annotations": {RELAXED_FROM: '{"version": 2}'}}})
    ended = await stage.run(plan)
    assert (ended.outcome, "cannot be read" in ended.why) == (Outcome.STALE, True)
    assert (stage.kube_writes, stage.writes) == ([], [])


async def test_a_writer_that_loses_its_permission_half_way_says_the_command(blocked: Stage) -> None:
    stage = blocked
    stage.kube.faults.append(KubeFault("403", method="PATCH", skip=1))
    plan = drain(stage)
    ended = await stage.run(replace(plan, steps=(*plan.steps[:2], replace(plan.steps[2], command="kubectl patch pdb"))))
    assert ended.outcome is Outcome.FAILED
    assert "do it by hand: kubectl patch pdb" in ended.why


async def test_a_budget_that_is_made_anew_by_the_same_name_is_not_relaxed(blocked: Stage) -> None:
    stage, plan = blocked, drain(blocked)
    body = stage.inside(BUDGET)
    assert body is not None
    body["metadata"]["uid"] = "00000000-0000-0000-0000-00000000beef"
    ended = await stage.run(plan)
    assert (ended.outcome, "made again" in ended.why) == (Outcome.STALE, True)
    assert (stage.kube_writes, stage.writes) == ([], [])
