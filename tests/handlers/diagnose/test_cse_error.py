"""Why did the script that makes a node of a machine fail?"""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from runbooks.cse_exit_codes import called, exit_code
from tests.handlers.diagnose.bodies import NODE_GROUP, Body, event, of_nap, pool_id, scale_set_id
from tests.handlers.diagnose.test_node_vm_failed import CSE, cse_failed, fail
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, diagnosed, found

QUESTION = "cse-error"
REFUSED = "nc: connect to mcr.microsoft.com port 443 (tcp) failed: Connection timed out"


def script(status: int) -> str:
    return CSE.replace("=50", f"={status}")


WINDOWS = (
    "VM has reported a failure when processing extension 'vmssCSE' (publisher 'Microsoft.Compute' and type "
    "'CustomScriptExtension'). Error message: \"Command execution finished, but failed because it returned a non-zero "
    "exit code of: '1'. The command had an error output of: 'ExitCode: |{code}|, Output: |WINDOWS_CSE_ERROR_{name}|, "
    "Error: |Failed in downloading \\r\\nhttps://acs-mirror.azureedge.net/k.zip|\\r\\nAt C:\\\\Azur...'\"."
)


def windows(code: int, name: str) -> str:
    return WINDOWS.replace("{code}", str(code)).replace("{name}", name)


# -- the machines ----------------------------------------------------------------------------------------------------


async def test_many_machines_that_failed_alike_are_one_finding_that_names_five() -> None:
    finding = await found(QUESTION, cse_failed(*range(7), count=8, message=script(51)))
    assert (finding.subject, finding.severity) == (pool_id("apps"), Severity.ERROR)
    assert finding.because == (
        "7 machines of pool apps failed in set-up: 0, 1, 2, 3, 4 and 2 more",
        f"extension vmssCSE failed: exit status 51: {REFUSED}",
        "exit code 51 is K8S_API_SERVER_CONN_FAIL: no connection to the API server",
    )
    assert (finding.facts["machines"], finding.facts["more"]) == (["0", "1", "2", "3", "4"], 2)


async def test_it_explains_the_failed_machines_and_the_pool_that_failed_with_them() -> None:
    azure = cse_failed(0, 1, message=script(52))
    azure.node("node-2", machine=2)
    azure.pools["apps"] |= {"provisioningState": "Failed"}
    azure.pools["apps"]["status"] = {
        "provisioningError": {"code": "VMExtensionProvisioningError", "message": script(52)}
    }
    diagnosis = await diagnosed(azure)
    explained = {one.finding.code: {code for code, _ in one.explained_by} for one in diagnosis.findings}
    assert QUESTION in explained["node-vm-failed"]
    assert QUESTION in explained["nodepool-failed"]
    assert [one.finding.code for one in diagnosis.findings if one.root] == [QUESTION]


async def test_another_exit_code_in_the_same_pool_is_a_finding_of_its_own() -> None:
    azure = cse_failed(0, 1, 2, count=6, message=script(41))
    fail(azure, 4, script(34))
    findings = (await asked(QUESTION, azure)).findings
    assert [(one.subject, one.facts["exit_code"]) for one in findings] == [
        (pool_id("apps"), "41"),
        (f"{scale_set_id('apps')}/virtualMachines/4", "34"),
    ]


async def test_a_machine_whose_node_serves_all_the_same_is_a_warning() -> None:
    azure = cse_failed(1, count=2, message=script(34))
    azure.node("node-1", machine=1)
    finding = await found(QUESTION, azure)
    assert finding.severity is Severity.WARNING
    assert "Node/node-1" in finding.affects


@pytest.mark.parametrize("status", [50])
async def test_the_twin_with_exit_status_50_is_the_way_outs(status: int) -> None:
    assert (await asked(QUESTION, cse_failed(1, message=script(status)))).outcome is Outcome.CLEAR


async def test_the_failure_of_another_extension_is_not_the_scripts() -> None:
    azure = cse_failed(1, message=script(51).replace("vmssCSE", "MDE.Linux").replace("CustomScript", "MDE"))
    azure.machines["apps"][1]["properties"]["instanceView"]["extensions"][0]["name"] = "MDE.Linux"
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_machine_of_node_auto_provisioning_is_found_and_its_claim_is_deleted() -> None:
    azure = Azure()
    azure.pool("system", count=1)
    azure.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    machine = of_nap("aks-default-x7k2p", state="Failed")
    failed = {"code": "ProvisioningState/failed/51", "level": "Error", "message": script(51)}
    machine["properties"]["instanceView"]["extensions"] = [{"name": "vmssCSE", "statuses": [failed]}]
    azure.virtual_machines = [machine]
    finding = await found(QUESTION, azure)
    assert finding.subject == machine["id"]
    assert "Node/aks-default-x7k2p" in finding.affects
    page = LIBRARY[QUESTION]
    assert "kubectl delete nodeclaim" in page.render("Fix", finding.facts)
    assert f"az vm run-command invoke --ids {machine['id']}" in page.render("Check it yourself", finding.facts)


# -- Windows ---------------------------------------------------------------------------------------------------------


async def test_a_windows_node_says_the_step_by_name_and_its_number_means_another_thing() -> None:
    finding = await found(QUESTION, cse_failed(1, message=windows(34, "DOWNLOAD_KUBERNETES_PACKAGE")))
    assert finding.because[1] == (
        "extension vmssCSE failed: exit status 34: DOWNLOAD_KUBERNETES_PACKAGE: Failed in downloading "
        "https://acs-mirror.azureedge.net/k.zip"
    )
    assert "exit code 34 is DOWNLOAD_KUBERNETES_PACKAGE: Kubernetes" in finding.because
    fix = LIBRARY[QUESTION].render("Fix", finding.facts)
    assert "**DOWNLOAD_KUBERNETES_PACKAGE: Kubernetes.** A download failed." in fix
    assert "RunPowerShellScript" in LIBRARY[QUESTION].render("Check it yourself", finding.facts)


async def test_exit_code_50_of_windows_is_no_missing_way_out() -> None:
    finding = await found(QUESTION, cse_failed(1, message=windows(50, "NO_CSE_RESULT_LOG")))
    assert finding.facts["exit_code"] == "50"


# -- what Azure says where the machines are gone ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "number"),
    [
        ({"code": "VMExtensionProvisioningError", "message": script(51)}, "51"),
        ({"code": "K8SAPIServerDNSLookupFailVMExtensionError", "message": "Agents cannot resolve the name"}, "52"),
        ({"code": "CniDownloadTimeoutVMExtensionError", "message": "it took too long"}, "41"),
        (
            {
                "code": "VMExtensionProvisioningError",
                "message": "Agents are unable to resolve Kubernetes API server name",
            },
            "52",
        ),
        ({"code": "SomethingNewVMExtensionError", "message": "it failed"}, ""),
        (
            {
                "code": "VMExtensionProvisioningError",
                "message": "CSE failed with 'VMExtensionError_K8SAPIServerConnFail'",
            },
            "51",
        ),
    ],
)
async def test_a_failed_pool_whose_machines_are_gone_is_told_by_azures_error(error: Body, number: str) -> None:
    azure = Azure()
    azure.pool("apps", count=3, machines=2, provisioningState="Failed", status={"provisioningError": error})
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.affects) == (pool_id("apps"), (pool_id("apps"),))
    assert finding.facts["exit_code"] == number
    assert all(len(line) < 400 for line in finding.because)
    assert f"az resource update --ids {pool_id('apps')}".replace("resourcegroups", "resourceGroups") in LIBRARY[
        QUESTION
    ].render("Fix", finding.facts)


async def test_a_failed_scale_out_that_left_a_pool_short_is_found_and_one_that_did_not_is_over() -> None:
    azure = Azure()
    azure.pool("apps", count=3, machines=2)
    said = json.dumps({"status": "Failed", "error": {"code": "VMExtensionProvisioningError", "message": script(124)}})
    azure.events[NODE_GROUP] = [event(scale_set_id("apps"), "Failed", timedelta(minutes=20), said)]
    assert (await found(QUESTION, azure)).facts["exit_code"] == "124"
    azure.pool("apps", count=3)
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("code", ["QuotaExceeded", "OutboundConnFailVMExtensionError", "InternalServerError"])
async def test_the_twin_that_failed_for_another_reason_is_clear(code: str) -> None:
    azure = Azure()
    error = {"code": code, "message": "another"}
    azure.pool("apps", count=3, machines=2, provisioningState="Failed", status={"provisioningError": error})
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


# -- what could not be seen ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("denied", ["/virtualMachines", "/eventtypes/", "/virtualMachineScaleSets"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_kubernetes_the_machines_still_say_it() -> None:
    azure = cse_failed(1, message=script(51))
    azure.kube_trouble = "connection refused: one:443"
    assert (await found(QUESTION, azure)).severity is Severity.ERROR


# -- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "windows", "name"),
    [
        (51, False, "K8S_API_SERVER_CONN_FAIL"),
        (51, True, "COPY_LOG_COLLECTION_SCRIPTS"),
        (5, True, "CHECK_API_SERVER_CONNECTIVITY"),
        (212, False, "ORAS_PULL_UNAUTHORIZED"),
    ],
)
def test_a_number_means_what_the_script_of_that_system_says(number: int, windows: bool, name: str) -> None:
    found = exit_code(number, windows=windows)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("K8SAPIServerConnFailVMExtensionError", 51),
        ("VMExtensionError_K8SAPIServerDNSLookupFail", 52),
        ("OrasPullUnauthorizedVMExtensionError", 212),
        ("VHDFileNotFoundVMExtensionError", 65),
        ("OutboundConnFailVMExtensionError", 50),
    ],
)
def test_what_aks_calls_an_exit_code_is_known_by_its_number(code: str, number: int) -> None:
    found = called(code)
    assert found is not None
    assert found.number == number


def test_a_code_that_is_in_no_list_says_so() -> None:
    assert exit_code(9999, windows=False) is None
    assert called("SomethingElseVMExtensionError") is None
    assert "is in no list" in LIBRARY[QUESTION].outline("Fix", {"exit_code": "9999"})
