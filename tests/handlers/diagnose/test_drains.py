"""Nodes that must be emptied: budgets that forbid it, pods that do not go, upgrades that stopped half way."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.wire import CLUSTER, GROUP, Azure, asked, at, event, found, pool_id

DRAIN = "Drain node node-0 failed when evicting pod web with Too Many Requests error. See http://aka.ms/aks/debugdrainfailures"


def upgrade(state: str = "Upgrading", **pool: Any) -> Azure:
    """Pool `apps` is being upgraded; node-0 is cordoned and still runs pod `web` under budget `web`."""
    azure = Azure()
    azure.pool("apps", count=2, provisioningState=state, **pool)
    azure.node("node-0")["spec"]["unschedulable"] = True
    azure.node("node-1", machine=1)
    azure.pod("web")
    azure.budget("web", "web")
    return azure


def failed(message: str = DRAIN, code: str = "UpgradeFailed", **pool: Any) -> Azure:
    azure = upgrade("Failed", **pool)
    azure.pools["apps"]["status"] = {"provisioningError": {"code": code, "message": message}}
    return azure


@pytest.mark.parametrize("azure", [upgrade(), failed()], ids=["running", "failed"])
async def test_a_budget_that_allows_nothing_on_a_node_that_must_be_emptied_is_found(azure: Azure) -> None:
    finding = await found("pdb-blocks-drain", azure)
    assert finding.subject == "shop/PodDisruptionBudget/web"
    assert finding.affects == ("Node/node-0", pool_id("apps"), CLUSTER)
    assert finding.because[:3] == (
        "budget shop/web (minAvailable 2) allows 0 disruptions",
        "2 of its 2 pods are healthy, 2 must stay",
        "it holds web on node-0, which must be drained",
    )


async def test_the_twin_that_lets_one_pod_go_is_clear() -> None:
    azure = upgrade()
    azure.budgets = []
    azure.budget("web", "web", allowed=1)
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    "quiet", ["nothing to drain", "cordoned by a person", "other node", "other namespace", "no pods"]
)
async def test_a_budget_of_zero_alone_is_its_normal_state(quiet: str) -> None:
    azure = upgrade("Succeeded" if quiet in ("nothing to drain", "cordoned by a person") else "Upgrading")
    if quiet == "nothing to drain":
        del azure.nodes["node-0"]["spec"]["unschedulable"]
    elif quiet == "other node":
        azure.pods[0]["spec"]["nodeName"] = "node-1"
    elif quiet == "other namespace":
        azure.budgets[0]["metadata"]["namespace"] = "elsewhere"
    elif quiet == "no pods":
        azure.budgets[0]["status"]["expectedPods"] = 0
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


async def test_the_preflight_that_names_a_budget_is_believed_only_as_far_as_the_budget_agrees() -> None:
    azure = upgrade("Succeeded")
    message = '{"code":"UnsatisfiablePDB","message":"1 error occurred: * PDB shop/web has maxUnavailable == 0"}'
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(minutes=9), message)]
    assert (await found("pdb-blocks-drain", azure)).subject == "shop/PodDisruptionBudget/web"
    azure.budgets = []
    azure.budget("web", "web", allowed=1)
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


async def test_a_pod_under_two_budgets_cannot_be_evicted_whatever_they_allow() -> None:
    azure = upgrade()
    azure.budgets = []
    azure.budget("web", "web", allowed=1)
    azure.budget("also", "web", allowed=1)
    finding = await found("pdb-blocks-drain", azure)
    assert finding.subject == "shop/PodDisruptionBudget/also"
    assert finding.facts["others"] == ["web"]


async def test_a_budget_that_a_tool_owns_says_so() -> None:
    azure = upgrade()
    azure.budgets[0]["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "x"}
    assert (await found("pdb-blocks-drain", azure)).facts["owner"] == "Argo CD"


async def test_expressions_select_as_labels_do() -> None:
    azure = upgrade()
    azure.budgets[0]["spec"]["selector"] = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.FOUND
    azure.budgets[0]["spec"]["selector"] = {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


def stuck(finalizers: list[str] | None = None, minutes: int = 40) -> Azure:
    azure = failed("Drain node node-0 failed: pods did not terminate within 30m0s")
    azure.budgets = []
    azure.pods[0]["metadata"] |= {"deletionTimestamp": at(timedelta(minutes=minutes)), "finalizers": finalizers or []}
    return azure


async def test_a_pod_that_does_not_go_is_named_with_what_holds_it() -> None:
    finding = await found("drain-error", stuck(["queue.example.com/drained"]))
    assert finding.subject == "Node/node-0"
    assert finding.affects == (pool_id("apps"), CLUSTER)
    assert (
        "shop/web is Terminating since 2026-11-18 02:27 UTC: held by finalizer queue.example.com/drained"
        in finding.because
    )


async def test_a_pod_on_a_node_that_exists_no_more_is_named_too() -> None:
    azure = stuck()
    del azure.nodes["node-0"]
    finding = await found("drain-error", azure)
    assert finding.facts["node_ready"] is False
    assert any("its node does not exist any more" in line for line in finding.because)


async def test_a_pod_that_has_just_been_told_to_go_is_no_finding() -> None:
    azure = stuck(minutes=2)
    azure.pools["apps"] |= {"provisioningState": "Upgrading", "status": {}}
    assert (await asked("drain-error", azure)).outcome is Outcome.CLEAR


async def test_a_stuck_pod_where_nothing_is_drained_is_no_drain_error() -> None:
    azure = stuck()
    azure.pools["apps"] |= {"provisioningState": "Succeeded", "status": {}}
    assert (await asked("drain-error", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("question", ["pdb-blocks-drain", "drain-error"])
@pytest.mark.parametrize("denied", ["/api/v1/pods", "/api/v1/nodes", "/agentPools"])
async def test_what_is_denied_is_inconclusive_and_named(question: str, denied: str) -> None:
    azure = upgrade()
    azure.denied = {denied}
    check = await asked(question, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_an_upgrade_that_failed_with_old_and_new_nodes_is_half_done() -> None:
    azure = failed(orchestratorVersion="1.34", currentOrchestratorVersion="1.33.6")
    azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.2"
    finding = await found("upgrade-half-done", azure)
    assert (finding.subject, finding.severity) == (pool_id("apps"), Severity.ERROR)
    assert finding.because == (
        "pool apps is set to 1.34 and runs 1.33.6",
        "its nodes run 1.33.6 (1), 1.34.2 (1)",
        "cordoned: node-0",
    )
    assert finding.affects == (pool_id("apps"), CLUSTER)


async def test_surge_nodes_and_quarantined_ones_are_leftovers() -> None:
    azure = failed()
    azure.node("node-2", machine=2)
    azure.nodes["node-0"]["metadata"]["labels"]["kubernetes.azure.com/upgrade-status"] = "Quarantined"
    finding = await found("upgrade-half-done", azure)
    assert finding.because == (
        "quarantined by the upgrade: node-0",
        "3 nodes for a pool of 2: 1 left over from the surge",
    )


@pytest.mark.parametrize("quiet", ["upgrade running", "cordoned by a person", "one more for a moment", "stopped"])
async def test_what_an_upgrade_or_a_person_leaves_for_a_while_is_no_finding(quiet: str) -> None:
    azure = upgrade("Upgrading" if quiet == "upgrade running" else "Succeeded")
    if quiet == "upgrade running":
        azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.2"
    elif quiet == "one more for a moment":
        azure.node("node-2", machine=2)
    elif quiet == "stopped":
        azure.pools["apps"] |= {"powerState": {"code": "Stopped"}, "orchestratorVersion": "1.34"}
    assert (await asked("upgrade-half-done", azure)).outcome is Outcome.CLEAR


async def test_without_the_nodes_the_pools_own_versions_still_tell() -> None:
    azure = failed(orchestratorVersion="1.34")
    azure.denied = {"/api/v1/nodes"}
    assert (await asked("upgrade-half-done", azure)).outcome is Outcome.FOUND
    whole = upgrade("Succeeded")
    whole.denied = {"/api/v1/nodes"}
    assert (await asked("upgrade-half-done", whole)).outcome is Outcome.INCONCLUSIVE
