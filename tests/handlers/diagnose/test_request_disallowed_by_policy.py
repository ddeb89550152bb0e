"""Does a policy deny what the cluster wants to do?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Finding, Outcome, Severity
from tests.handlers.diagnose.bodies import (
    CLUSTER,
    GROUP,
    GROUP_ID,
    NODE_GROUP,
    NODE_GROUP_ID,
    SUB,
    Body,
    at,
    event,
    pool_id,
    rows,
    scale_set_id,
)
from tests.handlers.diagnose.wire import Azure, asked, diagnosed, found

QUESTION = "request-disallowed-by-policy"
HUB = "/providers/Microsoft.Authorization"
ASSIGNMENT = f"/subscriptions/{SUB}{HUB}/policyAssignments/cost-tags"
DEFINITION = f"{HUB}/policyDefinitions/871b6d14-10aa-478d-b590-94f262ecfa99"
BALANCER = f"{NODE_GROUP_ID}/providers/Microsoft.Network/loadBalancers/kubernetes"
HOUR = timedelta(hours=1)


def expression(**more: Any) -> Body:
    plain = {"result": "True", "expressionKind": "Field", "expression": "tags[costcenter]", "path": "tags[costcenter]"}
    return {**plain, "targetValue": "false", "operator": "Exists", **more}


def info(*expressions: Body, **more: Any) -> Body:
    """What `additionalInfo` holds of one policy."""
    of_type = expression(expression="type", path="type", operator="Equals", expressionValue="a/b", targetValue="a/b")
    return {
        "evaluationDetails": {"evaluatedExpressions": [of_type, *(expressions or (expression(),))]},
        "policyDefinitionId": DEFINITION,
        "policyDefinitionDisplayName": "Require a tag on resources",
        "policyDefinitionEffect": "deny",
        "policyAssignmentId": ASSIGNMENT,
        "policyAssignmentDisplayName": "Cost centre",
        **more,
    }


def denied(resource: str = "kubernetes", **details: Any) -> Body:
    """The error of a denied request, as Azure Resource Manager answers it."""
    message = (
        f"Resource '{resource}' was disallowed by policy. Reasons: 'Tag costcenter is mandatory.'. See error details."
    )
    more = [{"type": "PolicyViolation", "info": details or info()}]
    return {"code": "RequestDisallowedByPolicy", "target": resource, "message": message, "additionalInfo": more}


def bare(error: Body) -> Body:
    """The same without its details."""
    return {key: value for key, value in error.items() if key != "additionalInfo"}


def assigned(azure: Azure, group: str = "", **properties: Any) -> Body:
    """The assignment holds at the subscription: both groups list it."""
    body = {
        "id": ASSIGNMENT,
        "name": "cost-tags",
        "type": "Microsoft.Authorization/policyAssignments",
        "properties": {"displayName": "Cost centre", "scope": f"/subscriptions/{SUB}", **properties},
    }
    for one in [group] if group else [GROUP_ID, NODE_GROUP_ID]:
        azure.more[f"{one}{HUB}/policyAssignments"] = rows([body])
    return body


def waived(azure: Azure, **properties: Any) -> None:
    body = {
        "id": f"{NODE_GROUP_ID}{HUB}/policyExemptions/aks-nodes",
        "name": "aks-nodes",
        "type": "Microsoft.Authorization/policyExemptions",
        "properties": {"policyAssignmentId": ASSIGNMENT.upper(), "exemptionCategory": "Waiver", **properties},
    }
    azure.more[f"{NODE_GROUP_ID}{HUB}/policyExemptions"] = rows([body])


def of_pool(error: Body | None = None) -> Azure:
    """A pool that failed because a policy denied its scale set."""
    azure = Azure()
    azure.pool("apps")
    azure.more[f"{GROUP_ID}{HUB}/policyAssignments"] = rows([])
    azure.more[f"{GROUP_ID}{HUB}/policyExemptions"] = rows([])
    assigned(azure)
    scale_set = scale_set_id("apps").rsplit("/", 1)[-1]
    azure.pools["apps"] |= {"provisioningState": "Failed"}
    azure.pools["apps"]["status"] = {"provisioningError": error or denied(scale_set)}
    return azure


def of_balancer(ago: timedelta = HOUR, error: Body | None = None) -> Azure:
    """A load balancer that AKS may not write: no pool is Failed, only the log of the node group tells."""
    azure = of_pool()
    azure.pool("apps")
    body = event(BALANCER, "Failed", ago, json.dumps({"error": error or denied()}), "b-1")
    body["operationName"] = {"value": "Microsoft.Network/loadBalancers/write"}
    body["subStatus"] = {"value": "Forbidden", "localizedValue": "Forbidden (HTTP Status Code: 403)"}
    azure.events[NODE_GROUP] = [body]
    return azure


def policy_event(resource: str, ago: timedelta, correlation: str, *policies: Body) -> Body:
    """Azure Policy's own entry in the activity log."""
    body = event(resource, "Failed", ago, correlation=correlation)
    body["operationName"] = {"value": "Microsoft.Authorization/policies/deny/action"}
    body["eventDataId"] = f"policy-{correlation}"
    body["category"] = {"value": "Policy"}
    body["properties"] = {"isComplianceCheck": "False", "policies": json.dumps(policies), "entity": resource}
    return body


async def test_the_policy_its_scope_and_the_field_that_it_denied_are_named() -> None:
    finding = await found(QUESTION, of_pool())
    assert finding.subject == ASSIGNMENT
    assert finding.affects == (pool_id("apps"),)
    assert finding.because[:3] == (
        'policy "Cost centre" (rule "Require a tag on resources") (effect deny) denied ' + NODE_GROUP,
        "tags[costcenter] is not set",
        f"it is assigned to /subscriptions/{SUB}",
    )
    assert (finding.facts["tag"], finding.facts["reason"]) == ("costcenter", "Tag costcenter is mandatory.")


async def test_the_twin_that_azure_names_nothing_for_is_clear() -> None:
    azure = of_pool({"code": "ZonalAllocationFailed", "message": "no capacity"})
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_policies_that_denied_nothing_are_no_problem() -> None:
    azure = Azure()
    azure.pool("apps")
    assigned(azure)
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    assert "no policy denied a request" in check.why


async def test_a_load_balancer_that_aks_may_not_write_is_told_although_nothing_is_failed() -> None:
    finding = await found(QUESTION, of_balancer())
    assert (finding.severity, finding.affects) == (Severity.ERROR, ())
    assert "denied kubernetes" in finding.because[0]
    assert finding.facts["in_node_group"] is True


async def test_what_was_denied_and_went_through_afterwards_is_history() -> None:
    azure = of_balancer(timedelta(hours=3))
    after = event(BALANCER, "Succeeded", HOUR, correlation="b-2")
    after["operationName"] = {"value": "Microsoft.Network/loadBalancers/write"}
    azure.events[NODE_GROUP].append(after)
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_what_was_denied_days_ago_is_history() -> None:
    assert (await asked(QUESTION, of_balancer(timedelta(hours=30)))).outcome is Outcome.CLEAR


# -- what has become of the policy ---------------------------------------------------------------------------------


async def test_an_assignment_that_is_gone_does_not_stand_in_the_way_any_more() -> None:
    azure = of_pool()
    azure.more[f"{GROUP_ID}{HUB}/policyAssignments"] = rows([])
    azure.more[f"{NODE_GROUP_ID}{HUB}/policyAssignments"] = rows([])
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    assert 'policy "Cost centre" (rule "Require a tag on resources") is not assigned there any more' in check.why


async def test_what_azure_named_and_is_gone_lets_the_pool_be_reconciled() -> None:
    azure = of_pool()
    azure.more[f"{GROUP_ID}{HUB}/policyAssignments"] = rows([])
    azure.more[f"{NODE_GROUP_ID}{HUB}/policyAssignments"] = rows([])
    failed = next(one for one in (await diagnosed(azure)).findings if one.finding.code == "nodepool-failed")
    assert failed.root
    assert failed.finding.facts["gone"] is True


@pytest.mark.parametrize(
    "change", [{"enforcementMode": "DoNotEnforce"}, {"notScopes": [NODE_GROUP_ID.upper()]}], ids=["audited", "excluded"]
)
async def test_an_assignment_that_spares_the_node_group_now_is_out_of_the_way(change: Body) -> None:
    azure = of_pool()
    assigned(azure, **change)
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_an_exemption_takes_it_out_of_the_way() -> None:
    azure = of_pool()
    waived(azure)
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.CLEAR
    assert "is waived by exemption aks-nodes" in check.why


@pytest.mark.parametrize(
    "properties",
    [
        {"expiresOn": at(timedelta(minutes=5))},
        {"policyDefinitionReferenceIds": ["another-rule"]},
        {"policyAssignmentId": f"/subscriptions/{SUB}{HUB}/policyAssignments/another"},
    ],
    ids=["over", "another rule", "another assignment"],
)
async def test_an_exemption_that_does_not_cover_it_changes_nothing(properties: Body) -> None:
    azure = of_pool(denied("aks-apps", **info(policyDefinitionReferenceId="tags-on-all")))
    waived(azure, **properties)
    assert (await asked(QUESTION, azure)).outcome is Outcome.FOUND


async def test_an_exemption_of_the_very_rule_of_an_initiative_counts() -> None:
    azure = of_pool(denied("aks-apps", **info(policyDefinitionReferenceId="tags-on-all")))
    waived(azure, policyDefinitionReferenceIds=["Tags-On-All"])
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_policy_that_was_changed_since_may_let_it_through_and_is_told_so() -> None:
    azure = of_balancer()
    body = assigned(azure)
    body["systemData"] = {"lastModifiedAt": at(timedelta(minutes=20))}
    lines = (await found(QUESTION, azure)).because
    assert "it was changed at 2026-11-18 02:47 UTC, after that: it may allow it now" in lines
    body["systemData"] = {"lastModifiedAt": at(timedelta(days=20))}
    assert not [line for line in (await found(QUESTION, azure)).because if "it was changed" in line]


async def test_a_restriction_of_azures_own_is_not_called_gone_because_no_assignment_shows_it() -> None:
    error = denied() | {"code": "RequestDisallowedByAzure"}
    azure = of_pool(error)
    azure.more[f"{GROUP_ID}{HUB}/policyAssignments"] = rows([])
    azure.more[f"{NODE_GROUP_ID}{HUB}/policyAssignments"] = rows([])
    assert (await found(QUESTION, azure)).facts["by_azure"] is True


# -- how Azure words it --------------------------------------------------------------------------------------------


def go_text(error: Body) -> str:
    """How the AKS provider quotes another provider's error."""
    message, more = json.dumps(error["message"]), json.dumps(error["additionalInfo"])
    return (
        "Category: ClientError; SubCode: RequestDisallowedByPolicy; Dependency: Microsoft.Network/LoadBalancers; "
        f'OrginalError: autorest/azure: Service returned an error. Status=403 Code="RequestDisallowedByPolicy" '
        f'Message={message} Target="kubernetes" AdditionalInfo={more}; AKSTeam: Networking, Retriable: false.'
    )


IDENTIFIERS = (
    "Provisioning of resource(s) for container service one in resource group rg-one failed. Message: Resource "
    f'\'kubernetes\' was disallowed by policy. Policy identifiers: \'[{{"policyAssignment":{{"name":"Cost centre",'
    f'"id":"{ASSIGNMENT}"}},"policyDefinition":{{"name":"Require a tag","id":"{DEFINITION}"}}}}]\'.. Details:'
)


@pytest.mark.parametrize(
    "error",
    [
        {"code": "ReconcileStandardLoadBalancerFailed", "message": go_text(denied())},
        {"code": "InvalidTemplateDeployment", "message": "see details", "details": [denied()]},
        {"code": "Unspecified", "message": IDENTIFIERS},
        {"code": "ReconcileResourceGroupError", "message": json.dumps({"error": denied()})},
    ],
    ids=["Go text", "details", "identifiers", "JSON in a message"],
)
async def test_the_policy_is_found_however_the_error_is_wrapped(error: Body) -> None:
    finding = await found(QUESTION, of_pool(error))
    assert (finding.subject, finding.affects) == (ASSIGNMENT, (pool_id("apps"),))
    assert '"Cost centre"' in finding.because[0]


@pytest.mark.parametrize(
    ("compared", "line"),
    [
        (
            {"expression": "location", "operator": "NotIn", "expressionValue": "westus", "targetValue": ["westeurope"]},
            "location is westus, and not westeurope",
        ),
        (
            {
                "expression": "Microsoft.Storage/storageAccounts/supportsHttpsTrafficOnly",
                "operator": "Equals",
                "expressionValue": False,
                "targetValue": "True",
                "result": "False",
            },
            "Microsoft.Storage/storageAccounts/supportsHttpsTrafficOnly is false, and not True",
        ),
        (
            {"expression": "sku.name", "operator": "Equals", "expressionValue": "Basic", "targetValue": "Basic"},
            "sku.name is Basic",
        ),
        (
            {"expression": "a.count", "operator": "Greater", "expressionValue": 3, "targetValue": 2},
            "a.count is 3 (Greater 2)",
        ),
    ],
)
async def test_every_comparison_reads_as_what_is_and_what_should_be(compared: Body, line: str) -> None:
    finding = await found(QUESTION, of_pool(denied("aks-apps", **info(expression(**compared)))))
    assert finding.because[1] == line


async def test_where_the_error_names_no_policy_the_policy_event_of_the_same_request_does() -> None:
    azure = of_balancer(error=bare(denied()))
    azure.events[NODE_GROUP].append(policy_event(BALANCER, HOUR, "b-1", info()))
    assert (await found(QUESTION, azure)).subject == ASSIGNMENT


async def test_the_policy_event_of_another_request_says_nothing_about_this_one() -> None:
    azure = of_balancer(error=bare(denied()))
    azure.events[NODE_GROUP].append(policy_event(BALANCER, HOUR, "b-9", info()))
    finding = await found(QUESTION, azure)
    assert finding.subject == BALANCER
    assert finding.because[0] == "a policy denied kubernetes; Azure's answer does not say which"


async def test_two_policies_that_deny_one_request_are_two_findings() -> None:
    error = denied("aks-apps")
    another = info(policyAssignmentId=f"/subscriptions/{SUB}{HUB}/policyAssignments/regions")
    error["additionalInfo"].append({"type": "PolicyViolation", "info": another})
    azure = of_pool(error)
    body = assigned(azure)
    for group in (GROUP_ID, NODE_GROUP_ID):
        azure.more[f"{group}{HUB}/policyAssignments"] = rows([body, body | {"id": another["policyAssignmentId"]}])
    check = await asked(QUESTION, azure)
    assert {one.subject.rsplit("/", 1)[-1] for one in check.findings} == {"cost-tags", "regions"}


async def test_one_policy_that_denies_many_requests_is_one_finding() -> None:
    azure = of_balancer()
    first = azure.events[NODE_GROUP][0]
    for number in range(5):
        resource = f"{NODE_GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/ip-{number}"
        azure.events[NODE_GROUP].append(
            {**first, "resourceId": resource, "eventDataId": resource, "correlationId": resource}
        )
    finding = await found(QUESTION, azure)
    assert finding.because[0].endswith("and 3 more")


# -- what could not be seen ----------------------------------------------------------------------------------------


async def test_an_assignment_that_may_not_be_listed_is_not_called_gone() -> None:
    azure = of_pool()
    azure.denied = {"policyAssignments"}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.FOUND
    assert [line for line in check.findings[0].because if line.startswith("whether it still applies was not seen")]
    assert check.unseen


async def test_one_group_that_may_not_be_listed_leaves_it_standing() -> None:
    azure = of_pool()
    azure.more[f"{NODE_GROUP_ID}{HUB}/policyAssignments"] = rows([])
    azure.denied = {f"{GROUP_ID}{HUB}/policyAssignments"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.FOUND


@pytest.mark.parametrize("part", ["/eventtypes/"])
async def test_without_the_log_nobody_can_say_that_nothing_was_denied(part: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {part}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_wish_that_was_denied_is_told_for_as_long_as_somebody_waits() -> None:
    def of_wish(ago: timedelta) -> Azure:
        azure = of_pool()
        azure.pool("apps")
        refused = event(CLUSTER, "Failed", ago, json.dumps(denied("one")))
        refused["subStatus"] = {"value": "BadRequest"}
        azure.events[GROUP] = [refused]
        return azure

    finding: Finding = await found(QUESTION, of_wish(HOUR))
    assert finding.facts["in_node_group"] is False
    assert (await asked(QUESTION, of_wish(timedelta(hours=3)))).outcome is Outcome.CLEAR


async def test_a_pool_that_failed_without_a_word_was_denied_by_no_policy_only_where_none_is_enforced() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.pools["apps"]["provisioningState"] = "Failed"
    check = await asked(QUESTION, azure)
    assert (check.outcome, check.why) == (Outcome.CLEAR, f"no policy is enforced on {NODE_GROUP}")
    assigned(azure, enforcementMode="DoNotEnforce")
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR
    assigned(azure)
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE
    azure.denied = {"policyAssignments"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE
