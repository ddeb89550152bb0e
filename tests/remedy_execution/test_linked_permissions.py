"""Linked permissions for a cluster PUT, for each resource the cluster refers to: if the writer lacks one,
Azure rejects the PUT, and the button is not shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from handlers.remedy.execution import Outcome
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.remedy_execution.stage import Stage
from tests.remedy_execution.test_offered import offered, planned

NETWORK = "Microsoft.Network"
ASKED = [
    f"{NETWORK}/virtualNetworks/subnets/join/action",
    f"{NETWORK}/publicIPAddresses/join/action",
    f"{NETWORK}/publicIPPrefixes/join/action",
    f"{NETWORK}/applicationGateways/write",
    "Microsoft.Compute/diskEncryptionSets/read",
    "Microsoft.OperationalInsights/workspaces/sharedkeys/read",
    "Microsoft.OperationalInsights/workspaces/read",
    "Microsoft.OperationsManagement/solutions/write",
]


@asynccontextmanager
async def staged(*, keys: bool = True, zone_role: bool = True) -> AsyncIterator[Stage]:
    """prod-eus2 is Failed, and names a resource of every kind that Azure asks for."""
    async with azure(Scenario.load("cluster-failed").world) as server:
        stage = Stage(server, "prod-eus2")
        world = server.world
        body = world.resources[stage.cluster.lower()]
        group = "/".join(stage.cluster.replace("/resourcegroups/", "/resourceGroups/").split("/")[:5])

        def put(kind: str, name: str) -> str:
            one = f"{group}/providers/{kind}/{name}"
            world.put({"id": one, "name": name, "type": kind, "location": "eastus2", "properties": {}})
            return one

        workspace = put("Microsoft.OperationalInsights/workspaces", "logs")
        zone = put(f"{NETWORK}/privateDnsZones", "privatelink.eastus2.azmk8s.io")
        config = {"logAnalyticsWorkspaceResourceID": workspace} | ({} if keys else {"useAADAuth": "true"})
        gateway = {"applicationGatewayId": put(f"{NETWORK}/applicationGateways", "front")}
        properties = body["properties"]
        properties["addonProfiles"] = {
            "omsagent": {"enabled": True, "config": config},
            "ingressApplicationGateway": {"enabled": True, "config": gateway},
        }
        properties["diskEncryptionSetID"] = put("Microsoft.Compute/diskEncryptionSets", "cmk")
        properties["networkProfile"]["loadBalancerProfile"] |= {
            "outboundIPs": {"publicIPs": [{"id": put(f"{NETWORK}/publicIPAddresses", "out")}]},
            "outboundIPPrefixes": {"publicIPPrefixes": [{"id": put(f"{NETWORK}/publicIPPrefixes", "out")}]},
        }
        properties["apiServerAccessProfile"] = {"enablePrivateCluster": True, "privateDNSZone": zone}
        if zone_role:
            world.put(_role(zone, next(iter(_principals(body)))))
        yield stage


def _principals(body: dict[str, Any]) -> list[str]:
    identity = body["identity"]
    users = [one["principalId"] for one in (identity.get("userAssignedIdentities") or {}).values()]
    return [one for one in (identity.get("principalId"), *users) if one]


def _role(scope: str, principal: str) -> dict[str, Any]:
    name = "0d000000-0000-4000-8000-000000000001"
    definition = "/providers/Microsoft.Authorization/roleDefinitions/b12aa53e-6015-4669-85d0-8515ebb3ae7f"
    return {
        "id": f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}",
        "name": name,
        "type": "Microsoft.Authorization/roleAssignments",
        "properties": {"principalId": principal, "roleDefinitionId": definition, "scope": scope},
    }


async def test_who_holds_them_all_is_offered_it_and_azure_takes_it() -> None:
    async with staged() as stage:
        plan = await planned(stage, "reconcile-cluster")
        assert (await stage.run(plan)).outcome is Outcome.DONE


@pytest.mark.parametrize("action", ASKED)
async def test_what_azure_would_refuse_is_no_button(action: str) -> None:
    async with staged() as stage:
        plan = await planned(stage, "reconcile-cluster")
        stage.azure.deny("writer", action)
        (offer, *_) = await offered(stage, "reconcile-cluster")
        assert offer.plan is None
        assert any(action in one.because for one in offer.forbidden)
        # And it is true: whoever sends it all the same is refused.
        ended = await stage.run(plan)
        assert ended.outcome is Outcome.FAILED
        assert action in ended.why


@pytest.mark.parametrize("action", [one for one in ASKED if ".Operation" in one])
async def test_the_twin_with_a_managed_identity_for_its_monitoring_needs_no_key(action: str) -> None:
    async with staged(keys=False) as stage:
        stage.azure.deny("writer", action)
        plan = await planned(stage, "reconcile-cluster")
        assert (await stage.run(plan)).outcome is Outcome.DONE


async def test_a_cluster_without_a_role_on_its_own_dns_zone_is_refused_and_is_no_button() -> None:
    async with staged() as stage:
        plan = await planned(stage, "reconcile-cluster")
    async with staged(zone_role=False) as stage:
        (offer, *_) = await offered(stage, "reconcile-cluster")
        assert offer.plan is None
        assert any("private DNS zone" in one.because for one in offer.forbidden)
        ended = await stage.run(plan)
        assert "CustomPrivateDNSZoneMissingPermissionError" in ended.why
