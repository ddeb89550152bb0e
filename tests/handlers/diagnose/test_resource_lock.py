"""Does a lock stand in the way?"""

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    GROUP_ID,
    LOCKS,
    NODE_GROUP,
    NODE_GROUP_ID,
    SUB,
    SUBNET,
    VNET,
    event,
    pool_id,
    scale_set_id,
)
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, found

SUBSCRIPTION = f"/subscriptions/{SUB}"
DELETE_INSTANCES = "Microsoft.Compute/virtualMachineScaleSets/delete/action"
LOCKED = (
    f"The scope '{CLUSTER}' cannot perform delete operation because following scope(s) are locked: '{GROUP_ID}'. "
    "Please remove the lock and try again."
)


def locked(scope: str, level: str, **pool: object) -> Azure:
    azure = Azure()
    azure.pool("apps", **pool)  # type: ignore[arg-type]
    azure.lock(scope, level)
    return azure


@pytest.mark.parametrize("scope", [NODE_GROUP_ID, NODE_GROUP_ID.upper(), GROUP_ID, CLUSTER, SUBSCRIPTION])
async def test_a_read_only_lock_over_the_cluster_is_found(scope: str) -> None:
    finding = await found("resource-lock", locked(scope, "ReadOnly"))
    assert finding.subject == f"{scope}/providers/Microsoft.Authorization/locks/keep"
    assert finding.severity is Severity.WARNING
    assert finding.because[0] == f"lock keep (ReadOnly) on {scope}: nothing below it can be changed"


@pytest.mark.parametrize("scope", [NODE_GROUP_ID, f"{NODE_GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/a"])
async def test_any_lock_in_the_node_resource_group_is_found(scope: str) -> None:
    finding = await found("resource-lock", locked(scope, "CanNotDelete"))
    assert "AKS refuses every operation while a lock is in its node resource group" in finding.because


@pytest.mark.parametrize("scope", [GROUP_ID, CLUSTER])
async def test_a_delete_lock_on_the_cluster_or_its_group_is_good_practice(scope: str) -> None:
    check = await asked("resource-lock", locked(scope, "CanNotDelete"))
    assert check.outcome is Outcome.CLEAR
    assert "keep (CanNotDelete) only protects against deletion" in check.why


async def test_a_delete_lock_that_the_node_resource_group_inherits_stops_the_deletes_of_nodes() -> None:
    finding = await found("resource-lock", locked(SUBSCRIPTION, "CanNotDelete"))
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    assert finding.because == (
        f"lock keep (CanNotDelete) on {SUBSCRIPTION}: nothing below it can be deleted",
        f"it holds the node resource group {NODE_GROUP}",
        "AKS deletes nodes there when it scales down and when it upgrades",
    )
    assert finding.facts["inherited"] is True


def refused_delete(resource: str, scopes: str, operation: str = DELETE_INSTANCES, ago: int = 40) -> dict[str, Any]:
    """A delete in the node resource group that a lock stopped, as the activity log tells it."""
    said = (
        f"The scope '{resource}' cannot perform delete operation because following scope(s) are locked: {scopes}. "
        "Please remove the lock and try again."
    )
    error = json.dumps({"error": {"code": "ScopeLocked", "message": said}})
    body = event(resource, "Failed", timedelta(minutes=ago), error)
    body["operationName"]["value"] = operation
    body["subStatus"] = {"value": "Conflict", "localizedValue": "Conflict (HTTP Status Code: 409)"}
    return body


@pytest.mark.parametrize("scopes", [f"'{SUBSCRIPTION}'", f"'/x,{SUBSCRIPTION}'", f"'/x', '{SUBSCRIPTION}'"])
@pytest.mark.parametrize(
    ("resource", "operation"),
    [
        (scale_set_id("apps"), DELETE_INSTANCES),
        (
            f"{scale_set_id('apps')}/virtualMachines/3",
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/delete",
        ),
        (
            f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/aks-x",
            "Microsoft.Compute/virtualMachines/delete",
        ),
        (f"{NODE_GROUP_ID}/providers/Microsoft.Compute/disks/pvc-1", "Microsoft.Compute/disks/delete"),
    ],
)
async def test_it_is_an_error_once_a_delete_below_was_refused_and_names_it(
    resource: str, operation: str, scopes: str
) -> None:
    azure = locked(SUBSCRIPTION, "CanNotDelete")
    azure.events[NODE_GROUP] = [refused_delete(resource, scopes, operation)]
    finding = await found("resource-lock", azure)
    assert finding.severity is Severity.ERROR
    assert "ScopeLocked" in " ".join(finding.because)


async def test_a_refusal_that_names_another_lock_leaves_it_a_warning() -> None:
    azure = locked(SUBSCRIPTION, "CanNotDelete")
    azure.events[NODE_GROUP] = [refused_delete(scale_set_id("apps"), f"'{SUBSCRIPTION}/resourceGroups/other'")]
    assert (await found("resource-lock", azure)).severity is Severity.WARNING


async def test_a_delete_that_worked_afterwards_is_history() -> None:
    azure = locked(SUBSCRIPTION, "CanNotDelete")
    worked = event(scale_set_id("apps"), "Succeeded", timedelta(minutes=5))
    worked["operationName"]["value"] = DELETE_INSTANCES
    azure.events[NODE_GROUP] = [worked, refused_delete(scale_set_id("apps"), f"'{SUBSCRIPTION}'")]
    assert (await found("resource-lock", azure)).severity is Severity.WARNING


async def test_it_claims_no_failed_pool_unless_azure_names_it() -> None:
    azure = locked(SUBSCRIPTION, "CanNotDelete", provisioningState="Failed")
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "InternalOperationError", "message": "it failed"}}
    assert (await found("resource-lock", azure)).affects == ()
    error = json.loads(refused_delete(scale_set_id("apps"), f"'{SUBSCRIPTION}'")["properties"]["statusMessage"])
    azure.pools["apps"]["status"] = {"provisioningError": error["error"]}
    assert (await found("resource-lock", azure)).affects == (pool_id("apps"),)


async def test_a_refusal_by_a_lock_elsewhere_is_found_and_names_it() -> None:
    table = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/udr"
    azure = locked(table, "CanNotDelete")
    azure.events[NODE_GROUP] = [refused_delete(scale_set_id("apps"), f"'{table}'")]
    finding = await found("resource-lock", azure)
    assert (finding.severity, finding.facts["holds"]) == (Severity.ERROR, "udr")


ADDRESS = f"{GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/out"
PREFIX = f"{GROUP_ID}/providers/Microsoft.Network/publicIPPrefixes/out"
ZONE = f"{GROUP_ID}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
TABLE = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/udr"
GATEWAY = f"{GROUP_ID}/providers/Microsoft.Network/natGateways/out"
PODS = f"{VNET}/subnets/pods"


def with_everything_brought(scope: str, level: str, plugin: str = "kubenet") -> Azure:
    """A private cluster with its owners' own network, route table, outbound addresses and DNS zone."""
    azure = locked(scope, level, vnetSubnetID=SUBNET, podSubnetID=PODS)
    azure.cluster["networkProfile"] |= {
        "networkPlugin": plugin,
        "loadBalancerProfile": {
            "outboundIPs": {"publicIPs": [{"id": ADDRESS}]},
            "outboundIPPrefixes": {"publicIPPrefixes": [{"id": PREFIX}]},
            "effectiveOutboundIPs": [{"id": ADDRESS.upper()}],
        },
    }
    azure.cluster["apiServerAccessProfile"] = {"enablePrivateCluster": True, "privateDNSZone": ZONE}
    azure.subnet("10.0.0.0/24", 10)
    azure.subnet("10.0.1.0/24", 10, PODS)
    azure.subnets[SUBNET]["routeTable"] = {"id": TABLE}
    return azure


@pytest.mark.parametrize(
    ("scope", "holds", "stops"),
    [
        (PODS, "the subnet pods", "no node or pod can join it"),
        (ADDRESS, "the outbound address out", "the load balancer cannot be changed"),
        (PREFIX, "the outbound address out", "the load balancer cannot be changed"),
        (ZONE, "the private DNS zone privatelink.westeurope.azmk8s.io", "the API server's record cannot be renewed"),
        (TABLE, "the route table udr", "no new node gets a route to its pods"),
    ],
)
async def test_a_read_only_lock_on_what_people_brought_stops_what_aks_does_there(
    scope: str, holds: str, stops: str
) -> None:
    finding = await found("resource-lock", with_everything_brought(scope, "ReadOnly"))
    assert finding.severity is Severity.WARNING
    assert (finding.facts["holds"], finding.facts["stops"]) == (holds, stops)
    assert stops in finding.because


@pytest.mark.parametrize("scope", [VNET, SUBNET, PODS, ADDRESS, PREFIX, ZONE, TABLE, GATEWAY])
async def test_the_twin_against_deletion_is_harmless_there(scope: str) -> None:
    assert (await asked("resource-lock", with_everything_brought(scope, "CanNotDelete"))).outcome is Outcome.CLEAR


@pytest.mark.parametrize(("scope", "plugin"), [(GATEWAY, "kubenet"), (TABLE, "azure")])
async def test_what_aks_never_writes_to_may_be_read_only(scope: str, plugin: str) -> None:
    """A NAT gateway is the subnet's; routes are written for kubenet only."""
    check = await asked("resource-lock", with_everything_brought(scope, "ReadOnly", plugin))
    assert check.outcome is Outcome.CLEAR


async def test_which_route_table_it_is_cannot_be_told_without_the_subnet() -> None:
    azure = with_everything_brought(TABLE, "ReadOnly")
    azure.denied = {"/virtualNetworks/"}
    check = await asked("resource-lock", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "the route table of the nodes' subnet" in check.why


async def test_when_it_was_set_is_told() -> None:
    azure = locked(NODE_GROUP_ID, "ReadOnly")
    azure.locks[0]["systemData"] = {"createdBy": "someone", "createdAt": "2026-11-17T22:14:05.1234567Z"}
    assert "set at 2026-11-17 22:14 UTC" in (await found("resource-lock", azure)).because


HUB = "/subscriptions/5a1c0000-0000-4000-8000-0000000000ff"
HUB_SUBNET = f"{HUB}/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/hub/subnets/nodes"


async def test_a_delete_lock_on_the_subscription_of_the_network_alone_is_harmless() -> None:
    assert (await asked("resource-lock", locked(HUB, "CanNotDelete", vnetSubnetID=HUB_SUBNET))).outcome is Outcome.CLEAR
    finding = await found("resource-lock", locked(HUB, "ReadOnly", vnetSubnetID=HUB_SUBNET))
    assert finding.facts["holds"] == "the subnet nodes"


# -- a reader whose role is on resource groups -----------------------------------------------------------------------


@pytest.mark.parametrize("scope", [SUBSCRIPTION, NODE_GROUP_ID])
async def test_who_may_look_at_the_groups_alone_sees_what_they_inherit(scope: str) -> None:
    azure = locked(scope, "CanNotDelete")
    azure.denied = {f"{SUBSCRIPTION}{LOCKS}"}
    assert (await found("resource-lock", azure)).facts["scope"] == scope


async def test_who_may_look_at_the_groups_alone_is_told_clear_when_they_hold_no_lock() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {f"{SUBSCRIPTION}{LOCKS}"}
    assert (await asked("resource-lock", azure)).outcome is Outcome.CLEAR


async def test_who_may_look_at_the_cluster_alone_is_told_what_went_unseen() -> None:
    azure = locked(f"{GROUP_ID}", "CanNotDelete", vnetSubnetID=SUBNET)
    azure.denied = {f"{SUBSCRIPTION}{LOCKS}", f"{GROUP_ID}{LOCKS}", f"{NODE_GROUP_ID}{LOCKS}", f"{SUBNET}{LOCKS}"}
    check = await asked("resource-lock", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "the node resource group" in check.why
    assert "the subnet nodes" in check.why
    assert "the cluster" not in check.why.replace("the cluster's", "")


@pytest.mark.parametrize(("group", "outcome"), [("hub", Outcome.INCONCLUSIVE), (GROUP, Outcome.CLEAR)])
async def test_who_may_look_at_some_groups_alone_does_not_see_the_locks_of_a_route_table_elsewhere(
    group: str, outcome: Outcome
) -> None:
    azure = Azure()
    azure.cluster["networkProfile"] = {"networkPlugin": "kubenet"}
    azure.pool("apps", vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 10)
    table = f"{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Network/routeTables/udr"
    azure.subnets[SUBNET]["routeTable"] = {"id": table}
    azure.denied = {f"{SUBSCRIPTION}{LOCKS}"}
    check = await asked("resource-lock", azure)
    assert check.outcome is outcome
    assert ("the route table udr" in check.why) == (outcome is Outcome.INCONCLUSIVE)


async def test_a_delete_lock_above_is_found_once_a_delete_was_refused_because_of_it() -> None:
    azure = locked(GROUP_ID, "CanNotDelete")
    message = f'{{"error":{{"code":"ScopeLocked","message":"{LOCKED}"}}}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(hours=1), message)]
    finding = await found("resource-lock", azure)
    assert finding.severity is Severity.ERROR
    assert "ScopeLocked" in " ".join(finding.because)


@pytest.mark.parametrize(
    "scope",
    [
        f"{SUBSCRIPTION}/resourceGroups/other",
        f"{SUBSCRIPTION}/resourceGroups/{GROUP}-2",
        f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/logs",
        f"{CLUSTER}-2",
    ],
)
async def test_the_twin_on_another_scope_is_clear(scope: str) -> None:
    assert (await asked("resource-lock", locked(scope, "ReadOnly"))).outcome is Outcome.CLEAR


@pytest.mark.parametrize("scope", [VNET, SUBNET])
async def test_a_read_only_lock_on_the_network_of_a_pool_is_found(scope: str) -> None:
    azure = locked(scope, "ReadOnly", vnetSubnetID=SUBNET)
    finding = await found("resource-lock", azure)
    assert finding.facts["holds"] == "the subnet nodes"


async def test_a_lock_explains_a_pool_that_failed_because_of_it_and_no_other() -> None:
    azure = locked(NODE_GROUP_ID, "ReadOnly", provisioningState="Failed")
    message = (
        "Resource group 'MC_rg-one_one_westeurope' under subscription: 'x' is locked, please remove lock and retry."
    )
    azure.pools["apps"]["status"] = {"provisioningError": {"message": message}}
    azure.pool("more", provisioningState="Failed")
    azure.pools["more"]["status"] = {"provisioningError": {"code": "SubnetIsFull", "message": "full"}}
    finding = await found("resource-lock", azure)
    assert finding.affects == (pool_id("apps"),)
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(("correlation", "harmed"), [("another", (CLUSTER,)), ("c0ffee", ())])
async def test_what_azure_named_for_a_pool_is_named_for_the_cluster_that_failed_with_it(
    correlation: str, harmed: tuple[str, ...]
) -> None:
    azure = locked(NODE_GROUP_ID, "CanNotDelete", provisioningState="Failed")
    azure.locks[0]["systemData"] = {"createdAt": "2026-10-01T08:00:00Z"}
    azure.cluster["provisioningState"] = "Failed"
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "SubnetIsFull", "message": "Subnet nodes is full."}}
    azure.events[GROUP] = [
        event(CLUSTER, "Failed", timedelta(hours=3)),
        event(pool_id("apps"), "Failed", timedelta(hours=3), correlation=correlation),
    ]
    assert (await found("resource-lock", azure)).affects == harmed


async def test_what_is_denied_is_inconclusive_and_named() -> None:
    azure = locked(NODE_GROUP_ID, "ReadOnly")
    azure.denied = {"/locks"}
    check = await asked("resource-lock", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_whether_a_delete_lock_stopped_a_failed_pool_cannot_be_told_without_the_log() -> None:
    azure = locked(GROUP_ID, "CanNotDelete", provisioningState="Failed")
    azure.denied = {"/eventtypes/"}
    assert (await asked("resource-lock", azure)).outcome is Outcome.INCONCLUSIVE


async def test_whether_a_delete_lock_stopped_a_pool_that_has_just_failed_is_not_known_yet() -> None:
    azure = locked(GROUP_ID, "CanNotDelete", provisioningState="Failed")
    check = await asked("resource-lock", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "known until 02:52 UTC" in check.why
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "ZonalAllocationFailed", "message": "no capacity"}}
    assert (await asked("resource-lock", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("scope", [SUBSCRIPTION, f"{GROUP_ID}-2"])
async def test_a_lock_whose_scope_only_begins_like_the_one_that_refused_is_not_blamed(scope: str) -> None:
    azure = locked(GROUP_ID, "CanNotDelete")
    other = LOCKED.replace(f"'{GROUP_ID}'", f"'{scope}'")
    message = f'{{"error":{{"code":"ScopeLocked","message":"{other}"}}}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(hours=1), message)]
    assert (await asked("resource-lock", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("history", ["days ago", "its own deletion"])
async def test_a_refusal_that_is_history_or_the_locks_purpose_is_no_finding(history: str) -> None:
    azure = locked(GROUP_ID, "CanNotDelete")
    message = f'{{"error":{{"code":"ScopeLocked","message":"{LOCKED}"}}}}'
    ago = timedelta(days=12) if history == "days ago" else timedelta(hours=1)
    refused = event(CLUSTER, "Failed", ago, message)
    operation = "delete" if history == "its own deletion" else "write"
    refused["operationName"]["value"] = f"Microsoft.ContainerService/managedClusters/{operation}"
    azure.events[GROUP] = [refused]
    assert (await asked("resource-lock", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("state", ["Succeeded", "Failed"])
async def test_only_what_failed_over_a_lock_is_reconciled_after_it(state: str) -> None:
    azure = locked(NODE_GROUP_ID, "CanNotDelete")
    error = {"code": "ScopeLocked", "message": f"The scope(s) are locked: '{NODE_GROUP_ID}'"}
    azure.cluster |= {"provisioningState": state}
    azure.cluster |= {"status": {"provisioningError": error}} if state == "Failed" else {}
    fix = LIBRARY["resource-lock"].render("Fix", (await found("resource-lock", azure)).facts)
    assert ("az resource update" in fix) is (state == "Failed")
