"""Is a node's virtual machine broken?"""

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.wire import NODE_GROUP_ID, Azure, asked, found, pool_id, resource, scale_set_id

DETACH = {"code": "ProvisioningState/failed/AttachDiskWhileBeingDetached", "level": "Error", "message": "disk pvc-1"}


def broken(state: str = "Failed") -> Azure:
    azure = Azure()
    azure.pool("apps", count=2)
    azure.node("node-0", machine=0)
    azure.node("node-1", machine=1)
    machine = azure.machines["apps"][1]["properties"]
    machine["provisioningState"] = state
    machine["instanceView"]["statuses"].append(DETACH)
    return azure


async def test_the_instance_its_node_and_its_error_are_named() -> None:
    azure = broken()
    azure.not_ready("node-1", machine=1)
    finding = await found("node-vm-failed", azure)
    assert finding.subject == f"{scale_set_id('apps')}/virtualMachines/1"
    assert finding.affects == ("Node/node-1",)
    assert finding.severity is Severity.ERROR
    assert "AttachDiskWhileBeingDetached: disk pvc-1" in finding.because[1]


async def test_while_its_node_serves_it_is_a_warning() -> None:
    assert (await found("node-vm-failed", broken())).severity is Severity.WARNING


@pytest.mark.parametrize("state", ["Succeeded", "Updating", "Creating"])
async def test_the_twin_that_is_not_failed_is_clear(state: str) -> None:
    assert (await asked("node-vm-failed", broken(state))).outcome is Outcome.CLEAR


async def test_an_instance_that_its_health_probe_calls_unhealthy_is_found() -> None:
    azure = broken("Succeeded")
    view = azure.machines["apps"][1]["properties"]["instanceView"]
    view["vmHealth"] = {"status": {"code": "HealthState/unhealthy"}}
    assert (await found("node-vm-failed", azure)).facts["instance_id"] == "1"


async def test_a_pool_that_failed_with_it_is_among_what_it_affects() -> None:
    azure = broken()
    azure.pools["apps"]["provisioningState"] = "Failed"
    assert pool_id("apps") in (await found("node-vm-failed", azure)).affects


@pytest.mark.parametrize("kind", ["AvailabilitySet", "VirtualMachines"])
async def test_a_machine_of_no_scale_set_is_found_too(kind: str) -> None:
    azure = broken("Succeeded")
    azure.pool("old", count=1, machines=0, type=kind)
    vm = f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/aks-old-1-0"
    azure.virtual_machines = [resource(vm, {"provisioningState": "Failed"}, tags={"poolName": "old"})]
    finding = await found("node-vm-failed", azure)
    assert (finding.subject, finding.facts["scale_set"], finding.facts["pool"]) == (vm, "", "old")


async def test_a_model_that_is_not_the_latest_is_told_because_updating_would_reimage() -> None:
    azure = broken()
    azure.machines["apps"][1]["properties"]["latestModelApplied"] = False
    assert (await found("node-vm-failed", azure)).facts["latest_model"] is False


async def test_without_kubernetes_the_machine_is_still_found() -> None:
    azure = broken()
    azure.kube_trouble = "connection refused: one:443"
    check = await asked("node-vm-failed", azure)
    assert check.outcome is Outcome.FOUND
    assert check.unseen


@pytest.mark.parametrize("denied", ["/virtualMachineScaleSets", "/virtualMachines"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = broken("Succeeded")
    azure.denied = {denied}
    assert (await asked("node-vm-failed", azure)).outcome is Outcome.INCONCLUSIVE
