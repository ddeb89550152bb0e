"""Rebuilds objects from the cells that run-command's kubectl lines print, as far as they go."""

from __future__ import annotations

from typing import Any

import orjson


def node(cells: list[str], labels: tuple[str, ...]) -> dict[str, Any]:
    name, made, deleted, provider, cordoned, taints, kubelet, memory, for_pods, *rest = cells
    values, conditions, message = rest[: len(labels)], rest[-2], rest[-1]
    rows = _conditions(conditions)
    for row in rows:
        if row["type"] == "Ready" and message:
            row["message"] = message
    return {
        "metadata": _meta("", name, made, deleted)
        | {"labels": {label: value for label, value in zip(labels, values, strict=True) if value}},
        "spec": _present(providerID=provider, unschedulable=cordoned == "true" or None, taints=_json(taints)),
        "status": {
            "conditions": rows,
            "nodeInfo": _present(kubeletVersion=kubelet),
            "capacity": _present(memory=memory),
            "allocatable": _present(memory=for_pods),
        },
    }


def pod(cells: list[str]) -> dict[str, Any]:
    namespace, name, made, deleted, grace, finalizers, labels, owner, owned_by, on, priority, *rest = cells
    phase, reason, initial, main, conditions, message = rest
    status = {
        "conditions": _conditions(conditions),
        "initContainerStatuses": _containers(initial),
        "containerStatuses": _containers(main),
    }
    return {
        "metadata": _meta(namespace, name, made, deleted)
        | _present(
            deletionGracePeriodSeconds=_number(grace),
            finalizers=_json(finalizers),
            labels=_json(labels),
            ownerReferences=_owners(owner, owned_by),
        ),
        "spec": _present(nodeName=on, priorityClassName=priority),
        "status": _present(phase=phase, reason=reason) | _with_message(status, message),
    }


def budget(cells: list[str]) -> dict[str, Any]:
    namespace, name, made, generation, labels, owner, owned_by, tracking, *rest = cells
    least, most, selector, policy, *numbers, conditions = rest
    keys = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration")
    status = {key: value for key, text in zip(keys, numbers, strict=True) if (value := _number(text)) is not None}
    return {
        "metadata": _meta(namespace, name, made, "")
        | _present(
            generation=_number(generation),
            labels=_json(labels),
            ownerReferences=_owners(owner, owned_by),
            annotations={"argocd.argoproj.io/tracking-id": tracking} if tracking else None,
        ),
        "spec": _present(
            minAvailable=_share(least),
            maxUnavailable=_share(most),
            selector=_json(selector),
            unhealthyPodEvictionPolicy=policy,
        ),
        "status": {**status, "conditions": _conditions(conditions)},
    }


def warning(cells: list[str]) -> dict[str, Any]:
    namespace, name, kind, of_namespace, of, reason, count, first, last, at, times, seen, component, message = cells
    return _present(
        metadata=_meta(namespace, name, "", ""),
        type="Warning",
        involvedObject=_present(kind=kind, namespace=of_namespace, name=of),
        reason=reason,
        count=_number(count),
        firstTimestamp=first,
        lastTimestamp=last,
        eventTime=at,
        series=_present(count=_number(times), lastObservedTime=seen) or None,
        source=_present(component=component),
        message=message,
    )


def workload(cells: list[str]) -> dict[str, Any]:
    kind, namespace, name, made, generation, replicas, seen, ready, wanted, ready_daemons, conditions, message = cells
    rows = _conditions(conditions)
    for row in rows:
        if row["type"] == "ReplicaFailure":
            row |= _present(message=message)
    return {
        "kind": kind,
        "metadata": _meta(namespace, name, made, "") | _present(generation=_number(generation)),
        "spec": _present(replicas=_number(replicas)),
        "status": _present(
            observedGeneration=_number(seen),
            readyReplicas=_number(ready),
            desiredNumberScheduled=_number(wanted),
            numberReady=_number(ready_daemons),
        )
        | {"conditions": rows},
    }


def provisioning(cells: list[str]) -> dict[str, Any]:
    """A node claim, or a node class."""
    kind, name, made, deleted, pool, requirements, cpu, subnet, pods, conditions, message = cells
    rows = _conditions(conditions)
    for row in rows:
        row |= _present(message=message)
    return {
        "kind": kind,
        "metadata": _meta("", name, made, deleted) | {"labels": _present(**{"karpenter.sh/nodepool": pool})},
        "spec": _present(
            requirements=_json(requirements),
            resources={"requests": {"cpu": cpu}} if cpu else None,
            vnetSubnetID=subnet,
            maxPods=_number(pods),
        ),
        "status": {"conditions": rows},
    }


def config_map(cells: list[str]) -> dict[str, Any]:
    namespace, name, status = cells
    return {"metadata": _meta(namespace, name, "", ""), "data": {"status": status}}


def lease(cells: list[str]) -> dict[str, Any]:
    namespace, name, renewed = cells
    return {"metadata": _meta(namespace, name, "", ""), "spec": _present(renewTime=renewed)}


def service_or_slice(cells: list[str]) -> dict[str, Any]:
    """A service, or one of its EndpointSlices."""
    kind, namespace, name, address, selector, ports, endpoints, behind = cells
    ends = [row.rpartition("=") for row in _rows(endpoints)]
    return {
        "kind": kind,
        "metadata": _meta(namespace, name, "", ""),
        "spec": _present(clusterIP=address, selector=_json(selector), ports=_ports(ports)),
        "endpoints": [
            {"addresses": where.split(), "conditions": _present(ready={"true": True, "false": False}.get(ready))}
            for where, _, ready in ends
        ],
        "ports": _ports(behind),
    }


def _ports(cell: str) -> list[dict[str, Any]]:
    rows = (row.partition("=") for row in _rows(cell))
    return [_present(name=name, port=_number(port)) for name, _, port in rows]


def _meta(namespace: str, name: str, made: str, deleted: str) -> dict[str, Any]:
    return _present(namespace=namespace, name=name, creationTimestamp=made, deletionTimestamp=deleted)


def _present(**values: Any) -> dict[str, Any]:
    """The fields that are present: an empty cell is a missing field."""
    return {key: value for key, value in values.items() if value is not None and value != ""}


def _owners(kind: str, name: str) -> list[dict[str, Any]] | None:
    return [{"kind": kind, "name": name, "controller": True}] if kind else None


def _with_message(status: dict[str, Any], message: str) -> dict[str, Any]:
    """The one message of a pod, put where it belongs: its PodScheduled condition, or the first waiting container."""
    unscheduled = [row for row in status["conditions"] if row["type"] == "PodScheduled" and row.get("status") != "True"]
    boxes = [*status["initContainerStatuses"], *status["containerStatuses"]]
    waiting = [box["state"]["waiting"] for box in boxes if "waiting" in box["state"]]
    for item in (unscheduled + waiting)[:1]:
        item |= _present(message=message)
    return status


def _conditions(cell: str) -> list[dict[str, Any]]:
    keys = ("type", "status", "reason", "lastHeartbeatTime", "lastTransitionTime")
    rows = (_present(**dict(zip(keys, row.split("="), strict=False))) for row in _rows(cell))
    return list({row["type"]: row for row in rows if "type" in row}.values())


def _containers(cell: str) -> list[dict[str, Any]]:
    return [_container(*row.split("=")) for row in _rows(cell) if row.count("=") == len(_CONTAINER) - 1]


_CONTAINER = ("name", "ready", "restarts", "image", "waiting", "ended", "code", "before", "last code", "last end")


def _container(*cells: str) -> dict[str, Any]:
    name, ready, restarts, image, waiting, ended, code, before, last_code, last_end = cells
    state: dict[str, Any] = {"running": {}} if ready == "true" else {}
    if waiting:
        state = {"waiting": {"reason": waiting}}
    elif ended:
        state = {"terminated": _present(reason=ended, exitCode=_number(code))}
    last = _present(reason=before, exitCode=_number(last_code), finishedAt=last_end)
    return {
        "name": name,
        "ready": ready == "true",
        "restartCount": _number(restarts) or 0,
        "image": image,
        "state": state,
        "lastState": {"terminated": last} if last else {},
    }


def _rows(cell: str) -> list[str]:
    return [row for row in cell.split(",") if row]


def _json(cell: str) -> Any:
    try:
        return orjson.loads(cell) if cell else None
    except orjson.JSONDecodeError:
        return None


def _number(cell: str) -> int | None:
    return int(cell) if cell.removeprefix("-").isdigit() else None


def _share(cell: str) -> int | str | None:
    """A number, or a percentage."""
    number = _number(cell)
    return number if number is not None else cell or None
