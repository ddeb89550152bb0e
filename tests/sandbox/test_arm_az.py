"""The real Azure CLI works with the server. Skipped if it is not installed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.worlds import (
    CLUSTER,
    GROUP,
    NODE_GROUP,
    SCALE_SET,
    SUB,
    SUBNET,
    TENANT,
    WRITER,
    event,
    instance,
    lock,
)

AZ = os.environ.get("AKSBOT_TEST_AZ") or shutil.which("az")

pytestmark = pytest.mark.skipif(AZ is None, reason="no az on PATH, and AKSBOT_TEST_AZ names none")

Az = Callable[..., Awaitable[Any]]


class AzFailed(Exception):
    """az ended with another code than 0; this is what it said."""


@pytest.fixture
def az(arm: ArmServer, tmp_path: Path) -> Az:
    """Run az with a configuration of its own; what it prints as JSON."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AZURE_CONFIG_DIR": str(tmp_path / "azure"),
        "REQUESTS_CA_BUNDLE": str(arm.ca_file),
        "AZURE_CORE_COLLECT_TELEMETRY": "no",
        "AZURE_CORE_NO_COLOR": "yes",
        "AZURE_CORE_SURVEY_MESSAGE": "no",
    }

    async def run(*words: str) -> Any:
        process = await asyncio.create_subprocess_exec(
            str(AZ),
            *words,
            "--only-show-errors",
            "--output",
            "json",
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        if process.returncode:
            raise AzFailed(err.decode())
        return json.loads(out) if out.strip() else None

    return run


@pytest.fixture
async def signed_in(az: Az, arm: ArmServer) -> Az:
    """az signed in to a cloud of its own, by the ADFS authority that the metadata names."""
    await az("cloud", "register", "--name", "sandbox", "--endpoint-resource-manager", arm.url)
    await az("cloud", "set", "--name", "sandbox")
    secret = ("--username", WRITER.client_id, "--password", WRITER.secret, "--tenant", TENANT)
    await az("login", "--service-principal", *secret)
    return az


async def test_az_signs_in_and_finds_the_subscriptions(signed_in: Az, arm: ArmServer) -> None:
    accounts = await signed_in("account", "list")
    assert sorted(row["name"] for row in accounts) == ["Elsewhere", "Production"]
    assert {row["tenantId"] for row in accounts} == {TENANT}
    assert arm.log[2].route == "/adfs/oauth2/token"


async def test_az_is_refused_with_a_wrong_secret(az: Az, arm: ArmServer) -> None:
    await az("cloud", "register", "--name", "sandbox", "--endpoint-resource-manager", arm.url)
    await az("cloud", "set", "--name", "sandbox")
    with pytest.raises(AzFailed, match="AADSTS7000215"):
        await az(
            "login", "--service-principal", "--username", WRITER.client_id, "--password", "guess", "--tenant", TENANT
        )


async def test_az_shows_clusters_and_pools(signed_in: Az) -> None:
    where = ("--resource-group", "rg-prod")
    assert (await signed_in("aks", "show", *where, "--name", "prod-weu"))["id"] == CLUSTER
    assert [row["name"] for row in await signed_in("aks", "list")] == ["prod-weu"]
    pools = await signed_in("aks", "nodepool", "list", *where, "--cluster-name", "prod-weu")
    assert [row["name"] for row in pools] == ["system", "apps"]
    with pytest.raises(
        AzFailed, match=r"\(ResourceNotFound\) The Resource 'Microsoft.ContainerService/managedClusters/none'"
    ):
        await signed_in("aks", "show", *where, "--name", "none")


async def test_az_reconciles_a_cluster(world: World, arm: ArmServer, signed_in: Az) -> None:
    world.resources[CLUSTER.lower()]["properties"]["provisioningState"] = "Failed"
    updated = await signed_in("resource", "update", "--ids", CLUSTER)
    assert updated["properties"]["provisioningState"] == "Succeeded"
    assert [entry.action for entry in arm.calls if entry.is_write] == [
        "Microsoft.ContainerService/managedClusters/write"
    ]


async def test_az_scales_a_pool(world: World, signed_in: Az) -> None:
    where = ("--resource-group", "rg-prod", "--cluster-name", "prod-weu", "--name", "apps")
    scaled = await signed_in("aks", "nodepool", "scale", *where, "--node-count", "3")
    assert (scaled["count"], scaled["provisioningState"]) == (3, "Succeeded")


async def test_az_updates_one_instance(world: World, signed_in: Az) -> None:
    world.put(instance(1, state="failed"))
    where = ("--resource-group", NODE_GROUP.rsplit("/", 1)[1], "--name", SCALE_SET.rsplit("/", 1)[1])
    await signed_in("vmss", "update-instances", *where, "--instance-ids", "1")
    listed = await signed_in("vmss", "list-instances", *where)
    assert {row["instanceId"]: row["provisioningState"] for row in listed} == {"0": "Succeeded", "1": "Succeeded"}


async def test_az_lists_the_activity_log(world: World, signed_in: Az) -> None:
    world.events = [event(minutes, minutes) for minutes in (5, 10, 500)]
    rows = await signed_in("monitor", "activity-log", "list", "--resource-group", "rg-prod", "--offset", "1h")
    assert [row["eventDataId"][-3:] for row in rows] == ["005", "010"]


async def test_az_reads_what_a_diagnosis_points_to(world: World, signed_in: Az) -> None:
    world.put(lock(GROUP, name="hold"))
    assert [row["name"] for row in await signed_in("lock", "list", "--resource-group", "rg-prod")] == ["hold"]
    usages = await signed_in("vm", "list-usage", "--location", "westeurope")
    assert {row["name"]["value"]: row["limit"] for row in usages}["standardDSv5Family"] == "50"
    where = ("--resource-group", "rg-prod", "--vnet-name", "vnet-prod", "--name", "nodes")
    assert (await signed_in("network", "vnet", "subnet", "show", *where))["id"] == SUBNET
    assert (await signed_in("provider", "show", "--namespace", "Microsoft.Compute"))[
        "registrationState"
    ] == "Registered"
    assert (await signed_in("resource", "show", "--ids", SUBNET))["name"] == "nodes"
    assert len(await signed_in("group", "list", "--subscription", SUB)) == 2
