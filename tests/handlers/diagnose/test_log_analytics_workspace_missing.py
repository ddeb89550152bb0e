"""Does the workspace exist that the cluster sends its logs to?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, GROUP_ID, SUB, Body, event, pool_id, resource
from tests.handlers.diagnose.wire import Azure, asked, found

QUESTION = "log-analytics-workspace-missing"
HOUR = timedelta(hours=1)
WORKSPACE = f"{GROUP_ID}/providers/Microsoft.OperationalInsights/workspaces/logs"
SAID = {"code": "BadRequest", "message": f"Unable to get log analytics workspace info. Resource ID: {WORKSPACE}."}


class LogsElsewhere(Azure):
    """An Azure that answers for the workspace with a refusal of its own."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def answer(self, path: str) -> tuple[int, object]:
        if path.lower() == WORKSPACE.lower():
            return 404, {"error": {"code": self.code, "message": "could not be found"}}
        return super().answer(path)


def monitored(azure: Azure | None = None) -> Azure:
    """A cluster whose monitoring add-on names a workspace that is not there."""
    azure = azure or Azure()
    azure.pool("apps")
    config = {"logAnalyticsWorkspaceResourceID": WORKSPACE.lower(), "useAADAuth": "true"}
    azure.cluster["addonProfiles"] = {"omsAgent": {"enabled": True, "config": config}}
    return azure


def broken(azure: Azure, error: Body | None) -> Azure:
    azure.cluster["provisioningState"] = "Failed"
    if error:
        azure.cluster["status"] = {"provisioningError": error}
    return azure


async def test_the_workspace_and_who_sends_to_it_are_named() -> None:
    finding = await found(QUESTION, monitored())
    assert finding.subject == WORKSPACE.lower()
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    assert finding.because == (
        "workspace logs in rg-one does not exist: Azure answers 404 ResourceNotFound",
        "the monitoring add-on of one sends to it",
    )


async def test_the_twin_whose_workspace_exists_is_clear() -> None:
    azure = monitored()
    azure.more[WORKSPACE] = resource(WORKSPACE, {"provisioningState": "Succeeded"})
    check = await asked(QUESTION, azure)
    assert (check.outcome, check.why) == (Outcome.CLEAR, "Log Analytics workspace logs exists")


@pytest.mark.parametrize("addons", [{}, {"omsagent": {"enabled": False, "config": {}}}])
async def test_a_cluster_that_sends_nowhere_has_no_such_problem(addons: Body) -> None:
    azure = monitored()
    azure.cluster["addonProfiles"] = addons
    assert (await asked(QUESTION, azure)).outcome is Outcome.NOT_APPLICABLE


async def test_a_workspace_that_may_not_be_read_is_not_called_missing() -> None:
    azure = monitored()
    azure.denied = {"Microsoft.OperationalInsights/workspaces"}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "logs" in check.why


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("ResourceGroupNotFound", Outcome.FOUND),
        ("SubscriptionNotFound", Outcome.INCONCLUSIVE),
        ("InvalidResourceType", Outcome.INCONCLUSIVE),
    ],
)
async def test_only_a_workspace_or_a_group_that_is_gone_proves_it(code: str, outcome: Outcome) -> None:
    check = await asked(QUESTION, monitored(LogsElsewhere(code)))
    assert check.outcome is outcome


async def test_a_group_that_is_gone_is_to_be_made_first() -> None:
    finding = await found(QUESTION, monitored(LogsElsewhere("ResourceGroupNotFound")))
    assert finding.facts["group_is_gone"] is True
    assert finding.because[0].startswith("resource group rg-one, where workspace logs was, does not exist")


async def test_a_failure_that_azure_explains_with_it_is_explained() -> None:
    finding = await found(QUESTION, broken(monitored(), SAID))
    assert (finding.severity, finding.affects) == (Severity.ERROR, (CLUSTER,))
    assert "Unable to get log analytics workspace info" in finding.because[-1]


async def test_a_failure_with_another_reason_is_not_laid_at_its_door() -> None:
    azure = broken(monitored(), {"code": "ZonalAllocationFailed", "message": "no capacity"})
    assert (await found(QUESTION, azure)).affects == ()


@pytest.mark.parametrize(("ago", "explained"), [(timedelta(hours=3), True), (timedelta(minutes=9), False)])
async def test_a_cluster_that_failed_without_a_word_follows_a_workspace_deleted_before(
    ago: timedelta, explained: bool
) -> None:
    azure = broken(monitored(), None)
    gone = event(WORKSPACE, "Succeeded", ago, correlation="gone")
    gone["operationName"] = {"value": "Microsoft.OperationalInsights/workspaces/delete"}
    azure.events[GROUP] = [gone, event(CLUSTER, "Failed", HOUR)]
    [finding] = (await asked(QUESTION, azure)).findings
    assert finding.affects == ((CLUSTER,) if explained else ())


async def test_a_pool_that_failed_without_a_word_is_left_alone() -> None:
    azure = monitored()
    azure.pools["apps"]["provisioningState"] = "Failed"
    gone = event(WORKSPACE, "Succeeded", timedelta(hours=3), correlation="gone")
    gone["operationName"] = {"value": "Microsoft.OperationalInsights/workspaces/delete"}
    azure.events[GROUP] = [gone, event(pool_id("apps"), "Failed", HOUR)]
    [finding] = (await asked(QUESTION, azure)).findings
    assert finding.affects == ()


async def test_defenders_workspace_counts_too() -> None:
    azure = monitored()
    azure.more[WORKSPACE] = resource(WORKSPACE, {})
    other = f"/subscriptions/{SUB}/resourceGroups/rg-soc/providers/Microsoft.OperationalInsights/workspaces/soc"
    defender = {"logAnalyticsWorkspaceResourceId": other, "securityMonitoring": {"enabled": True}}
    azure.cluster["securityProfile"] = {"defender": defender}
    finding = await found(QUESTION, azure)
    assert (finding.subject, finding.facts["feature"]) == (other, "Microsoft Defender")
    defender["securityMonitoring"] = {"enabled": False}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR
