"""The columns of workloads and of disruption budgets."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.kube.printing.cells import (
    Printed,
    age,
    at,
    containers,
    dig,
    human_duration,
    moment_of,
    name,
    pairs,
    selector_text,
)

Body = dict[str, Any]


def _template(body: Body) -> Any:
    return dig(body, "spec", "template", "spec", default={})


_CONTAINERS = Printed("Containers", lambda body, _: containers(_template(body))[0], wide=True)
_IMAGES = Printed("Images", lambda body, _: containers(_template(body))[1], wide=True)
_SELECTOR = Printed("Selector", lambda body, _: selector_text(dig(body, "spec", "selector")), wide=True)


def _number(title: str, *path: str) -> Printed:
    return Printed(title, at(*path, default=0), type="integer")


def _ready_of(body: Body, _: datetime) -> str:
    return f"{dig(body, 'status', 'readyReplicas', default=0)}/{dig(body, 'spec', 'replicas', default=1)}"


DEPLOYMENTS = (
    Printed("Name", name),
    Printed("Ready", _ready_of),
    _number("Up-to-date", "status", "updatedReplicas"),
    _number("Available", "status", "availableReplicas"),
    Printed("Age", age),
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)
REPLICA_SETS = (
    Printed("Name", name),
    _number("Desired", "spec", "replicas"),
    _number("Current", "status", "replicas"),
    _number("Ready", "status", "readyReplicas"),
    Printed("Age", age),
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)
STATEFUL_SETS = (Printed("Name", name), Printed("Ready", _ready_of), Printed("Age", age), _CONTAINERS, _IMAGES)
DAEMON_SETS = (
    Printed("Name", name),
    _number("Desired", "status", "desiredNumberScheduled"),
    _number("Current", "status", "currentNumberScheduled"),
    _number("Ready", "status", "numberReady"),
    _number("Up-to-date", "status", "updatedNumberScheduled"),
    _number("Available", "status", "numberAvailable"),
    Printed("Node Selector", lambda body, _: pairs(_template(body).get("nodeSelector"))),
    Printed("Age", age),
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)


def _job_status(job: Body, _: datetime) -> str:
    for condition in dig(job, "status", "conditions", default=()):
        if condition.get("status") == "True" and condition["type"] in ("Complete", "Failed", "Suspended"):
            return str(condition["type"])
    return "Terminating" if job["metadata"].get("deletionTimestamp") else "Running"


def _completions(job: Body, _: datetime) -> str:
    done, wanted = dig(job, "status", "succeeded", default=0), dig(job, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallel = dig(job, "spec", "parallelism", default=1)
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _took(job: Body, now: datetime) -> str:
    started = moment_of(dig(job, "status", "startTime"))
    if started is None:
        return ""
    ended = moment_of(dig(job, "status", "completionTime")) or now
    return human_duration((ended - started).total_seconds())


JOBS = (
    Printed("Name", name),
    Printed("Status", _job_status),
    Printed("Completions", _completions),
    Printed("Duration", _took),
    Printed("Age", age),
    _CONTAINERS,
    _IMAGES,
    _SELECTOR,
)


def _budget(field: str) -> Printed:
    title = "Min Available" if field == "minAvailable" else "Max Unavailable"
    return Printed(title, lambda body, _: str(dig(body, "spec", field, default="N/A")))


BUDGETS = (
    Printed("Name", name),
    _budget("minAvailable"),
    _budget("maxUnavailable"),
    _number("Allowed Disruptions", "status", "disruptionsAllowed"),
    Printed("Age", age),
)
