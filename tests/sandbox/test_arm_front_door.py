"""What ARM answers itself: the cloud's metadata, subscriptions, groups, providers, versions and types."""

from __future__ import annotations

import pytest

from sandbox.arm.server import ArmServer, UnknownTypes
from sandbox.world import World
from tests.sandbox.conftest import Caller
from tests.sandbox.worlds import AKS_VERSION, CLUSTER, GROUP, NODE_GROUP, OTHER_SUB, SUB, SUBSCRIPTION, TENANT, group


async def test_the_metadata_is_what_a_cloud_of_ones_own_shows(arm: ArmServer, reader: Caller) -> None:
    reply = await reader("GET", "/metadata/endpoints", "2022-09-01", token=None)
    assert reply.body["resourceManager"] == arm.url
    assert reply.body["authentication"] == {
        "loginEndpoint": f"{arm.url}/adfs",
        "audiences": [arm.url],
        "tenant": TENANT,
        "identityProvider": "ADFS",
    }
    old = await reader("GET", "/metadata/endpoints", "2015-01-01", token=None)
    assert old.body["authentication"]["loginEndpoint"] == f"{arm.url}/adfs/"


async def test_subscriptions_are_those_that_the_caller_may_read(arm: ArmServer, reader: Caller, nobody: Caller) -> None:
    listed = await reader.get("/subscriptions")
    assert [row["subscriptionId"] for row in listed.body["value"]] == [SUB, OTHER_SUB]
    assert listed.body["count"] == {"type": "Total", "value": 2}
    arm.deny("reader", "*", f"/subscriptions/{OTHER_SUB}")
    assert len((await reader.get("/subscriptions")).body["value"]) == 1
    assert (await nobody.get("/subscriptions")).body["value"] == []
    assert (await nobody.get("/tenants")).body["value"][0]["tenantId"] == TENANT


async def test_one_subscription_shows_its_state(world: World, reader: Caller) -> None:
    world.resources[SUBSCRIPTION]["state"] = "Warned"
    assert (await reader.get(SUBSCRIPTION)).body["state"] == "Warned"


async def test_an_unknown_subscription_is_404(reader: Caller) -> None:
    reply = await reader.get("/subscriptions/00000000-0000-4000-8000-000000000000")
    assert (reply.status, reply.error["code"]) == (404, "SubscriptionNotFound")


async def test_locations_are_listed_by_their_short_names(reader: Caller) -> None:
    rows = (await reader.get(f"{SUBSCRIPTION}/locations")).body["value"]
    assert {"westeurope": "West Europe", "eastus2": "East US 2"}.items() <= {
        r["name"]: r["displayName"] for r in rows
    }.items()


async def test_groups_are_listed_and_read_and_asked_for_by_head(reader: Caller) -> None:
    assert (await reader.get(f"{SUBSCRIPTION}/resourceGroups")).names == ["rg-prod", NODE_GROUP.rsplit("/", 1)[1]]
    assert (await reader.get(GROUP.upper().replace("SUBSCRIPTIONS", "subscriptions"))).body["id"] == GROUP
    missing = await reader.get(f"{SUBSCRIPTION}/resourceGroups/none")
    assert missing.error == {"code": "ResourceGroupNotFound", "message": "Resource group 'none' could not be found."}
    assert (await reader("HEAD", GROUP)).status == 204
    assert (await reader("HEAD", f"{SUBSCRIPTION}/resourceGroups/none")).status == 404


async def test_a_provider_shows_its_types_versions_and_registration(world: World, reader: Caller) -> None:
    listed = (await reader.get(f"{SUBSCRIPTION}/providers")).body["value"]
    assert {"Microsoft.ContainerService", "Microsoft.NetworkCloud", "Microsoft.Storage"} <= {
        row["namespace"] for row in listed
    }
    one = (await reader.get(f"{SUBSCRIPTION}/providers/microsoft.containerservice")).body
    assert one["registrationState"] == "Registered"
    clusters = next(kind for kind in one["resourceTypes"] if kind["resourceType"] == "managedClusters")
    assert AKS_VERSION in clusters["apiVersions"]
    world.put({"id": f"{SUBSCRIPTION}/providers/Microsoft.NetworkCloud", "registrationState": "NotRegistered"})
    nexus = await reader.get(f"{SUBSCRIPTION}/providers/Microsoft.NetworkCloud")
    assert nexus.body["registrationState"] == "NotRegistered"
    assert "registrationState" not in (await reader.get("/providers/Microsoft.Compute")).body


async def test_without_an_api_version_arm_answers_400(reader: Caller) -> None:
    reply = await reader.get(CLUSTER, None)
    assert (reply.status, reply.error["code"]) == (400, "MissingApiVersionParameter")
    assert reply.headers["x-ms-failure-cause"] == "gateway"


async def test_an_unknown_api_version_is_answered_with_the_known_ones(reader: Caller) -> None:
    reply = await reader.get(CLUSTER, "2099-01-01")
    assert (reply.status, reply.error["code"]) == (400, "NoRegisteredProviderFound")
    assert "API version '2099-01-01' for type 'managedClusters'" in reply.error["message"]
    assert AKS_VERSION in reply.error["message"]
    front = await reader.get(SUBSCRIPTION, "2099-01-01")
    assert (front.status, front.error["code"]) == (400, "InvalidApiVersionParameter")
    assert "The api-version '2099-01-01' is invalid. The supported versions are '2025" in front.error["message"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"{GROUP}/providers/Microsoft.ContainerService/managedKlusters/prod-weu", "InvalidResourceType"),
        (f"{GROUP}/providers/Microsoft.Nothing/things/one", "InvalidResourceNamespace"),
        (f"{SUBSCRIPTION}/providers/Microsoft.Nothing", "InvalidResourceNamespace"),
        (f"{SUBSCRIPTION}/resourceGroups/none/providers/Microsoft.Compute/disks/one", "ResourceGroupNotFound"),
    ],
)
async def test_what_arm_does_not_know_is_404_from_the_gateway(reader: Caller, path: str, code: str) -> None:
    reply = await reader.get(path, "2023-04-02" if "disks" in path else "2022-09-01")
    assert (reply.status, reply.error["code"]) == (404, code)
    assert reply.headers["x-ms-failure-cause"] == "gateway"


async def test_a_world_with_a_type_that_nobody_could_read_does_not_start(world: World) -> None:
    world.put(group(f"{GROUP}/providers/Microsoft.Nothing/things/one"))
    with pytest.raises(UnknownTypes, match=r"Microsoft\.Nothing/things"):
        async with ArmServer(world):
            pytest.fail("it started")


async def test_registering_a_provider_is_an_action_of_its_namespace(
    arm: ArmServer, world: World, reader: Caller, writer: Caller
) -> None:
    provider = f"{SUBSCRIPTION}/providers/Microsoft.NetworkCloud"
    world.put({"id": provider, "registrationState": "NotRegistered"})
    refused = await reader("POST", f"{provider}/register")
    assert "'Microsoft.NetworkCloud/register/action'" in refused.error["message"]
    assert (await writer("POST", f"{provider}/register")).body["registrationState"] == "Registering"
    assert (await writer.get(provider)).body["registrationState"] == "Registered"
    assert [entry.is_write for entry in arm.calls] == [True, True, False]


async def test_a_write_to_a_provider_that_is_not_registered_is_409(world: World, writer: Caller) -> None:
    world.put({"id": f"{SUBSCRIPTION}/providers/Microsoft.NetworkCloud", "registrationState": "NotRegistered"})
    path = f"{GROUP}/providers/Microsoft.NetworkCloud/l3Networks/one"
    reply = await writer("PUT", path, "2025-09-01", json={"location": "eastus", "properties": {}})
    assert (reply.status, reply.error["code"]) == (409, "MissingSubscriptionRegistration")
    assert reply.error["details"][0]["target"] == "Microsoft.NetworkCloud"


async def test_a_cloud_that_lags_behind_refuses_what_is_newer_per_type_as_azure_does(
    world: World, reader: Caller
) -> None:
    world.cloud_as_of = "2024-03-31"
    newer = await reader.get(CLUSTER, "2026-08-01")
    assert (newer.status, newer.error["code"]) == (400, "NoRegisteredProviderFound")
    assert (
        "for type 'managedClusters'. The supported api-versions are '2024-02-01, 2024-01-01," in newer.error["message"]
    )
    assert (await reader.get(CLUSTER, "2024-02-01")).status == 200
    locks = await reader.get(f"{CLUSTER}/providers/Microsoft.Authorization/locks", "2026-01-01")
    assert (locks.status, locks.error["code"]) == (404, "InvalidResourceType")
    assert locks.error["message"].endswith(
        "The supported api-versions are '2020-05-01,2017-04-01,2016-09-01,2015-01-01'."
    )
    own = await reader.get("/subscriptions", "2025-04-01")
    assert (own.status, own.error["code"]) == (400, "InvalidApiVersionParameter")
    assert "The supported versions are '2024-03-01,2022-12-01," in own.error["message"]


async def test_the_twin_of_today_offers_them(reader: Caller) -> None:
    assert (await reader.get(CLUSTER, "2026-08-01")).status == 200
