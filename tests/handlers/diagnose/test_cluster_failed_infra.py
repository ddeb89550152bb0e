"""Did the cluster fail for a reason of Azure's own? Only where every other cause was looked for and is not there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NODE_GROUP_ID, SUBNET, event, pool_id, usage
from tests.handlers.diagnose.test_service_issues import issue
from tests.handlers.diagnose.wire import LIBRARY, PROVEN, Azure, asked, found

QUESTION = "cluster-failed-infra"
INTERNAL = {"code": "ControlPlaneProvisioningInternalError", "message": "Timeout while polling"}


NOT_HERE = {"hybrid-cluster-failed", "log-analytics-workspace-missing", "private-dns-zone"}
"""Codes that cannot apply: this is an AKS cluster without a private DNS zone and without a workspace."""


def failed(code: str = INTERNAL["code"]) -> Azure:
    """Failed with an internal error, and nothing in the way."""
    azure = Azure()
    azure.pool("apps", 2, vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 10)
    azure.roles = [
        {
            "properties": {
                "principalId": "0c",
                "roleDefinitionId": "r",
                "scope": f"/subscriptions/{SUBNET.split('/')[2]}",
            }
        }
    ]
    azure.events[GROUP] = [event(CLUSTER, "Succeeded", timedelta(days=3))]
    for number in range(2):
        azure.node(f"node-{number}", machine=number)
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": INTERNAL | {"code": code}}}
    return azure


@pytest.mark.parametrize("code", [INTERNAL["code"], "InternalServerError", "InternalOperationError", "InternalError"])
async def test_an_internal_error_with_every_other_cause_ruled_out_is_azures_own(code: str) -> None:
    finding = await found(QUESTION, failed(code), PROVEN)
    assert (finding.subject, finding.affects) == (CLUSTER, (CLUSTER,))
    assert finding.facts["error_code"] == code
    ruled_out = [line for line in finding.because if line.startswith("not the cause, ")]
    codes = [line.removeprefix("not the cause, ").partition(":")[0] for line in ruled_out]
    explain = {code for code, below in PROVEN.items() if below & {"cluster-failed", "nodepool-failed"}}
    assert codes == sorted(explain - {QUESTION} - PROVEN[QUESTION] - NOT_HERE)
    assert {"quota-exceeded", "resource-lock", "subnet-full", "pdb-blocks-drain"} <= set(codes)


async def test_it_stays_open_as_long_as_a_kind_of_cause_has_no_check() -> None:
    a_team_adds = {**LIBRARY.explains, "firewall-of-ours": frozenset({"cluster-failed"})}
    check = await asked(QUESTION, failed(), a_team_adds)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "not ruled out are firewall-of-ours" in check.why
    assert "no check asks about them yet" in check.why


async def test_pools_that_failed_with_it_are_named_and_explained() -> None:
    azure = failed()
    azure.pools["apps"]["provisioningState"] = "Failed"
    finding = await found(QUESTION, azure, PROVEN)
    assert finding.affects == (CLUSTER, pool_id("apps"))
    assert finding.facts["pool_ids"] == [pool_id("apps")]


async def test_a_cluster_that_has_not_failed_is_clear() -> None:
    azure = failed()
    azure.cluster["provisioningState"] = "Succeeded"
    assert (await asked(QUESTION, azure, PROVEN)).outcome is Outcome.CLEAR


async def test_an_error_that_names_a_cause_is_not_internal() -> None:
    check = await asked(QUESTION, failed("ZonalAllocationFailed"))
    assert check.outcome is Outcome.CLEAR
    assert "Azure named another cause: ZonalAllocationFailed" in check.why


async def test_a_pool_whose_own_error_names_a_cause_is_enough_to_doubt_it() -> None:
    azure = failed()
    azure.pools["apps"] |= {
        "provisioningState": "Failed",
        "status": {"provisioningError": {"code": "SubnetIsFull", "message": "full"}},
    }
    assert (await asked(QUESTION, azure, PROVEN)).outcome is Outcome.CLEAR


def lock(azure: Azure) -> None:
    azure.lock(NODE_GROUP_ID)


def subnet(azure: Azure) -> None:
    azure.taken[SUBNET] = 251


def quota(azure: Azure) -> None:
    azure.usages = [usage("cores", 300, 300), usage("standardDSv5Family", 100, 100)]
    azure.pools["apps"] |= {"count": 3, "provisioningState": "Failed"}


def provider(azure: Azure) -> None:
    azure.registered = {"Microsoft.Compute": "NotRegistered"}


def budget(azure: Azure) -> None:
    azure.pools["apps"]["provisioningState"] = "Upgrading"
    azure.nodes["node-0"]["spec"]["unschedulable"] = True
    azure.pod("web-1")
    azure.budget("web", "web-1")


@pytest.mark.parametrize("cause", [lock, subnet, quota, provider, budget])
async def test_any_cause_of_its_owners_keeps_it_from_being_laid_at_azures_door(
    cause: Callable[[Azure], None],
) -> None:
    azure = failed()
    cause(azure)
    check = await asked(QUESTION, azure, PROVEN)
    assert check.outcome is Outcome.CLEAR, check.why
    assert "another cause was found: " in check.why


@pytest.mark.parametrize(
    "path",
    [
        "/usages",
        "/Microsoft.Compute/skus",
        "/locks",
        "/subnets/",
        "/poddisruptionbudgets",
        "/providers/Microsoft.Storage",
        "/api/v1/nodes",
        "/eventtypes/",
    ],
)
async def test_a_cause_that_could_not_be_looked_for_leaves_it_open(path: str) -> None:
    azure = failed()
    azure.cluster["storageProfile"] = {"fileCSIDriver": {"enabled": True}}
    assert (await asked(QUESTION, azure, PROVEN)).outcome is Outcome.FOUND
    azure.denied = {path}
    check = await asked(QUESTION, azure, PROVEN)
    assert check.outcome is Outcome.INCONCLUSIVE, check.why
    assert check.unseen


async def test_an_api_server_out_of_reach_leaves_the_budgets_open() -> None:
    azure = failed()
    azure.kube_trouble = "Name or service not known"
    check = await asked(QUESTION, azure, PROVEN)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "drain-error stayed open" in check.why


async def test_the_correlation_id_is_there_for_a_support_request() -> None:
    azure = failed()
    azure.events[GROUP].append(event(CLUSTER, "Failed", timedelta(hours=1), correlation="beef"))
    assert (await found(QUESTION, azure, PROVEN)).facts["correlation"] == "beef"


async def test_a_service_issue_that_azure_has_announced_is_said_first() -> None:
    azure = failed()
    azure.service_events = [issue()]
    finding = await found(QUESTION, azure, PROVEN)
    assert finding.because[0].startswith("Azure has announced a service issue of Azure Kubernetes Service (AKS)")
    assert finding.facts["service_issues"] == [finding.because[0]]
