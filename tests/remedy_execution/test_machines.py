from __future__ import annotations

from datetime import timedelta

import pytest

from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.plan import Plan, Verb
from sandbox.arm.server import Fault
from sandbox.objects import patch_object
from sandbox.scenario import Scenario
from sandbox.world import Change, WriteRule
from tests.checking import azure
from tests.remedy_execution.stage import Body, Stage, step


def of_apps(stage: Stage) -> list[Body]:
    """The instances of pool apps, by number."""
    found = [
        body
        for key, body in stage.azure.world.resources.items()
        if "/virtualmachinescalesets/aks-apps-" in key and key.rsplit("/", 2)[-2] == "virtualmachines"
    ]
    return sorted((one for one in found if stage.name in one["id"]), key=lambda one: int(one["instanceId"]))


def fail(stage: Stage, machine: Body, **more: object) -> None:
    stage.azure.world.apply(Change(machine["id"], {"properties": {"provisioningState": "Failed", **more}}))


def node_of(machine: Body) -> str:
    return str(machine["properties"]["osProfile"]["computerName"])


def is_ready(stage: Stage, machine: Body, status: str) -> None:
    patch = {"status": {"conditions": {"Ready": {"status": status, "message": "as the test wants it"}}}}
    patch_object(stage.azure.world.kubes[stage.cluster.lower()], f"Node/{node_of(machine)}", patch)


@pytest.fixture
def three_failed(failed_machine: Stage) -> Plan:
    """The first three instances of pool apps are Failed; nothing else is said about updating them."""
    stage = failed_machine
    stage.azure.world.writes.clear()
    chosen = of_apps(stage)[:3]
    for machine in chosen:
        fail(stage, machine)
        is_ready(stage, machine, "True")
    return stage.plan(*(stage.update(machine) for machine in chosen))


def sent(stage: Stage) -> int:
    return len([path for _, path in stage.writes if path.lower().endswith("/manualupgrade")])


async def test_failed_instances_are_updated_one_after_the_other(failed_machine: Stage, three_failed: Plan) -> None:
    stage, at_once = failed_machine, []

    async def look(here: Execution) -> None:
        at_once.append((here.step, sent(stage)))

    ended = await stage.run(three_failed, between=look)
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert sent(stage) == len(stage.writes) == 3
    assert all(writes <= step + 1 for step, writes in at_once)
    states = [stage.resource(one["id"])["properties"]["provisioningState"] for one in of_apps(stage)[:3]]
    assert states == ["Succeeded"] * 3


async def test_it_stops_when_the_second_node_does_not_come_back(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    second, third = of_apps(stage)[1:3]
    is_ready(stage, second, "Unknown")
    ended = await stage.run(three_failed)
    assert ended.outcome is Outcome.FAILED
    assert f"node {node_of(second)} did not come back Ready" in ended.why
    assert sent(stage) == 2
    assert stage.resource(third["id"])["properties"]["provisioningState"] == "Failed"


async def test_a_node_that_is_gone_did_not_come_back(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    kube = stage.azure.world.kubes[stage.cluster.lower()]
    kind = next(one for one in kube.kinds if one.kind == "Node")
    kube.remove(kind, node_of(of_apps(stage)[0]))
    ended = await stage.run(three_failed)
    assert (ended.outcome, "there is no such node" in ended.why, sent(stage)) == (Outcome.FAILED, True, 1)


async def test_a_ready_of_the_past_does_not_count(failed_machine: Stage, three_failed: Plan) -> None:
    """Kubernetes needs up to 50 s to notice that a machine restarts."""
    stage = failed_machine
    first, second = of_apps(stage)[:2]

    async def notice(here: Execution) -> None:
        if here.step == 0 and "machine_done_at" in here.data:
            is_ready(stage, first, "Unknown")

    ended = await stage.run(three_failed, between=notice)
    assert ended.outcome is Outcome.FAILED
    assert sent(stage) == 1
    assert stage.resource(second["id"])["properties"]["provisioningState"] == "Failed"


async def test_an_instance_that_would_be_re_imaged_is_left_alone(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    fail(stage, of_apps(stage)[0], latestModelApplied=False)
    ended = await stage.run(three_failed)
    assert (ended.outcome, "re-image" in ended.why, stage.writes) == (Outcome.STALE, True, [])


async def test_all_instances_at_once_are_refused(failed_machine: Stage) -> None:
    stage = failed_machine
    machine = of_apps(stage)[0]
    asked = step(
        Verb.UPDATE_INSTANCE, machine["id"].rsplit("/", 2)[0], instance_id="*", machine=machine["id"], node="x"
    )
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, stage.writes) == (Outcome.FAILED, [])


async def test_an_instance_that_is_well_again_is_left_alone(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    first = of_apps(stage)[0]
    stage.azure.world.apply(Change(first["id"], {"properties": {"provisioningState": "Succeeded"}}))
    ended = await stage.run(three_failed)
    assert (ended.outcome, sent(stage)) == (Outcome.DONE, 2)


async def test_an_instance_that_stays_failed_stops_the_others(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    first = of_apps(stage)[0]
    error = {"code": "VMExtensionProvisioningError", "message": "vmssCSE exit status=50"}
    rule = WriteRule("POST", first["id"].rsplit("/", 2)[0], "manualUpgrade", ends="Failed", error=error)
    stage.azure.world.writes.insert(0, rule)
    ended = await stage.run(three_failed)
    assert (ended.outcome, sent(stage)) == (Outcome.FAILED, 1)
    assert "VMExtensionProvisioningError" in ended.why


async def test_nodes_that_cannot_be_seen_stop_it(failed_machine: Stage, three_failed: Plan) -> None:
    stage = failed_machine
    stage.kube.faults.append(Fault("500", method="GET"))
    ended = await stage.run(three_failed)
    assert (ended.outcome, sent(stage)) == (Outcome.UNKNOWN, 1)
    assert ended.ask


async def test_a_lone_machine_is_reapplied() -> None:
    async with azure(Scenario.load("node-vm-failed-availability-set").world) as server:
        stage = Stage(server, "staging-neu")
        machine = next(
            body
            for key, body in server.world.resources.items()
            if "/virtualmachines/" in key and body["properties"].get("provisioningState") == "Failed"
        )
        ended = await stage.run(stage.plan(step(Verb.REAPPLY_MACHINE, machine["id"], node=node_of(machine))))
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        assert stage.writes == [("POST", f"{machine['id']}/reapply")]
        assert stage.resource(machine["id"])["properties"]["provisioningState"] == "Succeeded"


async def test_a_provider_is_registered_and_waited_for() -> None:
    async with azure(Scenario.load("subscription-not-registered").world) as server:
        stage = Stage(server, "prod-weu")
        subscription = stage.cluster.split("/resource")[0]
        asked = step(Verb.REGISTER_PROVIDER, subscription, namespace="Microsoft.OperationalInsights")
        ended = await stage.run(stage.plan(asked))
        path = f"{subscription}/providers/Microsoft.OperationalInsights"
        assert (ended.outcome, stage.writes) == (Outcome.DONE, [("POST", f"{path}/register")])
        again = await stage.run(stage.plan(asked))
        assert (again.outcome, len(stage.writes)) == (Outcome.DONE, 1)


async def test_the_operation_that_runs_is_ended() -> None:
    async with azure(Scenario.load("upgrade-runs-long").world) as server:
        stage = Stage(server, "payments-prod")
        plan = stage.plan(step(Verb.ABORT_LATEST, stage.cluster), limit=timedelta(minutes=30))
        ended = await stage.run(plan)
        assert (ended.outcome, stage.writes) == (Outcome.DONE, [("POST", f"{stage.cluster}/abort")])
        assert stage.resource(stage.cluster)["properties"]["provisioningState"] == "Canceled"
        again = await stage.run(plan)
        assert (again.outcome, len(stage.writes)) == (Outcome.STALE, 1)
