"""Extension resources at a scope: locks, role and policy assignments, exemptions, diagnostic settings."""

from __future__ import annotations

import pytest

from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    CLUSTER,
    GROUP,
    NODE_GROUP,
    READER,
    SCALE_SET,
    SUBNET,
    SUBSCRIPTION,
    VNET,
    WRITER,
    lock,
    policy_assignment,
    role_assignment,
)

LOCKS = "providers/Microsoft.Authorization/locks"
ROLES = "providers/Microsoft.Authorization/roleAssignments"
POLICIES = "providers/Microsoft.Authorization/policyAssignments"
SETTINGS = "providers/Microsoft.Insights/diagnosticSettings"
MANAGEMENT = "/providers/Microsoft.Management/managementGroups/mg"


@pytest.fixture
def locked(world: World) -> World:
    for scope, name in (
        (SUBSCRIPTION, "all"),
        (GROUP, "group"),
        (CLUSTER, "cluster"),
        (NODE_GROUP, "other"),
        (SCALE_SET, "vmss"),
    ):
        world.put(lock(scope, name=name))
    return world


@pytest.mark.parametrize(
    ("scope", "filtered", "names"),
    [
        (SUBSCRIPTION, "", ["all", "group", "cluster", "other", "vmss"]),
        (SUBSCRIPTION, "atScope()", ["all"]),
        (GROUP, "", ["all", "group", "cluster"]),
        (GROUP, "atScope()", ["all", "group"]),
        (NODE_GROUP, "", ["all", "other", "vmss"]),
        (CLUSTER, "", ["all", "group", "cluster"]),
    ],
)
async def test_locks_of_a_scope_include_those_of_its_children(
    locked: World, reader: Caller, scope: str, filtered: str, names: list[str]
) -> None:
    params = {"dollar_filter": filtered} if filtered else {}
    assert (await reader.get(f"{scope}/{LOCKS}", "2016-09-01", **params)).names == names


async def test_a_filter_that_locks_do_not_have_is_refused(reader: Caller) -> None:
    assert (await reader.get(f"{GROUP}/{LOCKS}", "2016-09-01", dollar_filter="level eq 'ReadOnly'")).status == 400


@pytest.fixture
def assigned(world: World) -> World:
    world.put(role_assignment(SUBSCRIPTION, READER.object_id, "sub"))
    world.put(role_assignment(GROUP, WRITER.object_id, "group"))
    world.put(role_assignment(SUBNET, READER.object_id, "subnet"))
    return world


@pytest.mark.parametrize(
    ("scope", "filtered", "names"),
    [
        (GROUP, "", ["sub", "group", "subnet"]),
        (GROUP, "atScope()", ["sub", "group"]),
        (SUBNET, "atScope()", ["sub", "group", "subnet"]),
        (SUBSCRIPTION, f"principalId eq '{READER.object_id}'", ["sub", "subnet"]),
        (SUBSCRIPTION, f"principalId eq {READER.object_id.upper()}", ["sub", "subnet"]),
        (GROUP, f"atScope() and principalId eq '{READER.object_id}'", ["sub"]),
        (SUBNET, f"assignedTo('{READER.object_id}')", ["sub", "subnet"]),
        (VNET, f"atScope() and assignedTo('{WRITER.object_id}')", ["group"]),
    ],
)
async def test_role_assignments_are_filtered_as_documented(
    assigned: World, reader: Caller, scope: str, filtered: str, names: list[str]
) -> None:
    params = {"dollar_filter": filtered} if filtered else {}
    assert (await reader.get(f"{scope}/{ROLES}", "2022-04-01", **params)).names == names


async def test_another_filter_on_role_assignments_is_refused_as_arm_does(assigned: World, reader: Caller) -> None:
    reply = await reader.get(f"{GROUP}/{ROLES}", "2022-04-01", dollar_filter="roleDefinitionId eq 'x'")
    assert (reply.status, reply.error["code"]) == (400, "UnsupportedQuery")
    assert "Supported filters are either 'atScope()'" in reply.error["message"]


@pytest.mark.parametrize(
    ("scope", "filtered", "names"),
    [
        (GROUP, "", ["mg", "sub", "group", "cluster"]),
        (GROUP, "atScope()", ["mg", "sub", "group"]),
        (GROUP, "atExactScope()", ["group"]),
        (GROUP, "atScopeAndBelow()", ["mg", "sub", "group", "cluster"]),
        (CLUSTER, "atScope()", ["mg", "sub", "group", "cluster"]),
        (NODE_GROUP, "atScope()", ["mg", "sub"]),
        (
            GROUP,
            "policyDefinitionId eq '/providers/Microsoft.Authorization/policyDefinitions/D1'",
            ["mg", "sub", "group", "cluster"],
        ),
        (GROUP, "policyDefinitionId eq '/providers/none'", []),
    ],
)
async def test_policy_assignments_are_those_that_apply(
    world: World, reader: Caller, scope: str, filtered: str, names: list[str]
) -> None:
    for at, name in ((MANAGEMENT, "mg"), (SUBSCRIPTION, "sub"), (GROUP, "group"), (CLUSTER, "cluster")):
        world.put(policy_assignment(at, name))
    params = {"dollar_filter": filtered} if filtered else {}
    assert (await reader.get(f"{scope}/{POLICIES}", "2022-06-01", **params)).names == names


async def test_policy_exemptions_are_found_by_their_assignment(world: World, reader: Caller) -> None:
    for scope, name in ((SUBSCRIPTION, "wide"), (CLUSTER, "narrow")):
        identity = f"{scope}/providers/Microsoft.Authorization/policyExemptions/{name}"
        world.put({"id": identity, "name": name, "properties": {"policyAssignmentId": f"/assignments/{name}"}})
    path = f"{GROUP}/providers/Microsoft.Authorization/policyExemptions"
    assert (await reader.get(path, "2022-07-01-preview")).names == ["wide", "narrow"]
    assert (await reader.get(path, "2022-07-01-preview", dollar_filter="atScope()")).names == ["wide"]
    wanted = "policyAssignmentId eq '/assignments/NARROW'"
    assert (await reader.get(path, "2022-07-01-preview", dollar_filter=wanted)).names == ["narrow"]


async def test_another_filter_on_policy_assignments_is_refused(reader: Caller) -> None:
    reply = await reader.get(f"{GROUP}/{POLICIES}", "2022-06-01", dollar_filter="displayName eq 'x'")
    assert (reply.status, reply.error["code"]) == (400, "InvalidFilterInQueryString")


async def test_diagnostic_settings_are_those_of_the_one_resource(world: World, reader: Caller) -> None:
    for scope in (CLUSTER, SUBSCRIPTION):
        world.put(
            {
                "id": f"{scope}/{SETTINGS}/audit",
                "name": "audit",
                "type": "Microsoft.Insights/diagnosticSettings",
                "properties": {},
            }
        )
    rows = (await reader.get(f"{CLUSTER}/{SETTINGS}", "2021-05-01-preview")).body["value"]
    assert [row["id"] for row in rows] == [f"{CLUSTER}/{SETTINGS}/audit"]
    assert {"location": None, "kind": None, "tags": None, "identity": None}.items() <= rows[0].items()
    assert (await reader.get(f"{VNET}/{SETTINGS}", "2021-05-01-preview")).body == {"value": []}


async def test_what_hangs_on_nothing_is_404(reader: Caller) -> None:
    for scope, code in ((f"{CLUSTER}x", "ResourceNotFound"), (f"{GROUP}x", "ResourceGroupNotFound")):
        reply = await reader.get(f"{scope}/{LOCKS}", "2016-09-01")
        assert (reply.status, reply.error["code"]) == (404, code)


async def test_a_built_in_role_is_found_under_any_scope(world: World, reader: Caller) -> None:
    role = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
    world.put(
        {
            "id": role,
            "name": "4d97b98b-1d4f-4787-a291-c67834d212e7",
            "properties": {"roleName": "Network Contributor", "type": "BuiltInRole"},
        }
    )
    assert (await reader.get(SUBSCRIPTION + role, "2022-04-01")).body["properties"]["roleName"] == "Network Contributor"
    path = f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions"
    assert (
        len((await reader.get(path, "2022-04-01", dollar_filter="roleName eq 'Network Contributor'")).body["value"])
        == 1
    )


async def test_the_caller_can_ask_what_it_may_do(reader: Caller, writer: Caller) -> None:
    path = f"{GROUP}/providers/Microsoft.Authorization/permissions"
    assert (await writer.get(path, "2022-04-01")).body["value"][0]["actions"] == ["*"]
    assert "*/read" in (await reader.get(path, "2022-04-01")).body["value"][0]["actions"]
