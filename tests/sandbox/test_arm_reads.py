"""One resource, lists of them, and the reads that are neither."""

from __future__ import annotations

from copy import deepcopy

import pytest

from sandbox.arm.answers import Answer
from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    CONNECTED,
    GROUP,
    NETWORK_VERSION,
    NODE_GROUP,
    OTHER_SUB,
    POOL,
    SCALE_SET,
    SKUS,
    SUBNET,
    SUBSCRIPTION,
    USAGES,
    VNET,
    cluster,
    instance,
    subnet,
)


@pytest.mark.parametrize(
    "path",
    [
        CLUSTER,
        CLUSTER.upper().replace("/SUBSCRIPTIONS/", "/Subscriptions/"),
        CLUSTER.lower(),
        "/" + CLUSTER,
        CLUSTER.replace("/providers/", "//providers/"),
    ],
)
async def test_an_id_is_matched_in_any_case_and_returned_in_its_own(reader: Caller, path: str) -> None:
    reply = await reader.get(path, AKS_VERSION)
    assert (reply.status, reply.body) == (200, cluster())


async def test_aks_bodies_are_indented_by_one_space_and_others_are_compact(reader: Caller) -> None:
    aks = await reader.get(POOL, AKS_VERSION)
    assert aks.text.startswith('{\n "id": ')
    assert aks.headers["Content-Type"] == "application/json"
    network = await reader.get(VNET, NETWORK_VERSION)
    assert network.text.startswith('{"name":"vnet-prod"')
    assert network.headers["Content-Type"] == "application/json; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "version", "names"),
    [
        (f"{CLUSTER}/agentPools", AKS_VERSION, ["system", "apps"]),
        (f"{GROUP}/providers/Microsoft.ContainerService/managedClusters", AKS_VERSION, ["prod-weu"]),
        (f"{SUBSCRIPTION}/providers/Microsoft.ContainerService/managedClusters", AKS_VERSION, ["prod-weu"]),
        (f"/subscriptions/{OTHER_SUB}/providers/Microsoft.ContainerService/managedClusters", AKS_VERSION, []),
        (f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets", COMPUTE_VERSION, []),
        (
            f"{NODE_GROUP}/providers/microsoft.compute/VIRTUALMACHINESCALESETS",
            COMPUTE_VERSION,
            ["aks-apps-12345678-vmss"],
        ),
        (f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION, ["aks-apps-12345678-vmss_0", "aks-apps-12345678-vmss_1"]),
        (f"{VNET}/subnets", NETWORK_VERSION, ["nodes"]),
        (f"{SUBSCRIPTION}/providers/Microsoft.Network/virtualNetworks", NETWORK_VERSION, ["vnet-prod"]),
        (f"{SUBSCRIPTION}/providers/Microsoft.Kubernetes/connectedClusters", "2024-01-01", ["edge-nexus-01"]),
    ],
)
async def test_lists_by_subscription_by_group_and_below_a_parent(
    reader: Caller, path: str, version: str, names: list[str]
) -> None:
    reply = await reader.get(path, version)
    assert (reply.status, reply.names) == (200, names)


async def test_extensions_of_a_connected_cluster_are_listed_below_it(world: World, reader: Caller) -> None:
    base = f"{CONNECTED}/providers/Microsoft.KubernetesConfiguration/extensions"
    world.put(
        {"id": f"{base}/flux", "name": "flux", "type": "Microsoft.KubernetesConfiguration/extensions", "properties": {}}
    )
    assert (await reader.get(base, "2023-05-01")).names == ["flux"]


async def test_a_missing_cluster_is_arms_404_and_a_missing_pool_is_aks_own(reader: Caller) -> None:
    cluster_reply = await reader.get(CLUSTER.replace("prod-weu", "none"), AKS_VERSION)
    assert cluster_reply.status == 404
    assert cluster_reply.error["message"] == (
        "The Resource 'Microsoft.ContainerService/managedClusters/none' under resource group 'rg-prod' was not found. "
        "For more details please go to https://aka.ms/ARMResourceNotFoundFix"
    )
    assert cluster_reply.headers["x-ms-failure-cause"] == "gateway"
    pool_reply = await reader.get(f"{CLUSTER}/agentPools/none", AKS_VERSION)
    assert pool_reply.status == 404
    assert list(pool_reply.body) == ["code", "details", "message", "subcode"]
    assert pool_reply.body["subcode"] == "GetAgentPool_NotFound_HCPServerError"
    assert "x-ms-failure-cause" not in pool_reply.headers


@pytest.mark.parametrize(
    ("path", "version", "code"),
    [
        (f"{CLUSTER.replace('prod-weu', 'none')}/agentPools", AKS_VERSION, "ResourceNotFound"),
        (f"{SCALE_SET}x/virtualMachines", COMPUTE_VERSION, "ParentResourceNotFound"),
        (f"{SCALE_SET}/virtualMachines/7", COMPUTE_VERSION, "NotFound"),
        (f"{VNET}/subnets/none", NETWORK_VERSION, "NotFound"),
        (f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/none", "2022-04-01", "RoleAssignmentNotFound"),
        (f"{GROUP}/providers/Microsoft.Authorization/policyAssignments/none", "2022-06-01", "PolicyAssignmentNotFound"),
    ],
)
async def test_each_provider_has_its_own_404(reader: Caller, path: str, version: str, code: str) -> None:
    reply = await reader.get(path, version)
    assert (reply.status, reply.error["code"]) == (404, code)


async def test_instance_views_are_shown_only_to_those_who_ask(reader: Caller) -> None:
    plain = (await reader.get(f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION)).body["value"]
    assert all("instanceView" not in one["properties"] for one in plain)
    assert plain[0]["properties"]["latestModelApplied"] is True
    wide = (await reader.get(f"{SCALE_SET}/virtualMachines", COMPUTE_VERSION, dollar_expand="instanceView")).body[
        "value"
    ]
    assert wide == [instance(0), instance(1)]
    one = await reader.get(f"{SCALE_SET}/virtualMachines/1", COMPUTE_VERSION)
    assert "instanceView" not in one.body["properties"]
    view = await reader.get(f"{SCALE_SET}/virtualMachines/1/instanceView", COMPUTE_VERSION)
    assert view.body == instance(1)["properties"]["instanceView"]


async def test_the_view_of_a_scale_set_counts_its_instances(world: World, reader: Caller) -> None:
    broken = instance(1, state="failed")
    broken["properties"]["instanceView"]["statuses"][0]["code"] = (
        "ProvisioningState/failed/VMExtensionProvisioningError"
    )
    world.put(broken)
    view = (await reader.get(f"{SCALE_SET}/instanceView", COMPUTE_VERSION)).body
    assert view["virtualMachine"]["statusesSummary"] == [
        {"code": "ProvisioningState/failed", "count": 1},
        {"code": "ProvisioningState/succeeded", "count": 1},
    ]
    assert view["extensions"] == [
        {"name": "vmssCSE", "statusesSummary": [{"code": "ProvisioningState/succeeded", "count": 2}]}
    ]


async def test_usages_come_from_the_table_of_the_location(reader: Caller) -> None:
    rows = (await reader.get(USAGES.replace("westeurope", "WestEurope"), COMPUTE_VERSION)).body["value"]
    assert [(row["name"]["value"], row["currentValue"], row["limit"]) for row in rows] == [
        ("cores", 90, 100),
        ("standardDSv5Family", 48, 50),
    ]
    assert (await reader.get(USAGES.replace("westeurope", "northeurope"), COMPUTE_VERSION)).body == {"value": []}


async def test_subnet_usage_is_counted_from_the_addresses_in_use(world: World, reader: Caller) -> None:
    world.put(subnet(addresses=17))
    small = deepcopy(subnet(addresses=0))
    small |= {"id": SUBNET.replace("nodes", "tiny"), "name": "tiny"}
    small["properties"] |= {"addressPrefix": None, "addressPrefixes": ["10.2.0.0/28"]}
    world.put(small)
    rows = (await reader.get(f"{VNET}/usages", NETWORK_VERSION)).body["value"]
    assert [(row["id"], row["currentValue"], row["limit"]) for row in rows] == [
        (SUBNET, 17, 251),
        (SUBNET.replace("nodes", "tiny"), 0, 11),
    ]
    assert rows[0]["name"]["value"] == "SubnetSpace"


async def test_sizes_are_filtered_by_location_and_by_nothing_else(reader: Caller) -> None:
    assert (await reader.get(SKUS, "2021-07-01")).names == ["Standard_D4s_v5", "Standard_D8s_v5"]
    assert (await reader.get(SKUS, "2021-07-01", dollar_filter="location eq 'EastUS2'")).names == ["Standard_D8s_v5"]
    refused = await reader.get(SKUS, "2021-07-01", dollar_filter="name eq 'Standard_D8s_v5'")
    assert refused.status == 400


async def test_resources_of_a_group_in_short_form(reader: Caller) -> None:
    rows = (await reader.get(f"{GROUP}/resources", "2022-09-01")).body["value"]
    assert [row["name"] for row in rows] == ["prod-weu", "vnet-prod", "edge-nexus-01", "edge-nexus-01"]
    assert all("properties" not in row for row in rows)


async def test_network_interfaces_of_a_scale_set_are_those_of_all_its_instances(world: World, reader: Caller) -> None:
    for number in (0, 1):
        identity = f"{SCALE_SET}/virtualMachines/{number}/networkInterfaces/nic"
        world.put({"id": identity, "name": "nic", "properties": {}})
    assert len((await reader.get(f"{SCALE_SET}/networkInterfaces", "2018-10-01")).body["value"]) == 2
    one = await reader.get(f"{SCALE_SET}/virtualMachines/1/networkInterfaces", "2018-10-01")
    assert [row["id"].split("/")[-3] for row in one.body["value"]] == ["1"]


async def test_every_answer_carries_arms_headers(reader: Caller) -> None:
    for reply in (await reader.get(GROUP), await reader.get(f"{GROUP}x")):
        assert {"x-ms-request-id", "x-ms-correlation-request-id", "x-ms-routing-request-id", "Date"} <= set(
            reply.headers
        )
        assert (reply.headers["Cache-Control"], reply.headers["Expires"]) == ("no-cache", "-1")


async def test_the_remaining_reads_count_down_on_success_and_are_silent_on_errors(reader: Caller) -> None:
    first, second = await reader.get(GROUP), await reader.get(GROUP)
    name = "x-ms-ratelimit-remaining-subscription-reads"
    assert int(second.headers[name]) < int(first.headers[name])
    assert int(second.headers[name.replace("-reads", "-global-reads")]) < int(
        first.headers[name.replace("-reads", "-global-reads")]
    )
    assert name not in (await reader.get(f"{GROUP}x")).headers


async def test_an_action_that_no_cluster_can_answer_is_said_to_be_missing(arm: ArmServer, writer: Caller) -> None:
    reply = await writer("POST", f"{CLUSTER}/listClusterUserCredential", AKS_VERSION)
    assert (reply.status, reply.error["code"]) == (501, "NotImplemented")
    assert [entry.is_write for entry in arm.calls] == [False]
    kind = "Microsoft.ContainerService/managedClusters/listClusterUserCredential"
    arm.answers[kind] = lambda site, call: Answer(200, {"kubeconfigs": []})
    assert (await writer("POST", f"{CLUSTER}/listClusterUserCredential", AKS_VERSION)).body == {"kubeconfigs": []}
