"""Errors in errors are taken apart to the one that says what happened."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.evidence.errors import ErrorDetail, innermost, layers

QUOTA = ErrorDetail("QuotaExceeded", "Operation results in exceeding approved standardDSv5Family Cores quota.")


def code_of(value: object) -> str:
    found = innermost(value)
    assert found is not None
    return found.code


def test_both_families_of_error_body_are_read() -> None:
    assert code_of({"error": {"code": "ScopeLocked", "message": "locked"}}) == "ScopeLocked"
    bare = {"code": "NotFound", "details": [{"code": "Unspecified", "message": "rpc"}], "message": "m", "subcode": "s"}
    assert code_of(bare) == "NotFound"
    assert code_of({"Code": "Conflict2", "Message": "m"}) == "Conflict2"


def test_an_operation_failure_is_unwrapped_to_its_detail() -> None:
    inner = {"code": QUOTA.code, "message": QUOTA.message}
    body = {"status": "Failed", "error": {"code": "ResourceOperationFailure", "message": "…", "details": [inner]}}
    assert innermost(body) == QUOTA
    assert innermost(json.dumps(body)) == QUOTA


def test_json_in_a_message_in_json_is_unwrapped() -> None:
    inner = json.dumps({"error": {"code": QUOTA.code, "message": QUOTA.message}})
    middle = {"error": {"code": "BadRequest", "message": inner}}
    outer = {"error": {"code": "DeploymentFailed", "details": [{"code": "Conflict", "message": json.dumps(middle)}]}}
    assert innermost(outer) == QUOTA
    assert innermost("The deployment failed: " + json.dumps(outer)) == QUOTA


def test_the_text_that_aks_writes_about_another_provider_is_read() -> None:
    message = (
        "Category: ClientError; SubCode: QuotaExceeded; Dependency: Microsoft.Compute/VirtualMachineScaleSet; "
        'OrginalError: autorest/azure: Service returned an error. Status=409 Code="OperationNotAllowed" '
        'Message="Operation could not be completed as it results in exceeding approved Cores quota."; '
        "AKSTeam: NodeProvisioning, Retriable: false."
    )
    found = layers({"code": "ReconcileVMSSAgentPoolFailed", "message": message})
    assert [one.code for one in found] == ["ReconcileVMSSAgentPoolFailed", "QuotaExceeded", "OperationNotAllowed"]
    assert "exceeding approved Cores quota" in found[-1].message


def test_what_the_command_line_prints_is_read() -> None:
    text = "(SubnetIsFull) Subnet nodes with address prefix 10.0.0.0/28 is full.\nCode: SubnetIsFull\nMessage: Subnet"
    assert code_of(text) == "SubnetIsFull"


@pytest.mark.parametrize("nothing", [None, "", {}, [], 7, "all is well", {"value": []}, {"status": "Succeeded"}])
def test_where_there_is_no_error_none_is_made_up(nothing: object) -> None:
    assert innermost(nothing) is None


def test_a_text_made_to_nest_without_end_is_cut() -> None:
    body: object = {"code": "Deep", "message": "bottom"}
    for _ in range(200):
        body = {"error": {"code": "Conflict", "message": "m", "details": [body]}}
    assert code_of(body) == "Conflict"


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    layers(text)
    layers({"error": {"code": text, "message": text, "details": [text]}})


def test_a_long_paste_is_read_in_reasonable_steps() -> None:
    innermost('Code="A" Message="' * 3000)
    innermost("{" * 20000)
    innermost("(Code) " * 6000)


def test_compute_that_throttles_is_told_by_its_sentence_and_not_by_its_counters() -> None:
    message = (
        "Category: ClientError; SubCode: TooManyRequests; Dependency: Microsoft.Compute/VirtualMachineScaleSet; "
        'OrginalError: autorest/azure: Service returned an error. Status=429 Code="OperationNotAllowed" '
        'Message="The server rejected the request because too many requests have been received." '
        'Details=[{"code":"TooManyRequests","message":"{\\"operationGroup\\":\\"HighCostGetVMScaleSet30Min\\"}"}]; '
        "AKSTeam: NodeProvisioning, Retriable: true."
    )
    found = innermost({"code": "ReconcileVMSSAgentPoolFailed", "message": message})
    assert found is not None
    assert (found.code, found.names) == ("TooManyRequests", "")
    assert "too many requests have been received" in found.message
