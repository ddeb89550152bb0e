"""An active Azure service issue comes first in the proofs, and is not a separate finding."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Finding, Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, SUB, Body, at, event
from tests.handlers.diagnose.wire import Azure, asked, found

SAID = (
    "Azure has announced a service issue of Azure Kubernetes Service (AKS) in West Europe since "
    "2026-11-18 00:07 UTC (3T1F-XZ8): Azure Kubernetes Service - West Europe"
)


def issue(service: str = "Azure Kubernetes Service (AKS)", region: str = "West Europe", **properties: Any) -> Body:
    """As Service Health lists it to a subscription."""
    regions = [{"impactedRegion": region, "status": "Active", "impactedSubscriptions": [SUB], "updates": []}]
    return {
        "id": f"/subscriptions/{SUB}/providers/Microsoft.ResourceHealth/events/3T1F-XZ8",
        "name": "3T1F-XZ8",
        "type": "/providers/Microsoft.ResourceHealth/events",
        "properties": {
            "eventType": "ServiceIssue",
            "eventSource": "ServiceHealth",
            "eventLevel": "Warning",
            "status": "Active",
            "title": "ACTIVE: Azure Kubernetes Service - West Europe",
            "summary": "<p>We are investigating.</p>",
            "impactStartTime": at(timedelta(hours=3)),
            "lastUpdateTime": at(timedelta(minutes=9)),
            "impact": [{"impactedService": service, "impactedRegions": regions}],
            **properties,
        },
    }


def silent(*issues: Body) -> Azure:
    """Nothing answers, and it may be the line between us and the cluster."""
    azure = Azure()
    azure.pool("apps")
    azure.cluster |= {"fqdn": "one.hcp.westeurope.azmk8s.io"}
    azure.kube_trouble = "no connection within 3 s"
    azure.service_events = list(issues)
    return azure


def failed(*issues: Body, ago: timedelta = timedelta(hours=2)) -> Azure:
    azure = Azure()
    azure.pool("apps")
    azure.cluster["provisioningState"] = "Failed"
    azure.events[GROUP] = [event(CLUSTER, "Failed", ago, '{"error": {"code": "InternalServerError", "message": "x"}}')]
    azure.service_events = list(issues)
    return azure


async def server(azure: Azure) -> Finding:
    return await found("api-server-unavailable", azure)


async def test_an_active_issue_of_aks_in_the_region_is_said_first_and_makes_it_sure() -> None:
    finding = await server(silent(issue()))
    assert finding.because[0] == SAID
    assert finding.facts["service_issues"] == [SAID]
    assert finding.severity is Severity.ERROR


async def test_without_one_nothing_is_said_of_it() -> None:
    finding = await server(silent())
    assert not any("service issue" in line for line in finding.because)
    assert (finding.facts["service_issues"], finding.severity) == ([], Severity.WARNING)


@pytest.mark.parametrize(
    "twin",
    [
        issue(region="North Europe"),
        issue(service="App Service"),
        issue(status="Resolved"),
        issue(eventType="PlannedMaintenance"),
        issue(eventType="HealthAdvisory"),
        issue(impactMitigationTime=at(timedelta(minutes=20))),
        issue(
            impact=[
                {
                    "impactedService": "Azure Kubernetes Service (AKS)",
                    "impactedRegions": [{"impactedRegion": "West Europe", "status": "Resolved"}],
                }
            ]
        ),
    ],
)
async def test_an_issue_elsewhere_of_something_else_or_that_is_over_is_not_said(twin: Body) -> None:
    assert not any("service issue" in line for line in (await server(silent(twin))).because)


@pytest.mark.parametrize(
    "service", ["Virtual Machines", "Virtual Machine Scale Sets", "Virtual Network", "Load Balancer"]
)
async def test_what_aks_stands_on_is_said_and_proves_less(service: str) -> None:
    finding = await server(silent(issue(service=service)))
    assert finding.because[0].startswith(f"Azure has announced a service issue of {service} in West Europe")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("region", ["westeurope", "West Europe", "Global"])
async def test_regions_are_named_in_either_way(region: str) -> None:
    assert "service issue" in (await server(silent(issue(region=region)))).because[0]


async def test_a_mitigation_that_is_announced_or_before_the_beginning_does_not_end_it() -> None:
    for time in (at(-timedelta(hours=1)), "0001-01-01T00:00:00Z", ""):
        assert (await server(silent(issue(impactMitigationTime=time)))).because[0] == SAID


async def test_a_failed_cluster_says_it_first_too() -> None:
    finding = await found("cluster-failed", failed(issue()))
    assert finding.because[0] == SAID
    assert finding.because[1].startswith("provisioningState is Failed")


async def test_an_issue_stands_behind_what_azure_names_for_this_cluster() -> None:
    azure = failed(issue())
    azure.cluster |= {"status": {"provisioningError": {"code": "RequestDisallowedByPolicy", "message": "tag costs"}}}
    finding = await found("cluster-failed", azure)
    assert finding.because[0].startswith("provisioningState is Failed")
    assert finding.because[-1] == SAID


async def test_an_issue_that_began_after_the_failure_did_not_cause_it() -> None:
    finding = await found("cluster-failed", failed(issue(), ago=timedelta(hours=4)))
    assert finding.because[0].startswith("provisioningState is Failed")
    assert finding.facts["service_issues"] == []


async def test_an_issue_makes_no_finding_where_all_is_well() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.service_events = [issue()]
    for question in ("api-server-unavailable", "cluster-failed"):
        assert (await asked(question, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("question", ["api-server-unavailable", "cluster-failed"])
async def test_a_healthy_cluster_is_clear_where_service_health_may_not_be_read(question: str) -> None:
    azure = Azure()
    azure.pool("apps")
    azure.denied = {"/Microsoft.ResourceHealth/events"}
    assert (await asked(question, azure)).outcome is Outcome.CLEAR


async def test_a_failure_is_proved_without_it() -> None:
    for question, azure in (("api-server-unavailable", silent()), ("cluster-failed", failed())):
        azure.denied = {"/Microsoft.ResourceHealth/events"}
        finding = await found(question, azure)
        assert finding.facts["service_issues"] == []
