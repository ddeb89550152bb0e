"""Which nodes are not Ready, and why?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import NODE_GROUP_ID, NOW, at, pool_id, resource, scale_set_id
from tests.handlers.diagnose.wire import Azure, asked, found

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
    reasons = {"MemoryPressure": "memory-pressure", "DiskPressure": "disk-pressure", "PIDPressure": "pid-pressure"}
    assert finding.facts["reason"] == reasons.get(kind, "network")
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


@pytest.mark.parametrize("pool", [{"scaleSetPriority": "Spot"}, {"scaleDownMode": "Deallocate"}])
async def test_a_machine_that_may_be_switched_off_leaves_it_open_where_machines_are_denied(
    pool: dict[str, str],
) -> None:
    azure = silent()
    azure.pools["apps"] |= pool
    if "scaleSetPriority" in pool:
        azure.nodes["node-0"]["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] = "spot"
    assert (await asked("node-not-ready", azure)).outcome is Outcome.FOUND
    azure.denied = {"/virtualMachines"}
    assert (await asked("node-not-ready", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_virtual_node_has_no_kubelet_to_restart() -> None:
    azure = silent()
    azure.nodes["node-0"]["metadata"]["labels"] = {"type": "virtual-kubelet"}
    azure.nodes["node-0"]["spec"] = {}
    assert (await found("node-not-ready", azure)).facts["reason"] == "virtual-node"


def lost(**pool: Any) -> Azure:
    """Pool `apps` has two machines that run, and one node."""
    azure = Azure()
    azure.pool("apps", count=2, **pool)
    azure.node()
    azure.machines["apps"][1]["properties"] |= {"osProfile": {"computerName": "node-1"}}
    return azure


async def test_a_machine_that_runs_without_its_node_is_found() -> None:
    finding = await found("node-not-ready", lost())
    machine = f"{scale_set_id('apps')}/virtualMachines/1"
    assert (finding.subject, finding.affects) == ("Node/node-1", ())
    assert finding.because[0] == "node-1 (pool apps) is not in the cluster: none of its 1 nodes runs on that machine"
    assert finding.because[-1] == f"machine {machine}"
    assert finding.facts["reason"] == "not-registered"
    fix = LIBRARY["node-not-ready"].render("Fix", finding.facts)
    assert "--name aks-apps-12345678-vmss --instance-ids 1" in fix


async def test_it_explains_no_failure_of_its_pool_because_nobody_knows_since_when_the_node_is_gone() -> None:
    assert (await found("node-not-ready", lost(provisioningState="Failed"))).affects == ()


@pytest.mark.parametrize(
    "excuse",
    ["registered", "registered under its name", "new", "creating", "deleting", "off", "scaling", "failed", "another's"],
)
async def test_a_machine_that_need_not_be_a_node_is_no_finding(excuse: str) -> None:
    azure = lost(provisioningState="Scaling" if excuse == "scaling" else "Succeeded")
    machine = azure.machines["apps"][1]["properties"]
    if excuse == "registered":
        azure.node("other", machine=1)
    elif excuse == "registered under its name":
        azure.node("node-1", machine=1)["spec"] = {}
    elif excuse == "new":
        machine["timeCreated"] = at(timedelta(minutes=4))
    elif excuse == "creating":
        machine["provisioningState"] = "Creating"
    elif excuse == "deleting":
        machine["provisioningState"] = "Deleting"
    elif excuse == "off":
        machine["instanceView"] = {"statuses": [{"code": "PowerState/deallocated"}]}
    elif excuse == "failed":
        machine["provisioningState"] = "Failed"
    elif excuse == "another's":
        azure.node("node-1", machine=1)
        azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
        azure.virtual_machines = [lone("jumpbox", {"team": "shop"})]
    check = await asked("node-not-ready", azure)
    assert check.outcome is Outcome.CLEAR, check.why


def lone(name: str, tags: dict[str, str], power: str = "running") -> dict[str, Any]:
    machine_id = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/{name}"
    view = {"statuses": [{"code": f"PowerState/{power}"}]} if power else {}
    properties = {"provisioningState": "Succeeded", "osProfile": {"computerName": name}, "instanceView": view}
    return resource(machine_id, properties, tags=tags)


async def test_a_machine_of_node_auto_provisioning_without_its_node_is_found() -> None:
    azure = lost()
    azure.node("node-1", machine=1)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.virtual_machines = [lone("aks-default-x7k2p", {"karpenter.sh_nodepool": "default"})]
    finding = await found("node-not-ready", azure)
    assert finding.subject == "Node/aks-default-x7k2p"
    assert "(NodePool default)" in finding.because[0]
    azure.virtual_machines = [lone("aks-default-x7k2p", {"karpenter.sh_nodepool": "default"}, power="deallocated")]
    assert (await asked("node-not-ready", azure)).outcome is Outcome.CLEAR


async def test_a_machine_without_a_node_whose_power_is_not_told_stays_open() -> None:
    azure = lost()
    azure.machines["apps"][1]["properties"]["instanceView"] = {}
    check = await asked("node-not-ready", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "no power state" in check.why


@pytest.mark.parametrize("denied", ["/virtualMachines", "/virtualMachineScaleSets"])
async def test_machines_that_are_denied_leave_it_open(denied: str) -> None:
    azure = lost()
    azure.node("node-1", machine=1)
    azure.denied = {denied}
    assert (await asked("node-not-ready", azure)).outcome is Outcome.INCONCLUSIVE


def short(**pool: Any) -> Azure:
    """Pool `apps` was asked for 3 nodes; one machine and its node are left."""
    azure = Azure()
    azure.pool("apps", count=3, machines=1, **pool)
    azure.node()
    return azure


async def test_a_pool_with_fewer_machines_than_it_was_asked_for_is_found() -> None:
    finding = await found("node-not-ready", short())
    assert (finding.subject, finding.facts["reason"]) == (pool_id("apps"), "missing")
    assert finding.because == (
        "pool apps lacks 2 of its nodes, and is Succeeded",
        "it wants 3 nodes; 1 of its machines exist in Azure, 1 of its nodes in the cluster",
    )
    fix = LIBRARY["node-not-ready"].render("Fix", finding.facts)
    assert f"az resource update --ids {pool_id('apps')}" in fix


async def test_a_pool_whose_scale_set_was_deleted_is_found() -> None:
    azure = short()
    azure.pool("sys", count=1)
    azure.node("node-s", pool="sys")
    azure.tag, azure.machines["apps"] = "aks-managed-poolName", []
    del azure.nodes["node-0"]
    assert "0 of its machines exist in Azure" in (await found("node-not-ready", azure)).because[1]


@pytest.mark.parametrize(
    "pool",
    [
        {"provisioningState": "Scaling"},
        {"provisioningState": "Failed"},
        {"powerState": {"code": "Stopped"}},
        {"enableAutoScaling": True, "minCount": 1, "maxCount": 5},
        {"scaleSetPriority": "Spot"},
    ],
    ids=["scaling", "failed", "stopped", "autoscaled", "spot"],
)
async def test_a_pool_whose_count_is_nobodys_word_lacks_no_machine(pool: dict[str, Any]) -> None:
    assert (await asked("node-not-ready", short(**pool))).outcome is Outcome.CLEAR


async def test_nodes_whose_machines_lost_their_tags_are_not_missing() -> None:
    azure = short()
    azure.node("node-1", machine=1)
    azure.node("node-2", machine=2)
    assert (await asked("node-not-ready", azure)).outcome is Outcome.CLEAR


async def test_a_pool_lacks_no_machine_that_could_not_be_listed() -> None:
    azure = short()
    azure.denied = {"/virtualMachines"}
    assert (await asked("node-not-ready", azure)).outcome is Outcome.INCONCLUSIVE
