"""What the server tells of itself."""

from __future__ import annotations

import pytest

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import definition, small_world
from tests.sandbox_kube.conftest import Caller

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


async def test_the_version_is_the_clusters(world: KubeWorld, admin: Caller) -> None:
    world.version = "v1.32.9"
    body = (await admin.get("/version")).body
    assert (body["major"], body["minor"], body["gitVersion"]) == ("1", "32", "v1.32.9")


async def test_resources_are_listed_with_their_subresources(admin: Caller) -> None:
    core = (await admin.get("/api/v1")).body
    rows = {row["name"]: row for row in core["resources"]}
    assert rows["pods"]["shortNames"] == ["po"]
    assert rows["nodes"]["namespaced"] is False
    assert rows["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert (await admin.get("/api")).body["versions"] == ["v1"]
    assert (await admin.get("/apis/policy")).body["preferredVersion"]["groupVersion"] == "policy/v1"
    assert "metrics.k8s.io" in [group["name"] for group in (await admin.get("/apis")).body["groups"]]


async def test_everything_can_be_discovered_at_once(admin: Caller) -> None:
    reply = await admin("GET", "/apis", accept=AGGREGATED)
    assert reply.headers["Content-Type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    groups = {item["metadata"]["name"]: item["versions"] for item in reply.body["items"]}
    (budgets,) = groups["policy"][0]["resources"]
    assert (budgets["resource"], budgets["scope"]) == ("poddisruptionbudgets", "Namespaced")
    assert [below["subresource"] for below in budgets["subresources"]] == ["status"]
    core = (await admin("GET", "/api", accept=AGGREGATED)).body["items"]
    assert [item["versions"][0]["version"] for item in core] == ["v1"]


async def test_a_definition_adds_its_kind_and_its_removal_takes_it_away(admin: Caller) -> None:
    assert (await admin.get("/apis/example.com/v1/widgets")).status == 404
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = (await admin.post(path, definition())).body
    assert {one["type"] for one in made["status"]["conditions"]} == {"NamesAccepted", "Established"}
    assert (await admin.get("/apis/example.com/v1beta1")).body["resources"][0]["name"] == "widgets"
    assert (await admin.get("/apis/example.com/v1/widgets")).body["kind"] == "WidgetList"
    await admin.delete(f"{path}/widgets.example.com")
    assert (await admin.get("/apis/example.com/v1/widgets")).status == 404


async def test_without_a_metrics_server_its_group_is_not_there(world: KubeWorld, admin: Caller) -> None:
    world.usage = None
    assert "metrics.k8s.io" not in [group["name"] for group in (await admin.get("/apis")).body["groups"]]
    gone = await admin.get("/apis/metrics.k8s.io/v1beta1/nodes")
    assert (gone.status, gone.text) == (404, "404 page not found\n")


async def test_a_metrics_server_that_does_not_answer_is_503(world: KubeWorld, admin: Caller) -> None:
    assert world.usage is not None
    world.usage.answering = False
    gone = await admin.get("/apis/metrics.k8s.io/v1beta1/nodes")
    assert (gone.status, gone.text) == (503, "service unavailable\n")
    stale = (await admin("GET", "/apis", accept=AGGREGATED)).body["items"][-1]
    assert stale["versions"][0]["freshness"] == "Stale"


async def test_what_was_measured_can_be_read(admin: Caller) -> None:
    nodes = await admin.get("/apis/metrics.k8s.io/v1beta1/nodes")
    assert {item["metadata"]["name"]: item["usage"]["cpu"] for item in nodes.body["items"]} == {
        "node-1": "250m",
        "node-2": "100m",
    }
    chosen = await admin.get("/apis/metrics.k8s.io/v1beta1/nodes", labelSelector="agentpool=apps")
    assert chosen.names == ["node-1"]
    one = await admin.get("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web-1")
    assert one.body["containers"] == [{"name": "main", "usage": {"cpu": "3m", "memory": "12Mi"}}]
    assert (await admin.get("/apis/metrics.k8s.io/v1beta1/nodes/none")).body["reason"] == "NotFound"


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz"])
async def test_health_is_ok_and_verbose_on_demand(admin: Caller, path: str) -> None:
    assert (await admin.get(path)).text == "ok"
    told = (await admin.get(f"{path}?verbose")).text.splitlines()
    assert told[0] == "[+]ping ok"
    assert told[-1] == f"{path[1:]} check passed"
    assert (await admin.get(f"{path}/etcd")).text == "ok"


async def test_a_failing_check_is_named() -> None:
    world = small_world(not_ready={"etcd": "reason withheld"})
    async with KubeServer(world) as kube:
        answer = kube.ask("/readyz")
        assert answer.status == 500
        assert "[-]etcd failed: reason withheld\n" in answer.body
        assert answer.body.endswith("readyz check failed\n")
        assert kube.ask("/readyz/ping").status == 200


async def test_an_unknown_path_is_a_plain_404_and_an_unknown_resource_a_status(admin: Caller) -> None:
    assert (await admin.get("/apis/nothing.example.com/v1/things")).text == "404 page not found\n"
    assert (await admin.get("/api/v1/things")).said == (
        404,
        "NotFound",
        "the server could not find the requested resource",
    )
    assert (await admin.get("/api/v1/namespaces/default/nodes")).status == 404
    assert (await admin.post("/api/v1/pods", {})).said[:2] == (405, "MethodNotAllowed")
