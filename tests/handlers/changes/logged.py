"""Events as the activity log returns them, for tests of what is made of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sandbox.world import World

Body = dict[str, Any]
AKS = "7319c514-987d-4e9b-ac3d-d38c4f427f4c"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
CLUSTER_WRITE = "Microsoft.ContainerService/managedClusters/write"
SCALE_SET_WRITE = "Microsoft.Compute/virtualMachineScaleSets/write"
ASSIGN = "Microsoft.Authorization/roleAssignments/write"
UNASSIGN = "Microsoft.Authorization/roleAssignments/delete"
LOCK = "Microsoft.Authorization/locks/write"
DENY = "Microsoft.Authorization/policies/deny/action"


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def event(
    resource: str,
    operation: str,
    status: str,
    at: datetime,
    *,
    request: str = "one",
    correlation: str = "",
    caller: str = "someone@example.com",
    http: str = "",
    **properties: Any,
) -> Body:
    """One event. `request` is what the events of one operation share."""
    group = resource.split("/")[4] if "/resourcegroups/" in resource.lower() else ""
    named = {name: str(uuid5(NAMESPACE_URL, f"{name} {key}")) for name, key in _ids(request, correlation)}
    return {
        "caller": caller,
        "correlationId": named["correlation"],
        "operationId": named["operation"],
        "eventDataId": str(uuid5(NAMESPACE_URL, f"{resource} {operation} {status} {at} {request}")),
        "eventName": _same("BeginRequest" if status == "Started" else "EndRequest"),
        "eventTimestamp": f"{at:%Y-%m-%dT%H:%M:%S.%f}0Z",
        "submissionTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "level": "Error" if status == "Failed" else "Informational",
        "operationName": {"value": operation, "localizedValue": operation},
        "resourceGroupName": group,
        "resourceId": resource,
        "status": _same(status),
        "subStatus": {"value": http, "localizedValue": http},
        "properties": {"eventCategory": "Administrative", "entity": resource, "message": operation, **properties},
        "subscriptionId": resource.split("/")[2],
    }


def operation(resource: str, name: str, began: datetime, *ends: tuple[str, int], **told: Any) -> list[Body]:
    """Started, and each of `ends`: a status and how many minutes later."""
    said = {key: told.pop(key) for key in ("statusMessage", "http") if key in told}
    asked = told.pop("requestbody", None)
    begun = event(resource, name, "Started", began, **told, **({"requestbody": json.dumps(asked)} if asked else {}))
    return [
        begun,
        *(
            event(
                resource,
                name,
                status,
                began + timedelta(minutes=minutes),
                **told,
                **(said if status == "Failed" else {}),
            )
            for status, minutes in ends
        ),
    ]


def only(world: World, *events: list[Body]) -> None:
    """The log holds these events alone."""
    world.events[:] = [body for several in events for body in several]


def _same(value: str) -> Body:
    return {"value": value, "localizedValue": value}


def _ids(request: str, correlation: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("correlation", correlation or request), ("operation", request)
