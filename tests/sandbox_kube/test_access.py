"""RBAC decisions, and the wording of errors."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_kube.bodies import EDITOR_TOKEN, NOBODY_TOKEN, READER, READER_TOKEN
from tests.sandbox_kube.conftest import Caller, caller

REVIEWS = "/apis/authorization.k8s.io/v1"
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture
def reader(session: aiohttp.ClientSession, kube: KubeServer) -> Caller:
    return caller(session, kube, READER_TOKEN)


@pytest.fixture
def nobody(session: aiohttp.ClientSession, kube: KubeServer) -> Caller:
    return caller(session, kube, NOBODY_TOKEN)


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "GET",
            "/api/v1/pods",
            'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" at the cluster scope',
        ),
        (
            "GET",
            "/api/v1/nodes/node-1",
            (
                'nodes "node-1" is forbidden: User "nobody" cannot get resource "nodes" in API group "" at the cluster '
                "scope"
            ),
        ),
        (
            "DELETE",
            "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web",
            (
                'poddisruptionbudgets.policy "web" is forbidden: User "nobody" cannot delete resource '
                '"poddisruptionbudgets" in API group "policy" in the namespace "shop"'
            ),
        ),
        (
            "POST",
            "/api/v1/namespaces/default/pods/web-1/eviction",
            (
                'pods "web-1" is forbidden: User "nobody" cannot create resource "pods/eviction" in API group "" '
                'in the namespace "default"'
            ),
        ),
        ("GET", "/metrics", 'forbidden: User "nobody" cannot get path "/metrics"'),
    ],
)
async def test_a_403_names_the_user_the_verb_and_the_resource(
    nobody: Caller, method: str, path: str, message: str
) -> None:
    reply = await nobody(method, path, body={})
    assert reply.said == (403, "Forbidden", message)


async def test_the_details_of_a_403_name_the_resource(nobody: Caller) -> None:
    reply = await nobody.get("/apis/apps/v1/namespaces/default/deployments/web")
    assert reply.body["details"] == {"name": "web", "group": "apps", "kind": "deployments"}


async def test_a_403_comes_before_a_404(nobody: Caller) -> None:
    assert (await nobody.get("/api/v1/nodes/none")).status == 403


async def test_rules_name_groups_resources_and_verbs(reader: Caller) -> None:
    assert (await reader.get("/api/v1/nodes")).status == 200
    assert (await reader.get("/apis/policy/v1/poddisruptionbudgets")).status == 200
    assert (await reader.get("/apis/metrics.k8s.io/v1beta1/nodes")).status == 200
    assert (await reader.get("/api/v1/secrets")).status == 403
    assert (await reader.get("/apis/apps/v1/deployments")).status == 403
    assert (await reader.get("/api/v1/namespaces/default/pods/web-1/log")).status == 403
    assert (await reader.delete("/api/v1/namespaces/default/pods/web-1")).status == 403


@pytest.mark.parametrize(
    ("rule", "path", "status"),
    [
        ({"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}, "/pods/web-1/log", 200),
        ({"apiGroups": [""], "resources": ["*/log"], "verbs": ["get"]}, "/pods/web-1/log", 200),
        ({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}, "/pods/web-1/log", 403),
        ({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, "/pods/web-1/log", 200),
        ({"apiGroups": ["apps"], "resources": ["pods"], "verbs": ["get"]}, "/pods/web-1", 403),
        ({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["web-1"]}, "/pods/web-1", 200),
        ({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["web-1"]}, "/pods/web-2", 403),
        ({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"], "resourceNames": ["web-1"]}, "/pods", 403),
        (
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"], "resourceNames": ["web-1"]},
            "/pods?fieldSelector=metadata.name%3Dweb-1",
            200,
        ),
    ],
)
async def test_rules_are_taken_at_their_word(
    world: KubeWorld, nobody: Caller, rule: dict[str, Any], path: str, status: int
) -> None:
    world.grant("nobody", [rule])
    assert (await nobody.get(f"/api/v1/namespaces/default{path}")).status == status


async def test_a_role_holds_in_its_namespace_only(world: KubeWorld, nobody: Caller) -> None:
    role = {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": "look", "namespace": "default"}}
    world.put(role | {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]})
    world.put(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "look", "namespace": "default"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "look"},
            "subjects": [{"kind": "User", "name": "nobody", "apiGroup": RBAC}],
        }
    )
    assert (await nobody.get("/api/v1/namespaces/default/pods")).status == 200
    assert (await nobody.get("/api/v1/namespaces/kube-system/pods")).status == 403
    assert (await nobody.get("/api/v1/pods")).status == 403


async def test_what_is_taken_away_is_gone_for_one_user(kube: KubeServer, reader: Caller, admin: Caller) -> None:
    kube.deny(READER, "list", "pods")
    assert (await reader.get("/api/v1/pods")).status == 403
    assert (await reader.get("/api/v1/nodes")).status == 200
    assert (await admin.get("/api/v1/pods")).status == 200
    kube.deny("*", "*", "*")
    assert (await admin.get("/version")).status == 403


async def test_who_may_impersonate_is_somebody_else(admin: Caller, reader: Caller) -> None:
    said = []
    for asking in (admin, reader):
        headers = {**asking.headers(), "Impersonate-User": "somebody"}
        async with asking.session.get(asking.address("/api/v1/pods"), headers=headers) as response:
            said.append((response.status, (await response.json())["message"]))
    assert said[0][0] == said[1][0] == 403
    assert 'User "somebody" cannot list resource "pods"' in said[0][1]
    assert f'users "somebody" is forbidden: User "{READER}" cannot impersonate resource "users"' in said[1][1]


async def test_everybody_may_ask_what_they_may(reader: Caller, nobody: Caller) -> None:
    def asked(verb: str) -> dict[str, Any]:
        return {"spec": {"resourceAttributes": {"verb": verb, "resource": "pods", "namespace": "default"}}}

    reply = await reader.post(f"{REVIEWS}/selfsubjectaccessreviews", asked("list"))
    assert reply.status == 201
    assert reply.body["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to User '
        '"system:serviceaccount:kube-system:reader"',
    }
    assert (await reader.post(f"{REVIEWS}/selfsubjectaccessreviews", asked("delete"))).body["status"] == {
        "allowed": False
    }
    assert (await nobody.post(f"{REVIEWS}/selfsubjectaccessreviews", asked("list"))).body["status"]["allowed"] is False


async def test_a_review_has_to_ask_about_one_thing(reader: Caller) -> None:
    assert (await reader.post(f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {}})).status == 400
    assert (await reader.post(f"{REVIEWS}/selfsubjectaccessreviews", {})).status == 400
    path = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}}
    assert (await reader.post(f"{REVIEWS}/selfsubjectaccessreviews", path)).body["status"]["allowed"] is True


async def test_who_may_review_others_may_ask_for_them(session: aiohttp.ClientSession, kube: KubeServer) -> None:
    asked = {"spec": {"user": READER, "resourceAttributes": {"verb": "get", "resource": "nodes"}}}
    editor, reader = caller(session, kube, EDITOR_TOKEN), caller(session, kube, READER_TOKEN)
    assert (await editor.post(f"{REVIEWS}/subjectaccessreviews", asked)).body["status"]["allowed"] is True
    assert (await reader.post(f"{REVIEWS}/subjectaccessreviews", asked)).status == 403
    assert not kube.log[0].is_write


async def test_the_rules_that_hold_for_one_are_listed(reader: Caller) -> None:
    reply = await reader.post(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
    listed = reply.body["status"]["resourceRules"]
    assert any("poddisruptionbudgets" in rule["resources"] for rule in listed)
    assert not any("secrets" in rule["resources"] for rule in listed)
