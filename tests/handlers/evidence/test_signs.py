"""Which cause an error names, and which only wraps or guesses."""

import pytest

from handlers.evidence.errors import ErrorDetail, innermost
from handlers.evidence.signs import CAUSES, named_cause
from tests.checking import LIBRARY


@pytest.mark.parametrize("code", sorted(CAUSES))
def test_a_code_that_names_a_cause_is_among_the_symptoms_of_its_runbook(code: str) -> None:
    assert set(CAUSES[code].codes) <= set(LIBRARY[code].symptoms.codes)


def test_no_code_of_azures_names_two_causes() -> None:
    known = [azure.lower() for cause in CAUSES.values() for azure in cause.codes]
    assert len(known) == len(set(known))


@pytest.mark.parametrize(
    ("code", "message", "cause"),
    [
        ("QuotaExceeded", "", "quota-exceeded"),
        ("RegionalQuotaReached", "", "quota-exceeded"),
        ("OperationNotAllowed", "exceeding approved standardDSv5Family Cores quota", "quota-exceeded"),
        ("", "Resource group 'MC_x' under subscription: 's' is locked, please remove the lock", "resource-lock"),
        ("ReconcileVMSSAgentPoolFailed", "VM has reported a failure, vmssCSE exit status=50", "outbound-conn-fail"),
        ("VMExtensionProvisioningError", "vmssCSE: command terminated with exit status=51", "cse-error"),
        ("VMExtensionProvisioningError", "vmssCSE: command terminated with exit status=124", "cse-error"),
        ("VMExtensionProvisioningError", "enable failed: exit status=50", "outbound-conn-fail"),
        (
            "InternalOperationError",
            "could not create record in private dns zone privatelink.x.azmk8s.io",
            "private-dns-zone",
        ),
        (
            "BadRequest",
            "The VM size of Standard_X is not allowed in your subscription in location 'x'",
            "allocation-failed",
        ),
        ("VMExtensionProvisioningError", "CSE failed with 'VMExtensionError_K8SAPIServerConnFail'.", "cse-error"),
        ("VMExtensionProvisioningError", "CSE failed with 'VMExtensionError_OutboundConnFail'.", "outbound-conn-fail"),
        ("VMExtensionProvisioningError", "ExitCode: |50|, Output: |WINDOWS_CSE_ERROR_NO_CSE_RESULT_LOG|", "cse-error"),
        ("", "Agents are unable to resolve Kubernetes API server name.", "cse-error"),
        (
            "VMExtensionProvisioningError",
            "VM has reported a failure when processing extension 'OmsAgentForLinux'. Enable failed with exit code 52",
            "",
        ),
        ("BadRequest", "Preflight: The zone(s) '1' for resource 'apps' is not supported.", "allocation-failed"),
        (
            "",
            "VM(s) with the following constraints cannot be allocated, because the condition is too restrictive.",
            "overconstrained-allocation",
        ),
        ("UpgradeFailed", "Drain node aks-x-vmss000001 failed when evicting pod a", "drain-error"),
        ("InternalServerError", "An internal error occurred", ""),
        ("ReconcileVMSSAgentPoolFailed", "Long running operation failed", ""),
        ("StorageAccountAlreadyTaken", "The storage account named x is already taken", ""),
        ("TooManyRequests", "Quota of requests", ""),
    ],
)
def test_what_an_error_names(code: str, message: str, cause: str) -> None:
    assert named_cause(code, message) == cause


@pytest.mark.parametrize(
    ("code", "message", "specific"),
    [
        ("StorageAccountAlreadyTaken", "taken", True),
        ("SubnetIsFull", "", True),
        ("ReconcileVMSSAgentPoolFailed", "it failed", False),
        ("InternalOperationError", "it failed", False),
        ("OperationPreempted", "by another operation", False),
        ("", "it failed", False),
        ("SomeCode", '{"error": {"code": "Cut', False),
    ],
)
def test_a_code_that_nobody_knows_names_a_cause_all_the_same(code: str, message: str, specific: bool) -> None:
    assert ErrorDetail(code, message).specific is specific


def error(*layers: tuple[str, str]) -> dict[str, object]:
    """Errors in errors, outermost first."""
    inner: dict[str, object] = {}
    for code, message in reversed(layers):
        inner = {"code": code, "message": message, **({"details": [inner]} if inner else {})}
    return {"error": inner}


EXIT_50 = "VM has reported a failure when processing extension 'vmssCSE': exit status=50"


@pytest.mark.parametrize(
    ("layers", "code"),
    [
        ((("OutboundConnFailVMExtensionError", "no way out"), ("VMExtensionProvisioningError", EXIT_50)), 0),
        ((("ReconcileVMSSAgentPoolFailed", "failed"), ("VMExtensionProvisioningError", EXIT_50)), 1),
        ((("LogAnalyticsWorkspaceNotFound", "no workspace"), ("ResourceNotFound", "The Resource was not found")), 0),
        ((("InvalidTemplateDeployment", "see details"), ("RequestDisallowedByPolicy", "denied")), 1),
        ((("ResourceOperationFailure", "terminal state"), ("InternalServerError", "an internal error")), 1),
        ((("CreateVMSSAgentPoolFailed", "failed"), ("AllocationFailed", "no capacity")), 1),
        ((("VMExtensionProvisioningError", "the extension failed"),), 0),
    ],
)
def test_the_layer_that_is_told_is_the_one_that_aks_classified(layers: tuple[tuple[str, str], ...], code: int) -> None:
    told = innermost(error(*layers))
    assert told is not None
    assert told.code == layers[code][0]
