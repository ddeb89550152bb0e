"""Watches: what `kubectl get -w`, `delete --wait` and `drain` wait for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import definition, pod, widget
from tests.sandbox_kube.conftest import Caller, session_for

PODS = "/api/v1/namespaces/default/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Watch:
    """The events of one open watch."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def next(self) -> tuple[str, Any]:
        async with asyncio.timeout(5):
            event = json.loads(await self.response.content.readline())
        return event["type"], event["object"]

    async def named(self) -> tuple[str, str]:
        kind, body = await self.next()
        return kind, body["metadata"].get("name", "")

    async def ended(self) -> bool:
        async with asyncio.timeout(5):
            return await self.response.content.readline() == b""


@asynccontextmanager
async def watching(
    admin: Caller, path: str, accept: str = "application/json", **query: str | int
) -> AsyncIterator[Watch]:
    address = admin.address(path, watch="true", **query)
    async with admin.session.get(address, headers=admin.headers(accept=accept)) as response:
        assert response.status == 200
        yield Watch(response)


async def version(admin: Caller) -> str:
    return str((await admin.get(PODS)).body["metadata"]["resourceVersion"])


async def test_without_a_version_a_watch_begins_with_everything_there_is(world: KubeWorld, admin: Caller) -> None:
    async with watching(admin, PODS) as watch:
        assert [await watch.named(), await watch.named()] == [("ADDED", "web-1"), ("ADDED", "web-2")]
        world.put(pod("web-3"))
        assert await watch.named() == ("ADDED", "web-3")


async def test_from_a_version_on_it_tells_only_what_happened_since(world: KubeWorld, admin: Caller) -> None:
    since = await version(admin)
    world.put(pod("web-3"))
    await admin.patch(f"{PODS}/web-3", {"metadata": {"labels": {"a": "b"}}})
    async with watching(admin, PODS, resourceVersion=since) as watch:
        assert [await watch.named(), await watch.named()] == [("ADDED", "web-3"), ("MODIFIED", "web-3")]
        await admin.delete(f"{PODS}/web-3", {"gracePeriodSeconds": 0})
        assert await watch.named() == ("DELETED", "web-3")


async def test_a_deletion_is_first_a_change_and_then_gone(admin: Caller) -> None:
    async with watching(
        admin, PODS, resourceVersion=await version(admin), fieldSelector="metadata.name=web-1"
    ) as watch:
        await admin.delete(f"{PODS}/web-1")
        kind, body = await watch.next()
        assert (kind, "deletionTimestamp" in body["metadata"]) == ("MODIFIED", True)
        assert await watch.named() == ("DELETED", "web-1")


async def test_who_leaves_the_selection_is_deleted_and_who_enters_is_added(admin: Caller) -> None:
    async with watching(admin, PODS, resourceVersion=await version(admin), labelSelector="tier=front") as watch:
        await admin.patch(f"{PODS}/web-1", {"metadata": {"labels": {"tier": "front"}}})
        assert await watch.named() == ("ADDED", "web-1")
        await admin.patch(f"{PODS}/web-1", {"metadata": {"labels": {"other": "1"}}})
        assert await watch.named() == ("MODIFIED", "web-1")
        await admin.patch(f"{PODS}/web-1", {"metadata": {"labels": {"tier": None}}})
        assert await watch.named() == ("DELETED", "web-1")


async def test_other_kinds_and_other_namespaces_are_not_told(world: KubeWorld, admin: Caller) -> None:
    async with watching(admin, PODS, resourceVersion=await version(admin)) as watch:
        await admin.patch("/api/v1/nodes/node-1", {"spec": {"unschedulable": True}})
        world.put(pod("elsewhere", namespace="kube-system"))
        world.put(pod("web-3"))
        assert await watch.named() == ("ADDED", "web-3")


async def test_a_version_that_is_too_old_ends_in_an_error_event(world: KubeWorld, admin: Caller) -> None:
    since = await version(admin)
    world.put(pod("web-3"))
    world.compact()
    async with watching(admin, PODS, resourceVersion=since) as watch:
        kind, body = await watch.next()
        assert (kind, body["code"], body["reason"]) == ("ERROR", 410, "Expired")
        assert body["message"].startswith("too old resource version: ")
        assert await watch.ended()


async def test_a_watch_ends_when_its_time_is_up_with_a_bookmark_for_who_wants_it(admin: Caller) -> None:
    since = await version(admin)
    async with watching(admin, PODS, resourceVersion=since, timeoutSeconds=0.05, allowWatchBookmarks="true") as watch:
        kind, body = await watch.next()
        assert (kind, body["kind"], body["metadata"]["resourceVersion"]) == ("BOOKMARK", "Pod", since)
        assert await watch.ended()


async def test_initial_events_end_with_a_bookmark(admin: Caller) -> None:
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with watching(admin, PODS, **query) as watch:
        assert [await watch.named(), await watch.named()] == [("ADDED", "web-1"), ("ADDED", "web-2")]
        kind, body = await watch.next()
        assert (kind, body["metadata"]["annotations"]) == ("BOOKMARK", {"k8s.io/initial-events-end": "true"})


async def test_a_table_is_watched_with_its_columns_once(world: KubeWorld, admin: Caller) -> None:
    async with watching(admin, PODS, TABLE) as watch:
        (_, first), (_, second) = await watch.next(), await watch.next()
        assert [column["name"] for column in first["columnDefinitions"]][:2] == ["Name", "Ready"]
        assert second["columnDefinitions"] == []
        assert second["rows"][0]["cells"][:3] == ["web-2", "1/1", "Running"]


async def test_custom_objects_are_watched(world: KubeWorld, admin: Caller) -> None:
    world.put(definition())
    async with watching(admin, "/apis/example.com/v1beta1/widgets") as watch:
        world.put(widget("one"))
        kind, body = await watch.next()
        assert (kind, body["apiVersion"]) == ("ADDED", "example.com/v1beta1")


@pytest.mark.parametrize("query", [{"labelSelector": "a=b,"}, {"resourceVersion": "x"}, {"sendInitialEvents": "true"}])
async def test_what_is_wrong_with_a_watch_is_answered_not_streamed(admin: Caller, query: dict[str, str]) -> None:
    assert (await admin.get(PODS, watch="1", **query)).said[:2] == (400, "BadRequest")


async def test_a_server_that_closes_ends_its_watches(world: KubeWorld) -> None:
    async with KubeServer(world) as kube, session_for(kube) as admin, watching(admin, PODS) as watch:
        await watch.named()
        assert kube.log[-1].verb == "watch"
    assert kube.log[-1].ended is not None
