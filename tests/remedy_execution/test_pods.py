from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from handlers.remedy.acts.probe_from_pod import MADE_BY
from handlers.remedy.cleanup import Restored, remove_orphaned_probe
from handlers.remedy.execution import Execution, Outcome
from sandbox.kube.controllers import node_is_alive
from sandbox.kube.faults import Fault as KubeFault
from sandbox.objects import remove_object
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.remedy_execution.inside import PROBE, a_pod, change, probe, running
from tests.remedy_execution.plans import stuck_pod, without_finalizers
from tests.remedy_execution.stage import Stage


@pytest.fixture
async def stuck() -> AsyncIterator[Stage]:
    """staging-neu: a pod of orders is Terminating on a node that is being drained."""
    async with azure(Scenario.load("drain-error").world) as server:
        yield Stage(server, "staging-neu")


def node_is(stage: Stage, name: str, ready: str) -> None:
    body = stage.inside(name)
    assert body is not None
    change(stage, f"Node/{body['spec']['nodeName']}", {"status": {"conditions": {"Ready": {"status": ready}}}})


def is_there(stage: Stage, name: str, uid: str) -> bool:
    body = stage.inside(name)
    return body is not None and body["metadata"]["uid"] == uid


async def test_a_pod_is_asked_to_go_and_waited_for(stuck: Stage) -> None:
    stage, name = stuck, without_finalizers(stuck)
    change(stage, name, {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}})
    asked = a_pod(stage, name)
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert not is_there(stage, name, asked.arguments["uid"])
    assert len(stage.kube_writes) == 1


async def test_a_pod_of_a_silent_node_is_removed_by_force(stuck: Stage) -> None:
    stage, name = stuck, without_finalizers(stuck)
    node_is(stage, name, "Unknown")
    asked = a_pod(stage, name, force=True)
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert not is_there(stage, name, asked.arguments["uid"])


async def test_a_pod_that_nobody_asked_to_go_is_asked_before_it_is_forced(stuck: Stage) -> None:
    stage, name = stuck, without_finalizers(stuck)
    change(stage, name, {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}})
    node_is(stage, name, "Unknown")
    asked = a_pod(stage, name, force=True)
    before = stage.clock.now()
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, len(stage.kube_writes)) == (Outcome.DONE, 2)
    assert (stage.clock.now() - before).total_seconds() >= asked.arguments["grace_s"]


@pytest.mark.parametrize("status", ["True", "False"])
async def test_no_pod_is_forced_away_from_a_node_that_answers(stuck: Stage, status: str) -> None:
    stage, name = stuck, without_finalizers(stuck)
    node_is(stage, name, status)
    asked = a_pod(stage, name, force=True)
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, "answers" in ended.why, stage.kube_writes) == (Outcome.STALE, True, [])


async def test_a_pod_that_finalizers_hold_is_told(stuck: Stage) -> None:
    stage, name = stuck, stuck_pod(stuck)
    change(stage, name, {"metadata": {"finalizers": ["example.com/hold"]}})
    ended = await stage.run(stage.plan(a_pod(stage, name)))
    assert (ended.outcome, "example.com/hold" in ended.why) == (Outcome.FAILED, True)


async def test_another_pod_of_the_same_name_is_left_alone(stuck: Stage) -> None:
    stage, name = stuck, without_finalizers(stuck)
    asked = a_pod(stage, name)
    body = stage.inside(name)
    assert body is not None
    world = stage.azure.world.kubes[stage.cluster.lower()]
    remove_object(world, name)
    world.put({**body, "metadata": {**body["metadata"], "uid": "another"}})
    ended = await stage.run(stage.plan(asked))
    assert (ended.outcome, stage.kube_writes) == (Outcome.DONE, [])
    assert is_there(stage, name, "another")


@pytest.mark.parametrize("executed", [True, False])
async def test_a_deletion_without_an_answer_is_looked_for_and_not_sent_again(*, stuck: Stage, executed: bool) -> None:
    stage, name = stuck, without_finalizers(stuck)
    change(stage, name, {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}})
    stage.kube.faults.append(KubeFault("504", method="DELETE", times=1, executed=executed))
    ended = await stage.run(stage.plan(a_pod(stage, name)))
    assert ended.outcome is (Outcome.DONE if executed else Outcome.UNKNOWN)
    assert bool(ended.ask) is not executed
    assert len(stage.kube_writes) == 1


def a_ready_node(stage: Stage) -> str:
    world = stage.azure.world.kubes[stage.cluster.lower()]
    names = [str(node["metadata"]["name"]) for node in world.every("nodes", group="")]
    return next(name for name in names if node_is_alive(world, name))


def answers(stage: Stage, phase: str, log: str) -> Callable[[Execution], Any]:
    """A kubelet that runs the pod and lets it end."""

    async def act(here: Execution) -> None:
        if stage.inside(PROBE) is not None:
            stage.azure.world.kubes[stage.cluster.lower()].logs["default/aksbot-probe/probe"] = log
            change(stage, PROBE, {"spec": {"nodeName": a_ready_node(stage)}, "status": {"phase": phase}})

    return act


async def test_a_probe_says_its_answer_and_is_removed(stuck: Stage) -> None:
    stage = stuck
    ended = await stage.run(probe(stage), between=answers(stage, "Succeeded", "401 from kubernetes.default.svc"))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert any("401 from kubernetes.default.svc" in note.says for note in ended.notes)
    assert ended.answer == "401 from kubernetes.default.svc"
    assert Execution.from_json(ended.as_json()) == ended
    assert stage.inside(PROBE) is None


async def test_a_probe_that_fails_is_removed(stuck: Stage) -> None:
    stage = stuck
    ended = await stage.run(probe(stage), between=answers(stage, "Failed", "no route to host"))
    assert (ended.outcome, "no route to host" in ended.why) == (Outcome.FAILED, True)
    assert stage.inside(PROBE) is None


@pytest.mark.parametrize("how", ["time", "cancelled", "never scheduled"])
async def test_a_probe_that_does_not_answer_is_removed(stuck: Stage, how: str) -> None:
    stage = stuck

    async def hurry(here: Execution) -> Execution:
        if how == "time" and here.data.get("stage") == "asking":
            stage.clock.wait(7200)
        return replace(here, cancelled=how == "cancelled")

    ended = await stage.run(probe(stage), between=hurry)
    assert ended.outcome is Outcome.FAILED
    assert stage.inside(PROBE) is None


async def test_a_pod_of_that_name_that_is_not_ours_is_left_alone(stuck: Stage) -> None:
    stage, plan = stuck, probe(stuck)
    stage.azure.world.kubes[stage.cluster.lower()].put(dict(plan.steps[0].arguments["manifest"]))
    ended = await stage.run(plan)
    assert (ended.outcome, stage.kube_writes) == (Outcome.FAILED, [])
    body = stage.inside(PROBE)
    assert body is not None
    assert MADE_BY not in (body["metadata"].get("annotations") or {})


async def left_probe(stage: Stage) -> None:
    """A probe pod that was made, and then all that was known of it was lost."""
    manifest = dict(probe(stage).steps[0].arguments["manifest"])
    metadata = {**manifest["metadata"], "annotations": {MADE_BY: "lost"}}
    stage.azure.world.kubes[stage.cluster.lower()].put({**manifest, "metadata": metadata})


async def test_a_probe_pod_of_a_lost_fix_is_removed_and_the_next_probe_is_made(stuck: Stage) -> None:
    stage = stuck
    await left_probe(stage)
    refused = await stage.run(probe(stage))
    assert (refused.outcome, "not ours" in refused.why) == (Outcome.FAILED, True)
    async with stage.doors().write_clients() as write_clients:
        assert await remove_orphaned_probe(write_clients, running("lost")) == ()
        assert stage.inside(PROBE) is not None
        assert await remove_orphaned_probe(write_clients, running("another")) == (Restored(PROBE, "lost"),)
        assert await remove_orphaned_probe(write_clients, running()) == ()
    assert stage.inside(PROBE) is None
    ended = await stage.run(probe(stage), between=answers(stage, "Succeeded", "401"))
    assert ended.outcome is Outcome.DONE


async def test_a_left_probe_pod_that_cannot_be_removed_is_told(stuck: Stage) -> None:
    stage = stuck
    await left_probe(stage)
    stage.kube.faults.append(KubeFault("403", method="DELETE", resource="pods", times=1))
    async with stage.doors().write_clients() as write_clients:
        (told,) = await remove_orphaned_probe(write_clients, running())
        assert "403" in told.trouble
        assert await remove_orphaned_probe(write_clients, running()) == (Restored(PROBE, "lost"),)


async def test_a_pod_of_that_name_without_our_mark_is_no_leftover(stuck: Stage) -> None:
    stage = stuck
    stage.azure.world.kubes[stage.cluster.lower()].put(dict(probe(stage).steps[0].arguments["manifest"]))
    async with stage.doors().write_clients() as write_clients:
        assert await remove_orphaned_probe(write_clients, running()) == ()
    assert stage.inside(PROBE) is not None
    assert stage.kube_writes == []


@pytest.mark.parametrize("executed", [True, False])
async def test_a_probe_whose_making_has_no_answer_is_found_or_said(*, stuck: Stage, executed: bool) -> None:
    stage = stuck
    stage.kube.faults.append(KubeFault("504", method="POST", resource="pods", times=1, executed=executed))
    ended = await stage.run(probe(stage), between=answers(stage, "Succeeded", "401"))
    assert ended.outcome is (Outcome.DONE if executed else Outcome.FAILED)
    assert [method for method, _ in stage.kube_writes if method == "POST"] == ["POST"]
    assert stage.inside(PROBE) is None
