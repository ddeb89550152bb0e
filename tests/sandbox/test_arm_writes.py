"""What writes change, and what stops them: eTags, operations that run, fixed values, the world's rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.arm.server import ArmServer
from sandbox.world import Change, World, WriteRule
from tests.sandbox.conftest import Caller, Reply
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    GROUP,
    NETWORK_VERSION,
    NODE_GROUP,
    POOL,
    SCALE_SET,
    SUBNET,
    SUBSCRIPTION,
    USAGES,
    VNET,
    cluster,
    instance,
    pool,
    subnet,
)

QUOTA = {
    "code": "ErrCode_InsufficientVCPUQuota",
    "details": None,
    "message": "Insufficient vcpu quota requested 4, remaining 2 for family standardDSv5Family for region westeurope.",
    "subcode": "",
}


async def finish(caller: Caller, reply: Reply) -> dict[str, Any]:
    """Poll until the operation says how it ended."""
    while True:
        polled = await caller.follow(reply.headers["Azure-AsyncOperation"])
        body: dict[str, Any] = polled.body
        if body["status"] in ("Succeeded", "Failed", "Canceled"):
            return body


async def test_a_put_keeps_what_only_the_provider_may_set(world: World, writer: Caller) -> None:
    sent = pool("apps", 3)
    sent["properties"] |= {
        "provisioningState": "Failed",
        "currentOrchestratorVersion": "9.9.9",
        "nodeLabels": {"a": "b"},
    }
    reply = await writer("PUT", POOL, AKS_VERSION, json=sent)
    properties = reply.body["properties"]
    assert (reply.status, properties["provisioningState"]) == (200, "Scaling")
    assert (properties["count"], properties["nodeLabels"]) == (3, {"a": "b"})
    assert properties["currentOrchestratorVersion"] == "1.33.6"
    assert properties["eTag"] != "apps-etag-1"
    assert (await finish(writer, reply))["status"] == "Succeeded"
    assert world.resources[POOL.lower()]["properties"]["provisioningState"] == "Succeeded"


async def test_a_pool_shows_in_its_clusters_profiles_and_a_cluster_reaches_its_pools(
    world: World, writer: Caller
) -> None:
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 5))
    profiles = (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]["agentPoolProfiles"]
    assert [(one["name"], one["count"], one["provisioningState"]) for one in profiles] == [
        ("system", 2, "Succeeded"),
        ("apps", 5, "Scaling"),
    ]
    await finish(writer, reply)
    sent = (await writer.get(CLUSTER, AKS_VERSION)).body
    sent["properties"]["agentPoolProfiles"][0]["count"] = 3
    reply = await writer("PUT", CLUSTER, AKS_VERSION, json=sent)
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (200, "Updating")
    assert (await writer.get(f"{CLUSTER}/agentPools/system", AKS_VERSION)).body["properties"]["count"] == 3
    await finish(writer, reply)
    after = (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]
    assert [one["provisioningState"] for one in after["agentPoolProfiles"]] == ["Succeeded", "Succeeded"]


async def test_a_new_resource_is_201_creating_with_its_id_as_the_provider_writes_it(writer: Caller) -> None:
    sent = {"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}}
    path = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu/agentPools/fresh"
    reply = await writer("PUT", path, AKS_VERSION, json=sent)
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (201, "Creating")
    assert reply.body["id"] == f"{CLUSTER}/agentPools/fresh"
    await finish(writer, reply)
    names = [one["name"] for one in (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]["agentPoolProfiles"]]
    assert names == ["system", "apps", "fresh"]


async def test_an_upgrade_says_so_and_leaves_the_new_version_running(writer: Caller) -> None:
    sent = pool("apps")
    sent["properties"]["orchestratorVersion"] = "1.34.1"
    reply = await writer("PUT", POOL, AKS_VERSION, json=sent)
    assert reply.body["properties"]["provisioningState"] == "Upgrading"
    await finish(writer, reply)
    assert (await writer.get(POOL, AKS_VERSION)).body["properties"]["currentOrchestratorVersion"] == "1.34.1"


async def test_a_rule_makes_a_write_fail_with_the_error_left_in_the_resource(world: World, writer: Caller) -> None:
    usage = f"{USAGES}/standardDSv5Family"
    world.writes = [
        WriteRule(
            "PUT",
            POOL,
            interim=("ScalingAgentPool: 0/1 nodes completed",),
            ends="Failed",
            error=QUOTA,
            then=(
                Change(usage, patch={"currentValue": 50}),
                Change(CLUSTER, patch={"properties": {"provisioningState": "Failed"}}),
            ),
            times=1,
        )
    ]
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3))
    first = (await writer.follow(reply.headers["Azure-AsyncOperation"])).body
    assert first["status"] == "ScalingAgentPool: 0/1 nodes completed"
    ended = await finish(writer, reply)
    assert (ended["status"], ended["error"]) == ("Failed", QUOTA)
    held = world.resources[POOL.lower()]["properties"]
    assert (held["provisioningState"], held["status"]) == ("Failed", {"provisioningError": QUOTA})
    assert world.resources[CLUSTER.lower()]["properties"]["provisioningState"] == "Failed"
    assert world.tables[USAGES.lower()][1]["currentValue"] == 50
    again = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3))
    assert (await finish(writer, again))["status"] == "Succeeded", "the rule is used up"
    assert "status" not in world.resources[POOL.lower()]["properties"]


async def test_a_rule_can_refuse_at_once_and_then_nothing_changes(world: World, writer: Caller) -> None:
    world.writes = [WriteRule("PUT", POOL.upper(), refuse=(400, QUOTA))]
    before = dict(world.resources)
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 9))
    assert (reply.status, reply.body) == (400, QUOTA)
    assert world.resources == before
    assert [row["status"]["value"] for row in world.events] == ["Started", "Failed"]
    assert json.loads(world.events[1]["properties"]["statusMessage"]) == QUOTA


async def test_a_failed_reconcile_of_a_cluster_leaves_its_pools_as_they_were(world: World, writer: Caller) -> None:
    world.resources[POOL.lower()]["properties"]["provisioningState"] = "Failed"
    world.writes = [WriteRule("PUT", CLUSTER, ends="Failed", error=QUOTA)]
    sent = (await writer.get(CLUSTER, AKS_VERSION)).body
    await finish(writer, await writer("PUT", CLUSTER, AKS_VERSION, json=sent))
    states = {
        name: world.resources[f"{CLUSTER}/agentPools/{name}".lower()]["properties"]["provisioningState"]
        for name in ("system", "apps")
    }
    assert states == {"system": "Succeeded", "apps": "Failed"}


async def test_a_successful_reconcile_of_a_cluster_heals_its_pools(world: World, writer: Caller) -> None:
    world.resources[POOL.lower()]["properties"] |= {
        "provisioningState": "Failed",
        "status": {"provisioningError": QUOTA},
    }
    sent = (await writer.get(CLUSTER, AKS_VERSION)).body
    await finish(writer, await writer("PUT", CLUSTER, AKS_VERSION, json=sent))
    assert world.resources[POOL.lower()]["properties"]["provisioningState"] == "Succeeded"
    assert "status" not in world.resources[POOL.lower()]["properties"]


# -- eTags ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "version", "body", "right", "wrong_status"),
    [
        (POOL, AKS_VERSION, pool("apps"), "apps-etag-1", 409),
        (CLUSTER, AKS_VERSION, cluster(), "cluster-etag-1", 409),
        (SUBNET, NETWORK_VERSION, subnet(), 'W/"subnet-etag-1"', 412),
    ],
)
async def test_if_match_lets_only_those_write_who_saw_the_latest(
    writer: Caller, path: str, version: str, body: dict[str, Any], right: str, wrong_status: int
) -> None:
    refused = await writer("PUT", path, version, json=body, headers={"If-Match": '"another"'})
    assert refused.status == wrong_status
    assert refused.body.get("code", refused.body.get("error", {}).get("code")) in ("EtagMismatch", "PreconditionFailed")
    accepted = await writer("PUT", path, version, json=body, headers={"If-Match": right})
    assert accepted.status == 200


async def test_aks_words_a_stale_etag_as_another_operation(writer: Caller) -> None:
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"), headers={"If-Match": "old"})
    assert reply.body["details"] == [
        {"code": "Unspecified", "message": "rpc error: code = FailedPrecondition desc = Etag mismatched"}
    ]


async def test_if_none_match_refuses_to_overwrite(writer: Caller) -> None:
    assert (await writer("PUT", SUBNET, NETWORK_VERSION, json=subnet(), headers={"If-None-Match": "*"})).status == 412
    fresh = f"{VNET}/subnets/fresh"
    sent = {"properties": {"addressPrefix": "10.1.9.0/24"}}
    assert (await writer("PUT", fresh, NETWORK_VERSION, json=sent, headers={"If-None-Match": "*"})).status == 201


# -- one thing at a time ----------------------------------------------------------------------------------------------


async def test_while_a_cluster_is_written_aks_refuses_other_writes_to_it(arm: ArmServer, writer: Caller) -> None:
    running = await writer("PUT", CLUSTER, AKS_VERSION, json=cluster())
    for path, body in ((CLUSTER, cluster()), (POOL, pool("apps"))):
        reply = await writer("PUT", path, AKS_VERSION, json=body)
        assert (reply.status, list(reply.body)) == (409, ["code", "details", "message", "subcode"])
        assert reply.body["code"] == "OperationNotAllowed"
        assert "there's an in progress update managed cluster operation (operation ID: " in reply.body["message"]
    await finish(writer, running)
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"))
    assert reply.status == 200
    arm.finish_operations()
    assert (await writer("PUT", CLUSTER, AKS_VERSION, json=cluster())).status == 200


async def test_a_cluster_that_says_it_is_upgrading_is_busy_too(world: World, writer: Caller) -> None:
    world.resources[CLUSTER.lower()]["properties"]["provisioningState"] = "Upgrading"
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps"))
    assert (reply.status, "in progress upgrade managed cluster" in reply.body["message"]) == (409, True)


async def test_network_refuses_a_second_operation_and_says_where_to_look(writer: Caller) -> None:
    await writer("PUT", SUBNET, NETWORK_VERSION, json=subnet())
    reply = await writer(
        "PUT", f"{VNET}/subnets/other", NETWORK_VERSION, json={"properties": {"addressPrefix": "10.1.8.0/24"}}
    )
    assert (reply.status, reply.error["code"]) == (409, "AnotherOperationInProgress")
    assert "/providers/Microsoft.Network/locations/westeurope/operations/" in reply.error["message"]


# -- what cannot be written -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code", "target"),
    [
        ({"vmSize": "Standard_D8s_v5"}, "PropertyChangeNotAllowed", "properties.vmSize"),
        ({"count": -1}, "InvalidParameter", "agentPoolProfile.count"),
    ],
)
async def test_what_aks_finds_wrong_is_a_bare_400(
    writer: Caller, changes: dict[str, Any], code: str, target: str
) -> None:
    sent = pool("apps")
    sent["properties"] |= changes
    reply = await writer("PUT", POOL, AKS_VERSION, json=sent)
    assert (reply.status, reply.body["code"], reply.body["target"]) == (400, code, target)


async def test_what_arm_finds_wrong_is_wrapped(writer: Caller) -> None:
    moved = {**cluster(), "location": "eastus"}
    assert (await writer("PUT", CLUSTER, AKS_VERSION, json=moved)).error["code"] == "InvalidResourceLocation"
    nowhere = await writer("PUT", f"{GROUP}/providers/Microsoft.Network/virtualNetworks/new", NETWORK_VERSION, json={})
    assert (nowhere.status, nowhere.error["code"]) == (400, "LocationRequired")
    assert (await writer("PUT", POOL, AKS_VERSION, data=b"{no json")).error["code"] == "InvalidRequestContent"
    assert (await writer("PUT", f"{CLUSTER}/agentPools", AKS_VERSION, json={})).status == 405
    orphan = await writer("PUT", f"{VNET}x/subnets/one", NETWORK_VERSION, json={"properties": {}})
    assert (orphan.status, orphan.error["code"]) == (404, "ParentResourceNotFound")


# -- deletes ----------------------------------------------------------------------------------------------------------


async def test_deleting_what_is_not_there_is_204_in_a_group_and_404_without_one(writer: Caller) -> None:
    assert (await writer("DELETE", f"{VNET}x", NETWORK_VERSION)).status == 204
    gone = await writer(
        "DELETE", f"{SUBSCRIPTION}/resourceGroups/none/providers/Microsoft.Network/virtualNetworks/x", NETWORK_VERSION
    )
    assert (gone.status, gone.error["code"]) == (404, "ResourceGroupNotFound")


async def test_a_deleted_cluster_takes_its_node_group_along_and_aks_answers_for_it(
    world: World, writer: Caller
) -> None:
    reply = await writer("DELETE", CLUSTER, AKS_VERSION)
    assert (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]["provisioningState"] == "Deleting"
    await finish(writer, reply)
    assert not [key for key in world.resources if key.startswith((CLUSTER.lower(), NODE_GROUP.lower()))]
    after = await writer.get(CLUSTER, AKS_VERSION)
    assert (after.status, after.body["subcode"]) == (404, "GetManagedCluster_NotFound_HCPServerError")


async def test_a_deleted_pool_leaves_the_profiles(writer: Caller) -> None:
    await finish(writer, await writer("DELETE", POOL, AKS_VERSION))
    names = [one["name"] for one in (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]["agentPoolProfiles"]]
    assert names == ["system"]


# -- actions ----------------------------------------------------------------------------------------------------------


async def test_updating_an_instance_gives_it_the_model_and_nothing_else_changes(world: World, writer: Caller) -> None:
    for number in (0, 1):
        world.put(instance(number, state="failed"))
        world.resources[f"{SCALE_SET}/virtualMachines/{number}".lower()]["properties"]["latestModelApplied"] = False
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["1"]})
    assert (reply.status, reply.text) == (202, "")
    await finish(writer, reply)
    first, second = [world.resources[f"{SCALE_SET}/virtualMachines/{n}".lower()]["properties"] for n in (0, 1)]
    assert (first["provisioningState"], first["latestModelApplied"]) == ("Failed", False)
    assert (second["provisioningState"], second["latestModelApplied"]) == ("Succeeded", True)
    assert second["instanceView"]["statuses"][0]["code"] == "ProvisioningState/succeeded"


async def test_a_rule_for_update_instances_is_found_under_either_name(world: World, writer: Caller) -> None:
    error = {"code": "VMExtensionProvisioningError", "message": "VM has reported a failure."}
    world.writes = [WriteRule("POST", SCALE_SET, action="updateInstances", ends="Failed", error=error)]
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["1"]})
    assert (await finish(writer, reply))["error"] == error


async def test_a_dead_instance_is_a_wrong_parameter(writer: Caller) -> None:
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["9"]})
    assert (reply.status, reply.error["code"], reply.error["target"]) == (400, "InvalidParameter", "instanceIds")


async def test_stopping_shows_at_once_and_starting_again(writer: Caller) -> None:
    reply = await writer("POST", f"{CLUSTER}/stop", AKS_VERSION)
    now = (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]
    assert (reply.status, now["provisioningState"], now["powerState"]["code"]) == (202, "Stopping", "Stopped")
    await finish(writer, reply)
    after = (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]
    assert (after["provisioningState"], after["powerState"]["code"]) == ("Succeeded", "Stopped")
    assert {one["powerState"]["code"] for one in after["agentPoolProfiles"]} == {"Stopped"}
    await finish(writer, await writer("POST", f"{CLUSTER}/start", AKS_VERSION))
    assert (await writer.get(POOL, AKS_VERSION)).body["properties"]["powerState"]["code"] == "Running"


async def test_abort_cancels_what_runs(writer: Caller) -> None:
    running = await writer("PUT", CLUSTER, AKS_VERSION, json=cluster())
    aborted = await writer("POST", f"{CLUSTER}/abort", AKS_VERSION)
    assert (aborted.status, aborted.body["id"]) == (202, CLUSTER)
    ended = await finish(writer, running)
    assert (ended["status"], ended["error"]["message"]) == ("Canceled", "Operation is being canceled by user")
    await finish(writer, aborted)
    properties = (await writer.get(CLUSTER, AKS_VERSION)).body["properties"]
    assert {
        properties["provisioningState"],
        *(one["provisioningState"] for one in properties["agentPoolProfiles"]),
    } == {"Canceled"}


async def test_an_action_that_a_type_does_not_have_is_404(writer: Caller) -> None:
    reply = await writer("POST", f"{CLUSTER}/explode", AKS_VERSION)
    assert (reply.status, reply.error["code"]) == (404, "InvalidResourceType")
    missing = await writer("POST", f"{CLUSTER}x/stop", AKS_VERSION)
    assert (missing.status, missing.error["code"]) == (404, "ResourceNotFound")


async def test_a_write_is_in_the_activity_log(world: World, writer: Caller) -> None:
    await finish(writer, await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3)))
    begin, end = world.events
    assert (begin["eventName"]["value"], end["eventName"]["value"]) == ("BeginRequest", "EndRequest")
    assert begin["correlationId"] == end["correlationId"]
    assert end["operationName"]["value"] == "Microsoft.ContainerService/managedClusters/agentPools/write"
    assert (end["resourceId"], end["resourceGroupName"], end["status"]["value"]) == (POOL, "rg-prod", "Succeeded")


async def test_a_lock_is_written_at_once(writer: Caller) -> None:
    path = f"{GROUP}/providers/Microsoft.Authorization/locks/new"
    created = await writer("PUT", path, "2016-09-01", json={"properties": {"level": "CanNotDelete"}})
    assert (created.status, "Azure-AsyncOperation" in created.headers) == (201, False)
    changed = await writer("PUT", path, "2016-09-01", json={"properties": {"level": "ReadOnly"}})
    assert (changed.status, changed.body["properties"]["level"]) == (200, "ReadOnly")
