"""A CronJob that runs every 30 minutes, with its recent Jobs, pods and events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from sandbox.blueprint.inside.pods import Template, pod_body
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.seats import Seats
from sandbox.blueprint.inside.workload import Workload
from sandbox.kube.world import stamp
from sandbox.world import Body

SYNC = Workload("reports", "sync", "registry.example.com/sync:4.2.1", cpu="100m", memory="128Mi")
_EVERY = timedelta(minutes=30)


def job_bodies(scene: Scene, seats: Seats) -> Iterator[Body]:
    """The CronJob with its last two runs. The older one's first attempt failed, leaving a failed pod behind."""
    if not scene.places.spec.pods_per_node:
        return
    latest = scene.clock.now - timedelta(minutes=scene.mint.number(6, 24, scene.cluster, "sync"))
    yield _cron_job(scene, latest)
    for began, failures in ((latest, 0), (latest - _EVERY, 1)):
        name = f"sync-{int(began.timestamp() // 60)}"
        yield _job(scene, name, began, failures)
        for ordinal in range(failures + 1):
            seat = seats.take("apps")
            if seat is None:
                return
            seat.free += 1  # a finished pod uses no capacity
            ends_well = ordinal == failures
            pod = _pod(scene, seats, name, ordinal, began, ends_well=ends_well)
            yield pod
            if not failures:
                yield from _told(scene, pod, began)
        if not failures:
            job = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": scene.uid("Job", name, "reports")}
            yield event(scene, job, "reports", "Completed", "Job completed", began, "job-controller")


def _pod(scene: Scene, seats: Seats, job: str, ordinal: int, began: datetime, *, ends_well: bool) -> Body:
    owner = scene.owner("batch/v1", "Job", job, "reports")
    work = replace(SYNC, labels={"batch.kubernetes.io/job-name": job, "job-name": job})
    template = Template.of(work, owner, job)
    machine = next(iter(seats.groups.get("apps") or seats.groups["system"])).machine
    name = f"{job}-{scene.suffix(5, 'reports', SYNC.name, ends_well, ordinal)}"
    pod = pod_body(scene, template, name, machine, "")
    start = began + timedelta(seconds=40 * ordinal)
    ended = {
        "exitCode": 0 if ends_well else 1,
        "reason": "Completed" if ends_well else "Error",
        "startedAt": stamp(start + timedelta(seconds=3)),
        "finishedAt": stamp(start + timedelta(seconds=31)),
    }
    pod["metadata"]["creationTimestamp"] = pod["status"]["startTime"] = stamp(start)
    pod["spec"]["restartPolicy"] = "Never"
    status = pod["status"]
    for key in ("podIP", "podIPs"):
        del status[key]
    status["phase"] = "Succeeded" if ends_well else "Failed"
    status["conditions"] = [
        {
            **condition,
            "status": "False" if condition["type"] in ("Ready", "ContainersReady") else "True",
            "lastTransitionTime": ended["finishedAt"],
            **({"reason": "PodCompleted" if ends_well else "PodFailed"} if "Ready" in condition["type"] else {}),
        }
        for condition in status["conditions"]
    ]
    [container] = status["containerStatuses"]
    container |= {"ready": False, "started": False, "state": {"terminated": ended}}
    return pod


def _cron_job(scene: Scene, latest: datetime) -> Body:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": scene.meta("CronJob", SYNC.name, SYNC.namespace, generation=1),
        "spec": {
            "schedule": "*/30 * * * *",
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
            "suspend": False,
            "jobTemplate": {"spec": {"template": {"spec": Template.of(SYNC, {}, "").spec}}},
        },
        "status": {
            "lastScheduleTime": stamp(latest),
            "lastSuccessfulTime": stamp(latest + timedelta(seconds=35)),
        },
    }


def _job(scene: Scene, name: str, began: datetime, failures: int) -> Body:
    ended = stamp(began + timedelta(seconds=35 + 40 * failures))
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    owner = scene.owner("batch/v1", "CronJob", SYNC.name, SYNC.namespace)
    done = {"status": "True", "lastProbeTime": ended, "lastTransitionTime": ended}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": scene.meta("Job", name, SYNC.namespace, born=began, labels=labels, owner=owner, generation=1),
        "spec": {"backoffLimit": 6, "completions": 1, "parallelism": 1, "selector": {"matchLabels": labels}},
        "status": {
            "startTime": stamp(began),
            "completionTime": ended,
            "succeeded": 1,
            **({"failed": failures} if failures else {}),
            "ready": 0,
            "terminating": 0,
            "conditions": [
                {"type": "SuccessCriteriaMet", "reason": "CompletionsReached", **done},
                {"type": "Complete", "reason": "CompletionsReached", **done},
            ],
        },
    }


def _told(scene: Scene, pod: Body, began: datetime) -> Iterator[Body]:
    metadata = pod["metadata"]
    about = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    where, node = metadata["namespace"], pod["spec"]["nodeName"]
    assigned = f"Successfully assigned {where}/{metadata['name']} to {node}"
    yield event(scene, about, where, "Scheduled", assigned, began, "default-scheduler")
    for reason, message in (
        ("Pulled", f'Container image "{SYNC.image}" already present on machine'),
        ("Created", f"Created container: {SYNC.name}"),
        ("Started", f"Started container {SYNC.name}"),
    ):
        yield event(scene, about, where, reason, message, began + timedelta(seconds=2), "kubelet", host=node)


def event(
    scene: Scene,
    about: Body,
    namespace: str,
    reason: str,
    message: str,
    at: datetime,
    component: str,
    *,
    host: str = "",
) -> Body:
    """One event about one object."""
    name = f"{about['name']}.{scene.mint.hex(16, scene.cluster, about['uid'], reason)}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": scene.meta("Event", name, namespace, born=at),
        "involvedObject": {**about, "namespace": namespace},
        "reason": reason,
        "message": message,
        "source": {"component": component, **({"host": host} if host else {})},
        "firstTimestamp": stamp(at),
        "lastTimestamp": stamp(at),
        "eventTime": None,
        "count": 1,
        "type": "Normal",
        "reportingComponent": component,
        "reportingInstance": host,
    }
