"""Is a node's virtual machine broken?"""

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import (
    NODE_GROUP_ID,
    SUB,
    Body,
    lone_machine,
    of_nap,
    pool_id,
    resource,
    scale_set_id,
)
from tests.handlers.diagnose.wire import Azure, asked, found

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


REFUSED = "nc: connect to mcr.microsoft.com port 443 (tcp) failed: Connection timed out"
CSE = (
    "VM has reported a failure when processing extension 'vmssCSE' (publisher 'Microsoft.Azure.Extensions' and type "
    "'CustomScript'). Error message: 'Enable failed: failed to execute command: command terminated with exit status=50"
    "\n[stdout]\n{number}\n[stderr]\nnc: connect to mcr.microsoft.com port 443 (tcp) failed: Connection timed out\n"
    "Command exited with non-zero status'. More information is available at https://aka.ms/x."
)


def cse_failed(*numbers: int, count: int = 3, message: str = CSE) -> Azure:
    azure = Azure()
    azure.pool("apps", count=count)
    for number in numbers:
        fail(azure, number, message)
    return azure


def fail(azure: Azure, number: int, message: str) -> None:
    properties: Body = azure.machines["apps"][number]["properties"]
    properties["provisioningState"] = "Failed"
    told = message.replace("{number}", str(number))
    properties["instanceView"]["statuses"] = [
        {"code": "ProvisioningState/failed/VMExtensionProvisioningError", "level": "Error", "message": told},
        {"code": "PowerState/running"},
    ]
    failed = {"code": "ProvisioningState/failed/50", "level": "Error", "message": told}
    properties["instanceView"]["extensions"] = [{"name": "vmssCSE", "statuses": [failed]}]


async def test_many_instances_with_one_extension_error_are_one_finding_about_their_pool() -> None:
    finding = await found("node-vm-failed", cse_failed(*range(7), count=8))
    assert finding.subject == pool_id("apps")
    assert finding.because[0] == "0 (pool apps) is Failed, running"
    assert finding.because[5:] == (
        "and 2 more with the same error",
        f"extension vmssCSE failed: exit status 50: {REFUSED}",
    )
    assert (finding.facts["machines"], finding.facts["more"]) == (["0", "1", "2", "3", "4"], 2)
    assert (finding.facts["exit_code"], finding.facts["known_as"]) == (50, "outbound-conn-fail")


async def test_one_instance_stays_the_subject_and_another_exit_status_is_the_scripts() -> None:
    finding = await found("node-vm-failed", cse_failed(1, message=CSE.replace("=50", "=41")))
    assert finding.subject == f"{scale_set_id('apps')}/virtualMachines/1"
    assert (finding.facts["exit_code"], finding.facts["known_as"]) == (41, "cse-error")


async def test_two_errors_are_two_findings_and_a_broken_disk_is_its_own() -> None:
    azure = cse_failed(0, 1, 2, count=6)
    for number in (3, 4):
        fail(azure, number, CSE.replace("=50", "=41"))
    azure.machines["apps"][5]["properties"]["provisioningState"] = "Failed"
    azure.machines["apps"][5]["properties"]["instanceView"]["statuses"].append(DETACH)
    findings = (await asked("node-vm-failed", azure)).findings
    assert {(one.subject, one.facts["exit_code"]) for one in findings} == {
        (pool_id("apps"), 50),
        (f"{scale_set_id('apps')}/virtualMachines/3", 41),
        (f"{scale_set_id('apps')}/virtualMachines/5", 0),
    }


async def test_an_extension_beside_a_broken_disk_is_not_all_that_is_wrong() -> None:
    azure = cse_failed(1)
    azure.machines["apps"][1]["properties"]["instanceView"]["statuses"].append(DETACH)
    assert (await found("node-vm-failed", azure)).facts["extension"] == ""


def auto_provisioned(*machines: Body) -> Azure:
    azure = Azure()
    azure.pool("system", count=1)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    azure.virtual_machines = list(machines)
    return azure


async def test_a_failed_machine_of_node_auto_provisioning_is_found_without_a_node() -> None:
    finding = await found("node-vm-failed", auto_provisioned(of_nap("aks-default-x7k2p", state="Failed")))
    assert finding.subject.endswith("/virtualMachines/aks-default-x7k2p")
    assert finding.because[0] == "aks-default-x7k2p (NodePool default) is Failed, running"
    assert finding.facts["provisioned_for"] == "default"


async def test_a_foreign_machine_in_the_node_group_stays_ignored() -> None:
    azure = auto_provisioned(lone_machine("jumpbox", state="Failed", tags={"owner": "somebody"}))
    assert (await asked("node-vm-failed", azure)).outcome is Outcome.CLEAR


async def test_where_the_subscription_may_not_be_listed_each_machine_is_asked() -> None:
    azure = auto_provisioned(of_nap("aks-default-x7k2p", state="Failed", power="stopped"))
    azure.denied = {f"/subscriptions/{SUB}/providers/Microsoft.Compute/virtualMachines"}
    assert "is Failed, stopped" in (await found("node-vm-failed", azure)).because[0]


async def test_what_cannot_be_asked_either_is_inconclusive_and_named() -> None:
    azure = auto_provisioned(of_nap("aks-default-x7k2p"))
    azure.denied = {f"/subscriptions/{SUB}/providers/Microsoft.Compute/virtualMachines", "/instanceView"}
    check = await asked("node-vm-failed", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_machines_beyond_those_that_were_asked_are_a_gap() -> None:
    azure = auto_provisioned(*(of_nap(f"aks-default-{number:05}") for number in range(62)))
    azure.denied = {f"/subscriptions/{SUB}/providers/Microsoft.Compute/virtualMachines"}
    check = await asked("node-vm-failed", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "2 of 62 were not asked" in check.why
