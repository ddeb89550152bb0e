"""Azure's errors for a failure: with and without a named cause, in every kind of wrapping."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sandbox.blueprint.sizes import SIZES
from tests.worlds.build import Cluster
from tests.worlds.ids import LOCATION, Body
from tests.worlds.pools import Pool

Says = Callable[[Cluster, Pool], Body]


def error(code: str, message: str) -> Body:
    return {"code": code, "message": message}


def _quota(_: Cluster, pool: Pool) -> Body:
    family, cores = SIZES[pool.size].family, SIZES[pool.size].cores
    said = f"Operation could not be completed as it results in exceeding approved {family} Cores quota. "
    return error("QuotaExceeded", f"{said}Location: {LOCATION}, Current Limit: 20, Additional Required: {cores}")


def _subnet(cluster: Cluster, _: Pool) -> Body:
    subnet = cluster.ids.subnet("nodes")
    said = f"Subnet nodes with address prefix 10.16.0.0/21 does not have enough capacity for 31 IP addresses. {subnet}"
    return error("SubnetIsFull", said)


def _lock(cluster: Cluster, _: Pool) -> Body:
    scope = cluster.ids.node_group_id
    said = f"The scope '{cluster.ids.compute}/x' cannot perform write operation because following scope(s) are locked: "
    return error("ScopeLocked", f"{said}'{scope}'. Please remove the lock and try again.")


def _registration(*_: object) -> Body:
    said = "The subscription is not registered to use namespace 'Microsoft.Storage'. See https://aka.ms/rps-not-found"
    return error("MissingSubscriptionRegistration", said)


def _budget(cluster: Cluster, pool: Pool) -> Body:
    node = pool.machines[0].node
    pod = "shop/ledger-0 blocked by pdb ledger with 0 unready pods"
    said = f"Drain node {node} failed when evicting pod ledger-0. Eviction failed with Too Many Requests error: {pod}"
    return error("PodDrainFailure", said)


NAMED: Mapping[str, Says] = {
    "quota-exceeded": _quota,
    "subnet-full": _subnet,
    "resource-lock": _lock,
    "subscription-not-registered": _registration,
    "pdb-blocks-drain": _budget,
}
"""Errors by the code of the finding that they name."""


def _allocation(_: Cluster, pool: Pool) -> Body:
    said = "Allocation failed. We do not have sufficient capacity for the requested VM size in this region."
    return error("AllocationFailed", f"{said} {pool.size}")


def _policy(cluster: Cluster, _: Pool) -> Body:
    said = f"Resource 'aks-x' was disallowed by policy. Reasons: 'tags'. {cluster.ids.compute}"
    return error("RequestDisallowedByPolicy", said)


def _workspace(cluster: Cluster, _: Pool) -> Body:
    return error("LogAnalyticsWorkspaceNotFound", f"The workspace logs-{cluster.shape.seed} could not be found.")


def _overconstrained(*_: object) -> Body:
    said = "Allocation failed. VM(s) with the following constraints cannot be allocated, because too restrictive."
    return error("OverconstrainedAllocationRequest", said)


def _addresses(*_: object) -> Body:
    said = "Cannot create more than 20 public IP addresses for this subscription in this region."
    return error("PublicIPCountLimitReached", said)


def _exit_50(*_: object) -> Body:
    """The CSE script has no outbound connectivity: a wrapper by its code, a cause by its exit status."""
    return error("ReconcileVMSSAgentPoolFailed", "VM has reported a failure: Enable failed: exit status=50")


OTHERS: Mapping[str, Says] = {
    "allocation-failed": _allocation,
    "request-disallowed-by-policy": _policy,
    "log-analytics-workspace-missing": _workspace,
    "overconstrained-allocation": _overconstrained,
    "public-ip-count-limit": _addresses,
    "outbound-conn-fail": _exit_50,
}
"""Causes that are never planted: their checks are clear or do not exist yet."""


def _failed_internally(*_: object) -> Body:
    return error("InternalOperationError", "Internal server error. Please retry.")


def _went_wrong(*_: object) -> Body:
    return error("ReconcileVMSSAgentPoolFailed", "Reconcile VMSS agent pool failed.")


WRAPPERS: Mapping[str, Says] = {"InternalOperationError": _failed_internally, "ReconcileFailed": _went_wrong}
"""Errors that say only that something failed."""


def _internal(*_: object) -> Body:
    return error("ControlPlaneProvisioningInternalError", "Internal error while provisioning the control plane.")


INTERNAL: Says = _internal


# -- wrappers (as recorded) ---------------------------------------------------------------------------------------


def plain(inner: Body) -> Body:
    return inner


def in_details(inner: Body) -> Body:
    return {**error("ReconcileVMSSAgentPoolFailed", "Reconcile VMSS agent pool failed."), "details": [inner]}


def as_json_text(inner: Body) -> Body:
    text = json.dumps({"error": inner}, indent=2).replace("\n", "\r\n")
    return {**error("ResourceDeploymentFailure", "failed"), "details": [error("Conflict", text)]}


def as_go_text(inner: Body) -> Body:
    code, message = inner["code"], inner["message"]
    text = f'autorest/azure: Service returned an error. Status=409 Code="{code}" Message="{message}"'
    return error("InternalOperationError", text)


def as_aks_text(inner: Body) -> Body:
    """AKS's text format; the misspelling is Azure's."""
    said = f"Category: ClientError; SubCode: {inner['code']}; Dependency: Microsoft.Compute/VirtualMachineScaleSet; "
    said += f"OrginalError: {inner['message']}; AKSTeam: NodeProvisioning, Retriable: false."
    return error("CreateVMSSAgentPoolFailed", said)


FORMS: Mapping[str, Callable[[Body], Body]] = {
    "plain": plain,
    "details": in_details,
    "json text": as_json_text,
    "go text": as_go_text,
    "aks text": as_aks_text,
}
