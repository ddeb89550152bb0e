"""Long operations: the protocol of each provider, poll by poll."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.world import World, WriteRule
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import (
    AKS_VERSION,
    CLUSTER,
    COMPUTE_VERSION,
    CONNECTED,
    GROUP,
    NETWORK_VERSION,
    NEXUS,
    NODE_GROUP,
    POOL,
    SCALE_SET,
    SUB,
    SUBNET,
    VNET,
    pool,
    subnet,
)

ASYNC = "Azure-AsyncOperation"
LONG = ("InProgress", "Something: 1/2 nodes completed")
ERROR = {"code": "ContextDeadlineExceeded", "message": "Context deadline exceeded in VMSS operation"}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z")


def slow(world: World, method: str, path: str, **more: Any) -> None:
    world.writes.append(WriteRule(method, path, **{"interim": LONG, **more}))


async def test_aks_update_is_200_with_the_body_and_only_azure_asyncoperation(world: World, writer: Caller) -> None:
    slow(world, "PUT", POOL)
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3))
    assert (reply.status, "Location" in reply.headers, "Retry-After" in reply.headers) == (200, False, False)
    url = reply.headers[ASYNC]
    assert f"/subscriptions/{SUB}/providers/Microsoft.ContainerService/locations/westeurope/operations/" in url
    assert "?api-version=2025-03-01&t=" in url
    assert 2800 < len(url) < 4000
    seen = [await writer.follow(url) for _ in range(4)]
    assert [poll.status for poll in seen] == [200] * 4
    assert [poll.body["status"] for poll in seen] == [*LONG, "Succeeded", "Succeeded"]
    assert all("Retry-After" not in poll.headers for poll in seen)
    assert list(seen[0].body) == ["name", "status", "startTime"]
    assert list(seen[2].body) == ["name", "status", "startTime", "endTime"]
    assert STAMP.fullmatch(seen[2].body["endTime"])


async def test_aks_leaves_the_last_transient_error_in_a_running_and_in_a_succeeded_operation(
    world: World, writer: Caller
) -> None:
    slow(world, "PUT", POOL, error=ERROR)
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3))
    polls = [(await writer.follow(reply.headers[ASYNC])).body for _ in range(3)]
    assert [poll["status"] for poll in polls] == [*LONG, "Succeeded"]
    assert all(poll["error"] == ERROR for poll in polls)
    assert world.resources[POOL.lower()]["properties"]["provisioningState"] == "Succeeded"


async def test_aks_create_is_201(writer: Caller) -> None:
    reply = await writer("PUT", f"{CLUSTER}/agentPools/new", AKS_VERSION, json={"properties": {"count": 1}})
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (201, "Creating")
    assert ASYNC in reply.headers


async def test_aks_delete_is_202_empty_with_both_headers_and_a_location_signed_afresh(
    world: World, writer: Caller
) -> None:
    slow(world, "DELETE", POOL)
    reply = await writer("DELETE", POOL, AKS_VERSION)
    assert (reply.status, reply.text) == (202, "")
    assert "Content-Type" not in reply.headers or not reply.text
    first = await writer.follow(reply.headers["Location"])
    assert (first.status, {"progress", "leasedUntil", "etag"} <= set(first.body)) == (202, True)
    assert "/operationresults/" in first.headers["Location"]
    assert first.headers["Location"] != reply.headers["Location"]
    second = await writer.follow(first.headers["Location"])
    last = await writer.follow(second.headers["Location"])
    assert (second.status, last.status, last.text) == (202, 204, "")
    assert (await writer.follow(reply.headers[ASYNC])).body["status"] == "Succeeded"


async def test_aks_node_image_upgrade_is_202_with_the_resource(writer: Caller) -> None:
    reply = await writer("POST", f"{POOL}/upgradeNodeImageVersion", AKS_VERSION)
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (202, "UpgradingNodeImageVersion")
    cluster = (await writer.get(CLUSTER, AKS_VERSION)).body
    assert cluster["properties"]["provisioningState"] == "Succeeded"


async def test_aks_maintenance_configurations_are_written_at_once(writer: Caller) -> None:
    reply = await writer("PUT", f"{CLUSTER}/maintenanceConfigurations/default", AKS_VERSION, json={"properties": {}})
    assert (reply.status, ASYNC in reply.headers) == (201, False)


async def test_compute_has_a_p_parameter_and_retry_after(world: World, writer: Caller) -> None:
    slow(world, "POST", SCALE_SET, action="manualupgrade")
    reply = await writer("POST", f"{SCALE_SET}/manualupgrade", COMPUTE_VERSION, json={"instanceIds": ["0"]})
    assert (reply.status, reply.headers["Retry-After"]) == (202, "10")
    assert re.search(
        rf"/operations/[0-9a-f-]{{36}}\?p=[0-9a-f-]{{36}}&api-version={COMPUTE_VERSION}&t=\d+&c=", reply.headers[ASYNC]
    )
    assert "&monitor=true&" in reply.headers["Location"]
    status = await writer.follow(reply.headers[ASYNC])
    assert (status.status, status.body["status"], status.headers["Retry-After"]) == (200, LONG[0], "30")
    assert status.body["startTime"].endswith("+00:00")
    result = await writer.follow(reply.headers["Location"])
    assert (result.status, result.text) == (202, "")
    done = await writer.follow(result.headers["Location"])
    assert (done.status, "Retry-After" in done.headers) == (200, False)
    assert list((await writer.follow(reply.headers[ASYNC])).body) == ["startTime", "endTime", "status", "name"]


async def test_compute_shows_its_error_only_when_it_failed(world: World, writer: Caller) -> None:
    slow(world, "PUT", SCALE_SET, ends="Failed", error=ERROR)
    reply = await writer("PUT", SCALE_SET, COMPUTE_VERSION, json={"location": "westeurope"})
    assert (reply.status, "Location" in reply.headers) == (200, False)
    polls = [await writer.follow(reply.headers[ASYNC]) for _ in range(3)]
    assert [poll.body.get("error") for poll in polls] == [None, None, ERROR]
    assert polls[-1].status == 200
    assert "status" not in world.resources[SCALE_SET.lower()]["properties"]


async def test_network_says_little_and_asks_to_wait_longer_each_time(world: World, writer: Caller) -> None:
    slow(world, "PUT", SUBNET, interim=("InProgress",) * 5)
    reply = await writer("PUT", SUBNET, NETWORK_VERSION, json=subnet())
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (200, "Updating")
    polls = [await writer.follow(reply.headers[ASYNC]) for _ in range(6)]
    assert [poll.body for poll in polls] == [{"status": "InProgress"}] * 5 + [{"status": "Succeeded"}]
    assert [poll.headers.get("Retry-After") for poll in polls] == ["10", "20", "40", "80", "160", None]


async def test_network_delete_ends_with_204_at_its_location(world: World, writer: Caller) -> None:
    slow(world, "DELETE", SUBNET, interim=("InProgress",))
    reply = await writer("DELETE", SUBNET, NETWORK_VERSION)
    assert (reply.status, "/operationResults/" in reply.headers["Location"]) == (202, True)
    first = await writer.follow(reply.headers["Location"])
    assert [first.status, (await writer.follow(first.headers["Location"])).status] == [202, 204]
    assert SUBNET.lower() not in world.resources


async def test_nexus_answers_201_accepted_and_polls_in_capitals(world: World, writer: Caller) -> None:
    slow(world, "PUT", NEXUS, interim=("Accepted", "Provisioning"))
    reply = await writer("PUT", NEXUS, "2025-09-01", json={"location": "eastus", "properties": {}})
    assert (reply.status, reply.body["properties"]["provisioningState"], "Location" in reply.headers) == (
        201,
        "Accepted",
        False,
    )
    assert (reply.headers["x-ms-providerhub-traffic"], reply.headers["ETag"]) == ("True", reply.body["etag"])
    assert re.search(
        r"/locations/EASTUS/operationStatuses/[0-9a-f-]{36}\*[0-9A-F]{64}\?api-version=2025-09-01&t=",
        reply.headers[ASYNC],
    )
    polls = [await writer.follow(reply.headers[ASYNC]) for _ in range(3)]
    assert [(poll.status, poll.body["status"]) for poll in polls] == [
        (202, "Accepted"),
        (202, "Provisioning"),
        (200, "Succeeded"),
    ]
    assert list(polls[0].body) == ["id", "name", "resourceId", "status", "startTime"]
    assert (polls[2].body["error"], polls[2].body["properties"]) == ({}, None)


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_nexus_patch_and_delete_are_202_null_with_both_headers(writer: Caller, method: str) -> None:
    reply = await writer(method, NEXUS, "2025-09-01", json={"tags": {"a": "b"}})
    assert (reply.status, reply.text) == (202, "null")
    assert {ASYNC, "Location"} <= set(reply.headers)


async def test_hybrid_container_service_is_polled_at_the_tenant(writer: Caller) -> None:
    path = f"{CONNECTED}/providers/Microsoft.HybridContainerService/provisionedClusterInstances/default"
    reply = await writer("PUT", path, "2024-01-01", json={"properties": {}})
    assert reply.status == 201
    assert re.match(
        r"https://127\.0\.0\.1:\d+/providers/Microsoft\.HybridContainerService/locations/EASTUS/", reply.headers[ASYNC]
    )
    assert (await writer.follow(reply.headers[ASYNC])).body["status"] == "Succeeded"


async def test_cluster_extensions_are_polled_below_themselves_and_their_location_is_elsewhere(writer: Caller) -> None:
    path = f"{CONNECTED}/providers/Microsoft.KubernetesConfiguration/extensions/flux"
    reply = await writer("PUT", path, "2023-05-01", json={"properties": {"extensionType": "microsoft.flux"}})
    assert (reply.status, reply.body["properties"]["provisioningState"]) == (201, "Creating")
    assert f"{path}/operations/" in reply.headers[ASYNC]
    assert reply.headers["Location"].startswith("https://eastus.rp.kubernetesconfiguration.azure.com/")
    assert set((await writer.follow(reply.headers[ASYNC])).body) == {"id", "name", "status"}


async def test_private_dns_is_202_all_the_way(world: World, writer: Caller) -> None:
    path = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/privatelink.azmk8s.io"
    slow(world, "PUT", path, interim=("InProgress",))
    reply = await writer("PUT", path, "2024-06-01", json={"location": "global", "properties": {}})
    assert (reply.status, reply.body, reply.headers["Retry-After"]) == (202, {}, "30")
    assert {ASYNC, "Location"} <= set(reply.headers)
    assert [(await writer.follow(reply.headers[ASYNC])).status for _ in range(2)] == [202, 200]


async def test_a_group_is_deleted_with_a_location_only(world: World, writer: Caller) -> None:
    slow(world, "DELETE", NODE_GROUP, interim=("Running",))
    reply = await writer("DELETE", NODE_GROUP, "2022-09-01")
    assert (reply.status, ASYNC in reply.headers, reply.headers["Retry-After"]) == (202, False, "15")
    first = await writer.follow(reply.headers["Location"])
    last = await writer.follow(first.headers["Location"])
    assert [(first.status, first.text), (last.status, last.text)] == [(202, ""), (200, "")]
    assert not [key for key in world.resources if key.startswith(NODE_GROUP.lower())]


async def test_a_polling_url_works_only_as_it_was_given(writer: Caller) -> None:
    reply = await writer("PUT", POOL, AKS_VERSION, json=pool("apps", 3))
    url = reply.headers[ASYNC]
    assert (await writer.follow(url.split("&t=")[0])).status == 400
    assert (await writer.follow(url[:-1])).status == 400
    assert (await writer.follow(url.replace("/operations/", "/operations/0"))).status == 404
    assert (await writer.follow(url)).status == 200


async def test_the_location_of_a_failed_operation_is_its_error(world: World, writer: Caller) -> None:
    slow(
        world,
        "DELETE",
        VNET,
        interim=(),
        ends="Failed",
        error={"code": "InUseSubnetCannotBeDeleted", "message": "in use"},
    )
    reply = await writer("DELETE", VNET, NETWORK_VERSION)
    result = await writer.follow(reply.headers["Location"])
    assert (result.status, result.error["code"]) == (400, "InUseSubnetCannotBeDeleted")
    assert world.resources[VNET.lower()]["properties"]["provisioningState"] == "Failed"
