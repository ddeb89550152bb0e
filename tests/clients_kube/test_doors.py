"""The HTTP layer follows no redirects and never sends a write twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import Garbled
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.doors import KubeSession, KubeSessions
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.writer import KubeWriter
from handlers.model import Target
from tests.clients.azure import Handler, hangs_up, says
from tests.clients_kube.cluster import LocalCluster, page, pod

POD = "/api/v1/namespaces/shop/pods/web-1"
PODS = "/api/v1/pods"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
VERBS = ("PUT", "PATCH", "DELETE", "POST")

Ask = Callable[[KubeReader], Awaitable[Any]]


@pytest.fixture
async def door(arm: ArmReader, target: Target) -> AsyncIterator[KubeSession]:
    async with KubeSessions(arm, KubeAccess()) as doors:
        opened = await doors.enter(target)
        yield opened
        await doors.leave(target, opened)


@pytest.fixture
async def elsewhere() -> AsyncIterator[LocalCluster]:
    """Another host: it would answer whatever a client brings there."""
    other = LocalCluster()
    other.serve = _anything(other)  # type: ignore[method-assign]
    await other.start()
    yield other
    await other.stop()


def _anything(other: LocalCluster) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        other.on[request.path] = [page(pod("of-another-host"))]
        return await LocalCluster.serve(other, request)

    return serve


def redirect(to: str, status: int = 307) -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": to})

    return answer


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("path", "ask"),
    [
        (PODS, lambda kube: kube.list(PODS, lambda row: str(row["metadata"]["name"]))),
        (PODS, lambda kube: kube.fold(PODS, list, lambda found, row: found.append(row))),
        (POD, lambda kube: kube.get(POD)),
        ("/version", lambda kube: kube.get("/version")),
        (f"{POD}/log", lambda kube: kube.text(f"{POD}/log")),
        (REVIEWS, lambda kube: kube.may("list", "pods")),
    ],
)
async def test_no_answer_of_another_host_is_taken_for_the_api_servers(
    cluster: LocalCluster, elsewhere: LocalCluster, kube: KubeReader, path: str, ask: Ask, status: int
) -> None:
    cluster.reply(path, redirect(f"{elsewhere.url}{path}?token=abc", status))
    with pytest.raises(Garbled) as caught:
        await ask(kube)
    assert caught.value.detail == f"{status}, a redirect to 127.0.0.1; not followed"
    assert elsewhere.asked == []
    assert cluster.paths() == [path]


@pytest.mark.parametrize("to", ["", "https://[", "/elsewhere", "//"])
async def test_a_redirect_to_nowhere_is_told_all_the_same(cluster: LocalCluster, kube: KubeReader, to: str) -> None:
    cluster.reply(POD, redirect(to))
    with pytest.raises(Garbled, match="307, a redirect; not followed"):
        await kube.get(POD)
    assert cluster.paths() == [POD]


async def test_what_a_writer_reads_is_no_other_hosts_answer(
    cluster: LocalCluster, elsewhere: LocalCluster, arm: ArmReader, target: Target
) -> None:
    cluster.reply(POD, redirect(f"{elsewhere.url}{POD}"))
    async with KubeWriter(target, arm, KubeAccess()) as writer:
        with pytest.raises(Garbled, match="not followed"):
            await writer.get(POD)
    assert elsewhere.asked == []


@pytest.mark.parametrize("method", VERBS)
async def test_a_bare_door_takes_no_write_to_another_host(
    cluster: LocalCluster, elsewhere: LocalCluster, door: KubeSession, method: str
) -> None:
    cluster.reply(POD, redirect(f"{elsewhere.url}{POD}"))
    with pytest.raises(Garbled, match="not followed"):
        await door.send(method, POD, {})
    assert [one.method for one in cluster.asked] == [method]
    assert elsewhere.asked == []


@pytest.mark.parametrize("method", VERBS)
async def test_a_bare_door_sends_no_write_again_when_a_kept_connection_breaks(
    cluster: LocalCluster, door: KubeSession, method: str
) -> None:
    """The HTTP library repeats a PUT or DELETE where the connection had served an earlier request."""
    cluster.reply(POD, says({"kind": "Pod"}))
    await door.send("GET", POD, None)
    cluster.reply(POD, hangs_up())
    with pytest.raises(Garbled, match="broke off"):
        await door.send(method, POD, {})
    assert [one.method for one in cluster.asked] == ["GET", method]


async def test_a_door_sends_one_write_after_the_other(cluster: LocalCluster, door: KubeSession) -> None:
    cluster.reply(POD, says({"kind": "Pod"}))
    for method in VERBS:
        reply, _ = await door.send(method, POD, {})
        assert reply.status == 200
    assert [one.method for one in cluster.asked] == list(VERBS)
