"""Whether a pod listens, asked of the sandbox's API server over a real socket: the proxy's answers and its refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError, Denied, NotARead, NotFound, ServerFault
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.pod_port import PodPort
from handlers.clients.kube.reader import KubeReader
from handlers.model import Target
from sandbox.arm.server import ArmServer
from sandbox.kube.world import KubeWorld
from sandbox.scenario import Scenario
from tests.checking import access, cluster_id
from tests.clients_kube.test_against_sandbox import ACTIONS, Body, node, pod

PROXY = [{"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get"]}]
SHOP = KubeAccess(pod_proxy=("shop",))


def world(rules: list[Body] | None = None, ready: str = "True", **listens: list[int]) -> tuple[KubeWorld, list[Body]]:
    web = pod("shop", "web-1", "Running", {"running": {}}, podIP="10.244.1.17")
    web["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]
    made = KubeWorld.of([node("one", ready), web], controllers=False)
    made.listens = {f"shop/{name.replace('_', '-')}": ports for name, ports in listens.items()}
    return made, PROXY if rules is None else rules


@asynccontextmanager
async def reading(
    seen: tuple[KubeWorld, list[Body]], allowed: KubeAccess = SHOP
) -> AsyncIterator[tuple[KubeReader, ArmServer]]:
    azure = Scenario.load("healthy-fleet").world
    target = Target(cluster_id(azure, "prod-weu"))
    kube, rules = seen
    azure.kubes = {target.id.key: kube}
    azure.principals = [replace(one, actions=(*one.actions, *ACTIONS)) for one in azure.principals]
    for one in azure.principals:
        kube.grant(one.object_id, rules)
    async with ArmServer(azure) as server, ArmReader(access(server)) as arm, KubeReader(target, arm, allowed) as reader:
        yield reader, server


async def asked(seen: tuple[KubeWorld, list[Body]], allowed: KubeAccess = SHOP, name: str = "web-1") -> PodPort:
    async with reading(seen, allowed) as (reader, _):
        return await reader.pod_port("shop", name, 8080)


async def test_a_port_that_something_listens_on_answers() -> None:
    assert await asked(world()) == PodPort("", "it answers 200")


async def test_a_port_that_nothing_listens_on_is_refused_with_its_address() -> None:
    answer = await asked(world(web_1=[9090]))
    assert answer.refused_at == "10.244.1.17:8080"
    assert answer.told == "error trying to reach service: dial tcp 10.244.1.17:8080: connect: connection refused"


async def test_a_node_that_is_down_is_no_refusal() -> None:
    with pytest.raises(ServerFault, match="i/o timeout"):
        await asked(world(ready="Unknown", web_1=[]))


async def test_without_the_role_the_permission_is_named() -> None:
    with pytest.raises(Denied) as caught:
        await asked(world(rules=[]))
    assert caught.value.unavailable.grant == "get pods/proxy (namespace shop)"


async def test_a_pod_that_is_gone_is_not_found() -> None:
    with pytest.raises(NotFound):
        await asked(world(), name="web-9")


async def test_what_the_settings_do_not_allow_is_not_sent() -> None:
    async with reading(world(), KubeAccess()) as (reader, server):
        with pytest.raises(NotARead):
            await reader.pod_port("shop", "web-1", 8080)
        assert not any(request.path.endswith("/proxy") for kube in server.kube.values() for request in kube.log)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/shop/pods/web-1:8080/proxy/",
        "/api/v1/namespaces/shop/pods/web-1:8080/proxy/admin",
        "/api/v1/namespaces/shop/services/web:80/proxy/",
    ],
)
async def test_no_other_read_reaches_into_a_pod(path: str) -> None:
    async with reading(world()) as (reader, _):
        with pytest.raises(NotARead):
            await reader.text(path)


async def test_a_name_that_would_lead_elsewhere_is_not_sent() -> None:
    async with reading(world()) as (reader, _):
        with pytest.raises((NotARead, ArmError)):
            await reader.pod_port("shop", "web-1:8080/proxy/../../../secrets/x?", 8080)
