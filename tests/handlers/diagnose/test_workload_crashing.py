"""Containers that end, are killed, or are never Ready: their limit, their probe, a port, a dependency, themselves."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import at
from tests.handlers.diagnose.unwell import POD, Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

CRASH, OOM, PROBE = "container-crashing", "container-oom-killed", "probe-misconfigured"
PORT, DEPENDENCY = "container-port-conflict", "dependency-refused"


async def roots(unwell: Unwell) -> list[str]:
    diagnosis = await diagnosed(unwell)
    return [one.finding.code for one in diagnosis.findings if one.root]


async def test_a_process_that_ends_by_itself_is_found_with_its_last_words() -> None:
    unwell = Unwell().crashes(exit_code=2).says("loading settings", "panic: no route table", "goroutine 1 [running]:")
    finding = await found(CRASH, unwell)
    assert finding.facts["exit_code"] == 2
    assert finding.because[0] == (
        "container web of Deployment/web ends with exit code 2, restarted 6 times, last 2 min ago"
    )
    assert "its last lines: panic: no route table" in finding.because


async def test_a_crash_is_found_without_its_log_and_the_log_is_named_as_missing() -> None:
    unwell = Unwell().crashes()
    unwell.denied = {"/log"}
    check = await asked(CRASH, unwell)
    assert check.outcome is Outcome.FOUND
    assert check.unseen


async def test_a_container_that_got_over_its_first_ends_is_well() -> None:
    """It waited for its database, and runs for five minutes now."""
    end = {
        "exitCode": 1,
        "reason": "Error",
        "startedAt": at(timedelta(minutes=6)),
        "finishedAt": at(timedelta(minutes=6)),
    }
    running = {"running": {"startedAt": at(timedelta(minutes=5))}}
    unwell = Unwell().stands(running, ready=True, restarts=3, last={"terminated": end})
    assert (await asked(CRASH, unwell)).outcome is Outcome.CLEAR


async def test_a_container_at_its_limit_is_killed_for_memory_and_does_not_crash() -> None:
    unwell = Unwell(resources={"limits": {"memory": "256Mi"}}).crashes(exit_code=137, reason="OOMKilled")
    finding = await found(OOM, unwell)
    assert finding.because[0] == "container web of Deployment/web was killed at its limit of 256Mi"
    assert await roots(unwell) == [OOM]


async def test_a_limit_that_is_too_small_to_start_is_found() -> None:
    unwell = Unwell(resources={"limits": {"memory": "4Mi"}}).waits_for("ContainerCreating")
    told = "runc create failed: container init was OOM-killed (memory limit too low?): unknown"
    unwell.warned("Pod", POD, "FailedCreatePodSandBox", told)
    assert (await found(OOM, unwell)).facts["limit"] == "4Mi"


async def test_a_container_that_somebody_else_killed_has_not_used_up_its_memory() -> None:
    assert (await asked(OOM, Unwell().crashes(exit_code=137))).outcome is Outcome.CLEAR


# -- probes --


def probed(what: str, message: str, port: int = 8080, *, container: dict[str, Any] | None = None) -> Unwell:
    """A container on port 8080 whose probe fails; a readiness probe for as long as it runs."""
    probe = {"httpGet": {"port": port, "path": "/"}, "periodSeconds": 5, "failureThreshold": 3}
    unwell = Unwell(**{"ports": [{"containerPort": 8080}], f"{what}Probe": probe} | (container or {}))
    if what == "readiness":
        unwell.stands({"running": {"startedAt": at(timedelta(minutes=10))}})
    else:
        unwell.crashes(exit_code=137, lasted_s=20)
    return unwell.warned("Pod", POD, "Unhealthy", f"{what.capitalize()} probe failed: {message}", count=12)


@pytest.mark.parametrize("what", ["liveness", "readiness"])
async def test_a_probe_of_a_port_that_the_container_does_not_have_is_found(what: str) -> None:
    finding = await found(PROBE, probed(what, "dial tcp 10.244.0.9:9090: connect: connection refused", port=9090))
    assert (finding.facts["probe"], finding.facts["cause"]) == (what, "port")
    assert "asks port 9090, but the container declares 8080" in finding.because[0]


REFUSED = "dial tcp 10.244.0.9:8081: connect: connection refused"


def ends(unwell: Unwell, **end: Any) -> Unwell:
    """The last end of the container, as the kubelet has it."""
    pod = next(one for one in unwell.objects if one["kind"] == "Pod")
    status = pod["status"]["containerStatuses"][0]
    status["restartCount"] = status["restartCount"] or 1
    status["lastState"] = {"terminated": {"finishedAt": at(timedelta(minutes=11)), **end}}
    return unwell


@pytest.mark.parametrize("what", ["liveness", "readiness", "startup"])
@pytest.mark.parametrize("end", [{"exit_code": 1}, {"exit_code": 137, "reason": "OOMKilled"}, {"exit_code": 0}])
async def test_a_container_that_ended_by_itself_refuses_at_a_port_that_it_need_not_declare(
    what: str, end: dict[str, Any]
) -> None:
    container: dict[str, Any] = {
        "resources": {"limits": {"memory": "128Mi"}},
        f"{what}Probe": {"httpGet": {"port": 8081}},
    }
    unwell = Unwell(ports=[{"containerPort": 8080}], **container)
    unwell.crashes(lasted_s=3, **end).says("panic: no route table")
    unwell.warned("Pod", POD, "Unhealthy", f"{what.capitalize()} probe failed: {REFUSED}", count=12)
    assert (await asked(PROBE, unwell)).outcome is Outcome.CLEAR
    assert await roots(unwell) == [OOM if "reason" in end else CRASH]


async def test_a_container_that_exits_with_0_when_its_probe_has_failed_was_ended_by_the_kubelet() -> None:
    unwell = Unwell(ports=[{"containerPort": 8080}], livenessProbe={"httpGet": {"port": 8081}, "periodSeconds": 5})
    unwell.crashes(exit_code=0, reason="Completed", lasted_s=12)
    unwell.warned("Pod", POD, "Unhealthy", f"Liveness probe failed: {REFUSED}", count=12)
    assert (await found(PROBE, unwell)).facts["cause"] == "port"
    assert await roots(unwell) == [PROBE]


async def test_a_container_that_ended_once_and_is_refused_ever_since_has_a_wrong_port() -> None:
    ended = {"exitCode": 1, "reason": "Error", "startedAt": at(timedelta(minutes=11, seconds=9))}
    unwell = ends(probed("readiness", REFUSED, port=8081), **ended)
    assert (await found(PROBE, unwell)).facts["cause"] == "port"


SLOW = 'Get "http://10.244.0.9:15020/app-health/web/readyz": '
TIMED_OUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"


@pytest.mark.parametrize(
    "told", [f"{SLOW}{TIMED_OUT}", f"{SLOW}dial tcp 10.244.0.9:15020: connect: connection refused"]
)
@pytest.mark.parametrize(
    ("port", "path"), [(15020, "/app-health/web/readyz"), (15020, "/"), (9911, "/app-health/web/livez")]
)
@pytest.mark.parametrize("what", ["liveness", "readiness"])
async def test_a_probe_that_istio_asks_on_the_kubelets_behalf_has_no_wrong_port(
    what: str, port: int, path: str, told: str
) -> None:
    probe = {f"{what}Probe": {"httpGet": {"port": port, "path": path}}}
    unwell = probed(what, told, container=probe)
    if what == "liveness":
        ends(unwell, exitCode=137, reason="Error", startedAt=at(timedelta(hours=2)))
    assert (await asked(PROBE, unwell)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("told", [TIMED_OUT, "HTTP probe failed with statuscode: 503", "i/o timeout"])
async def test_a_port_at_which_somebody_takes_the_connection_is_not_wrong(told: str) -> None:
    assert (await asked(PROBE, probed("readiness", told, port=8081))).outcome is Outcome.CLEAR
    unwell = probed("readiness", REFUSED, port=8081)
    unwell.warned("Pod", POD, "Unhealthy", f"Readiness probe failed: {told}", count=12)
    expected = Outcome.FOUND if told == "i/o timeout" else Outcome.CLEAR
    assert (await asked(PROBE, unwell)).outcome is expected


async def test_a_grpc_probe_that_finds_nobody_within_its_time_asks_a_wrong_port() -> None:
    told = 'timeout: failed to connect service "10.244.0.9:9090" within 1s: context deadline exceeded'
    unwell = probed("readiness", told, container={"readinessProbe": {"grpc": {"port": 9090}}})
    assert (await found(PROBE, unwell)).facts["cause"] == "port"


@pytest.mark.parametrize("what", ["liveness", "readiness"])
async def test_a_probe_in_another_protocol_is_found(what: str) -> None:
    told = 'Get "http://10.244.0.9:8080/": net/http: HTTP/1.x transport connection broken: malformed HTTP response'
    assert (await found(PROBE, probed(what, told))).facts["cause"] == "protocol"


async def test_a_container_that_is_killed_before_it_could_start_has_too_little_time() -> None:
    finding = await found(PROBE, probed("liveness", "dial tcp 10.244.0.9:8080: connect: connection refused"))
    assert finding.facts["cause"] == "timing"


async def test_a_container_that_is_killed_after_an_hour_of_work_has_had_its_time() -> None:
    unwell = Unwell(ports=[{"containerPort": 8080}], livenessProbe={"httpGet": {"port": 8080}})
    unwell.crashes(exit_code=137, lasted_s=3600)
    unwell.warned("Pod", POD, "Unhealthy", "Liveness probe failed: context deadline exceeded", count=12)
    assert (await asked(PROBE, unwell)).outcome is Outcome.CLEAR


async def test_a_probe_that_asks_rightly_is_not_blamed_for_the_answer() -> None:
    told = "dial tcp 10.244.0.9:8080: connect: connection refused"
    assert (await asked(PROBE, probed("readiness", told))).outcome is Outcome.CLEAR


async def test_a_probe_that_failed_once_at_the_start_is_no_problem() -> None:
    unwell = Unwell(ports=[{"containerPort": 8080}], readinessProbe={"tcpSocket": {"port": 9090}})
    unwell.stands({"running": {"startedAt": at(timedelta(minutes=9))}}, ready=True)
    unwell.warned("Pod", POD, "Unhealthy", "Readiness probe failed: dial tcp: connection refused", count=1)
    assert (await asked(PROBE, unwell)).outcome is Outcome.CLEAR


# -- ports and dependencies --


async def test_two_containers_that_want_one_port_are_found_and_explain_the_crash() -> None:
    unwell = Unwell(ports=[{"containerPort": 8080}])
    unwell.template["containers"].append({"name": "metrics", "ports": [{"containerPort": 8080}]})
    unwell.crashes().says("listen tcp :8080: bind: address already in use")
    finding = await found(PORT, unwell)
    assert (finding.facts["port"], finding.facts["rivals"]) == (8080, ["metrics"])
    assert await roots(unwell) == [PORT]


async def test_a_container_alone_in_its_pod_is_in_its_own_way() -> None:
    unwell = Unwell().crashes().says("listen tcp :8080: bind: address already in use")
    assert (await asked(PORT, unwell)).outcome is Outcome.CLEAR
    assert await roots(unwell) == [CRASH]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("java.sql.SQLException: Access denied for user 'web'@'10.244.0.9' (using password: YES)", "credentials"),
        ('FATAL: password authentication failed for user "web"', "credentials"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "credentials"),
        ("ERROR 1040 (HY000): Too many connections", "connections"),
        ("FATAL: sorry, too many clients already", "connections"),
        ("The MySQL server is running with the --read-only option so it cannot execute this statement", "read-only"),
        ("ERROR: cannot execute INSERT in a read-only transaction", "read-only"),
        ("Error: connect ECONNREFUSED 10.0.80.17:5432", "port"),
        ("dial tcp 10.0.80.17:5432: i/o timeout", "timeout"),
        ("getaddrinfo ENOTFOUND db.partner.example.com", "dns"),
    ],
)
async def test_what_a_dependency_refuses_is_found_and_explains_the_crash(line: str, cause: str) -> None:
    unwell = Unwell().crashes().says("starting", line)
    finding = await found(DEPENDENCY, unwell)
    assert finding.facts["cause"] == cause
    assert f"its last lines: {line}" in finding.because
    assert await roots(unwell) == [DEPENDENCY]


async def test_a_line_of_a_container_that_is_well_proves_nothing() -> None:
    unwell = Unwell().stands({"running": {"startedAt": at(timedelta(minutes=9))}}, ready=True)
    unwell.says("Error: connect ECONNREFUSED 10.0.80.17:5432")
    assert (await asked(DEPENDENCY, unwell)).outcome is Outcome.CLEAR


async def test_a_crash_with_other_words_has_no_dependency_to_blame() -> None:
    assert (await asked(DEPENDENCY, Unwell().crashes().says("panic: index out of range"))).outcome is Outcome.CLEAR


async def test_without_the_logs_no_dependency_is_called_clear() -> None:
    unwell = Unwell().crashes()
    unwell.denied = {"/log"}
    assert (await asked(DEPENDENCY, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_the_dependency_is_resolved_to_its_service() -> None:
    unwell = Unwell().crashes().says('connection to server at "db" (10.0.80.17), port 5432 failed: Connection refused')
    unwell.add("Service", "db", spec={"selector": {"app": "db"}, "ports": [{"port": 5432}], "clusterIP": "10.0.80.17"})
    assert (await found(DEPENDENCY, unwell)).facts["service"] == "db"


async def test_a_dependency_that_is_unwell_itself_is_where_to_begin() -> None:
    unwell = Unwell().crashes().says('connection to server at "db" (10.0.80.17), port 5432 failed: Connection refused')
    labels = {"app": "db"}
    unwell.add("Service", "db", spec={"selector": labels, "ports": [{"port": 5432}], "clusterIP": "10.0.80.17"})
    box = {"name": "db", "image": "registry.example.com/db:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [box]}}
    unwell.add("Deployment", "db", spec={"replicas": 1, "template": template}, status={"replicas": 1})
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "registry.example.com/db:1: not found"}}
    status = {"phase": "Pending", "containerStatuses": [{"name": "db", "ready": False, "state": waiting}]}
    unwell.runs("db-6f5d8c7b9-aaaa0", labels=labels, ready=False, spec={"containers": [box]}, status=status)
    assert (await found(DEPENDENCY, unwell)).severity is Severity.WARNING
    assert (await roots(unwell))[0] == "image-pull-failed"


def started(parts: int) -> Unwell:
    """An application whose parts were all started nine minutes ago, and are Ready."""
    unwell = Unwell().stands({"running": {"startedAt": at(timedelta(minutes=9))}}, ready=True)
    unwell.warned("Pod", "web-old", "Unhealthy", "Readiness probe failed: refused", count=1)
    for number in range(parts):
        pod = unwell.runs(f"part{number:02}-6b5d7f9c88-k2x4z")
        pod["metadata"]["creationTimestamp"] = at(timedelta(minutes=20, seconds=number))
        running = {"running": {"startedAt": at(timedelta(minutes=9))}}
        pod["status"]["containerStatuses"] = [{"name": "main", "ready": True, "restartCount": 0, "state": running}]
    return unwell


READ_ONLY = "The MySQL server is running with the --read-only option so it cannot execute this statement"


async def test_of_an_application_that_runs_all_parts_are_heard_that_were_started_lately() -> None:
    unwell = started(parts=30)
    unwell.logs["/api/v1/namespaces/shop/pods/part29-6b5d7f9c88-k2x4z/log"] = READ_ONLY
    assert (await found(DEPENDENCY, unwell)).facts["cause"] == "read-only"


async def test_the_twin_whose_parts_say_nothing_of_the_kind_is_clear() -> None:
    unwell = started(parts=30)
    unwell.logs["/api/v1/namespaces/shop/pods/part29-6b5d7f9c88-k2x4z/log"] = "order 1290 taken"
    assert (await asked(DEPENDENCY, unwell)).outcome is Outcome.CLEAR


async def test_where_one_of_its_parts_may_not_be_heard_nothing_is_clear() -> None:
    unwell = started(parts=30)
    unwell.denied = {"part29-6b5d7f9c88-k2x4z/log"}
    assert (await asked(DEPENDENCY, unwell)).outcome is Outcome.INCONCLUSIVE
