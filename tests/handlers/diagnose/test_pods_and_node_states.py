"""A pod that waits beside nodes that are dead, not ready yet, or under pressure: whose problem is it?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import NOW, at
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.waiting import CODE, WEB, anti, cluster, dead, fills, found, outcome
from tests.handlers.diagnose.wire import asked, diagnosed

SYSTEMS = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}


def all_dead(*, full: bool) -> Inside:
    """A node for AKS's own pods, and two for all others, which are dead."""
    inside = cluster(3)
    inside.nodes["node-0"]["spec"]["taints"] = [SYSTEMS]
    for name in ("node-1", "node-2"):
        dead(inside, name)
        if full:
            fills(inside, name)
    return inside


async def test_a_node_that_is_not_ready_is_its_own_problem() -> None:
    inside = cluster()
    dead(inside, "node-0")
    inside.waits()
    assert await outcome(inside) is Outcome.CLEAR


@pytest.mark.parametrize("full", [False, True])
async def test_where_all_nodes_for_it_are_dead_nobody_is_told_to_tolerate_the_taint_of_the_others(full: bool) -> None:
    inside = all_dead(full=full)
    inside.waits(requests={"cpu": "1"})
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.CLEAR
    assert "waits for node-1, which has taint node.kubernetes.io/unreachable:NoSchedule for its state" in check.why


async def test_pods_that_are_being_deleted_on_dead_nodes_keep_nobody_away_for_good() -> None:
    inside = all_dead(full=False)
    for name in ("node-1", "node-2"):
        old = inside.runs(f"web-5d9c7b8f6-{name}", name, labels=WEB)
        old["metadata"]["deletionTimestamp"] = at(timedelta(minutes=9))
    inside.waits(affinity=anti(WEB))
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.CLEAR
    assert "waits for node-1, which has taint node.kubernetes.io/unreachable:NoSchedule" in check.why


async def test_a_dead_node_does_not_excuse_what_no_empty_node_could_give() -> None:
    inside = all_dead(full=False)
    inside.waits(requests={"cpu": "9"})
    finding = await found(inside)
    assert (finding.facts["cause"], finding.facts["too_large"]) == ("cpu", True)


async def test_a_dead_node_does_not_hide_that_the_others_are_full() -> None:
    inside = all_dead(full=True)
    inside.room("node-3")
    fills(inside, "node-3")
    inside.waits(requests={"cpu": "1"})
    finding = await found(inside)
    assert (finding.facts["cause"], finding.facts["node"]) == ("cpu", "node-3")


async def test_no_pod_is_told_to_tolerate_a_taint_that_kubernetes_sets() -> None:
    inside = cluster()
    dead(inside, "node-0")
    inside.nodes["node-0"]["spec"]["unschedulable"] = True
    inside.waits()
    finding = await found(inside)
    assert finding.facts["cause"] == "cordon"
    assert "tolerations" not in page("Fix", finding)


UNINITIALIZED = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}


def ready_for(inside: Inside, ago: timedelta, **pressure: timedelta) -> None:
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": at(ago)}]
    conditions += [
        {"type": kind, "status": "True", "lastTransitionTime": at(since)} for kind, since in pressure.items()
    ]
    inside.nodes["node-0"]["status"]["conditions"] = conditions


@pytest.mark.parametrize(("minutes", "outcome_"), [(3, Outcome.CLEAR), (30, Outcome.FOUND)])
async def test_a_taint_for_a_state_is_stuck_on_a_node_that_has_been_ready_for_long(
    minutes: int, outcome_: Outcome
) -> None:
    inside = cluster(taints=[UNINITIALIZED])
    ready_for(inside, timedelta(minutes=minutes))
    inside.waits()
    assert await outcome(inside) is outcome_


async def test_a_stuck_taint_is_named_and_nobody_is_told_to_tolerate_it() -> None:
    inside = cluster(taints=[UNINITIALIZED])
    inside.waits()
    finding = await found(inside)
    assert finding.facts["cause"] == "node-state"
    assert (
        "has taint node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule for its state" in finding.because[1]
    )
    assert "though it is Ready since" in finding.because[1]
    assert "kubectl get pods --namespace kube-system --field-selector spec.nodeName=node-0" in page("Fix", finding)
    assert "tolerations" not in page("Fix", finding)


async def test_a_taint_that_only_a_person_sets_does_not_pass() -> None:
    out = {"key": "node.kubernetes.io/out-of-service", "value": "down", "effect": "NoExecute"}
    inside = cluster()
    dead(inside, "node-0")
    inside.nodes["node-0"]["spec"]["taints"].append(out)
    inside.waits()
    finding = await found(inside)
    assert finding.facts["cause"] == "node-state"
    taint = "node.kubernetes.io/out-of-service=down:NoExecute"
    assert f"kubectl taint nodes node-0 {taint}-" in page("Fix", finding)


@pytest.mark.parametrize(
    ("kind", "taint", "minutes", "outcome_"),
    [
        ("DiskPressure", "disk-pressure", 4, Outcome.CLEAR),
        ("DiskPressure", "disk-pressure", 40, Outcome.FOUND),
        ("MemoryPressure", "memory-pressure", 40, Outcome.CLEAR),
    ],
)
async def test_a_pressure_passes_or_is_told_by_somebody(kind: str, taint: str, minutes: int, outcome_: Outcome) -> None:
    """Of memory, memory-saturation tells; of a full disk on a node that is Ready, nobody else."""
    inside = cluster(taints=[{"key": f"node.kubernetes.io/{taint}", "effect": "NoSchedule"}])
    ready_for(inside, timedelta(days=2), **{kind: timedelta(minutes=minutes)})
    inside.waits()
    assert await outcome(inside) is outcome_


async def test_a_node_that_the_autoscaler_takes_away_is_waited_for_as_long_as_that_takes() -> None:
    now = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}
    for minutes, expected in ((2, Outcome.CLEAR), (30, Outcome.FOUND)):
        began = int((NOW - timedelta(minutes=minutes)).timestamp())
        inside = cluster(taints=[{**now, "value": str(began)}])
        inside.waits()
        assert await outcome(inside) is expected


async def test_what_waits_for_a_dead_node_follows_from_it() -> None:
    inside = all_dead(full=True)
    inside.room("node-3")
    fills(inside, "node-3")
    inside.waits(requests={"cpu": "1"})
    by_code = {one.finding.code: one for one in (await diagnosed(inside)).findings}
    assert {code for code, _ in by_code[CODE].explained_by} == {"node-not-ready"}


async def test_what_a_dead_node_would_not_take_either_is_not_its_fault() -> None:
    inside = all_dead(full=True)
    inside.waits(requests={"cpu": "9"})
    by_code = {one.finding.code: one for one in (await diagnosed(inside)).findings}
    assert "node-not-ready" in by_code
    assert by_code[CODE].explained_by == ()
