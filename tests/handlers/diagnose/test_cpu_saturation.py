"""Does a container that serves others use all the CPU that it may have?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import POD, Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

CODE = "cpu-saturation"
METRICS = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
SLOW = 'Liveness probe failed: Get "http://10.244.0.9:8080/healthz": context deadline exceeded'


def serving(cpu: str = "190m", *, ready: bool = True, started: timedelta = timedelta(minutes=20)) -> Unwell:
    """The one pod of Deployment/web, rolled out a while ago, with a limit of 200m and what it uses of it."""
    unwell = Unwell(resources={"limits": {"cpu": "200m"}}, ports=[{"containerPort": 8080}])
    unwell.stands({"running": {"startedAt": at(started)}}, ready=ready)
    for one in unwell.objects:
        if one["kind"] == "Pod":
            one["metadata"]["creationTimestamp"] = at(started)
        if one["kind"] == "Deployment":
            rolled_out = {"type": "Progressing", "status": "True", "lastUpdateTime": at(timedelta(minutes=20))}
            one["status"]["conditions"] = [rolled_out]
    measured(unwell, cpu)
    return unwell


def measured(unwell: Unwell, cpu: str, pod: str = POD, ago: timedelta = timedelta(seconds=20)) -> None:
    row = {
        "metadata": {"name": pod, "namespace": "shop"},
        "timestamp": at(ago),
        "containers": [{"name": "web", "usage": {"cpu": cpu, "memory": "90Mi"}}],
    }
    unwell.more_inside.setdefault(METRICS, []).append(row)


def too_slow(cpu: str = "190m") -> Unwell:
    return serving(cpu, ready=False).warned("Pod", POD, "Unhealthy", SLOW.replace("Liveness", "Readiness"), count=9)


async def test_a_container_at_its_limit_whose_probe_is_answered_too_late_is_found() -> None:
    finding = await found(CODE, too_slow())
    assert (finding.subject, finding.severity, finding.facts["cause"]) == (
        "shop/Deployment/web",
        Severity.ERROR,
        "probes",
    )
    assert finding.because == (
        f"container web of Deployment/web uses 190m of 200m CPU (95 %) in {POD}: the kernel throttles it",
        f"its probe is not answered in time: {SLOW.replace('Liveness', 'Readiness')}",
    )
    assert "--containers web --limits cpu='<more>'" in page("Fix", finding)


async def test_it_explains_what_follows_from_it() -> None:
    diagnosis = await diagnosed(too_slow())
    assert [one.finding.code for one in diagnosis.findings if one.root] == [CODE]


@pytest.mark.parametrize("cpu", ["40m", "179m", "0"])
async def test_the_twin_that_has_cpu_left_is_clear(cpu: str) -> None:
    assert (await asked(CODE, too_slow(cpu))).outcome is Outcome.CLEAR


@pytest.mark.parametrize("cpu", ["180m", "190000000n", "0.19"])
async def test_a_release_that_needs_more_than_its_limit_is_told_as_a_warning(cpu: str) -> None:
    finding = await found(CODE, serving(cpu))
    assert (finding.severity, finding.facts["cause"]) == (Severity.WARNING, "rollout")
    assert finding.because[-1].startswith("its pods were started within the last hour and are behind service web")


@pytest.mark.parametrize("started", [timedelta(minutes=2), timedelta(hours=5)], ids=["still starting", "long ago"])
async def test_a_container_at_its_limit_without_a_symptom_is_no_problem(started: timedelta) -> None:
    assert (await asked(CODE, serving(started=started))).outcome is Outcome.CLEAR


async def test_a_worker_that_nobody_calls_may_use_what_it_has() -> None:
    unwell = serving()
    unwell.objects = [one for one in unwell.objects if one["kind"] != "Service"]
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_job_may_use_what_it_has() -> None:
    unwell = serving()
    pod = next(one for one in unwell.objects if one["kind"] == "Pod")
    pod["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "web"}]
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_measurement_of_long_ago_tells_nothing_of_now() -> None:
    unwell = serving()
    unwell.more_inside.clear()
    measured(unwell, "200m", ago=timedelta(minutes=9))
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_container_without_a_limit_is_not_throttled() -> None:
    unwell = serving()
    del unwell.container["resources"]
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_refused_probe_is_no_sign_of_a_lack_of_cpu() -> None:
    refused = "Readiness probe failed: dial tcp 10.244.0.9:8080: connect: connection refused"
    unwell = serving(ready=False, started=timedelta(hours=5)).warned("Pod", POD, "Unhealthy", refused, count=9)
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_a_caller_that_waits_in_vain_is_the_proof() -> None:
    unwell = serving(started=timedelta(hours=5))
    calls = {"name": "main", "env": [{"name": "WEB_ADDR", "value": "web:80"}]}
    unwell.add("Deployment", "front", spec={"template": {"spec": {"containers": [calls]}}})
    body = unwell.runs("front-6b5d7f9c88-k2x4z", ready=False, spec={"containers": [calls]})
    running = {"running": {"startedAt": at(timedelta(minutes=30))}}
    body["status"]["containerStatuses"] = [{"name": "main", "ready": False, "restartCount": 0, "state": running}]
    unwell.logs["/api/v1/namespaces/shop/pods/front-6b5d7f9c88-k2x4z/log"] = "dial tcp web:80: i/o timeout"
    finding = await found(CODE, unwell)
    assert finding.facts["cause"] == "callers"
    assert finding.because[-1] == "Deployment/front says: dial tcp web:80: i/o timeout"
    assert "shop/Deployment/front" in finding.affects


async def test_a_workload_whose_other_pods_have_room_is_not_short_of_cpu() -> None:
    unwell = serving()
    other = unwell.runs("web-5d9c7b8f6-p8hj4", spec={"containers": [unwell.container]})
    measured(unwell, "40m", pod=other["metadata"]["name"])
    assert (await asked(CODE, unwell)).outcome is Outcome.CLEAR


async def test_without_a_metrics_server_nobody_is_asked() -> None:
    unwell = too_slow()
    unwell.more_inside.clear()
    assert (await asked(CODE, unwell)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("denied", ["/metrics.k8s.io/v1beta1/namespaces", "/namespaces/shop/pods", "/api/v1/services"])
async def test_what_may_not_be_seen_leaves_it_open(denied: str) -> None:
    unwell = serving("40m")
    unwell.denied = {denied}
    assert (await asked(CODE, unwell)).outcome is Outcome.INCONCLUSIVE
