"""The activity log: the running operation, and a normal history with a few rejected and failed requests."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from sandbox.blueprint.sizes import SIZES
from tests.worlds.ids import LOCATION, TENANT, Body, Ids, guid, wire
from tests.worlds.pools import BEGAN, SLOW, Pool

CLUSTER_WRITE = "Microsoft.ContainerService/managedClusters/write"
CLUSTER_DELETE = "Microsoft.ContainerService/managedClusters/delete"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
POOL_DELETE = "Microsoft.ContainerService/managedClusters/agentPools/delete"
IMAGE_UPGRADE = "Microsoft.ContainerService/managedClusters/agentPools/upgradeNodeImageVersion/action"
SET_WRITE = "Microsoft.Compute/virtualMachineScaleSets/write"
SET_SHRINK = "Microsoft.Compute/virtualMachineScaleSets/delete/action"
_TOOK = timedelta(minutes=6)
_THROTTLED = {
    "code": "OperationNotAllowed",
    "message": "The server rejected the request because too many requests have been received for this subscription.",
    "details": [
        {"code": "TooManyRequests", "target": "PutVMScaleSet", "message": '{"operationGroup":"PutVMScaleSet"}'}
    ],
}
_ETAG = {"code": "OperationNotAllowed", "message": "there's an in progress update managed cluster operation"}
_BUDGET = {
    "code": "UnsatisfiablePDB",
    "message": "1 PodDisruptionBudget cannot be satisfied: PDB shop/web minAvailable 3 of 3. Upgrade is blocked.",
}


class Scribe:
    """Generates the events of one operation in Azure's format, oldest first."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.events: list[Body] = []

    def ran(self, operation: str, resource: str, ago: timedelta, *, correlation: str = "") -> None:
        """An operation that was accepted and succeeded."""
        correlation = self._began(operation, resource, ago, correlation)
        self._write(operation, resource, ago - _TOOK, "Succeeded", correlation)

    def runs(self, operation: str, resource: str, ago: timedelta) -> None:
        """An operation that was accepted and is still running."""
        self._began(operation, resource, ago, "")

    def failed(
        self, operation: str, resource: str, ago: timedelta, message: Any = None, *, correlation: str = ""
    ) -> None:
        """An operation that was accepted and failed. The message is a JSON string, a text or empty."""
        correlation = self._began(operation, resource, ago, correlation)
        self._write(operation, resource, ago - _TOOK, "Failed", correlation, message=message)

    def refused(
        self,
        operation: str,
        resource: str,
        ago: timedelta,
        error: Body,
        http: str = "BadRequest",
        correlation: str = "",
    ) -> None:
        """An operation that was rejected immediately, so nothing changed."""
        correlation = correlation or guid(self.ids.seed, operation, resource, ago)
        self._write(operation, resource, ago, "Started", correlation)
        message = error if operation.startswith("Microsoft.ContainerService/") else {"error": error}
        self._write(operation, resource, ago - timedelta(seconds=2), "Failed", correlation, http, message)

    def _began(self, operation: str, resource: str, ago: timedelta, correlation: str) -> str:
        correlation = correlation or guid(self.ids.seed, operation, resource, ago)
        self._write(operation, resource, ago, "Started", correlation)
        code = "Created" if operation.endswith("/write") else "Accepted"
        self._write(operation, resource, ago - timedelta(seconds=2), "Accepted", correlation, code)
        return correlation

    def _write(
        self,
        operation: str,
        resource: str,
        ago: timedelta,
        status: str,
        correlation: str,
        http: str = "",
        message: Any = None,
    ) -> None:
        at = wire(ago)
        properties: Body = {"eventCategory": "Administrative", "entity": resource, "hierarchy": TENANT}
        if message is not None:
            properties["statusMessage"] = message if isinstance(message, str) else json.dumps(message)
        event = {
            "eventDataId": guid(self.ids.seed, operation, resource, at, status),
            "eventTimestamp": at,
            "submissionTimestamp": at,
            "eventName": _same("BeginRequest" if status == "Started" else "EndRequest"),
            "category": _same("Administrative"),
            "operationName": _same(operation),
            "status": _same(status),
            "subStatus": _same(http),
            "resourceId": resource,
            "resourceGroupName": resource.split("/")[4],
            "resourceProviderName": _same(operation.split("/")[0]),
            "correlationId": correlation,
            "operationId": correlation,
            "subscriptionId": self.ids.subscription,
            "caller": guid("pipeline"),
            "level": "Error" if status == "Failed" else "Informational",
            "properties": properties,
        }
        event["id"] = f"{resource}/events/{event['eventDataId']}/ticks/{at}"
        self.events.append(event)
        if status == "Succeeded":
            self.events.append(event)  # the log has some duplicate events


def _same(value: str) -> Body:
    return {"value": value, "localizedValue": value}


def history(ids: Ids, pools: tuple[Pool, ...]) -> list[Body]:
    """The last two weeks of a healthy cluster."""
    scribe = Scribe(ids)
    for ago in (timedelta(days=11), timedelta(days=6)):
        scribe.ran(CLUSTER_WRITE, ids.cluster, ago)
    _now(scribe, ids, pools)
    named = [pool for pool in pools if pool.state != "Creating"]
    for name in sorted(ids.shape.past):
        _STORIES[name](scribe, ids, named)
    return scribe.events


_OPERATIONS = {"UpgradingNodeImageVersion": IMAGE_UPGRADE, "Deleting": POOL_DELETE}


def _now(scribe: Scribe, ids: Ids, pools: tuple[Pool, ...]) -> None:
    """The start of the running operation, on the cluster or a pool."""
    if ids.shape.operation in ("upgrade", "slow-upgrade"):
        scribe.runs(CLUSTER_WRITE, ids.cluster, BEGAN if ids.shape.operation == "upgrade" else SLOW)
        return
    for pool in pools:
        if pool.state == "Succeeded":
            continue
        operation = _OPERATIONS.get(pool.state, POOL_WRITE)
        scribe.runs(operation, ids.pool(pool.name), timedelta(minutes=4) if pool.state == "Creating" else BEGAN)


def _no_cores(pool: Pool) -> Body:
    """AKS immediately rejects what exceeds the family's quota."""
    family = SIZES[pool.size].family
    said = f"Insufficient vcpu quota requested 800, remaining 100 for family {family} for region {LOCATION}."
    return {"code": "ErrCode_InsufficientVCPUQuota", "message": said}


def _throttled(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    for pool in _with_sets(pools)[:1]:
        scribe.refused(SET_WRITE, ids.scale_set(pool.name), timedelta(hours=27), _THROTTLED, "Conflict")
        scribe.ran(SET_WRITE, ids.scale_set(pool.name), timedelta(hours=26))


def _failed_then_fine(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    wrapped = {"code": "ResourceOperationFailure", "message": "ended in terminal state 'Failed'.", "details": [_ETAG]}
    scribe.failed(CLUSTER_WRITE, ids.cluster, timedelta(hours=22), {"status": "Failed", "error": wrapped})
    scribe.ran(CLUSTER_WRITE, ids.cluster, timedelta(hours=21))


def _refused_then_fewer(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    """A scale-up to too many nodes was rejected, then one to the current count succeeded."""
    for pool in pools[:1]:
        scribe.refused(POOL_WRITE, ids.pool(pool.name), timedelta(hours=20), _no_cores(pool))
        scribe.ran(POOL_WRITE, ids.pool(pool.name), timedelta(hours=19))


def _refused_wish(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    """The same, without the second request."""
    for pool in pools[-1:]:
        scribe.refused(POOL_WRITE, ids.pool(pool.name), timedelta(hours=18), _no_cores(pool))


def _delete_refused(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    """An attempt to delete the cluster was blocked by its lock."""
    if "lock-on-group" in ids.shape.guards:
        message = f"The scope '{ids.cluster}' cannot perform delete operation because following scope(s) are locked: "
        error = {"code": "ScopeLocked", "message": f"{message}'{ids.group_id}'. Please remove the lock and try again."}
        scribe.refused(CLUSTER_DELETE, ids.cluster, timedelta(hours=16), error, "Conflict")


def _weekly_images(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    for pool in pools:
        if pool.kind not in ("stopped", "availability-set"):
            scribe.ran(IMAGE_UPGRADE, ids.pool(pool.name), timedelta(days=5))


def _budget_refused_then_fine(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    for pool in pools[:1]:
        scribe.refused(POOL_WRITE, ids.pool(pool.name), timedelta(hours=15), _BUDGET)
        scribe.ran(POOL_WRITE, ids.pool(pool.name), timedelta(hours=14))


def _autoscaled(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    for pool in _with_sets(pools):
        for days in (1, 2):
            scribe.ran(SET_WRITE, ids.scale_set(pool.name), timedelta(days=days, hours=4))
            scribe.ran(SET_SHRINK, ids.scale_set(pool.name), timedelta(days=days))


def _old_failure(scribe: Scribe, ids: Ids, pools: list[Pool]) -> None:
    """A scale set write failed for lack of capacity, and the next one succeeded."""
    error = {"code": "AllocationFailed", "message": "Allocation failed. We do not have sufficient capacity."}
    for pool in _with_sets(pools)[-1:]:
        scribe.failed(SET_WRITE, ids.scale_set(pool.name), timedelta(hours=44), {"status": "Failed", "error": error})
        scribe.ran(SET_WRITE, ids.scale_set(pool.name), timedelta(hours=43))


def _with_sets(pools: list[Pool]) -> list[Pool]:
    return [pool for pool in pools if not pool.kind.startswith("machines") and pool.kind != "availability-set"]


_STORIES = {
    "throttled": _throttled,
    "failed-then-fine": _failed_then_fine,
    "refused-then-fewer": _refused_then_fewer,
    "refused-wish": _refused_wish,
    "delete-refused": _delete_refused,
    "weekly-images": _weekly_images,
    "budget-refused-then-fine": _budget_refused_then_fine,
    "autoscaled": _autoscaled,
    "old-failure": _old_failure,
}
