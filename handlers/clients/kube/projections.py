"""From the cells of a projected record to the object they were taken from, as far as it goes."""

from __future__ import annotations

from typing import Any

import orjson


def node(cells: list[str], labels: tuple[str, ...]) -> dict[str, Any]:
    name, made, deleted, provider, cordoned, taints, kubelet, *rest = cells
    values, conditions, message = rest[: len(labels)], rest[-2], rest[-1]
    rows = _conditions(conditions)
    for row in rows:
        if row["type"] == "Ready" and message:
            row["message"] = message
    return {
        "metadata": _meta("", name, made, deleted)
        | {"labels": {label: value for label, value in zip(labels, values, strict=True) if value}},
        "spec": _present(providerID=provider, unschedulable=cordoned == "true" or None, taints=_json(taints)),
        "status": {"conditions": rows, "nodeInfo": _present(kubeletVersion=kubelet)},
    }


def pod(cells: list[str]) -> dict[str, Any]:
    namespace, name, made, deleted, labels, owner, owner_name, on, priority, phase, reason, *rest = cells
    initial, main, conditions, message = rest
    rows = _conditions(conditions)
    for row in rows:
        if row["type"] == "PodScheduled" and message:
            row["message"] = message
    owners = [{"kind": owner, "name": owner_name, "controller": True}] if owner else None
    return {
        "metadata": _meta(namespace, name, made, deleted) | _present(labels=_json(labels), ownerReferences=owners),
        "spec": _present(nodeName=on, priorityClassName=priority),
        "status": _present(
            phase=phase,
            reason=reason,
            conditions=rows,
            containerStatuses=_containers(main),
            initContainerStatuses=_containers(initial),
        ),
    }


def budget(cells: list[str]) -> dict[str, Any]:
    namespace, name, made, generation, labels, least, most, selector, policy, *numbers, conditions = cells
    keys = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration")
    status = {key: value for key, text in zip(keys, numbers, strict=True) if (value := _number(text)) is not None}
    return {
        "metadata": _meta(namespace, name, made, "") | _present(generation=_number(generation), labels=_json(labels)),
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


def _meta(namespace: str, name: str, made: str, deleted: str) -> dict[str, Any]:
    return _present(namespace=namespace, name=name, creationTimestamp=made, deletionTimestamp=deleted)


def _present(**values: Any) -> dict[str, Any]:
    """What is there: an empty cell is a field that was not."""
    return {key: value for key, value in values.items() if value is not None and value != ""}


def _conditions(cell: str) -> list[dict[str, Any]]:
    keys = ("type", "status", "reason", "lastHeartbeatTime", "lastTransitionTime")
    rows = (_present(**dict(zip(keys, row.split("="), strict=False))) for row in _rows(cell))
    return list({row["type"]: row for row in rows if "type" in row}.values())


def _containers(cell: str) -> list[dict[str, Any]]:
    return [_container(*row.split("=")) for row in _rows(cell) if row.count("=") == 7]


def _container(
    name: str, ready: str, restarts: str, waiting: str, ended: str, before: str, code: str, at: str
) -> dict[str, Any]:
    state = {"waiting": {"reason": waiting}} if waiting else {"terminated": {"reason": ended}} if ended else {}
    last = _present(reason=before, exitCode=_number(code), finishedAt=at)
    return {
        "name": name,
        "ready": ready == "true",
        "restartCount": _number(restarts) or 0,
        "state": state or ({"running": {}} if ready == "true" else {}),
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
