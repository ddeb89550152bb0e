"""Reconcile a node pool or a cluster: PUT the body that was read a moment before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handlers.clients.arm.writer import ArmWriter
from handlers.remedy.acts.act import Answered, Done, Going, Scene, Sending, Stopped, Wait, failed, stale
from handlers.remedy.acts.follow_arm import (
    AKS_API,
    answered,
    etag_of,
    find_sent_write,
    follow_operation,
    is_busy,
    state_of,
)
from handlers.remedy.acts.read_only import CLUSTER, POOL, NotAsRead, to_send
from handlers.resource_id import last_name
from handlers.version import meets


class PutAsRead:
    """GET the raw body, compare, PUT the same body. It is held in memory only, between the two."""

    read_only = POOL
    needs_planned_tag = True

    async def prepare(self, scene: Scene) -> Sending | Stopped:
        target, arm = scene.step.target, scene.write_clients.arm
        raw = await arm.read(target, AKS_API)
        read = raw.body
        tag, state = etag_of(read), state_of(read)
        if is_busy(state):
            return stale(f"{last_name(target)} is {state}: another operation has begun")
        wanted = str(scene.step.arguments.get("etag") or "")
        if not tag or (not wanted and self.needs_planned_tag):
            return _untagged(last_name(target))
        if wanted and tag != wanted:
            return stale(f"{last_name(target)} was changed since the plan: eTag was {wanted}, is {tag}")
        if against := await self.against(scene, read):
            return against
        try:
            body = to_send(read, self.read_only)
        except NotAsRead as refused:
            return failed(f"{refused}; nothing was sent")

        async def send(request_id: str) -> Answered:
            return answered(await arm.put(target, raw.api_version, body, if_match=tag, request_id=request_id))

        return Sending("PUT", target, send, {"etag": tag, "state": state})

    async def against(self, scene: Scene, read: Mapping[str, Any]) -> Stopped | None:
        """What differs from the plan, beyond the eTag."""
        return None

    async def look_back(self, scene: Scene) -> Wait | Going | Stopped:
        return await find_sent_write(scene, scene.step.target, AKS_API)

    async def follow(self, scene: Scene) -> Going | Done | Stopped:
        going = await follow_operation(scene, scene.step.target, AKS_API)
        return going or Done(f"{last_name(scene.step.target)}: Azure says Succeeded")

    def give_up(self, scene: Scene) -> None:
        """Azure continues by itself: nothing to clean up."""


class PutClusterAsRead(PutAsRead):
    """A cluster's body contains its pools: a pool that somebody changed meanwhile must not be reset."""

    read_only = CLUSTER
    needs_planned_tag = False
    """A step before this one may have given it another; the eTag of the read right before is sent in any case."""

    async def against(self, scene: Scene, read: Mapping[str, Any]) -> Stopped | None:
        planned = {str(pool).lower(): str(tag) for pool, tag in (scene.step.arguments.get("pools") or {}).items()}
        carried = {str(profile["name"]): profile for profile in read["properties"].get("agentPoolProfiles") or ()}
        pools = {str(pool["name"]): pool for pool in await _pools_of(scene.write_clients.arm, scene.step.target)}
        if pools.keys() != carried.keys():
            return stale(f"node pools came or went: {', '.join(sorted(pools.keys() ^ carried.keys()))}")
        for name, pool in pools.items():
            if against := _pool_against(pool, carried[name], planned.get(str(pool["id"]).lower())):
                return against
        gone = planned.keys() - {str(pool["id"]).lower() for pool in pools.values()}
        if gone:
            return stale(f"pool {last_name(sorted(gone)[0])} is not there any more")
        half = _half_upgraded(read, "kubernetesVersion")
        return stale(f"cluster {last_name(scene.step.target)} {half}") if half else None


def _pool_against(pool: Mapping[str, Any], carried: Mapping[str, Any], planned: str | None) -> Stopped | None:
    """`carried`: the pool in the body to send. `planned`: its eTag, unless the plan writes this pool, too."""
    name, tag = pool["name"], etag_of(pool)
    if is_busy(state_of(pool)):
        return stale(f"pool {name} is {state_of(pool)}: another operation has begun")
    expected = [tag for tag in (planned, etag_of(carried)) if tag]
    if not tag or not expected:
        return _untagged(f"pool {name}")
    for item in expected:
        if tag != item:
            return stale(f"pool {name} was changed since: eTag was {item}, is {tag}")
    half = _half_upgraded(pool, "orchestratorVersion") if planned is None else ""
    return stale(f"pool {name} {half}") if half else None


def _untagged(what: str) -> Stopped:
    return failed(
        f"no eTag tells whether someone has changed {what} meanwhile, and a PUT would undo that; nothing was sent"
    )


def _half_upgraded(body: Mapping[str, Any], asked_as: str) -> str:
    """No plan writes a half-upgraded cluster. Pools without an eTag in the plan are compared again."""
    stored = body["properties"]
    asked, runs = str(stored.get(asked_as) or ""), str(stored.get(f"current{asked_as[0].upper()}{asked_as[1:]}") or "")
    if not asked or not runs or meets(runs, asked):
        return ""
    return f"is set to {asked} and runs {runs}: a PUT would go on upgrading it"


async def _pools_of(arm: ArmWriter, cluster: str) -> list[Mapping[str, Any]]:
    page = await arm.get(f"{cluster}/agentPools", AKS_API)
    found = list(page["value"])
    seen: set[str] = set()
    while (link := page.get("nextLink")) and link not in seen:
        seen.add(link)
        page = (await arm.poll(link)).json()
        found += page["value"]
    return found
