"""Authorization: patterns, deny assignments, locks, and disabled subscriptions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.arm.rbac import matches
from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    GROUP,
    NETWORK_VERSION,
    NODE_GROUP,
    OTHER_SUB,
    POOL,
    READER,
    SCALE_SET,
    SKUS,
    SUBSCRIPTION,
    USAGES,
    VNET,
    WRITER,
    Body,
    lock,
    pool,
    subnet,
)


@pytest.mark.parametrize(
    ("pattern", "action", "covered"),
    [
        ("*", "Microsoft.Compute/disks/write", True),
        ("*/read", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read", True),
        ("*/read", "Microsoft.Compute/disks/write", False),
        ("Microsoft.Compute/*", "microsoft.compute/DISKS/read", True),
        ("Microsoft.Compute/*/read", "Microsoft.Compute/skus/read", True),
        ("Microsoft.Compute/disks/read", "Microsoft.Compute/disks/reads", False),
        ("Microsoft.Compute/disks.read", "Microsoft.Compute/disks/read", False),
    ],
)
def test_a_pattern_covers_an_action(pattern: str, action: str, covered: bool) -> None:
    assert matches(pattern, action) is covered


@pytest.mark.parametrize(
    ("path", "version", "action", "scope"),
    [
        (CLUSTER, AKS_VERSION, "Microsoft.ContainerService/managedClusters/read", CLUSTER),
        (POOL, AKS_VERSION, "Microsoft.ContainerService/managedClusters/agentPools/read", POOL),
        (f"{CLUSTER}/agentPools", AKS_VERSION, "Microsoft.ContainerService/managedClusters/agentPools/read", CLUSTER),
        (
            f"{GROUP}/providers/Microsoft.Network/virtualNetworks",
            NETWORK_VERSION,
            "Microsoft.Network/virtualNetworks/read",
            f"{GROUP}/providers/Microsoft.Network",
        ),
        (
            f"{SCALE_SET}/virtualMachines",
            COMPUTE_VERSION,
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
            SCALE_SET,
        ),
        (USAGES, COMPUTE_VERSION, "Microsoft.Compute/locations/usages/read", None),
        (SKUS, "2021-07-01", "Microsoft.Compute/skus/read", None),
        (f"{VNET}/usages", NETWORK_VERSION, "Microsoft.Network/virtualNetworks/usages/read", VNET),
        (SUBSCRIPTION, "2022-12-01", "Microsoft.Resources/subscriptions/read", SUBSCRIPTION),
        (GROUP, "2022-09-01", "Microsoft.Resources/subscriptions/resourceGroups/read", GROUP),
        (
            f"{SUBSCRIPTION}/resourceGroups",
            "2022-09-01",
            "Microsoft.Resources/subscriptions/resourceGroups/read",
            SUBSCRIPTION,
        ),
        (f"{GROUP}/providers/Microsoft.Authorization/locks", "2016-09-01", "Microsoft.Authorization/locks/read", None),
    ],
)
async def test_without_the_action_a_read_is_403_and_with_it_200(
    arm: ArmServer, reader: Caller, path: str, version: str, action: str, scope: str | None
) -> None:
    assert (await reader.get(path, version)).status == 200
    arm.deny("reader", action)
    reply = await reader.get(path, version)
    assert (reply.status, reply.error["code"]) == (403, "AuthorizationFailed")
    assert f"perform action '{action}' over scope '" in reply.error["message"]
    if scope:
        assert f"over scope '{scope}' or the scope is invalid." in reply.error["message"]
    assert f"with object id '{READER.object_id}'" in reply.error["message"]
    assert reply.headers["x-ms-failure-cause"] == "gateway"


async def test_an_action_can_be_taken_away_below_one_scope_only(arm: ArmServer, reader: Caller) -> None:
    arm.deny("reader", "*/read", NODE_GROUP)
    assert (await reader.get(SCALE_SET, COMPUTE_VERSION)).status == 403
    assert (await reader.get(CLUSTER, AKS_VERSION)).status == 200


async def test_a_principal_may_act_only_in_its_scopes(world: World, reader: Caller) -> None:
    world.principals[0] = replace(READER, scopes=(f"/subscriptions/{OTHER_SUB}",))
    assert (await reader.get(CLUSTER, AKS_VERSION)).status == 403
    assert (await reader.get(f"/subscriptions/{OTHER_SUB}/resourceGroups")).status == 200


async def test_not_actions_take_away_what_actions_gave(writer: Caller) -> None:
    hold = f"{GROUP}/providers/Microsoft.Authorization/locks/hold"
    assert (await writer("PUT", hold, "2016-09-01", json={"properties": {"level": "ReadOnly"}})).status == 201
    reply = await writer("DELETE", hold, "2016-09-01")
    assert "'Microsoft.Authorization/locks/delete'" in reply.error["message"]


@pytest.mark.parametrize(
    ("method", "path", "version", "action"),
    [
        ("PUT", POOL, AKS_VERSION, "Microsoft.ContainerService/managedClusters/agentPools/write"),
        ("PATCH", CLUSTER, AKS_VERSION, "Microsoft.ContainerService/managedClusters/write"),
        ("DELETE", VNET, NETWORK_VERSION, "Microsoft.Network/virtualNetworks/delete"),
        ("POST", f"{CLUSTER}/stop", AKS_VERSION, "Microsoft.ContainerService/managedClusters/stop/action"),
        (
            "POST",
            f"{SCALE_SET}/manualupgrade",
            COMPUTE_VERSION,
            "Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action",
        ),
    ],
)
async def test_a_reader_may_not_write(
    arm: ArmServer, world: World, reader: Caller, method: str, path: str, version: str, action: str
) -> None:
    before = dict(world.resources)
    reply = await reader(method, path, version, json={})
    assert (reply.status, reply.error["code"]) == (403, "AuthorizationFailed")
    assert f"'{action}'" in reply.error["message"]
    assert world.resources == before
    assert [(entry.action, entry.is_write) for entry in arm.calls] == [(action, True)]


async def test_a_missing_resource_is_403_before_it_is_404(nobody: Caller, reader: Caller) -> None:
    assert (await nobody.get(f"{CLUSTER}x", AKS_VERSION)).status == 403
    assert (await reader.get(f"{CLUSTER}x", AKS_VERSION)).status == 404


def lockdown(excluded: str = "") -> Body:
    return {
        "id": f"{NODE_GROUP}/providers/Microsoft.Authorization/denyAssignments/dddddddd-0000-4000-8000-000000000001",
        "name": "dddddddd-0000-4000-8000-000000000001",
        "type": "Microsoft.Authorization/denyAssignments",
        "properties": {
            "denyAssignmentName": "aks-managed-lockdown",
            "scope": NODE_GROUP,
            "permissions": [{"actions": ["*"], "notActions": ["*/read"]}],
            "principals": [{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}],
            "excludePrincipals": [{"id": excluded, "type": "ServicePrincipal"}] if excluded else [],
        },
    }


async def test_a_deny_assignment_stops_even_those_who_may(world: World, writer: Caller, reader: Caller) -> None:
    world.put(lockdown())
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["0"]})
    assert (reply.status, reply.error["code"]) == (403, "DenyAssignmentAuthorizationFailed")
    assert (
        "has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action'"
        in reply.error["message"]
    )
    named = "the deny assignment with name 'aks-managed-lockdown' and Id 'dddddddd000040008000000000000001'"
    assert f"{named} at scope '{NODE_GROUP}'" in reply.error["message"]
    assert (await reader.get(SCALE_SET, COMPUTE_VERSION)).status == 200
    listed = await reader.get(f"{SCALE_SET}/providers/Microsoft.Authorization/denyAssignments", "2022-04-01")
    assert listed.names == ["dddddddd-0000-4000-8000-000000000001"]


async def test_a_deny_assignment_leaves_out_whom_it_excludes(world: World, writer: Caller) -> None:
    world.put(lockdown(excluded=WRITER.object_id))
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["0"]})
    assert reply.status == 202


@pytest.mark.parametrize("scope", [SUBSCRIPTION, GROUP, VNET])
@pytest.mark.parametrize(("method", "verb"), [("PUT", "write"), ("PATCH", "write"), ("DELETE", "delete")])
async def test_a_read_only_lock_stops_every_write_below_it(
    world: World, writer: Caller, scope: str, method: str, verb: str
) -> None:
    world.put(lock(scope, "ReadOnly"))
    reply = await writer(method, f"{VNET}/subnets/nodes", NETWORK_VERSION, json=subnet())
    assert (reply.status, reply.error["code"]) == (409, "ScopeLocked")
    assert reply.error["message"] == (
        f"The scope '{VNET}/subnets/nodes' cannot perform {verb} operation because following scope(s) are locked: "
        f"'{scope}'. Please remove the lock and try again."
    )


async def test_a_read_only_lock_stops_posts_but_not_questions(world: World, writer: Caller, reader: Caller) -> None:
    world.put(lock(GROUP, "ReadOnly"))
    reply = await writer("POST", f"{CLUSTER}/listClusterUserCredential", AKS_VERSION)
    assert (reply.status, reply.error["code"]) == (409, "ScopeLocked")
    assert "cannot perform write operation" in reply.error["message"]
    question = f"{GROUP}/providers/Microsoft.PolicyInsights/policyStates/latest/queryResults"
    assert (await reader("POST", question, "2019-10-01")).status == 200
    assert (
        await reader("POST", "/providers/Microsoft.ResourceGraph/resources", "2022-10-01", json={"query": "Resources"})
    ).status == 200


async def test_a_cannot_delete_lock_stops_deletes_only_also_those_of_parents(world: World, writer: Caller) -> None:
    world.put(lock(f"{VNET}/subnets/nodes", "CanNotDelete"))
    assert (await writer("PUT", f"{VNET}/subnets/nodes", NETWORK_VERSION, json=subnet())).status == 200
    for path in (f"{VNET}/subnets/nodes", VNET):
        assert (await writer("DELETE", path, NETWORK_VERSION)).error["code"] == "ScopeLocked"


async def test_any_lock_in_the_node_group_makes_aks_refuse(world: World, writer: Caller) -> None:
    world.put(lock(SCALE_SET, "CanNotDelete"))
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 1))
    assert (reply.status, list(reply.body)) == (400, ["code", "details", "message", "subcode"])
    assert "Resource group 'MC_rg-prod_prod-weu_westeurope' under subscription" in reply.body["message"]
    assert "is locked, please remove lock and retry" in reply.body["message"]
    del world.resources[f"{SCALE_SET}/providers/Microsoft.Authorization/locks/hold".lower()]
    assert (await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 1))).status == 200


@pytest.mark.parametrize(("state", "status"), [("Enabled", 200), ("PastDue", 200), ("Warned", 409), ("Disabled", 409)])
async def test_a_disabled_subscription_is_read_only(world: World, writer: Caller, state: str, status: int) -> None:
    world.resources[SUBSCRIPTION]["state"] = state
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"))
    assert reply.status == status
    if status == 409:
        assert reply.error["code"] == "ReadOnlyDisabledSubscription"
    assert (await writer.get(POOL, AKS_VERSION)).status == 200


async def test_policy_states_are_a_question_with_a_permission_of_its_own(
    world: World, arm: ArmServer, reader: Caller
) -> None:
    world.policy_states = [
        {
            "resourceId": CLUSTER.lower(),
            "complianceState": "NonCompliant",
            "isCompliant": False,
            "policyAssignmentName": "a",
        },
        {"resourceId": VNET, "complianceState": "Compliant", "isCompliant": True, "policyAssignmentName": "b"},
        {"resourceId": f"/subscriptions/{OTHER_SUB}/x", "complianceState": "NonCompliant", "isCompliant": False},
    ]
    path = f"{SUBSCRIPTION}/providers/Microsoft.PolicyInsights/policyStates/latest/queryResults"
    reply = await reader("POST", path, "2019-10-01")
    assert (reply.body["@odata.count"], [row["policyAssignmentName"] for row in reply.body["value"]]) == (2, ["a", "b"])
    filtered = await reader("POST", path, "2019-10-01", dollar_filter="isCompliant eq false")
    assert [row["policyAssignmentName"] for row in filtered.body["value"]] == ["a"]
    below = await reader("POST", path.replace(SUBSCRIPTION, VNET), "2019-10-01")
    assert below.body["@odata.count"] == 1
    arm.deny("reader", "Microsoft.PolicyInsights/policyStates/queryResults/action")
    assert (
        "'Microsoft.PolicyInsights/policyStates/queryResults/action'"
        in (await reader("POST", path, "2019-10-01")).error["message"]
    )
