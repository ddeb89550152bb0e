"""GET: objects, lists, pages, selectors, tables."""

from __future__ import annotations

import base64
import json

import pytest

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import definition, node, pod, small_world, widget
from tests.sandbox_kube.conftest import Caller

PODS = "/api/v1/pods"


async def test_an_object_has_its_kind_and_what_every_object_has(admin: Caller) -> None:
    body = (await admin.get("/api/v1/nodes/node-1")).body
    assert (body["apiVersion"], body["kind"]) == ("v1", "Node")
    assert {"uid", "resourceVersion", "creationTimestamp"} <= body["metadata"].keys()


async def test_items_of_a_built_in_list_do_not_repeat_their_kind(admin: Caller) -> None:
    body = (await admin.get(PODS)).body
    assert (body["apiVersion"], body["kind"]) == ("v1", "PodList")
    assert all("kind" not in item for item in body["items"])
    assert body["metadata"]["resourceVersion"].isdigit()


async def test_a_list_is_in_the_order_of_namespace_and_name(admin: Caller) -> None:
    assert (await admin.get(PODS)).names == ["web-1", "web-2", "coredns-1"]
    assert (await admin.get("/api/v1/namespaces/kube-system/pods")).names == ["coredns-1"]
    assert (await admin.get("/api/v1/namespaces/kube/pods")).names == []


async def test_what_is_not_there_is_404_with_its_name(admin: Caller) -> None:
    reply = await admin.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/none")
    assert reply.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'poddisruptionbudgets.policy "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "group": "policy", "kind": "poddisruptionbudgets"},
        "code": 404,
    }


async def test_custom_objects_are_served_in_every_version() -> None:
    world = small_world([definition(), widget("one")])
    async with KubeServer(world) as kube:
        items = json.loads(kube.ask("/apis/example.com/v1beta1/widgets").to_bytes())["items"]
        assert [(item["apiVersion"], item["kind"]) for item in items] == [("example.com/v1beta1", "Widget")]
        one = kube.ask("/apis/example.com/v1/namespaces/default/widgets/one")
        assert one.body["apiVersion"] == "example.com/v1"


# -- pages ----------------------------------------------------------------------------------------------------------


async def test_a_list_comes_in_pages_and_says_how_many_are_left(admin: Caller) -> None:
    first = await admin.get(PODS, limit=2)
    assert first.names == ["web-1", "web-2"]
    assert first.body["metadata"]["remainingItemCount"] == 1
    token = first.body["metadata"]["continue"]
    last = await admin.get(PODS, limit=2, **{"continue": token})
    assert last.names == ["coredns-1"]
    assert "continue" not in last.body["metadata"]


async def test_later_pages_are_of_the_list_as_it_was(world: KubeWorld, admin: Caller) -> None:
    first = await admin.get(PODS, limit=1)
    world.put(pod("web-15"))
    token = first.body["metadata"]["continue"]
    rest = await admin.get(PODS, **{"continue": token})
    assert rest.names == ["web-2", "coredns-1"]
    assert rest.body["metadata"]["resourceVersion"] == first.body["metadata"]["resourceVersion"]
    assert (await admin.get(PODS)).names == ["web-1", "web-15", "web-2", "coredns-1"]


async def test_with_a_selector_nobody_knows_how_many_are_left(admin: Caller) -> None:
    page = await admin.get(PODS, limit=1, labelSelector="app=web")
    assert page.names == ["web-1"]
    assert "remainingItemCount" not in page.body["metadata"]
    rest = await admin.get(PODS, limit=5, labelSelector="app=web", **{"continue": page.body["metadata"]["continue"]})
    assert rest.names == ["web-2"]


@pytest.mark.parametrize("how", ["told to", "compacted"])
async def test_a_token_that_is_too_old_is_410_with_a_way_on(
    kube: KubeServer, world: KubeWorld, admin: Caller, how: str
) -> None:
    token = (await admin.get(PODS, limit=1)).body["metadata"]["continue"]
    if how == "told to":
        kube.expire_continue_tokens()
    else:
        world.put(pod("web-3"))
        world.compact()
    gone = await admin.get(PODS, limit=1, **{"continue": token})
    assert gone.said[:2] == (410, "Expired")
    assert gone.body["message"].startswith("The provided continue parameter is too old to display a consistent list")
    on = await admin.get(PODS, **{"continue": gone.body["metadata"]["continue"]})
    assert on.names[0] == "web-2"


async def test_a_token_that_is_none_is_400(admin: Caller) -> None:
    assert (await admin.get(PODS, **{"continue": "bogus"})).said[:2] == (400, "BadRequest")
    elsewhere = base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","rv":-1,"start":"kube-system/x"}').decode()
    other = await admin.get("/api/v1/namespaces/default/pods", **{"continue": elsewhere})
    assert other.said[:2] == (400, "BadRequest")


async def test_a_version_that_is_yet_to_come_is_504(admin: Caller) -> None:
    reply = await admin.get(PODS, resourceVersion=999999999)
    assert reply.said[:2] == (504, "Timeout")
    assert reply.headers["Retry-After"] == "1"
    assert (await admin.get(PODS, resourceVersion="0")).status == 200
    assert (await admin.get(PODS, resourceVersion="x")).status == 400


# -- selectors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("app=web", ["web-1", "web-2"]),
        ("app==web,tier=front", ["web-1"]),
        ("app!=web", ["coredns-1"]),
        ("app in (web, coredns),!tier", ["web-2", "coredns-1"]),
        ("tier", ["web-1"]),
        ("app notin (web)", ["coredns-1"]),
        ("weight>5", ["web-2"]),
        ("weight<5", []),
    ],
)
async def test_labels_select(world: KubeWorld, admin: Caller, selector: str, names: list[str]) -> None:
    world.put(pod("web-1", app="web", tier="front"))
    world.put(pod("web-2", app="web", weight="7"))
    assert (await admin.get(PODS, labelSelector=selector)).names == names


@pytest.mark.parametrize("selector", ["app=web,", "=", "app in web", "app = web front", "-bad-=x", "a in (b"])
async def test_a_label_selector_that_is_none_is_400(admin: Caller, selector: str) -> None:
    reply = await admin.get(PODS, labelSelector=selector)
    assert reply.said[:2] == (400, "BadRequest")
    assert reply.body["message"].startswith("unable to parse requirement: ")


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=web-2", ["web-2"]),
        ("spec.nodeName=node-1", ["web-1", "coredns-1"]),
        ("spec.nodeName=node-1,metadata.namespace!=default", ["coredns-1"]),
        ("status.phase!=Running", []),
        ("spec.hostNetwork=false,status.phase==Running", ["web-1", "web-2", "coredns-1"]),
    ],
)
async def test_fields_select_what_the_real_server_can_select(admin: Caller, selector: str, names: list[str]) -> None:
    assert (await admin.get(PODS, fieldSelector=selector)).names == names


@pytest.mark.parametrize(
    ("path", "selector", "message"),
    [
        (PODS, "spec.foo=1", "field label not supported: spec.foo"),
        ("/api/v1/nodes", "status.phase=x", "field label not supported: status.phase"),
        (
            "/apis/policy/v1/poddisruptionbudgets",
            "spec.minAvailable=1",
            '"spec.minAvailable" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (PODS, "metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
    ],
)
async def test_any_other_field_is_400(admin: Caller, path: str, selector: str, message: str) -> None:
    assert (await admin.get(path, fieldSelector=selector)).said == (400, "BadRequest", message)


async def test_nodes_are_selected_by_whether_they_take_pods(world: KubeWorld, admin: Caller) -> None:
    cordoned = node("node-2")
    cordoned["spec"]["unschedulable"] = True
    world.put(cordoned)
    assert (await admin.get("/api/v1/nodes", fieldSelector="spec.unschedulable=true")).names == ["node-2"]
    assert (await admin.get("/api/v1/nodes", fieldSelector="spec.unschedulable=false")).names == ["node-1"]


# -- other forms ----------------------------------------------------------------------------------------------------


async def test_a_table_has_the_real_columns(admin: Caller) -> None:
    nodes = await admin.table("/api/v1/nodes")
    shown = [column["name"] for column in nodes.body["columnDefinitions"] if not column["priority"]]
    assert shown == ["Name", "Status", "Roles", "Age", "Version"]
    assert nodes.rows[0][:3] == ["node-1", "Ready", "<none>"]
    assert nodes.body["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = await admin.table("/api/v1/nodes/node-1", includeObject="Object")
    assert whole.body["rows"][0]["object"]["kind"] == "Node"
    none = await admin.table("/api/v1/nodes", includeObject="None")
    assert "object" not in none.body["rows"][0]


async def test_a_custom_table_has_the_definitions_columns() -> None:
    async with KubeServer(small_world([definition(), widget("one", 7)])) as kube:
        answer = kube.ask("/apis/example.com/v1/widgets", accept="application/json;as=Table")
        assert [column["name"] for column in answer.body["columnDefinitions"]] == ["Name", "Size"]
        assert answer.body["rows"][0]["cells"] == ["one", 7]


async def test_metadata_alone_can_be_asked_for(admin: Caller) -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    body = (await admin("GET", PODS, accept=accept)).body
    assert body["kind"] == "PartialObjectMetadataList"
    assert all(item.keys() == {"metadata"} for item in body["items"])


async def test_a_form_that_the_server_does_not_speak_is_406(admin: Caller) -> None:
    assert (await admin("GET", PODS, accept="text/html")).said[:2] == (406, "NotAcceptable")
    assert (await admin("GET", PODS, accept="application/vnd.kubernetes.protobuf, */*")).status == 200


async def test_prerendered_pages_are_the_same_pages(kube: KubeServer, world: KubeWorld, admin: Caller) -> None:
    for number in range(40):
        world.put(pod(f"many-{number:02d}", namespace="many"))
    assert kube.prerender("pods", limit=10) == 5
    page = await admin.get(PODS, limit=10)
    found, pages = page.names, 1
    while "continue" in page.body["metadata"]:
        page = await admin.get(PODS, limit=10, **{"continue": page.body["metadata"]["continue"]})
        found, pages = found + page.names, pages + 1
    assert (pages, len(found), len(set(found))) == (5, 43, 43)
    assert (await admin.get(PODS, limit=10, labelSelector="app=coredns")).names == ["coredns-1"]
