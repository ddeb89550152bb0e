"""Which finding is named as the cause of a failure, in clusters with several problems at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Diagnosis, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NODE_GROUP_ID, SUBNET, at, event, pool_id, usage
from tests.handlers.diagnose.wire import Azure, diagnosed, found

APPS = pool_id("apps")
FAILED_AT = timedelta(hours=2)


def mixed(code: str = "", message: str = "it failed", *, lock_set: timedelta | None = None) -> Azure:
    """Pool apps is Failed and lacks a node. Its quota is full, its subnet too, somebody has cordoned a node by hand,
    and there may be a lock in the node resource group."""
    azure = Azure()
    azure.cluster["networkProfile"] = {"networkPlugin": "azure"}
    azure.subnet("10.0.0.0/25", 120)
    azure.usages = [usage("cores", 300, 300), usage("standardDSv5Family", 100, 100)]
    error: Any = {"status": {"provisioningError": {"code": code, "message": message}}} if code else {}
    azure.pool("apps", 3, 2, vnetSubnetID=SUBNET, provisioningState="Failed", **error)
    for number in range(2):
        azure.node(f"node-{number}", machine=number)
    azure.nodes["node-0"]["spec"]["unschedulable"] = True
    azure.events[GROUP] = [event(APPS, "Failed", FAILED_AT)]
    if lock_set is not None:
        lock = azure.lock(NODE_GROUP_ID)
        lock["systemData"] = {"createdAt": at(lock_set)}
    return azure


def causes(diagnosis: Diagnosis, code: str) -> set[str]:
    return {cause for one in diagnosis.findings if one.finding.code == code for cause, _ in one.explained_by}


def roots(diagnosis: Diagnosis) -> list[str]:
    return [one.finding.code for one in diagnosis.findings if one.root]


def severity(diagnosis: Diagnosis, code: str) -> Severity:
    return next(one.finding.severity for one in diagnosis.findings if one.finding.code == code)


async def test_named_what_azure_names_alone_explains_the_failure() -> None:
    diagnosis = await diagnosed(mixed("QuotaExceeded", "cores quota", lock_set=timedelta(days=1)))
    assert causes(diagnosis, "nodepool-failed") == {"quota-exceeded"}
    assert roots(diagnosis)[0] == "quota-exceeded"
    assert severity(diagnosis, "subnet-full") is severity(diagnosis, "resource-lock") is Severity.WARNING


async def test_observed_a_lock_from_before_the_failure_explains_it_where_azure_names_nothing() -> None:
    diagnosis = await diagnosed(mixed("ReconcileVMSSAgentPoolFailed", lock_set=timedelta(days=1)))
    assert causes(diagnosis, "nodepool-failed") == {"resource-lock"}
    assert roots(diagnosis)[0] == "resource-lock"
    assert severity(diagnosis, "quota-exceeded") is severity(diagnosis, "subnet-full") is Severity.WARNING


@pytest.mark.parametrize(
    "azure",
    [
        mixed("ReconcileVMSSAgentPoolFailed", lock_set=timedelta(hours=1)),
        mixed("InternalOperationError", lock_set=timedelta(hours=1)),
        mixed(),
    ],
    ids=["wrapper", "internal", "no error"],
)
async def test_possible_what_is_undated_or_younger_explains_nothing_and_stands_below_the_failure(azure: Azure) -> None:
    diagnosis = await diagnosed(azure)
    assert causes(diagnosis, "nodepool-failed") == set()
    assert roots(diagnosis)[0] == "nodepool-failed"
    for code in set(roots(diagnosis)) - {"nodepool-failed"}:
        assert severity(diagnosis, code) is Severity.WARNING


async def test_an_exit_code_in_a_wrapper_names_its_cause_and_nothing_else_claims_the_failure() -> None:
    text = "VM has reported a failure when processing extension 'vmssCSE': exit status=50"
    diagnosis = await diagnosed(mixed("ReconcileVMSSAgentPoolFailed", text, lock_set=timedelta(days=1)))
    assert causes(diagnosis, "nodepool-failed") == set()
    failure = next(one.finding for one in diagnosis.findings if one.finding.code == "nodepool-failed")
    assert roots(diagnosis)[0] == "nodepool-failed"
    assert failure.facts["named"] == "outbound-conn-fail"
    assert any(text in line for line in failure.because)
    assert failure.facts["gone"] is True  # no rule and no route of this network stops nodes


@pytest.mark.parametrize("code", ["LogAnalyticsWorkspaceNotFound", "SomethingNobodyKnows"])
async def test_what_azure_names_and_no_check_knows_leaves_the_failure_as_the_root_with_its_error(code: str) -> None:
    diagnosis = await diagnosed(mixed(code, "as Azure says", lock_set=timedelta(days=1)))
    assert roots(diagnosis)[0] == "nodepool-failed"
    failure = next(one.finding for one in diagnosis.findings if one.finding.code == "nodepool-failed")
    assert any(f"{code}: as Azure says" in line for line in failure.because)


async def test_a_refused_wish_is_nobodys_failure() -> None:
    """Asked for more nodes after the failure, and turned down at once for want of cores."""
    azure = mixed("ReconcileVMSSAgentPoolFailed")
    wish = event(
        APPS, "Failed", timedelta(hours=1), '{"code": "ErrCode_InsufficientVCPUQuota", "message": "vcpu quota"}'
    )
    wish["subStatus"] = {"value": "BadRequest"}
    wish["correlationId"] = "beef"
    azure.events[GROUP] = [wish, *azure.events[GROUP]]
    diagnosis = await diagnosed(azure)
    assert causes(diagnosis, "nodepool-failed") == set()


async def test_a_failure_in_a_scale_set_long_before_belongs_to_another_operation() -> None:
    azure = mixed("ReconcileVMSSAgentPoolFailed")
    group = NODE_GROUP_ID.rsplit("/", 1)[-1]
    scale_set = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-apps-12345678-vmss"
    old = event(
        scale_set, "Failed", timedelta(days=2), '{"error": {"code": "QuotaExceeded", "message": "cores quota"}}'
    )
    old["operationName"] = {"value": "Microsoft.Compute/virtualMachineScaleSets/write"}
    azure.events[group] = [old]
    assert causes(await diagnosed(azure), "nodepool-failed") == set()
    old["eventTimestamp"] = at(FAILED_AT + timedelta(minutes=5))
    assert causes(await diagnosed(azure), "nodepool-failed") == {"quota-exceeded"}


async def test_what_compute_refuses_when_aks_asks_it_is_why_the_pool_failed() -> None:
    azure = mixed("ReconcileVMSSAgentPoolFailed")
    group = NODE_GROUP_ID.rsplit("/", 1)[-1]
    scale_set = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-apps-12345678-vmss"
    refusal = event(scale_set, "Failed", FAILED_AT, '{"error": {"code": "QuotaExceeded", "message": "cores quota"}}')
    refusal["operationName"] = {"value": "Microsoft.Compute/virtualMachineScaleSets/write"}
    refusal["subStatus"] = {"value": "Conflict"}
    azure.events[group] = [refusal]
    assert causes(await diagnosed(azure), "nodepool-failed") == {"quota-exceeded"}


async def test_system_pods_that_azure_waited_for_in_vain_explain_the_cluster_while_they_do_not_run() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.node()
    azure.cluster |= {
        "provisioningState": "Failed",
        "status": {
            "provisioningError": {"code": "ControlPlaneAddOnsNotReady", "message": "Pods not in Running status"}
        },
    }
    azure.events[GROUP] = [event(CLUSTER, "Failed", FAILED_AT)]
    failure = next(one for one in (await diagnosed(azure)).findings if one.finding.code == "cluster-failed")
    assert failure.finding.facts["gone"]
    since = [{"type": "Ready", "status": "False", "lastTransitionTime": at(timedelta(hours=3))}]
    azure.pod("metrics-server-1", namespace="kube-system", ready=False, conditions=since)
    diagnosis = await diagnosed(azure)
    assert causes(diagnosis, "cluster-failed") == {"kube-system-not-running"}


async def test_the_clusters_own_error_stands_before_a_sibling_of_the_same_deployment() -> None:
    azure = mixed("QuotaExceeded", "cores quota")
    azure.cluster |= {
        "provisioningState": "Failed",
        "status": {"provisioningError": {"code": "QuotaExceeded", "message": "cores quota"}},
    }
    storage = f"{CLUSTER.split('/providers/')[0]}/providers/Microsoft.Storage/storageAccounts/taken"
    clash = '{"error": {"code": "StorageAccountAlreadyTaken", "message": "the name is taken"}}'
    azure.events[GROUP] += [event(CLUSTER, "Failed", FAILED_AT), event(storage, "Failed", timedelta(hours=3), clash)]
    diagnosis = await diagnosed(azure)
    failure = next(one.finding for one in diagnosis.findings if one.finding.code == "cluster-failed")
    assert failure.facts["code"] == "QuotaExceeded"
    assert not any("StorageAccount" in line for line in failure.because)


@pytest.mark.parametrize("code", ["AllocationFailed", "LinkedAuthorizationFailed"])
async def test_a_pool_that_failed_without_a_word_was_stopped_by_what_azure_named_for_its_cluster(code: str) -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed")
    error = {"code": code, "message": "as Azure says"}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}}
    finding = await found("nodepool-failed", azure)
    assert finding.facts["stopped_by"] == f"{code}: as Azure says"
    assert "that was said of the cluster; of this pool Azure says nothing more" in finding.because
    assert finding.affects == ()


@pytest.mark.parametrize(("correlation", "stopped"), [("c1", True), ("c2", False)])
async def test_a_mere_wrapper_for_the_pool_yields_to_what_azure_named_for_the_cluster_of_the_same_operation(
    correlation: str, stopped: bool
) -> None:
    internal = {"code": "InternalOperationError", "message": "Internal server error"}
    azure = Azure()
    azure.pool("apps", provisioningState="Failed", status={"provisioningError": internal})
    error = {"code": "AllocationFailed", "message": "as Azure says"}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}}
    azure.events[GROUP] = [
        event(CLUSTER, "Failed", FAILED_AT, correlation="c1"),
        event(APPS, "Failed", FAILED_AT, correlation=correlation),
    ]
    assert bool((await found("nodepool-failed", azure)).facts["stopped_by"]) is stopped


async def test_the_twin_whose_own_log_tells_of_its_failure_stays_without_the_clusters_cause() -> None:
    azure = Azure()
    azure.pool("apps", provisioningState="Failed")
    azure.cluster |= {
        "provisioningState": "Failed",
        "status": {"provisioningError": {"code": "AllocationFailed", "message": "as Azure says"}},
    }
    internal = '{"status":"Failed","error":{"code":"InternalOperationError","message":"Internal server error"}}'
    azure.events[GROUP] = [event(pool_id("apps"), "Failed", timedelta(hours=9), internal)]
    assert (await found("nodepool-failed", azure)).facts["stopped_by"] == ""


def _two_pools(message: str, correlation: str) -> Azure:
    """Pools apps and spot both failed for want of cores, each of its own quota; the cluster failed over apps."""
    azure = Azure()
    azure.usages[1:3] = [usage("lowPriorityCores", 100, 100), usage("standardDSv5Family", 100, 100)]
    lacks = {"code": "QuotaExceeded", "message": "exceeding approved standardDSv5Family Cores quota"}
    spot = {"code": "QuotaExceeded", "message": "exceeding approved LowPriorityCores quota"}
    azure.pool("apps", 3, 2, provisioningState="Failed", status={"provisioningError": lacks})
    azure.pool("spot", 3, 2, provisioningState="Failed", scaleSetPriority="Spot", status={"provisioningError": spot})
    error = {"code": "QuotaExceeded", "message": message or lacks["message"]}
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": error}}
    azure.events[GROUP] = [
        event(CLUSTER, "Failed", FAILED_AT, correlation="upgrade"),
        event(APPS, "Failed", FAILED_AT, correlation=correlation),
        event(pool_id("spot"), "Failed", timedelta(hours=5), correlation="scale"),
    ]
    return azure


@pytest.mark.parametrize(
    ("message", "correlation"), [("", "another"), ("cores quota", "upgrade")], ids=["same error", "same operation"]
)
async def test_what_stopped_another_pool_does_not_explain_a_cluster_that_failed_over_one(
    message: str, correlation: str
) -> None:
    diagnosis = await diagnosed(_two_pools(message, correlation))
    failure = next(one for one in diagnosis.findings if one.finding.code == "cluster-failed")
    assert {subject.rpartition("/")[2] for _, subject in failure.explained_by} == {"standardDSv5Family", "apps"}


async def test_the_twin_in_which_azure_ties_the_cluster_to_no_pool_leaves_it_to_both() -> None:
    diagnosis = await diagnosed(_two_pools("cores quota", "another"))
    failure = next(one for one in diagnosis.findings if one.finding.code == "cluster-failed")
    subjects = {subject.rpartition("/")[2] for _, subject in failure.explained_by}
    assert subjects == {"standardDSv5Family", "lowPriorityCores", "apps", "spot"}
