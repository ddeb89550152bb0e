"""Which nodes are not Ready, and why?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.wire import NOW, Azure, asked, at, found

SILENT = "Kubelet stopped posting node status."


def silent(**pool: Any) -> Azure:
    """Node `node-0` of pool `apps` has been Unknown for a quarter of an hour; its machine runs."""
    azure = Azure()
    azure.pool("apps", count=1, **pool)
    azure.not_ready(message=SILENT)
    return azure


def power(azure: Azure, state: str, provisioning: str = "Succeeded") -> None:
    properties = azure.machines["apps"][0]["properties"]
    properties["provisioningState"] = provisioning
    properties["instanceView"] = {"statuses": [{"code": f"PowerState/{state}"}]}


async def test_a_silent_kubelet_is_what_is_left_when_all_else_is_right() -> None:
    finding = await found("node-not-ready", silent())
    assert finding.subject == "Node/node-0"
    assert finding.facts["reason"] == "kubelet-silent"
    assert finding.because == (
        "node-0 (pool apps) is not Ready since 2026-11-18 02:52 UTC: Ready=Unknown",
        "its kubelet is silent since 2026-11-18 02:52:00 UTC; the lease is not renewed",
    )


async def test_the_twin_that_is_ready_is_clear() -> None:
    azure = silent()
    azure.node()
    assert (await asked("node-not-ready", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("state", "provisioning", "reason"),
    [
        ("stopped", "Succeeded", "vm-stopped"),
        ("deallocated", "Succeeded", "vm-stopped"),
        ("running", "Failed", "vm-failed"),
    ],
)
async def test_its_machine_comes_first(state: str, provisioning: str, reason: str) -> None:
    azure = silent()
    power(azure, state, provisioning)
    assert (await found("node-not-ready", azure)).facts["reason"] == reason


async def test_a_machine_that_is_gone_is_said_only_if_all_machines_were_seen() -> None:
    azure = silent()
    azure.machines["apps"] = []
    assert (await found("node-not-ready", azure)).facts["reason"] == "vm-gone"
    azure.denied = {"/virtualMachines"}
    assert (await found("node-not-ready", azure)).facts["reason"] == "kubelet-silent"


@pytest.mark.parametrize("kind", ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"])
async def test_conditions_come_before_what_the_kubelet_says(kind: str) -> None:
    azure = silent()
    azure.not_ready(status="False", message="container runtime is down")["status"]["conditions"].append(
        {"type": kind, "status": "True", "message": f"there is {kind}"}
    )
    finding = await found("node-not-ready", azure)
    assert finding.facts["reason"] == ("network" if kind == "NetworkUnavailable" else "pressure")
    assert f"there is {kind}" in finding.because[1]


async def test_pressure_alone_on_a_node_that_is_ready_is_no_finding() -> None:
    azure = silent()
    azure.node()["status"]["conditions"].append({"type": "DiskPressure", "status": "True"})
    assert (await asked("node-not-ready", azure)).outcome is Outcome.CLEAR


async def test_a_kubelet_that_speaks_is_quoted() -> None:
    azure = silent()
    azure.not_ready(status="False", message="container runtime network not ready: cni plugin not initialized")
    assert "cni plugin not initialized" in (await found("node-not-ready", azure)).because[1]


@pytest.mark.parametrize(
    "excuse", ["created", "deleting", "autoscaler", "machine deleting", "upgrading", "spot", "stopped pool", "parked"]
)
async def test_a_node_that_is_on_its_way_is_no_finding(excuse: str) -> None:
    azure = silent()
    node, pool = azure.nodes["node-0"], azure.pools["apps"]
    if excuse == "created":
        node["metadata"]["creationTimestamp"] = at(timedelta(minutes=2))
    elif excuse == "deleting":
        node["metadata"]["deletionTimestamp"] = at(timedelta(minutes=1))
    elif excuse == "autoscaler":
        node["spec"]["taints"] = [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]
    elif excuse == "machine deleting":
        power(azure, "running", "Deleting")
    elif excuse == "upgrading":
        pool["provisioningState"], node["spec"]["unschedulable"] = "Upgrading", True
    elif excuse == "spot":
        node["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] = "spot"
        azure.machines["apps"] = []
    elif excuse == "stopped pool":
        pool["powerState"] = {"code": "Stopped"}
        power(azure, "deallocated")
    else:
        pool["scaleDownMode"] = "Deallocate"
        power(azure, "deallocated")
    check = await asked("node-not-ready", azure)
    assert check.outcome is Outcome.CLEAR, check.why
    assert "node-0" in check.why


@pytest.mark.parametrize("no_excuse", ["spot but running", "pool upgrading but node not touched", "created long ago"])
async def test_what_only_looks_like_an_excuse_is_none(no_excuse: str) -> None:
    azure = silent()
    if no_excuse == "spot but running":
        azure.nodes["node-0"]["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] = "spot"
    elif no_excuse == "pool upgrading but node not touched":
        azure.pools["apps"]["provisioningState"] = "Upgrading"
    else:
        azure.nodes["node-0"]["metadata"]["creationTimestamp"] = at(timedelta(minutes=11))
    assert (await asked("node-not-ready", azure)).outcome is Outcome.FOUND


async def test_a_lease_that_is_fresh_says_that_the_kubelet_is_back() -> None:
    azure = silent()
    azure.leases["node-0"] = NOW - timedelta(seconds=5)
    assert (await found("node-not-ready", azure)).facts["reason"] == "kubelet-back"


async def test_a_node_of_no_pool_is_judged_like_any_other() -> None:
    azure = silent()
    azure.nodes["node-0"]["metadata"]["labels"] = {"karpenter.sh/nodepool": "default"}
    assert "(pool none)" in (await found("node-not-ready", azure)).because[0]


@pytest.mark.parametrize("denied", ["/api/v1/nodes", "/agentPools"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = silent()
    azure.denied = {denied}
    check = await asked("node-not-ready", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_stopped_cluster_has_no_nodes_to_judge() -> None:
    azure = silent()
    azure.cluster["powerState"] = {"code": "Stopped"}
    assert (await asked("node-not-ready", azure)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("excuse", ["upgrading", "deleting"])
async def test_what_is_on_its_way_for_hours_is_not_on_its_way(excuse: str) -> None:
    azure = silent()
    node = azure.nodes["node-0"]
    node["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(hours=9))
    if excuse == "upgrading":
        azure.pools["apps"]["provisioningState"], node["spec"]["unschedulable"] = "Upgrading", True
    else:
        node["metadata"]["deletionTimestamp"] = at(timedelta(hours=9))
    assert (await asked("node-not-ready", azure)).outcome is Outcome.FOUND


async def test_a_pool_that_is_starting_has_nodes_that_are_not_there_yet() -> None:
    azure = silent()
    azure.pools["apps"]["provisioningState"] = "Starting"
    assert (await asked("node-not-ready", azure)).outcome is Outcome.CLEAR


async def test_a_machine_that_was_not_looked_for_is_not_called_gone() -> None:
    azure = silent()
    vm = "/subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute/virtualMachines/own-1"
    azure.nodes["node-0"]["spec"]["providerID"] = f"azure://{vm}"
    azure.nodes["node-0"]["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] = "spot"
    assert (await found("node-not-ready", azure)).facts["reason"] == "kubelet-silent"


async def test_a_virtual_node_has_no_kubelet_to_restart() -> None:
    azure = silent()
    azure.nodes["node-0"]["metadata"]["labels"] = {"type": "virtual-kubelet"}
    azure.nodes["node-0"]["spec"] = {}
    assert (await found("node-not-ready", azure)).facts["reason"] == "virtual-node"
