"""The effects of a write on the world, during the operation and when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from sandbox.arm.merging import renew_etag, stored
from sandbox.mirror import repeat_in_parent
from sandbox.world import Change, World

Body = dict[str, Any]

CLUSTER = "/providers/microsoft.containerservice/managedclusters/"


def set_state(body: Body, state: str, error: Body | None = None) -> None:
    """Set the provisioning state; for AKS, also the error details of a Failed state."""
    properties = body.setdefault("properties", {})
    properties["provisioningState"] = state
    if CLUSTER not in body["id"].lower():
        return
    if state == "Failed" and error:
        properties["status"] = {"provisioningError": error}
    elif state == "Succeeded":
        properties.pop("status", None)


def set_state_of(world: World, path: str, state: str, error: Body | None = None) -> None:
    """Set the state of a resource in the world, and renew its eTag."""
    body = world.resources.get(path.lower())
    if body is None:
        return
    changed = deepcopy(body)
    set_state(changed, state, error)
    renew_etag(changed)
    world.put(changed)


def apply_changes(world: World, changes: tuple[Change, ...]) -> None:
    """Apply the changes a scenario declares for a write. Deleting a resource also deletes what AKS created for it."""
    for change in changes:
        if change.delete and not change.cluster:
            remove(world, change.id)
        else:
            world.apply(change)


def remove(world: World, path: str) -> None:
    """Delete a resource, its children, and what AKS created for it."""
    key = path.lower()
    body = world.resources.get(key, {})
    node_group = body.get("properties", {}).get("nodeResourceGroup") if CLUSTER in key else None
    for other in [other for other in world.resources if other == key or other.startswith(key + "/")]:
        del world.resources[other]
    if node_group:
        subscription = key.split("/")[2]
        remove(world, f"/subscriptions/{subscription}/resourceGroups/{node_group}")
    repeat_in_parent(world.resources, key)


# -- AKS: writes to a cluster propagate to its node pools -----------------------------------


def cluster_of(path: str) -> str:
    """The cluster that a pool (or the cluster itself) belongs to."""
    return path[: (path.lower() + "/agentpools/").index("/agentpools/")]


def pools_of(world: World, cluster: str) -> list[Body]:
    above = cluster.lower() + "/agentpools/"
    return [body for key, body in world.resources.items() if key.startswith(above) and "/" not in key[len(above) :]]


def spread_profiles(world: World, cluster: Body, state: str) -> None:
    """A PUT of a cluster updates its node pools from `agentPoolProfiles`, and puts all of them into Updating."""
    for profile in cluster["properties"].get("agentPoolProfiles") or ():
        key = f"{cluster['id']}/agentPools/{profile['name']}".lower()
        current = world.resources.get(key) or {
            "id": f"{cluster['id']}/agentPools/{profile['name']}",
            "name": profile["name"],
            "type": "Microsoft.ContainerService/managedClusters/agentPools",
            "properties": {"powerState": {"code": "Running"}},
        }
        asked = {name: value for name, value in profile.items() if name != "name"}
        pool = stored(current, {"properties": asked})
        set_state(pool, state)
        renew_etag(pool)
        world.put(pool)
    for pool in pools_of(world, cluster["id"]):
        # A pool that is missing from the profiles is kept.
        repeat_in_parent(world.resources, pool["id"].lower())


def pool_states(world: World, cluster: str) -> dict[str, str]:
    """The pools' provisioning states, saved before a write to their cluster."""
    return {pool["id"]: pool["properties"].get("provisioningState", "Succeeded") for pool in pools_of(world, cluster)}


def settle(
    world: World, path: str, state: str, error: Body | None = None, before: Mapping[str, str] | None = None
) -> None:
    """Finish a write to one resource, before any scenario rule is applied."""
    key = path.lower()
    set_state_of(world, path, state, error)
    if CLUSTER not in key:
        return
    cluster, _, below = key.partition("/agentpools/")
    if below:
        _catch_up(world, key, state, "orchestratorVersion", "currentOrchestratorVersion")
    else:
        _catch_up(world, key, state, "kubernetesVersion", "currentKubernetesVersion")
        for pool in pools_of(world, cluster):
            # When a cluster write fails, its pools return to their previous states.
            after = (before or {}).get(pool["id"], "Succeeded") if state == "Failed" else state
            set_state_of(world, pool["id"], after)
            _catch_up(world, pool["id"].lower(), state, "orchestratorVersion", "currentOrchestratorVersion")


def _catch_up(world: World, key: str, state: str, wanted: str, current: str) -> None:
    """After success, set the current version to the requested one; `1.33` is satisfied by any 1.33.x."""
    body = world.resources.get(key)
    if body is None or state != "Succeeded":
        return
    properties = body["properties"]
    asked, owned = properties.get(wanted), properties.get(current)
    if asked and not str(owned or "").startswith(asked):
        world.put({**body, "properties": {**properties, current: asked}})
