"""Connection problems: unreachable servers, and injected faults."""

from __future__ import annotations

import time

import aiohttp
import pytest

from sandbox.arm.faults import Fault as AnyFault
from sandbox.kube.faults import Fault
from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import small_world
from tests.sandbox_kube.conftest import Caller, session_for

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


async def test_a_cluster_that_cannot_be_reached_is_silent() -> None:
    async with KubeServer(small_world(reachable=False)) as kube, session_for(kube, seconds=0.3) as admin:
        with pytest.raises(TimeoutError):
            await admin.get(NODES)
        assert kube.log == []
        assert kube.ask(NODES).status == 200


async def test_one_that_refuses_does_so_at_once() -> None:
    world = small_world(reachable=False, refuses=True)
    async with KubeServer(world) as kube, session_for(kube) as admin:
        with pytest.raises(aiohttp.ClientConnectorError):
            await admin.get(NODES)


async def test_one_that_goes_away_answers_no_more(world: KubeWorld) -> None:
    async with KubeServer(world) as kube, session_for(kube, seconds=0.3) as admin:
        assert (await admin.get(NODES)).status == 200
        world.reachable = False
        with pytest.raises(TimeoutError):
            await admin.get(NODES)
        assert kube.log[-1].status is None


@pytest.mark.parametrize(
    ("kind", "status", "text"),
    [
        ("500", 500, "Internal error occurred: etcdserver: request timed out"),
        ("429", 429, "Too many requests, please try again later."),
        ("403", 403, 'pods is forbidden: User "kubernetes-admin" cannot list resource "pods"'),
        ("404", 404, "the server could not find the requested resource"),
        ("502", 502, "Bad Gateway"),
        ("503", 503, "the server is currently unable to handle the request"),
        ("504", 504, "Timeout: request did not complete within the allotted timeout"),
        ("html", 503, "<!DOCTYPE html"),
    ],
)
async def test_a_fault_answers_in_the_servers_words(
    kube: KubeServer, admin: Caller, kind: str, status: int, text: str
) -> None:
    kube.faults.append(Fault(kind, resource="pods", times=1))  # type: ignore[arg-type]
    assert (await admin.get(NODES)).status == 200
    reply = await admin.get(PODS)
    assert (reply.status, text in (reply.text if status != 403 else reply.body["message"])) == (status, True)
    assert kube.log[-1].status == status
    assert (await admin.get(PODS)).status == 200


async def test_a_throttle_says_when_to_come_back(kube: KubeServer, admin: Caller) -> None:
    kube.faults.append(Fault("429", times=2, retry_after_s=7))
    assert (await admin.get(PODS)).headers["Retry-After"] == "7"
    kube.faults[0].retry_after_s = None
    assert (await admin.get(PODS)).headers["Retry-After"] == "1"


@pytest.mark.parametrize("kind", ["half", "reset"])
async def test_an_answer_can_break_off(kube: KubeServer, admin: Caller, kind: str) -> None:
    kube.faults.append(Fault(kind))  # type: ignore[arg-type]
    with pytest.raises(aiohttp.ClientError):
        await admin.get(PODS)


async def test_an_answer_can_be_empty_or_broken(kube: KubeServer, admin: Caller) -> None:
    kube.faults.append(Fault("empty", times=1))
    reply = await admin.get(PODS)
    assert (reply.status, reply.text) == (200, "")
    kube.faults.append(Fault("malformed", times=1))
    with pytest.raises(ValueError, match=r"."):
        _ = (await admin.get(PODS)).body


async def test_a_request_can_stay_without_an_answer(kube: KubeServer) -> None:
    kube.faults.append(Fault("timeout"))
    async with session_for(kube, seconds=0.2) as admin:
        with pytest.raises(TimeoutError):
            await admin.get(PODS)


async def test_a_fault_is_aimed_at_a_route_a_verb_or_a_user(kube: KubeServer, admin: Caller) -> None:
    kube.faults.append(Fault("500", resource="pods", verb="get"))
    kube.faults.append(AnyFault("503", route="/api/v1/namespaces/{}/pods/{}/log"))
    kube.faults.append(AnyFault("429", action="list nodes", principal="somebody-else"))
    one = "/api/v1/namespaces/default/pods/web-1"
    assert [(await admin.get(path)).status for path in (PODS, one, f"{one}/log", NODES)] == [200, 500, 503, 200]


async def test_a_write_can_happen_although_its_answer_is_lost(
    kube: KubeServer, world: KubeWorld, admin: Caller
) -> None:
    kube.faults.append(Fault("500", resource="nodes", verb="patch", executed=True))
    assert (await admin.patch(f"{NODES}/node-1", {"spec": {"unschedulable": True}})).status == 500
    held = world.find("nodes", "node-1")
    assert held is not None
    assert held["spec"]["unschedulable"] is True


async def test_the_server_can_be_slow(kube: KubeServer, admin: Caller) -> None:
    kube.latency_s = 0.03
    began = time.monotonic()
    await admin.get(NODES)
    assert time.monotonic() - began >= 0.03
    kube.latency_s = 0
    kube.faults.append(Fault("slow", delay_s=0.03))
    began = time.monotonic()
    assert (await admin.get(NODES)).status == 200
    assert time.monotonic() - began >= 0.03
