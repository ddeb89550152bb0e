"""Two typical weeks of activity log for a healthy fleet, including minor failures."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.blueprint.events import EventSpec, Scribe
from sandbox.blueprint.places import Places
from sandbox.world import Body

SCALE_SET_WRITE = "Microsoft.Compute/virtualMachineScaleSets/write"
SCALE_SET_SHRINK = "Microsoft.Compute/virtualMachineScaleSets/delete/action"
CLUSTER_WRITE = "Microsoft.ContainerService/managedClusters/write"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
IMAGE_UPGRADE = "Microsoft.ContainerService/managedClusters/agentPools/upgradeNodeImageVersion/action"
CERTIFICATES = "Microsoft.ContainerService/managedClusters/rotateClusterCertificates/action"
SCALE_SET = "VirtualMachineScaleSets"
DAYS = 14
_THROTTLED = {
    "code": "OperationNotAllowed",
    "message": "The server rejected the request because too many requests have been received for this subscription.",
    "details": [
        {
            "code": "TooManyRequests",
            "target": "PutVMScaleSetResource",
            "message": '{"operationGroup":"PutVMScaleSetResource","allowedRequestCount":125}',
        }
    ],
}


def history(places: Places, scribe: Scribe) -> Iterator[Body]:
    """The last two weeks of one cluster."""
    for label, spec in _operations(places):
        yield from scribe.events(f"{places.name}/{label}", spec)


def _operations(places: Places) -> Iterator[tuple[str, EventSpec]]:
    yield from _certificates(places)
    yield from _tags(places)
    for name, pool in places.spec.pools.items():
        if pool.stopped:
            continue
        yield from _image_upgrades(places, name)
        if pool.autoscale and pool.type == SCALE_SET:
            yield from _autoscaling(places, name)
    yield from _throttled_then_fine(places)


def _certificates(places: Places) -> Iterator[tuple[str, EventSpec]]:
    yield "certificates", EventSpec(at="now-9d3h", takes="14m", operation=CERTIFICATES, resource=places.id)


def _tags(places: Places) -> Iterator[tuple[str, EventSpec]]:
    """A pipeline that writes the unchanged cluster every few days."""
    for day in (11, 6, 2):
        hour = places.mint.number(5, 16, places.name, "tags", day)
        yield (
            f"tags-{day}",
            EventSpec(at=f"now-{day}d{hour}h", takes="3m", operation=CLUSTER_WRITE, resource=places.id),
        )


def _image_upgrades(places: Places, pool: str) -> Iterator[tuple[str, EventSpec]]:
    """Weekly node image upgrades: each is an AKS operation that writes to the scale set."""
    for day in (12, 5):
        minute = places.mint.number(1, 50, places.name, pool, day)
        at = f"now-{day}d4h{minute}m"
        label = f"image-{pool}-{day}"
        yield (
            label,
            EventSpec(
                at=at,
                takes="35m",
                operation=IMAGE_UPGRADE,
                resource=places.pool(pool),
                caller="maintenance",
            ),
        )
        if places.spec.pools[pool].type != SCALE_SET:
            continue
        yield (
            f"{label}-set",
            EventSpec(
                at=at,
                takes="9m",
                operation=SCALE_SET_WRITE,
                resource=places.scale_set(pool),
                caller="aks",
                correlation=f"{places.name}/{label}",
            ),
        )


def _autoscaling(places: Places, pool: str) -> Iterator[tuple[str, EventSpec]]:
    """The autoscaler adds nodes in the morning and removes them in the evening."""
    for day in range(1, DAYS):
        minute = places.mint.number(1, 55, places.name, pool, "scale", day)
        for hour, operation, takes in ((15, SCALE_SET_WRITE, "2m"), (6, SCALE_SET_SHRINK, "90s")):
            yield (
                f"scale-{pool}-{day}-{hour}",
                EventSpec(
                    at=f"now-{day}d{hour}h{minute}m",
                    takes=takes,
                    operation=operation,
                    resource=places.scale_set(pool),
                    caller=f"{places.name}-autoscaler",
                ),
            )


def _throttled_then_fine(places: Places) -> Iterator[tuple[str, EventSpec]]:
    """A write that Compute throttled, and its successful retry ten minutes later."""
    pool = next((name for name, spec in places.spec.pools.items() if spec.type == SCALE_SET), None)
    if pool is None:
        return
    wrote = EventSpec(
        at="now-1d2h20m", takes="3m", operation=SCALE_SET_WRITE, resource=places.scale_set(pool), caller="aks"
    )
    refused = {"at": "now-1d2h30m", "takes": "1s", "outcome": "Refused", "http": 429, "error": _THROTTLED}
    yield "throttled", wrote.model_copy(update=refused)
    yield "throttled-again", wrote
