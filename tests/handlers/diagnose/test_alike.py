"""Pods that ask the same of nodes share one verdict; what tells them apart is asked by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from handlers.diagnose.scheduling.alike import alike, judge_all
from handlers.diagnose.scheduling.verdict import judge
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand, NodeTerm, read_demand
from handlers.evidence.scheduling.rooms import Occupancy, Volume, read_room, selectors_of
from handlers.evidence.selectors import Requirement
from tests.handlers.diagnose.bodies import Body
from tests.handlers.diagnose.test_pod_unschedulable import SPREAD, anti, near

AT = datetime(2026, 11, 20, 9, tzinfo=UTC)
ASKS = {"cpu": "6"}


def waiting(number: int, *, requests: Body = ASKS, **spec: Any) -> Demand:
    name = f"web-{number}"
    owner = {"kind": "StatefulSet", "name": f"web{number}"}
    labels = {"app": f"web{number}"}
    metadata = {"namespace": f"team-{number % 3}", "name": name, "labels": labels, "ownerReferences": [owner]}
    container = {"name": "web", "resources": {"requests": requests}}
    return read_demand({"metadata": metadata, "spec": {"containers": [container], **spec}})


def seen(demands: list[Demand], *pods: Body) -> Scheduling:
    """Three nodes of 8 CPUs, of which the first is half full."""
    rooms = [
        read_room(
            {
                "metadata": {"name": f"node-{number}", "labels": {"kubernetes.io/hostname": f"node-{number}"}},
                "status": {"allocatable": {"cpu": "8", "pods": "30"}},
            }
        )
        for number in range(3)
    ]
    swept = Occupancy(selectors_of(demands))
    for pod in (standing({"app": "other"}, "4"), *pods):
        swept.add(pod)
    held = {f"{demand.namespace}/{claim}": zonal(demand, claim) for demand in demands for claim in demand.volume_claims}
    return Scheduling(
        source="", taken_at=AT, waiting=tuple(demands), rooms=tuple(rooms), used=swept.used, count=swept.count,
        neighbours=tuple(swept.neighbours), volumes=held,
    )  # fmt: skip


def zonal(demand: Demand, claim: str) -> Volume:
    """The disk of a claim; a claim whose name ends in a number has its disk on that node."""
    host = Requirement("kubernetes.io/hostname", "In", (f"node-{claim[-1]}" if claim[-1].isdigit() else "node-0",))
    return Volume(f"{demand.namespace}/{claim}", f"pv-{claim}", (NodeTerm((host,), ()),), ())


def standing(labels: Body, cpu: str = "1", **spec: Any) -> Body:
    metadata = {"namespace": "team-0", "name": "stands", "labels": labels}
    container = {"name": "web", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": metadata, "spec": {"nodeName": "node-0", "containers": [container], **spec}}


def test_five_hundred_workloads_that_ask_for_the_same_are_one_question() -> None:
    demands = [waiting(number) for number in range(500)]
    assert [len(group) for group in alike(demands, seen(demands))] == [500]


def of_one_set(number: int, claim: str, **spec: Any) -> Demand:
    """As a stateful set makes its pods: each has its own name among its labels, and its own claim."""
    demand = waiting(0, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}], **spec)
    labels = {"app": "web", "statefulset.kubernetes.io/pod-name": f"web-{number}"}
    return replace(demand, name=f"web-{number}", labels=labels)


def test_five_hundred_pods_of_one_stateful_set_are_as_many_questions_as_they_have_places() -> None:
    demands = [of_one_set(number, f"data-{number % 3}", affinity=anti({"app": "web"})) for number in range(500)]
    assert [len(group) for group in alike(demands, seen(demands))] == [167, 167, 166]


SPECS: dict[str, Body] = {
    "a node selector": {"nodeSelector": {"disk": "ssd"}},
    "a toleration": {"tolerations": [{"key": "dedicated", "operator": "Exists"}]},
    "a host port": {"containers": [{"name": "web", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
    "affinity": {"affinity": near({"app": "other"})},
    "anti-affinity": {"affinity": anti({"app": "other"})},
    "a spread": {"topologySpreadConstraints": [SPREAD]},
    "a volume": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
}


@pytest.mark.parametrize("what", SPECS)
def test_what_only_one_of_them_asks_for_is_a_question_of_its_own(what: str) -> None:
    demands = [waiting(0), waiting(3, **SPECS[what]), waiting(6)]
    assert [len(group) for group in alike(demands, seen(demands))] == [2, 1]


def test_other_requests_are_a_question_of_their_own() -> None:
    demands = [waiting(0), waiting(3, requests={"cpu": "7"}), waiting(6)]
    assert [len(group) for group in alike(demands, seen(demands))] == [2, 1]


def test_a_pod_that_keeps_one_of_them_away_tells_it_apart() -> None:
    demands = [waiting(0), waiting(3), waiting(6)]
    keeps_away = standing({"app": "lonely"}, affinity=anti({"app": "web3"}))
    assert [len(group) for group in alike(demands, seen(demands, keeps_away))] == [2, 1]


def mixed() -> Iterator[Demand]:
    for number, spec in enumerate((*SPECS.values(), *SPECS.values(), {}, {}, {})):
        yield waiting(number, **spec)
        yield waiting(number + 50, requests={"cpu": "2"}, **spec)


def test_each_has_the_verdict_that_it_would_have_alone() -> None:
    demands = list(mixed())
    there = seen(demands, standing({"app": "lonely"}, affinity=anti({"app": "web16"})))
    together = judge_all(demands, there)
    assert [verdict.demand for verdict in together] == demands
    assert together == [judge(demand, there) for demand in demands]
    assert len({verdict.cause for verdict in together}) > 3


def test_the_same_pod_asked_twice_has_two_verdicts() -> None:
    first = waiting(0)
    other = replace(first, name="web-x")
    assert [verdict.demand.name for verdict in judge_all([first, other], seen([first]))] == ["web-0", "web-x"]
