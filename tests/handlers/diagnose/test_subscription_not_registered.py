"""May the subscription use what the cluster needs?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from handlers.evidence.namespaces import namespaces_of
from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, SUB, event, pool_id
from tests.handlers.diagnose.wire import Azure, asked, found

QUESTION = "subscription-not-registered"
INSIGHTS = "Microsoft.OperationalInsights"
REFUSED = json.dumps(
    {
        "error": {
            "code": "MissingSubscriptionRegistration",
            "message": f"The subscription is not registered to use namespace '{INSIGHTS}'.",
        }
    }
)


def monitored(state: str = "NotRegistered") -> Azure:
    azure = Azure()
    azure.pool("apps")
    azure.cluster["addonProfiles"] = {"omsagent": {"enabled": True}}
    azure.registered = {INSIGHTS: state}
    return azure


async def test_the_provider_and_the_feature_that_needs_it_are_named() -> None:
    finding = await found(QUESTION, monitored())
    assert finding.subject == f"/subscriptions/{SUB}/providers/{INSIGHTS}"
    assert finding.because == (
        f"{INSIGHTS} is NotRegistered in subscription {SUB}",
        "one needs it for the workspace of container insights",
    )
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())


@pytest.mark.parametrize("change", [{"enabled": False}, {}])
async def test_the_twin_whose_feature_is_off_needs_nothing(change: dict[str, Any]) -> None:
    azure = monitored()
    azure.cluster["addonProfiles"] = {"omsagent": change}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_the_twin_that_is_registered_is_clear_although_a_write_was_refused() -> None:
    azure = monitored("Registered")
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), REFUSED)]
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_write_that_was_refused_for_it_makes_it_loud() -> None:
    azure = monitored()
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), REFUSED)]
    finding = await found(QUESTION, azure)
    assert finding.severity is Severity.ERROR
    assert "MissingSubscriptionRegistration" in finding.because[-1]


async def test_what_failed_for_it_is_explained_and_what_failed_for_another_reason_is_not() -> None:
    azure = monitored()
    azure.pools["apps"]["provisioningState"] = "Failed"
    azure.pools["apps"]["status"] = {"provisioningError": json.loads(REFUSED)["error"]}
    assert (await found(QUESTION, azure)).affects == (pool_id("apps"),)
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "ZonalAllocationFailed", "message": "no capacity"}}
    assert (await found(QUESTION, azure)).affects == ()


async def test_another_namespace_that_was_refused_is_not_this_ones_doing() -> None:
    azure = monitored()
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(hours=1), REFUSED.replace(INSIGHTS, "Microsoft.Relay"))]
    assert (await found(QUESTION, azure)).severity is Severity.WARNING


@pytest.mark.parametrize("state", ["Unregistered", "Unregistering"])
async def test_every_state_that_does_not_end_by_itself_is_told(state: str) -> None:
    assert (await found(QUESTION, monitored(state))).facts["state"] == state


async def test_one_that_is_being_registered_is_waited_for() -> None:
    check = await asked(QUESTION, monitored("Registering"))
    assert check.outcome is Outcome.CLEAR
    assert f"{INSIGHTS} is being registered, which takes minutes" in check.why


async def test_it_is_told_once_something_failed_because_of_it() -> None:
    azure = monitored("Registering")
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(minutes=20), REFUSED)]
    finding = await found(QUESTION, azure)
    assert finding.severity is Severity.ERROR
    assert "it is being registered: wait some minutes, then run what failed again" in finding.because


async def test_whether_it_has_stopped_anything_cannot_be_told_without_the_log() -> None:
    azure = monitored("Registering")
    azure.denied = {"/eventtypes/"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("why", ["another namespace", "no reason"])
async def test_what_failed_while_it_is_being_registered_is_not_laid_at_its_door(why: str) -> None:
    azure = monitored("Registering")
    azure.pools["apps"]["provisioningState"] = "Failed"
    if why == "another namespace":
        refused = REFUSED.replace(INSIGHTS, "Microsoft.Relay")
        azure.pools["apps"]["status"] = {"provisioningError": json.loads(refused)["error"]}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(("auth", "demanded"), [("true", False), ("True", False), ("false", True), ("", True)])
def test_the_solution_is_demanded_only_where_monitoring_uses_keys(auth: str, demanded: bool) -> None:
    config = {"logAnalyticsWorkspaceResourceID": "/w", **({"useAADAuth": auth} if auth else {})}
    names = {name for name, _ in namespaces_of({"addonProfiles": {"omsagent": {"enabled": True, "config": config}}})}
    assert ("Microsoft.OperationsManagement" in names) is demanded
    assert {INSIGHTS, "Microsoft.Insights"} <= names


async def test_a_cluster_with_managed_identity_monitoring_is_clear_without_the_solutions_provider() -> None:
    azure = monitored("Registered")
    azure.registered["Microsoft.OperationsManagement"] = "NotRegistered"
    assert (await found(QUESTION, azure)).facts["namespace"] == "Microsoft.OperationsManagement"
    azure.cluster["addonProfiles"]["omsagent"]["config"] = {"useAADAuth": "true"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_what_the_core_needs_is_always_asked() -> None:
    azure = Azure()
    azure.pool("apps")
    azure.registered = {"Microsoft.Compute": "NotRegistered"}
    assert (await found(QUESTION, azure)).facts["needed_for"] == "its nodes' machines and disks"


async def test_one_provider_that_cannot_be_read_keeps_it_open() -> None:
    azure = monitored("Registered")
    azure.denied = {f"/providers/{INSIGHTS}"}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen


async def test_a_provider_that_is_missing_is_found_although_another_cannot_be_read() -> None:
    azure = monitored()
    azure.denied = {"/providers/Microsoft.Network"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.FOUND


@pytest.mark.parametrize(
    ("profile", "namespace"),
    [
        ({"addonProfiles": {"azurepolicy": {"enabled": True}}}, "Microsoft.PolicyInsights"),
        ({"addonProfiles": {"azureKeyvaultSecretsProvider": {"enabled": True}}}, "Microsoft.KeyVault"),
        ({"addonProfiles": {"omsAgent": {"enabled": True}}}, "Microsoft.OperationsManagement"),
        ({"addonProfiles": {"aciConnectorLinux": {"enabled": True}}}, "Microsoft.ContainerInstance"),
        ({"azureMonitorProfile": {"containerInsights": {"enabled": True}}}, INSIGHTS),
        ({"azureMonitorProfile": {"metrics": {"enabled": True}}}, "Microsoft.Monitor"),
        ({"securityProfile": {"azureKeyVaultKms": {"enabled": True}}}, "Microsoft.KeyVault"),
        ({"securityProfile": {"defender": {"securityMonitoring": {"enabled": True}}}}, "Microsoft.Security"),
        ({"storageProfile": {"fileCSIDriver": {"enabled": True}}}, "Microsoft.Storage"),
        ({"storageProfile": {"blobCSIDriver": {"enabled": True}}}, "Microsoft.Storage"),
        ({"bootstrapProfile": {"artifactSource": "Cache"}}, "Microsoft.ContainerRegistry"),
        ({"servicePrincipalProfile": {"clientId": "msi"}}, "Microsoft.ManagedIdentity"),
    ],
)
def test_each_feature_names_its_provider(profile: dict[str, Any], namespace: str) -> None:
    without = {"servicePrincipalProfile": {"clientId": "0f000000-0000-4000-8000-000000000001"}}
    always = {"Microsoft.ContainerService", "Microsoft.Compute", "Microsoft.Network"}
    assert {name for name, _ in namespaces_of(without)} == always
    assert namespace in {name for name, _ in namespaces_of(without | profile)}


@pytest.mark.parametrize("odd", [None, [], "x", {"addonProfiles": []}, {"addonProfiles": {"omsagent": None}}])
def test_a_profile_that_is_not_understood_still_needs_the_core(odd: Any) -> None:
    assert len(namespaces_of(odd)) >= 3
