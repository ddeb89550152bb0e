"""The unmodified SDK clients, with their own pipelines, work with the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.identity.aio import ClientSecretCredential
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.containerservice.models import AgentPoolDeleteMachinesParameter
from azure.mgmt.monitor.aio import MonitorManagementClient

from sandbox.arm.server import ArmServer, Fault
from sandbox.world import World, WriteRule
from tests.sandbox.worlds import CLUSTER, OTHER_SUB, POOL, SUB, SUBSCRIPTION, TENANT, cluster, event, pool

HERE = ("rg-prod", "prod-weu")


def said(error: HttpResponseError) -> str:
    """The body of an error answer."""
    return "" if error.response is None else str(error.response.text())


class Clients:
    """Both clients, as a program would build them for a cloud of its own."""

    def __init__(self, arm: ArmServer, stack: AsyncExitStack) -> None:
        self._arm, self._stack = arm, stack

    async def credential(self, name: str) -> ClientSecretCredential:
        principal = self._arm.principal(name)
        made = ClientSecretCredential(
            TENANT,
            principal.client_id,
            principal.secret,
            authority=self._arm.url,
            disable_instance_discovery=True,
            connection_verify=str(self._arm.ca_file),
        )
        return await self._stack.enter_async_context(made)

    def _settings(self) -> dict[str, Any]:
        return {
            "base_url": self._arm.url,
            "credential_scopes": [f"{self._arm.url}/.default"],
            "connection_verify": str(self._arm.ca_file),
            "polling_interval": 0,
        }

    async def aks(self, name: str = "writer", subscription: str = SUB) -> ContainerServiceClient:
        client = ContainerServiceClient(await self.credential(name), subscription, **self._settings())
        return await self._stack.enter_async_context(client)

    async def monitor(self, name: str = "reader") -> MonitorManagementClient:
        client = MonitorManagementClient(await self.credential(name), SUB, **self._settings())
        return await self._stack.enter_async_context(client)


@pytest.fixture
async def clients(arm: ArmServer) -> AsyncIterator[Clients]:
    async with AsyncExitStack() as stack:
        yield Clients(arm, stack)


async def test_clusters_and_pools_are_read_and_listed(clients: Clients) -> None:
    aks = await clients.aks("reader")
    one = await aks.managed_clusters.get(*HERE)
    assert (one.id, one.provisioning_state, one.e_tag) == (CLUSTER, "Succeeded", "cluster-etag-1")
    assert [c.name async for c in aks.managed_clusters.list()] == ["prod-weu"]
    assert [c.name async for c in aks.managed_clusters.list_by_resource_group("RG-Prod")] == ["prod-weu"]
    assert [p.name async for p in aks.agent_pools.list(*HERE)] == ["system", "apps"]
    assert (await aks.agent_pools.get(*HERE, "apps")).vm_size == "Standard_D4s_v5"
    other = await clients.aks("reader", OTHER_SUB)
    assert [c async for c in other.managed_clusters.list()] == []


async def test_lists_are_followed_to_their_empty_last_page(world: World, clients: Clients) -> None:
    aks = await clients.aks("reader")
    for number in range(12):
        identity = CLUSTER.replace("prod-weu", f"staging-{number}")
        world.put({**cluster(), "id": identity, "name": f"staging-{number}"})
        world.put({**pool("only"), "id": f"{identity}/agentPools/only"})
        assert [p.name async for p in aks.agent_pools.list("rg-prod", f"staging-{number}")] == ["only"]


async def test_what_is_missing_or_forbidden_is_an_exception_of_the_sdk(arm: ArmServer, clients: Clients) -> None:
    aks = await clients.aks("reader")
    with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
        await aks.managed_clusters.get("rg-prod", "none")
    with pytest.raises(ResourceNotFoundError) as missing:
        await aks.agent_pools.get(*HERE, "none")
    assert "Could not find the agentpool: none" in said(missing.value)
    with pytest.raises(HttpResponseError, match="AuthorizationFailed") as denied:
        await aks.managed_clusters.begin_stop(*HERE)
    assert denied.value.status_code == 403
    arm.expire_tokens()
    with pytest.raises(ClientAuthenticationError, match="ExpiredAuthenticationToken"):
        await aks.managed_clusters.get(*HERE)


async def test_a_cluster_is_reconciled_with_its_own_body(world: World, clients: Clients) -> None:
    aks = await clients.aks()
    world.resources[CLUSTER.lower()]["properties"]["provisioningState"] = "Failed"
    body = await aks.managed_clusters.get(*HERE)
    poller = await aks.managed_clusters.begin_create_or_update(
        *HERE, body, etag=body.e_tag, match_condition=MatchConditions.IfNotModified
    )
    assert (await poller.result()).provisioning_state == "Succeeded"


async def test_a_pool_is_scaled_and_deleted(clients: Clients) -> None:
    aks = await clients.aks()
    body = await aks.agent_pools.get(*HERE, "apps")
    body.count = 5
    assert (await (await aks.agent_pools.begin_create_or_update(*HERE, "apps", body)).result()).count == 5
    await (await aks.agent_pools.begin_delete(*HERE, "apps")).result()
    assert [p.name async for p in aks.agent_pools.list(*HERE)] == ["system"]


async def test_free_text_on_the_way_is_polled_through(world: World, clients: Clients) -> None:
    error = {"code": "ContextDeadlineExceeded", "message": "Context deadline exceeded in VMSS operation"}
    world.writes = [
        WriteRule("PUT", POOL, interim=("ScalingAgentPool: 0/1 nodes completed", "InProgress"), error=error)
    ]
    aks = await clients.aks()
    poller = await aks.agent_pools.begin_create_or_update(*HERE, "apps", await aks.agent_pools.get(*HERE, "apps"))
    assert (await poller.result()).provisioning_state == "Succeeded"


async def test_a_failed_operation_is_raised_with_its_error(world: World, clients: Clients) -> None:
    error = {"code": "ErrCode_InsufficientVCPUQuota", "message": "Insufficient vcpu quota"}
    world.writes = [WriteRule("PUT", POOL, ends="Failed", error=error)]
    aks = await clients.aks()
    poller = await aks.agent_pools.begin_create_or_update(*HERE, "apps", await aks.agent_pools.get(*HERE, "apps"))
    with pytest.raises(HttpResponseError, match="ErrCode_InsufficientVCPUQuota"):
        await poller.result()
    failed = await aks.agent_pools.get(*HERE, "apps")
    assert failed.provisioning_state == "Failed"
    assert failed.status is not None
    assert failed.status.provisioning_error is not None
    assert failed.status.provisioning_error.code == "ErrCode_InsufficientVCPUQuota"


async def test_actions_run_to_their_end(clients: Clients) -> None:
    aks = await clients.aks()
    await (await aks.managed_clusters.begin_stop(*HERE)).result()
    stopped = await aks.managed_clusters.get(*HERE)
    assert stopped.power_state is not None
    assert stopped.power_state.code == "Stopped"
    await (await aks.managed_clusters.begin_start(*HERE)).result()
    await (await aks.managed_clusters.begin_rotate_cluster_certificates(*HERE)).result()
    await (await aks.agent_pools.begin_upgrade_node_image_version(*HERE, "apps")).result()
    machines = AgentPoolDeleteMachinesParameter(machine_names=["aks-apps-12345678-vmss000001"])
    await (await aks.agent_pools.begin_delete_machines(*HERE, "apps", machines)).result()
    await (await aks.managed_clusters.begin_abort_latest_operation(*HERE)).result()
    assert (await aks.managed_clusters.get(*HERE)).provisioning_state == "Canceled"
    await (await aks.managed_clusters.begin_delete(*HERE)).result()
    with pytest.raises(ResourceNotFoundError):
        await aks.managed_clusters.get(*HERE)


async def test_a_stale_etag_and_a_busy_cluster_are_conflicts(clients: Clients) -> None:
    aks = await clients.aks()
    body = await aks.agent_pools.get(*HERE, "apps")
    with pytest.raises((ResourceExistsError, HttpResponseError)) as stale:
        await aks.agent_pools.begin_create_or_update(
            *HERE, "apps", body, etag="old", match_condition=MatchConditions.IfNotModified
        )
    assert "EtagMismatch" in said(stale.value)
    await aks.managed_clusters.begin_stop(*HERE, polling=False)
    with pytest.raises(HttpResponseError) as busy:
        await aks.agent_pools.begin_create_or_update(*HERE, "apps", body)
    assert busy.value.status_code == 409


async def test_other_documents_of_a_cluster_are_read(world: World, clients: Clients) -> None:
    aks = await clients.aks("reader")
    profile = {
        "controlPlaneProfile": {"kubernetesVersion": "1.33.6", "osType": "Linux", "upgrades": None},
        "agentPoolProfiles": None,
    }
    world.put({"id": f"{CLUSTER}/upgradeProfiles/default", "name": "default", "properties": profile})
    world.put({"id": f"{CLUSTER}/maintenanceConfigurations/default", "name": "default", "properties": {}})
    versions = f"{SUBSCRIPTION}/providers/Microsoft.ContainerService/locations/westeurope/kubernetesVersions"
    world.put({"id": versions, "values": [{"version": "1.33", "isPreview": None}]})
    assert (await aks.managed_clusters.get_upgrade_profile(*HERE)).name == "default"
    assert [m.name async for m in aks.maintenance_configurations.list_by_managed_cluster(*HERE)] == ["default"]
    listed = await aks.managed_clusters.list_kubernetes_versions("westeurope")
    assert listed.values_property is not None
    assert [row.version for row in listed.values_property] == ["1.33"]


async def test_the_activity_log_is_paged_through(world: World, clients: Clients) -> None:
    world.events = [event(1 + number / 100, number) for number in range(230)]
    monitor = await clients.monitor()
    since = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = [
        row
        async for row in monitor.activity_logs.list(f"eventTimestamp ge '{since}' and resourceGroupName eq 'rg-prod'")
    ]
    assert len(found) == 230
    assert found[0].event_data_id == "00000000-0000-4000-8000-000000000000"
    chosen = [row async for row in monitor.activity_logs.list(f"eventTimestamp ge '{since}'", select="eventDataId")]
    assert (len(chosen), chosen[0].caller) == (230, None)


async def test_the_default_pipeline_sends_a_write_again_on_503(arm: ArmServer, clients: Clients) -> None:
    """The trap that a careful client must avoid: the server shows it in its log."""
    aks = await clients.aks()
    body = await aks.agent_pools.get(*HERE, "apps")
    arm.faults.append(Fault("503", method="PUT", times=1, retry_after_s=0))
    await (await aks.agent_pools.begin_create_or_update(*HERE, "apps", body)).result()
    assert [entry.status for entry in arm.calls if entry.is_write] == [503, 200]
