"""Tampered plans, which name one resource but act on another: nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from handlers.remedy.bounds import out_of_bounds
from handlers.remedy.execution import Outcome
from handlers.remedy.plan import Plan, Step, Verb
from tests.remedy_execution.conftest import staged
from tests.remedy_execution.plans import CASES
from tests.remedy_execution.stage import Stage, a_plan, step

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu"
OTHER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu-2"
SCALE_SET = f"{GROUP}-nodes/providers/Microsoft.Compute/virtualMachineScaleSets/aks-apps"
ELSEWHERE = SCALE_SET.replace("000000000001", "000000000002")

ASTRAY = {
    "another cluster": step(Verb.PUT_CLUSTER_AS_READ, OTHER),
    "a pool of another cluster": step(Verb.PUT_POOL_AS_READ, f"{OTHER}/agentPools/apps"),
    "a cluster whose name begins like it": step(Verb.PUT_POOL_AS_READ, f"{CLUSTER}-2/agentPools/apps"),
    "what is no pool": step(Verb.PUT_POOL_AS_READ, f"{CLUSTER}/maintenanceConfigurations/default"),
    "a way up": step(Verb.PUT_POOL_AS_READ, f"{CLUSTER}/agentPools/.."),
    "a cluster as a pool": step(Verb.PUT_POOL_AS_READ, CLUSTER),
    "an operation of another cluster": step(Verb.ABORT_LATEST, OTHER),
    "another subscription": step(Verb.REGISTER_PROVIDER, ELSEWHERE.partition("/resource")[0], namespace="X.Y"),
    "a resource group": step(Verb.REGISTER_PROVIDER, GROUP, namespace="X.Y"),
    "a machine of another subscription": step(Verb.REAPPLY_MACHINE, ELSEWHERE, node="n"),
    "looked at one, updates another": step(
        Verb.UPDATE_INSTANCE, SCALE_SET, instance_id="2", machine=f"{SCALE_SET}/virtualMachines/1", node="n"
    ),
    "looked at one of another set": step(
        Verb.UPDATE_INSTANCE, SCALE_SET, instance_id="1", machine=f"{SCALE_SET}2/virtualMachines/1", node="n"
    ),
    "another budget": step(Verb.RELAX_BUDGET, "shop/PodDisruptionBudget/web", namespace="shop", name="api"),
    "another namespace": step(Verb.RESTORE_BUDGET, "shop/PodDisruptionBudget/web", namespace="kube-system", name="web"),
    "another pod": step(Verb.DELETE_POD, "shop/Pod/web-1", namespace="shop", name="web-2"),
    "no id at all": step(Verb.REAPPLY_MACHINE, "aks-apps-1", node="n"),
}


@pytest.mark.parametrize("name", ASTRAY)
def test_a_step_that_leaves_its_plan_is_seen(name: str) -> None:
    assert out_of_bounds(a_plan(ASTRAY[name], cluster=CLUSTER), ASTRAY[name])


@pytest.mark.parametrize("name", CASES)
async def test_no_step_of_a_real_plan_is_taken_for_one(name: str) -> None:
    async with staged(CASES[name].scenario, CASES[name].cluster) as stage:
        plan = CASES[name].make(stage)
        assert [out_of_bounds(plan, one) for one in plan.steps] == [""] * len(plan.steps)
        assert [out_of_bounds(replace(plan, cluster=plan.cluster.upper()), one) for one in plan.steps] == [""] * len(
            plan.steps
        )


def _to_the_other(stage: Stage, plan: Plan) -> Plan:
    other = next(
        body["id"]
        for key, body in stage.azure.world.resources.items()
        if "/managedclusters/" in key and key.count("/") == 8 and key != stage.cluster.lower()
    )
    return replace(plan, cluster=other)


def _to_all(stage: Stage, plan: Plan) -> Plan:
    (one,) = plan.steps
    return replace(plan, steps=(replace(one, arguments={**one.arguments, "instance_id": "0"}),))


@pytest.mark.parametrize(
    ("name", "spoil"), [("reconcile-pool", _to_the_other), ("update-instances", _to_all)], ids=["cluster", "instance"]
)
async def test_a_plan_that_acts_elsewhere_sends_nothing(name: str, spoil: Callable[[Stage, Plan], Plan]) -> None:
    async with staged(CASES[name].scenario, CASES[name].cluster) as stage:
        ended = await stage.run(spoil(stage, CASES[name].make(stage)))
        assert ended.outcome is Outcome.FAILED
        assert "is no part of a fix" in ended.why
        assert stage.writes == []


async def test_what_is_done_always_stays_with_its_plan_too() -> None:
    async with staged(CASES["relax-budget"].scenario, CASES["relax-budget"].cluster) as stage:
        plan = CASES["relax-budget"].make(stage)

        def spoilt(one: Step) -> Step:
            return replace(one, arguments={**one.arguments, "namespace": "kube-system"}) if one.always else one

        ended = await stage.run(replace(plan, steps=tuple(spoilt(one) for one in plan.steps)))
        assert (ended.outcome, "is no part of a fix" in ended.why) == (Outcome.FAILED, True)
        assert len(stage.kube_writes) == 1
