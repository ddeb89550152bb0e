"""Behavior that the sandbox and a real API server share, tested with the Kubernetes client library.

The real one is used only if KUBEBUILDER_ASSETS is a folder with etcd and kube-apiserver.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from tests.sandbox_kube import bodies
from tests.sandbox_kube.bodies import NOBODY_TOKEN, READER, READER_TOKEN
from tests.sandbox_kube.clusters import Cluster, real, sandbox_cluster

__all__ = ["real"]

Body = dict[str, Any]


@pytest.fixture
async def cluster(real: Cluster | None) -> AsyncIterator[Cluster]:
    if real is not None:
        yield real
    else:
        async with sandbox_cluster() as cluster:
            yield cluster


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[client.ApiClient]:
    async with cluster.client() as api:
        yield api


@pytest.fixture
def core(api: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api)


@pytest.fixture
async def shop(core: client.CoreV1Api) -> str:
    """A namespace of the test's own: a real cluster without controllers never gets rid of one."""
    made = await core.create_namespace({"metadata": {"generateName": "shop-"}})
    return str(made.metadata.name)


def config_map(name: str, **labels: str) -> Body:
    return {"metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}


def pod(name: str, **labels: str) -> Body:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}


def refused(error: pytest.ExceptionInfo[ApiException]) -> tuple[int, str, str]:
    body = json.loads(error.value.body)
    assert (body["kind"], body["apiVersion"], body["status"]) == ("Status", "v1", "Failure")
    assert body["code"] == error.value.status
    return error.value.status, body.get("reason", ""), body["message"]


async def test_objects_are_made_read_changed_and_deleted(core: client.CoreV1Api, shop: str) -> None:
    made = await core.create_namespaced_config_map(shop, config_map("one"))
    assert uuid.UUID(made.metadata.uid)
    changed = await core.patch_namespaced_config_map("one", shop, {"data": {"c": "d"}})
    assert changed.data == {"a": "b", "c": "d"}
    assert changed.metadata.resource_version != made.metadata.resource_version
    changed.data = {"e": "f"}
    replaced = await core.replace_namespaced_config_map("one", shop, changed)
    assert replaced.data == {"e": "f"}
    gone = await core.delete_namespaced_config_map("one", shop)
    assert (gone["status"], gone["details"]["name"]) == ("Success", "one")
    with pytest.raises(ApiException) as error:
        await core.read_namespaced_config_map("one", shop)
    assert refused(error) == (404, "NotFound", 'configmaps "one" not found')


async def test_who_worked_on_something_older_is_told(core: client.CoreV1Api, shop: str) -> None:
    held = await core.create_namespaced_config_map(shop, config_map("one"))
    await core.patch_namespaced_config_map("one", shop, {"data": {"c": "d"}})
    with pytest.raises(ApiException) as error:
        await core.replace_namespaced_config_map("one", shop, held)
    assert refused(error) == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your '
            "changes to the latest version and try again"
        ),
    )


async def test_a_name_can_be_taken_once_and_has_to_be_one(core: client.CoreV1Api, shop: str) -> None:
    await core.create_namespaced_config_map(shop, config_map("one"))
    with pytest.raises(ApiException) as taken:
        await core.create_namespaced_config_map(shop, config_map("one"))
    assert refused(taken) == (409, "AlreadyExists", 'configmaps "one" already exists')
    with pytest.raises(ApiException) as bad:
        await core.create_namespaced_config_map(shop, config_map("Bad_Name"))
    status, reason, message = refused(bad)
    assert (status, reason) == (422, "Invalid")
    assert message.startswith('ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase')


async def test_a_list_is_read_in_pages_to_its_end(core: client.CoreV1Api, shop: str) -> None:
    for number in range(7):
        await core.create_namespaced_config_map(shop, config_map(f"one-{number}", part="mine"))
    page = await core.list_namespaced_config_map(shop, limit=3, label_selector="part=mine")
    found, versions = [one.metadata.name for one in page.items], {page.metadata.resource_version}
    while page.metadata._continue:
        page = await core.list_namespaced_config_map(
            shop, limit=3, label_selector="part=mine", _continue=page.metadata._continue
        )
        found += [one.metadata.name for one in page.items]
        versions.add(page.metadata.resource_version)
    assert found == [f"one-{number}" for number in range(7)]
    assert len(versions) == 1
    counted = await core.list_namespaced_config_map(shop, limit=1)
    assert counted.metadata.remaining_item_count >= 6


async def test_a_continue_token_that_is_none_is_400(core: client.CoreV1Api, shop: str) -> None:
    with pytest.raises(ApiException) as error:
        await core.list_namespaced_config_map(shop, limit=1, _continue="bogus")
    status, reason, message = refused(error)
    assert (status, reason) == (400, "BadRequest")
    # Newer API servers say the second.
    assert message.startswith(("continue key is not valid: ", "invalid continue token: "))


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("tier=front", ["one"]),
        ("tier!=front", ["three", "two"]),
        ("tier in (front,back)", ["one", "two"]),
        ("!tier", ["three"]),
        ("tier,part notin (b)", ["one"]),
    ],
)
async def test_labels_select(core: client.CoreV1Api, shop: str, selector: str, names: list[str]) -> None:
    await core.create_namespaced_config_map(shop, config_map("one", tier="front", made="y"))
    await core.create_namespaced_config_map(shop, config_map("two", tier="back", part="b", made="y"))
    await core.create_namespaced_config_map(shop, config_map("three", made="y"))
    found = await core.list_namespaced_config_map(shop, label_selector=f"made=y,{selector}")
    assert [one.metadata.name for one in found.items] == names


async def test_fields_select_and_unknown_ones_are_400(core: client.CoreV1Api, shop: str) -> None:
    await core.create_namespaced_pod(shop, pod("one"))
    await core.create_namespaced_pod(shop, pod("two"))
    found = await core.list_namespaced_pod(shop, field_selector="metadata.name!=one,status.phase=Pending")
    assert [one.metadata.name for one in found.items] == ["two"]
    assert (await core.list_namespaced_pod(shop, field_selector="spec.nodeName=x")).items == []
    with pytest.raises(ApiException) as error:
        await core.list_namespaced_pod(shop, field_selector="spec.foo=1")
    assert refused(error) == (400, "BadRequest", "field label not supported: spec.foo")
    with pytest.raises(ApiException) as other:
        await core.list_namespaced_config_map(shop, field_selector="data.a=b")
    assert refused(other)[2] == ('"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"')


async def test_preconditions_and_finalizers_hold_a_deletion(core: client.CoreV1Api, shop: str) -> None:
    made = await core.create_namespaced_pod(shop, pod("one"))
    with pytest.raises(ApiException) as error:
        await core.delete_namespaced_pod("one", shop, body={"preconditions": {"uid": "other"}})
    status, reason, message = refused(error)
    assert (status, reason) == (409, "Conflict")
    assert message.startswith("Operation cannot be fulfilled on ")
    assert f"the UID in the precondition (other) does not match the UID in record ({made.metadata.uid})" in message
    await core.patch_namespaced_pod("one", shop, {"metadata": {"finalizers": ["example.com/wait"]}})
    await core.delete_namespaced_pod("one", shop, grace_period_seconds=0)
    assert (await core.read_namespaced_pod("one", shop)).metadata.deletion_timestamp
    await core.patch_namespaced_pod("one", shop, {"metadata": {"finalizers": None}})
    with pytest.raises(ApiException) as gone:
        await core.read_namespaced_pod("one", shop)
    assert gone.value.status == 404


async def test_a_budget_refuses_an_eviction(core: client.CoreV1Api, api: client.ApiClient, shop: str) -> None:
    policy = client.PolicyV1Api(api)
    await core.create_namespaced_pod(shop, pod("one", app="web"))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await core.patch_namespaced_pod_status("one", shop, {"status": ready})
    made = await policy.create_namespaced_pod_disruption_budget(
        shop, bodies.budget("web", namespace=shop, minAvailable=1)
    )
    eviction = {"metadata": {"name": "one", "namespace": shop}}
    with pytest.raises(ApiException) as processed:
        await core.create_namespaced_pod_eviction("one", shop, eviction)
    assert refused(processed)[:2] == (429, "TooManyRequests")
    counted = {
        "observedGeneration": made.metadata.generation,
        "disruptionsAllowed": 0,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    await policy.patch_namespaced_pod_disruption_budget_status("web", shop, {"status": counted})
    with pytest.raises(ApiException) as error:
        await core.create_namespaced_pod_eviction("one", shop, eviction)
    assert refused(error) == (
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    (cause,) = json.loads(error.value.body)["details"]["causes"]
    assert cause == {
        "reason": "DisruptionBudget",
        "message": "The disruption budget web needs 1 healthy pods and has 1 currently",
    }
    budget = bodies.budget("two", namespace=shop, minAvailable=1)
    await policy.create_namespaced_pod_disruption_budget(shop, budget)
    with pytest.raises(ApiException) as both:
        await core.create_namespaced_pod_eviction("one", shop, eviction)
    assert (both.value.status, "more than one PodDisruptionBudget" in both.value.body) == (500, True)


async def test_rbac_decides_and_says_why_not(
    cluster: Cluster, core: client.CoreV1Api, api: client.ApiClient, shop: str
) -> None:
    rbac = client.RbacAuthorizationV1Api(api)
    await rbac.create_cluster_role({"metadata": {"name": "look"}, "rules": bodies.READER_RULES})
    await rbac.create_cluster_role_binding(
        {
            "metadata": {"name": "look"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "look"},
            "subjects": [{"kind": "User", "name": READER, "apiGroup": "rbac.authorization.k8s.io"}],
        }
    )
    where = f'in the namespace "{shop}"'
    asked = {"spec": {"resourceAttributes": {"verb": "list", "resource": "nodes"}}}
    async with cluster.client(READER_TOKEN) as reader:
        assert (await client.CoreV1Api(reader).list_node()).items == []
        answer = await client.AuthorizationV1Api(reader).create_self_subject_access_review(asked)
        assert answer.status.allowed is True
        with pytest.raises(ApiException) as error:
            await client.CoreV1Api(reader).list_namespaced_secret(shop)
        assert refused(error) == (
            403,
            "Forbidden",
            f'secrets is forbidden: User "{READER}" cannot list resource "secrets" in API group "" {where}',
        )
    async with cluster.client(NOBODY_TOKEN) as nobody:
        answer = await client.AuthorizationV1Api(nobody).create_self_subject_access_review(asked)
        assert answer.status.allowed is False
        with pytest.raises(ApiException) as error:
            await client.CoreV1Api(nobody).list_node()
        assert refused(error)[2] == (
            'nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope'
        )
    async with cluster.client("forged") as nobody:
        with pytest.raises(ApiException) as error:
            await client.CoreV1Api(nobody).list_node()
        assert refused(error) == (401, "Unauthorized", "Unauthorized")


async def test_custom_kinds_are_served_after_their_definition(
    api: client.ApiClient, core: client.CoreV1Api, shop: str
) -> None:
    await client.ApiextensionsV1Api(api).create_custom_resource_definition(bodies.definition())
    custom = client.CustomObjectsApi(api)
    body = bodies.widget("one") | {"metadata": {"name": "one"}}
    made = await _once_served(custom, shop, body)
    assert (made["metadata"]["generation"], made["spec"]) == (1, {"size": 3})
    listed = await custom.list_namespaced_custom_object("example.com", "v1beta1", shop, "widgets")
    assert [item["apiVersion"] for item in listed["items"]] == ["example.com/v1beta1"]


async def _once_served(custom: client.CustomObjectsApi, shop: str, body: Body) -> Body:
    """A real server takes a moment to serve a new kind."""
    for _ in range(200):
        try:
            made: Body = await custom.create_namespaced_custom_object("example.com", "v1", shop, "widgets", body)
        except ApiException as error:
            assert error.status == 404  # noqa: PT017
        else:
            return made
    pytest.fail("the new kind is not served")


async def test_tables_have_the_same_columns(api: client.ApiClient, core: client.CoreV1Api, shop: str) -> None:
    await core.create_namespaced_pod(shop, pod("one"))
    for path, names in (
        ("/api/v1/nodes", ["Name", "Status", "Roles", "Age", "Version"]),
        (f"/api/v1/namespaces/{shop}/pods", ["Name", "Ready", "Status", "Restarts", "Age"]),
        (
            "/apis/policy/v1/poddisruptionbudgets",
            ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"],
        ),
        ("/apis/apps/v1/deployments", ["Name", "Ready", "Up-to-date", "Available", "Age"]),
        ("/api/v1/events", ["Last Seen", "Type", "Reason", "Object", "Message"]),
        ("/api/v1/services", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"]),
        ("/api/v1/namespaces", ["Name", "Status", "Age"]),
    ):
        table = await _raw(api, path, "application/json;as=Table;v=v1;g=meta.k8s.io")
        shown = [column["name"] for column in table["columnDefinitions"] if column["priority"] == 0]
        assert shown == names, path
    rows = (await _raw(api, f"/api/v1/namespaces/{shop}/pods", "application/json;as=Table;v=v1;g=meta.k8s.io"))["rows"]
    assert rows[0]["cells"][:4] == ["one", "0/1", "Pending", "0"]


async def _raw(api: client.ApiClient, path: str, accept: str) -> Body:
    answer = await api.rest_client.request(
        "GET", api.configuration.host + path, headers={"Accept": accept, **_authorization(api)}
    )
    body: Body = json.loads(await answer.read())
    return body


def _authorization(api: client.ApiClient) -> dict[str, str]:
    return {"Authorization": api.configuration.api_key["BearerToken"]}
