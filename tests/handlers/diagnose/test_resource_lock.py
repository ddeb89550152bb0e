"""Does a lock stand in the way?"""

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.wire import (
    CLUSTER,
    GROUP,
    GROUP_ID,
    NODE_GROUP_ID,
    SUB,
    SUBNET,
    VNET,
    Azure,
    asked,
    event,
    found,
    pool_id,
)

SUBSCRIPTION = f"/subscriptions/{SUB}"
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


@pytest.mark.parametrize("scope", [GROUP_ID, CLUSTER, SUBSCRIPTION])
async def test_a_delete_lock_above_is_good_practice(scope: str) -> None:
    check = await asked("resource-lock", locked(scope, "CanNotDelete"))
    assert check.outcome is Outcome.CLEAR
    assert "keep (CanNotDelete) only guards against deletion" in check.why


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
