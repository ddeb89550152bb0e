"""Repairing machines: one at a time, exactly the failed ones, and only where that re-images nothing."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.remedy.offers import distinct
from handlers.remedy.plan import Verb
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, NODE_GROUP, NODE_GROUP_ID, SUB, resource, scale_set_id
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import offered, planned, refused

SET = scale_set_id("apps")
LONE = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/aks-old-0"


def broken(*numbers: int, machines: int = 12) -> Azure:
    """A pool of which these machines are Failed."""
    azure = Azure()
    azure.pool("apps", machines)
    for number in range(machines):
        azure.node(f"node-{number}", machine=number)
    for number in numbers:
        azure.machines["apps"][number]["properties"]["provisioningState"] = "Failed"
    return azure


def machine_id(number: int) -> str:
    return f"{SET}/virtualMachines/{number}"


def lockdown(*, excluded: str = "", actions: tuple[str, ...] = ("*",), but: tuple[str, ...] = ("*/read",)) -> Any:
    at = f"{NODE_GROUP_ID}/providers/Microsoft.Authorization/denyAssignments/d1"
    return resource(
        at,
        {
            "denyAssignmentName": "aks-managed-lockdown",
            "scope": NODE_GROUP_ID,
            "permissions": [{"actions": list(actions), "notActions": list(but)}],
            "principals": [{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}],
            "excludePrincipals": [{"id": excluded, "type": "ServicePrincipal"}] if excluded else [],
        },
    )


async def test_exactly_the_failed_instances_one_step_each_in_order() -> None:
    azure = broken(2, 10, 9)
    plan = await planned("update-instances", azure, machine_id(9))
    assert [(one.verb, one.target, one.arguments["instance_id"], one.arguments["node"]) for one in plan.steps] == [
        (Verb.UPDATE_INSTANCE, SET, "2", "node-2"),
        (Verb.UPDATE_INSTANCE, SET, "9", "node-9"),
        (Verb.UPDATE_INSTANCE, SET, "10", "node-10"),
    ]
    assert plan.steps[0].arguments["machine"] == machine_id(2)
    assert plan.steps[0].command == (
        f"az vmss update-instances --subscription {SUB} --resource-group {NODE_GROUP} "
        "--name aks-apps-12345678-vmss --instance-ids 2"
    )
    assert not any("*" in one.request for one in plan.steps)
    assert plan.before["state of 2"] == "Failed"
    assert plan.before["2 has the latest model"] is True
    assert plan.title == "Update 3 failed instances of pool apps"


async def test_three_failed_instances_are_three_findings_and_one_plan() -> None:
    azure = broken(2, 9, 10)
    offers = [await offered("update-instances", azure, machine_id(number)) for number in (2, 9, 10)]
    assert len(distinct(offers)) == 1


async def test_an_instance_without_the_latest_model_gets_steps_and_no_button() -> None:
    azure = broken(2)
    azure.machines["apps"][2]["properties"]["latestModelApplied"] = False
    reasons = await refused("update-instances", azure)
    assert "would re-image the node" in reasons
    do = reasons.offer.forbidden[0].do
    assert "az aks nodepool delete-machines" in do
    assert "az aks nodepool upgrade" in do
    assert "--node-image-only" in do


async def test_a_sibling_without_the_latest_model_is_left_out_and_named() -> None:
    azure = broken(2, 3)
    azure.machines["apps"][3]["properties"]["latestModelApplied"] = False
    plan = await planned("update-instances", azure, machine_id(2))
    assert [one.arguments["instance_id"] for one in plan.steps] == ["2"]
    assert plan.warnings == ("left out, their scale set has a newer model: 3",)


async def test_a_missing_latest_model_alone_is_no_problem() -> None:
    azure = broken(2)
    azure.machines["apps"][5]["properties"]["latestModelApplied"] = False
    assert len((await planned("update-instances", azure)).steps) == 1


async def test_an_unhealthy_machine_that_azure_calls_succeeded_has_nothing_to_update() -> None:
    azure = broken()
    view = azure.machines["apps"][1]["properties"]["instanceView"]
    view["vmHealth"] = {"status": {"code": "HealthState/unhealthy"}}
    assert "is Succeeded: its model is applied" in await refused("update-instances", azure)


async def test_a_machine_that_is_no_node_yet_is_known_by_its_computers_name_or_not_touched() -> None:
    azure = broken(2)
    del azure.nodes["node-2"]
    assert "it is unknown which node 2 is" in await refused("update-instances", azure)
    azure.machines["apps"][2]["properties"]["osProfile"] = {"computerName": "aks-apps-12345678-vmss000002"}
    plan = await planned("update-instances", azure)
    assert plan.steps[0].arguments["node"] == "aks-apps-12345678-vmss000002"


async def test_without_the_nodes_nobody_sees_one_come_back() -> None:
    azure = broken(2)
    azure.kube_trouble = "Name or service not known"
    assert "could not see the nodes" in await refused("update-instances", azure)


@pytest.mark.parametrize("where", ["cluster", "sibling"])
async def test_while_something_is_at_work_nothing_is_begun(where: str) -> None:
    azure = broken(2)
    body = azure.cluster if where == "cluster" else azure.machines["apps"][4]["properties"]
    body["provisioningState"] = "Updating"
    assert "Updating" in str(await refused("update-instances", azure))


@pytest.mark.parametrize("remedy", ["update-instances", "reapply-machine"])
async def test_lockdown_of_the_node_group_forbids_it_and_names_the_way_around(remedy: str) -> None:
    azure = broken(2) if remedy == "update-instances" else lone()
    azure.denials = [lockdown()]
    reasons = await refused(remedy, azure)
    assert "deny assignment aks-managed-lockdown" in reasons
    assert "delete-machines or a node image upgrade" in reasons.offer.forbidden[0].do


@pytest.mark.parametrize(
    "denial",
    [
        lockdown(actions=("Microsoft.Network/*",)),
        lockdown(but=("Microsoft.Compute/virtualMachineScaleSets/*",)),
        lockdown(but=("*/manualUpgrade/action",)),
        lockdown() | {"properties": lockdown()["properties"] | {"scope": GROUP_ID}},
        lockdown() | {"properties": lockdown()["properties"] | {"doNotApplyToChildScopes": True}},
    ],
)
async def test_a_deny_assignment_about_something_else_does_not(denial: Any) -> None:
    azure = broken(2)
    azure.denials = [denial]
    assert (await planned("update-instances", azure)).warnings == ()


async def test_a_deny_assignment_that_leaves_somebody_out_is_a_doubt_while_nobody_knows_who_we_are() -> None:
    azure = broken(2)
    azure.denials = [lockdown(excluded="0e000000-0000-4000-8000-000000000009")]
    [warning] = (await planned("update-instances", azure)).warnings
    assert warning == "cannot tell whether deny assignment aks-managed-lockdown is for the writer"


async def test_locks_forbid_machines_only_where_they_are_read_only() -> None:
    azure = broken(2)
    azure.lock(NODE_GROUP_ID, "CanNotDelete")
    assert (await planned("update-instances", azure)).target == SET
    azure.lock(NODE_GROUP_ID, "ReadOnly", name="frozen")
    assert "lock frozen (ReadOnly)" in await refused("update-instances", azure)


async def test_a_writer_without_the_permission_is_a_reason() -> None:
    azure = broken(2)
    azure.writer_may = {"actions": ["*/read"], "notActions": []}
    assert "may not do Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action" in await refused(
        "update-instances", azure
    )


def lone(state: str = "Failed") -> Azure:
    """A pool of the old availability sets, with one machine."""
    azure = Azure()
    azure.pool("old", 1, machines=0, type="AvailabilitySet")
    body = resource(LONE, {"provisioningState": state, "osProfile": {"computerName": "aks-old-0"}})
    azure.virtual_machines = [body | {"tags": {"poolName": "old"}}]
    node = azure.node("aks-old-0", pool="old")
    node["spec"]["providerID"] = f"azure://{LONE}"
    return azure


async def test_a_lone_machine_is_reapplied_and_never_offered_an_update() -> None:
    plan = await planned("reapply-machine", lone())
    [step] = plan.steps
    assert (step.verb, step.target, dict(step.arguments)) == (Verb.REAPPLY_MACHINE, LONE, {"node": "aks-old-0"})
    assert step.command == f"az vm reapply --subscription {SUB} --resource-group {NODE_GROUP} --name aks-old-0"
    assert plan.before == {"state of aks-old-0": "Failed", "node of aks-old-0": "aks-old-0"}
    assert plan.cluster == CLUSTER
    with pytest.raises(AssertionError):
        await offered("update-instances", lone())


async def test_an_instance_of_a_scale_set_is_never_reapplied() -> None:
    with pytest.raises(AssertionError):
        await offered("reapply-machine", broken(2))


async def test_a_read_only_lock_and_a_missing_permission_forbid_a_reapply() -> None:
    azure = lone()
    azure.lock(LONE, "ReadOnly")
    azure.writer_may = {"actions": ["*"], "notActions": ["Microsoft.Compute/virtualMachines/*"]}
    reasons = await refused("reapply-machine", azure)
    assert "lock keep (ReadOnly) on aks-old-0" in reasons
    assert "may not do Microsoft.Compute/virtualMachines/reapply/action" in reasons


def extension_failed(azure: Azure, number: int) -> None:
    message = "VM has reported a failure when processing extension 'vmssCSE'. Error message: 'exit status=50'"
    error = {"code": "ProvisioningState/failed/VMExtensionProvisioningError", "level": "Error", "message": message}
    azure.machines["apps"][number]["properties"]["instanceView"]["statuses"].append(error)


async def test_a_failed_extension_gets_a_reason_and_no_button() -> None:
    azure = broken(2)
    extension_failed(azure, 2)
    reasons = await refused("update-instances", azure)
    assert "extension vmssCSE failed with exit status 50: giving the machine its model again does not mend" in reasons
    assert "outbound-conn-fail" in reasons.offer.forbidden[0].do


async def test_a_lone_machine_with_a_failed_extension_gets_no_button_either() -> None:
    azure = lone()
    message = "VM has reported a failure when processing extension 'vmssCSE'. Error message: 'exit status=41'"
    error = {"code": "ProvisioningState/failed/VMExtensionProvisioningError", "level": "Error", "message": message}
    azure.virtual_machines[0]["properties"]["instanceView"] = {"statuses": [error]}
    assert "with exit status 41" in await refused("reapply-machine", azure)


async def test_a_sibling_whose_extension_failed_is_left_alone() -> None:
    azure = broken(2, 3)
    extension_failed(azure, 3)
    plan = await planned("update-instances", azure, machine_id(2))
    assert [one.arguments["instance_id"] for one in plan.steps] == ["2"]


OVERCONSTRAINED = {
    "code": "ProvisioningState/failed/OverconstrainedZonalAllocationRequest",
    "level": "Error",
    "message": "Allocation failed. VM(s) with the following constraints cannot be allocated.",
}


async def test_a_machine_that_azure_could_not_place_gets_no_button() -> None:
    azure = broken(2)
    azure.machines["apps"][2]["properties"]["instanceView"] = {"statuses": [OVERCONSTRAINED]}
    reasons = await refused("update-instances", azure)
    assert "Azure says what stopped 2: OverconstrainedZonalAllocationRequest" in reasons
    assert "overconstrained-allocation" in reasons.offer.forbidden[0].do


async def test_a_lone_machine_that_azure_could_not_place_gets_no_button_either() -> None:
    azure = lone()
    azure.virtual_machines[0]["properties"]["instanceView"] = {"statuses": [OVERCONSTRAINED]}
    assert "what stopped aks-old-0: OverconstrainedZonal" in await refused("reapply-machine", azure)


async def test_an_error_that_names_no_cause_keeps_the_button() -> None:
    azure = broken(2)
    error = {"code": "ProvisioningState/failed/InternalDiskManagementError", "level": "Error", "message": "detaching"}
    azure.machines["apps"][2]["properties"]["instanceView"]["statuses"].append(error)
    assert len((await planned("update-instances", azure)).steps) == 1
