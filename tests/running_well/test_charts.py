"""Twenty healthy applications from charts, served by the sandbox: no check reports anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from handlers.model import Diagnosis, Outcome
from sandbox.kube.world import KubeWorld, stamp
from sandbox.scenario import Scenario
from tests.checking import PATIENT, PATIENT_S, azure, check, cluster_id
from tests.running_well.chart import NAMES, Chart, load
from tests.running_well.cluster import Body
from tests.sample import takes

CLUSTER = "prod-eus2"
ONE_OF = 5
"""How many of them a usual run breaks; a soak breaks all."""


async def diagnosed(name: str, spoil: Callable[[KubeWorld, Chart], None] = lambda kube, chart: None) -> Diagnosis:
    world = Scenario.load("healthy-fleet").world
    async with azure(world) as server:
        kube = server.kube[cluster_id(world, CLUSTER).key].world
        nodes = [one["metadata"]["name"] for one in kube.every("nodes") if "-web-" in one["metadata"]["name"]]
        chart = load(name, nodes, datetime.now(UTC))
        chart.into(kube)
        spoil(kube, chart)
        return await check(server, CLUSTER, graph=PATIENT, deadline_s=PATIENT_S)


def crashing(kube: KubeWorld, chart: Chart) -> None:
    """The containers of its first pod end, again and again."""
    pod = chart.pods[0]
    ended = {"exitCode": 1, "reason": "Error", "finishedAt": stamp(datetime.now(UTC) - timedelta(minutes=1))}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
    statuses = [_ends(one, waiting, ended) for one in pod["status"]["containerStatuses"]]
    conditions = [{**one, "status": str(one["type"] != "Ready")} for one in pod["status"]["conditions"]]
    kube.put({**pod, "status": {**pod["status"], "conditions": conditions, "containerStatuses": statuses}})


def _ends(status: Body, waiting: Body, ended: Body) -> Body:
    return {**status, "ready": False, "restartCount": 9, "state": waiting, "lastState": {"terminated": ended}}


def test_there_are_twenty_of_them() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
async def test_an_application_that_runs_well_is_no_finding(name: str) -> None:
    diagnosis = await diagnosed(name)
    assert [(one.finding.code, one.finding.subject, one.finding.because) for one in diagnosis.findings] == []
    assert [one.id for one in diagnosis.checks if one.outcome is Outcome.CRASHED] == []
    assert diagnosis.unseen == ()


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, ONE_OF)])
async def test_its_twin_of_which_one_pod_crashes_is_found(name: str) -> None:
    subjects = {one.finding.subject for one in (await diagnosed(name, crashing)).findings}
    assert subjects, name
