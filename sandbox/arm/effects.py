"""What a write does to the world: on the way, and at its end."""

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
    """The provisioning state, and for AKS the error that goes with Failed."""
    properties = body.setdefault("properties", {})
    properties["provisioningState"] = state
    if CLUSTER not in body["id"].lower():
        return
    if state == "Failed" and error:
        properties["status"] = {"provisioningError": error}
    elif state == "Succeeded":
        properties.pop("status", None)


def set_state_of(world: World, path: str, state: str, error: Body | None = None) -> None:
    """The same for what is in the world; a new eTag comes with it."""
    body = world.resources.get(path.lower())
    if body is None:
        return
    changed = deepcopy(body)
    set_state(changed, state, error)
    renew_etag(changed)
    world.put(changed)


def apply_changes(world: World, changes: tuple[Change, ...]) -> None:
    """What a scenario says that a write brings about. What AKS made for a resource goes with it."""
    for change in changes:
        if change.delete and not change.cluster:
            remove(world, change.id)
        else:
            world.apply(change)


def remove(world: World, path: str) -> None:
    """Delete a resource, what is below it, and what AKS made for it."""
    key = path.lower()
    body = world.resources.get(key, {})
    node_group = body.get("properties", {}).get("nodeResourceGroup") if CLUSTER in key else None
    for other in [other for other in world.resources if other == key or other.startswith(key + "/")]:
        del world.resources[other]
    if node_group:
        subscription = key.split("/")[2]
        remove(world, f"/subscriptions/{subscription}/resourceGroups/{node_group}")
    repeat_in_parent(world.resources, key)


# -- AKS: what is written to a cluster reaches its pools ------------------------------------


def cluster_of(path: str) -> str:
    """The cluster that a pool (or the cluster itself) belongs to."""
    return path[: (path.lower() + "/agentpools/").index("/agentpools/")]


def pools_of(world: World, cluster: str) -> list[Body]:
    above = cluster.lower() + "/agentpools/"
    return [body for key, body in world.resources.items() if key.startswith(above) and "/" not in key[len(above) :]]


def spread_profiles(world: World, cluster: Body, state: str) -> None:
    """A PUT of a cluster reaches its pools: what its profiles say becomes the pools', and all of them are busy."""
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
        # A pool that the profiles left out is still there.
        repeat_in_parent(world.resources, pool["id"].lower())


def pool_states(world: World, cluster: str) -> dict[str, str]:
    """How the pools were before a write to their cluster."""
    return {pool["id"]: pool["properties"].get("provisioningState", "Succeeded") for pool in pools_of(world, cluster)}


def settle(
    world: World, path: str, state: str, error: Body | None = None, before: Mapping[str, str] | None = None
) -> None:
    """The end of a write to one resource, without anything that a scenario adds."""
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
            # A cluster that failed leaves its pools as they were before it began.
            after = (before or {}).get(pool["id"], "Succeeded") if state == "Failed" else state
            set_state_of(world, pool["id"], after)
            _catch_up(world, pool["id"].lower(), state, "orchestratorVersion", "currentOrchestratorVersion")


def _catch_up(world: World, key: str, state: str, wanted: str, current: str) -> None:
    """After success the running version is the wanted one; `1.33` is satisfied by any 1.33.x."""
    body = world.resources.get(key)
    if body is None or state != "Succeeded":
        return
    properties = body["properties"]
    asked, owned = properties.get(wanted), properties.get(current)
    if asked and not str(owned or "").startswith(asked):
        world.put({**body, "properties": {**properties, current: asked}})
