"""Linked permissions for a cluster PUT are checked before a button is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deploy import roles
from handlers.evidence.linked import Linked, linked_of_cluster, linked_of_pool
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, SUB, SUBNET, VNET
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import offered, planned, refused

WORKSPACE = f"/subscriptions/{SUB}/resourceGroups/rg-logs/providers/Microsoft.OperationalInsights/workspaces/logs"
SOLUTIONS = f"/subscriptions/{SUB}/resourceGroups/rg-logs"
NETWORK = f"{GROUP_ID}/providers/Microsoft.Network"
ADDRESS, PREFIX = f"{NETWORK}/publicIPAddresses/out", f"{NETWORK}/publicIPPrefixes/out"
GATEWAY = f"{NETWORK}/applicationGateways/front"
ZONE = f"{NETWORK}/privateDnsZones/privatelink.westeurope.azmk8s.io"
DISK_KEY = f"{GROUP_ID}/providers/Microsoft.Compute/diskEncryptionSets/cmk"
PLACEMENT = f"{GROUP_ID}/providers/Microsoft.Compute/proximityPlacementGroups/near"
READ_KEYS = "Microsoft.OperationalInsights/workspaces/sharedkeys/read"
WRITE_SOLUTION = "Microsoft.OperationsManagement/solutions/write"
EVERYTHING: dict[str, Any] = {"actions": ["*"], "notActions": []}


def failed(**properties: Any) -> Azure:
    azure = Azure()
    error = {"code": "ControlPlaneProvisioningInternalError", "message": "timeout"}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}, **properties}
    azure.pool("apps", 1)
    azure.node("apps-0")
    return azure


def insights(**config: str) -> dict[str, Any]:
    """The monitoring add-on, its keys in the case in which Azure happens to write them."""
    return {"omsAgent": {"enabled": True, "config": {"logAnalyticsWorkspaceResourceID": WORKSPACE, **config}}}


def outbound(kind: str, rows: str, address: str) -> dict[str, Any]:
    return {"networkPlugin": "azure", "loadBalancerProfile": {kind: {rows: [{"id": address}]}}}


@pytest.mark.parametrize(
    ("properties", "action", "resource"),
    [
        ({"diskEncryptionSetID": DISK_KEY}, "Microsoft.Compute/diskEncryptionSets/read", DISK_KEY),
        (
            {"apiServerAccessProfile": {"subnetId": SUBNET}},
            "Microsoft.Network/virtualNetworks/subnets/join/action",
            SUBNET,
        ),
        (
            {"networkProfile": outbound("outboundIPs", "publicIPs", ADDRESS)},
            "Microsoft.Network/publicIPAddresses/join/action",
            ADDRESS,
        ),
        (
            {"networkProfile": outbound("outboundIPPrefixes", "publicIPPrefixes", PREFIX)},
            "Microsoft.Network/publicIPPrefixes/join/action",
            PREFIX,
        ),
        (
            {
                "networkProfile": {"loadBalancerProfile": {"backendPoolType": "nodeIP"}},
                "agentPoolProfiles": [{"vnetSubnetID": SUBNET}],
            },
            "Microsoft.Network/virtualNetworks/joinLoadBalancer/action",
            VNET,
        ),
        (
            {
                "addonProfiles": {
                    "ingressApplicationGateway": {"enabled": True, "config": {"applicationGatewayId": GATEWAY}}
                }
            },
            "Microsoft.Network/applicationGateways/write",
            GATEWAY,
        ),
        ({"addonProfiles": insights()}, READ_KEYS, WORKSPACE),
        ({"addonProfiles": insights(useAADAuth="false")}, "Microsoft.OperationalInsights/workspaces/read", WORKSPACE),
        (
            {"addonProfiles": insights()},
            WRITE_SOLUTION,
            f"{SOLUTIONS}/providers/Microsoft.OperationsManagement/solutions/ContainerInsights(logs)",
        ),
    ],
)
def test_what_a_cluster_names_elsewhere_is_asked_for(properties: dict[str, Any], action: str, resource: str) -> None:
    assert Linked(action, resource) in linked_of_cluster(properties)


@pytest.mark.parametrize(
    "properties",
    [
        {},
        None,
        {"addonProfiles": insights(useAADAuth="true")},
        {"addonProfiles": insights(useAADAuth="True")},
        {"addonProfiles": {"omsagent": {"enabled": False, "config": {"logAnalyticsWorkspaceResourceID": WORKSPACE}}}},
        {"addonProfiles": {"omsagent": {"enabled": True}}},
        {"networkProfile": {"loadBalancerProfile": {"effectiveOutboundIPs": [{"id": ADDRESS}]}}},
        {"apiServerAccessProfile": {"privateDNSZone": ZONE}},
    ],
)
def test_the_twin_names_nothing_that_azure_asks_its_sender_for(properties: Any) -> None:
    assert linked_of_cluster(properties) == ()


def test_a_pool_names_its_subnets_and_its_placement_group() -> None:
    found = linked_of_pool({"vnetSubnetID": SUBNET, "podSubnetID": SUBNET, "proximityPlacementGroupID": PLACEMENT})
    assert [one.resource for one in found] == [SUBNET, PLACEMENT]


def without(action: str) -> dict[str, Any]:
    return {"actions": ["*"], "notActions": [action]}


@pytest.mark.parametrize("action", [READ_KEYS, WRITE_SOLUTION])
async def test_container_insights_with_keys_forbids_the_button_of_a_writer_without_them(action: str) -> None:
    azure = failed(addonProfiles=insights())
    azure.writer_may = without(action)
    azure.writer_may_at = {WORKSPACE: without(action), SOLUTIONS: without(action)}
    assert f"the writer may not do {action}" in await refused("reconcile-cluster", azure)


async def test_the_twin_that_holds_them_is_offered_the_button() -> None:
    azure = failed(addonProfiles=insights())
    azure.writer_may_at = {WORKSPACE: EVERYTHING, SOLUTIONS: EVERYTHING}
    assert (await planned("reconcile-cluster", azure)).warnings == ()


async def test_the_twin_with_a_managed_identity_needs_neither() -> None:
    azure = failed(addonProfiles=insights(useAADAuth="true"))
    azure.writer_may = {"actions": ["*"], "notActions": [READ_KEYS, WRITE_SOLUTION]}
    assert (await planned("reconcile-cluster", azure)).warnings == ()


async def test_what_would_hand_out_keys_is_never_asked_to_be_granted() -> None:
    azure = failed(addonProfiles=insights())
    azure.writer_may = without(READ_KEYS)
    azure.writer_may_at = {WORKSPACE: without(READ_KEYS), SOLUTIONS: without(READ_KEYS)}
    [reason] = (await offered("reconcile-cluster", azure)).forbidden
    assert reason.do.startswith("reconcile it by hand")
    assert "would hand the writer the keys of logs" in reason.do


async def test_a_workspace_where_the_writer_may_not_even_look_forbids_it() -> None:
    azure = failed(addonProfiles=insights())
    azure.writer_may = {"actions": ["Microsoft.ContainerService/*"], "notActions": []}
    azure.denied = {"/rg-logs/"}
    assert f"the writer may not do {READ_KEYS} on logs" in await refused("reconcile-cluster", azure)


async def test_a_workspace_whose_permissions_could_not_be_read_is_a_doubt() -> None:
    azure = failed(addonProfiles=insights())
    azure.writer_may = {"actions": ["Microsoft.ContainerService/*"], "notActions": []}
    warnings = (await planned("reconcile-cluster", azure)).warnings
    assert any(READ_KEYS in one for one in warnings)


def test_the_default_role_of_the_writer_hands_it_no_keys() -> None:
    actions = [one.lower() for one in json.loads(roles.WRITER.read_text(encoding="utf-8"))["Actions"]]
    assert not [
        one
        for one in actions
        if "key" in one or one.startswith(("*/read", "*/action", "microsoft.operationalinsights/*"))
    ]
    assert READ_KEYS.lower() not in actions
    assert "microsoft.network/publicipaddresses/join/action" in actions


def zoned() -> Azure:
    return failed(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": ZONE})


async def test_a_cluster_whose_identity_has_no_role_on_its_dns_zone_is_not_sent_again() -> None:
    reasons = await refused("reconcile-cluster", zoned())
    assert "no identity of the cluster has a role on the private DNS zone privatelink.westeurope.azmk8s.io" in reasons


async def test_the_twin_with_a_role_on_the_zone_or_above_is() -> None:
    for scope in (ZONE, GROUP_ID, f"/subscriptions/{SUB}"):
        azure = zoned()
        azure.zone_roles = [{"properties": {"principalId": "0c", "roleDefinitionId": "b12a", "scope": scope}}]
        assert (await planned("reconcile-cluster", azure)).warnings == ()


async def test_roles_on_the_zone_that_could_not_be_read_are_a_doubt() -> None:
    azure = zoned()
    azure.denied = {f"{ZONE}/providers/Microsoft.Authorization/roleAssignments"}
    [warning] = (await planned("reconcile-cluster", azure)).warnings
    assert "could not see whether the cluster may write to privatelink.westeurope.azmk8s.io" in warning


async def test_a_zone_of_azures_own_asks_for_nothing() -> None:
    azure = failed(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "system"})
    assert (await planned("reconcile-cluster", azure)).target == CLUSTER
