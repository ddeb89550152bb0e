"""Nodes that must be emptied: budgets that forbid it, pods that do not go, upgrades that stopped half way."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, at, event, pool_id
from tests.handlers.diagnose.wire import LIBRARY, Azure, asked, diagnosed, found

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


async def test_a_budget_is_not_what_stopped_a_drain_whose_pods_were_evicted_and_did_not_end() -> None:
    azure = stuck()
    azure.pod("other", labels={"app": "other"})
    azure.budget("other", "other")
    budget = await found("pdb-blocks-drain", azure)
    assert (budget.subject, budget.severity, budget.affects) == (
        "shop/PodDisruptionBudget/other",
        Severity.WARNING,
        (),
    )
    diagnosis = await diagnosed(azure)
    pool = next(one for one in diagnosis.findings if one.finding.code == "nodepool-failed")
    assert [code for code, _ in pool.explained_by] == ["drain-error"]


async def test_the_twin_in_which_azure_names_the_budget_beside_such_pods_is_the_budgets() -> None:
    azure = stuck()
    azure.pod("other", labels={"app": "other"})
    azure.budget("other", "other")
    error = azure.pools["apps"]["status"]["provisioningError"]
    error["message"] += ": [shop/web: still terminating, shop/other blocked by pdb other]"
    budget = await found("pdb-blocks-drain", azure)
    assert (budget.severity, budget.affects) == (Severity.ERROR, ("Node/node-0", pool_id("apps"), CLUSTER))


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
    azure = failed("it failed", orchestratorVersion="1.34", currentOrchestratorVersion="1.33.6")
    azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.2"
    finding = await found("upgrade-half-done", azure)
    assert (finding.subject, finding.severity) == (pool_id("apps"), Severity.ERROR)
    assert finding.because == (
        "pool apps is set to 1.34 and runs 1.33.6",
        "its nodes run 1.33.6 (1), 1.34.2 (1)",
        "cordoned: node-0",
    )
    assert finding.affects == (pool_id("apps"),)


async def test_what_an_upgrade_left_claims_no_failure_for_which_azure_names_the_drain() -> None:
    azure = failed(orchestratorVersion="1.34", currentOrchestratorVersion="1.33.6")
    finding = await found("upgrade-half-done", azure)
    assert (finding.affects, finding.severity) == ((), Severity.WARNING)


BEHIND = {"orchestratorVersion": "1.31.8", "currentOrchestratorVersion": "1.30.9"}


@pytest.mark.parametrize("code", ["upgrade-half-done", "pdb-blocks-drain", "drain-error"])
@pytest.mark.parametrize(
    ("control_plane", "pool", "target"),
    [
        ("1.32.4", BEHIND, "1.31.8"),
        ("1.31.8", BEHIND, "1.31.8"),
        ("1.31.8", BEHIND | {"orchestratorVersion": "1.31"}, "1.31.8"),
        ("1.32.4", BEHIND | {"orchestratorVersion": "1.31"}, "1.31"),
    ],
    ids=["a pool behind its control plane", "the whole cluster", "the whole cluster, any patch", "a pool, any patch"],
)
async def test_the_same_upgrade_is_run_again_and_not_one_to_the_control_planes_version(
    code: str, control_plane: str, pool: dict[str, str], target: str
) -> None:
    azure = stuck() if code == "drain-error" else failed("it failed") if code == "upgrade-half-done" else failed()
    azure.pools["apps"] |= pool
    azure.cluster |= {"kubernetesVersion": control_plane, "currentKubernetesVersion": control_plane}
    finding = await found(code, azure)
    assert finding.facts["target"] == target
    assert f"--kubernetes-version {target}\n" in LIBRARY[code].render("Fix", finding.facts)


@pytest.mark.parametrize(("control_plane", "target"), [("1.32.4", "1.31.10"), ("1.31.10", "1.31.10")])
async def test_where_the_pool_says_that_it_runs_what_it_was_asked_to_its_newest_node_tells_the_version(
    control_plane: str, target: str
) -> None:
    """`currentOrchestratorVersion` is the version asked for, wherever that one is named in full."""
    azure = failed("it failed", orchestratorVersion="1.31.10", currentOrchestratorVersion="1.31.10")
    azure.cluster |= {"kubernetesVersion": control_plane, "currentKubernetesVersion": control_plane}
    azure.nodes["node-0"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.31.9"
    azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.31.10"
    assert (await found("upgrade-half-done", azure)).facts["target"] == target


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


@pytest.mark.parametrize("quiet", ["Succeeded", "Failed", "Pending", "daemon", "static", "leaving"])
async def test_a_budget_is_not_asked_for_pods_that_kubernetes_lets_go_or_leaves(quiet: str) -> None:
    azure = upgrade()
    pod = azure.pods[0]
    if quiet in ("daemon", "static"):
        pod["metadata"]["ownerReferences"] = [{"kind": "DaemonSet" if quiet == "daemon" else "Node", "name": "x"}]
    elif quiet == "leaving":
        pod["metadata"]["deletionTimestamp"] = at(timedelta(minutes=40))
    else:
        pod["status"]["phase"] = quiet
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


def rollout(ready_ago: timedelta) -> Azure:
    """A budget that lets one of three go; one is gone, and its successor is not ready yet."""
    azure = upgrade()
    azure.budgets[0]["status"] = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    successor = azure.pod("web-new", "node-1", ready=False, labels={"app": "web"})
    successor["status"]["conditions"][0]["lastTransitionTime"] = at(ready_ago)
    return azure


async def test_the_moment_between_an_eviction_and_the_new_pod_is_no_finding_and_a_pod_that_never_comes_is() -> None:
    assert (await asked("pdb-blocks-drain", rollout(timedelta(seconds=30)))).outcome is Outcome.CLEAR
    assert (await asked("pdb-blocks-drain", rollout(timedelta(minutes=20)))).outcome is Outcome.FOUND


@pytest.mark.parametrize("policy", ["AlwaysAllow", "IfHealthyBudget"])
async def test_an_unhealthy_pod_may_go_where_the_policy_or_the_others_let_it(policy: str) -> None:
    azure = upgrade()
    azure.pods[0]["status"]["conditions"][0]["status"] = "False"
    azure.budgets[0]["spec"]["unhealthyPodEvictionPolicy"] = policy
    if policy == "IfHealthyBudget":
        azure.budgets[0]["status"] |= {"currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


async def test_a_budget_without_a_selector_covers_nothing() -> None:
    azure = upgrade()
    azure.budgets = []
    azure.budget("web", "web", allowed=1)
    azure.budget("none", "x", allowed=1)["spec"]["selector"] = None
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.CLEAR


NOT_COMPLETE = (
    "Drain of aks-apps-12345678-vmss00000y did not complete: Too many req pod web on node "
    "aks-apps-12345678-vmss00000y: shop/web blocked by pdb guard with unready pods []"
)


async def test_the_other_text_that_aks_writes_about_a_drain_names_its_node_and_its_budget() -> None:
    azure = failed(NOT_COMPLETE)
    azure.nodes = {}
    azure.node("aks-apps-12345678-vmss00000y")
    azure.pods[0]["spec"]["nodeName"] = "aks-apps-12345678-vmss00000y"
    azure.budgets = []
    azure.budget("guard", "web")
    azure.budget("web", "elsewhere")
    assert (await found("pdb-blocks-drain", azure)).subject == "shop/PodDisruptionBudget/guard"
    assert (await found("drain-error", azure)).subject == "Node/aks-apps-12345678-vmss00000y"


async def test_a_drain_that_the_cluster_complains_of_is_its_pools() -> None:
    azure = upgrade("Failed")
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": {"code": "X", "message": DRAIN}}}
    assert (await found("pdb-blocks-drain", azure)).subject == "shop/PodDisruptionBudget/web"


async def test_without_the_log_a_refusal_beforehand_cannot_be_ruled_out() -> None:
    azure = upgrade("Succeeded")
    azure.denied = {"/eventtypes/"}
    assert (await asked("pdb-blocks-drain", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_drain_that_only_daemonsets_are_left_of_is_done() -> None:
    azure = failed()
    azure.pods[0]["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "kube-proxy"}]
    assert (await asked("drain-error", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("cluster", "pool", "outcome"),
    [
        ("Upgrading", "Succeeded", Outcome.CLEAR),
        ("Succeeded", "Succeeded", Outcome.FOUND),
        ("Upgrading", "Canceled", Outcome.FOUND),
    ],
)
async def test_a_pool_that_waits_its_turn_in_the_upgrade_of_its_cluster_is_not_half_upgraded(
    cluster: str, pool: str, outcome: Outcome
) -> None:
    azure = Azure()
    azure.cluster["provisioningState"] = cluster
    azure.pool("apps", provisioningState=pool, orchestratorVersion="1.34")
    azure.node("node-0")
    assert (await asked("upgrade-half-done", azure)).outcome is outcome


async def test_a_pool_that_failed_for_another_reason_is_not_half_upgraded_because_of_a_cordon() -> None:
    azure = failed("exceeding approved Cores quota", "QuotaExceeded")
    assert (await asked("upgrade-half-done", azure)).outcome is Outcome.CLEAR


async def test_a_cordon_alone_explains_no_failure_whose_cause_azure_does_not_name() -> None:
    azure = failed("Internal server error", "InternalOperationError")
    finding = await found("upgrade-half-done", azure)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ())
    assert finding.because == ("cordoned: node-0",)


async def test_a_node_of_1_33_10_is_an_old_one_in_a_pool_of_1_33_1() -> None:
    azure = failed(orchestratorVersion="1.33.1", currentOrchestratorVersion="1.33.10")
    for node in azure.nodes.values():
        node["status"]["nodeInfo"]["kubeletVersion"] = "v1.33.10"
    finding = await found("upgrade-half-done", azure)
    assert finding.because[0] == "pool apps is set to 1.33.1 and runs 1.33.10"
    assert finding.facts["old_nodes"] == ["node-0", "node-1"]


async def test_a_parked_node_is_no_leftover_of_a_surge() -> None:
    azure = failed(scaleDownMode="Deallocate")
    del azure.nodes["node-0"]["spec"]["unschedulable"]
    azure.not_ready("node-2", machine=2)
    assert (await asked("upgrade-half-done", azure)).outcome is Outcome.CLEAR


async def test_a_cordon_alone_is_first_asked_about_and_may_simply_go() -> None:
    finding = await found("upgrade-half-done", failed("Internal server error", "InternalOperationError"))
    fix = LIBRARY["upgrade-half-done"].render("Fix", finding.facts)
    assert fix.startswith("A person may have cordoned these nodes: ask first.")
    assert "kubectl uncordon node-0\n" in fix


async def test_versions_apart_are_an_upgrades_doing_and_nobody_is_told_to_uncordon() -> None:
    azure = failed(orchestratorVersion="1.33.6", currentOrchestratorVersion="1.32.9")
    fix = LIBRARY["upgrade-half-done"].render("Fix", (await found("upgrade-half-done", azure)).facts)
    assert "kubectl uncordon" not in fix
    assert "unless you want to stay on their old version" in fix


async def test_a_drain_that_failed_hours_ago_over_pods_that_may_go_now_asks_for_no_restart() -> None:
    azure = failed()
    azure.budgets = []
    azure.budget("web", "web", allowed=1)
    finding = await found("drain-error", azure)
    assert finding.because[:2] == (
        "node-0 (pool apps, Failed) must be emptied and still holds 1 pod",
        "none of them is stuck now",
    )
    fix = LIBRARY["drain-error"].render("Fix", finding.facts)
    assert fix.startswith("No pod on it is stuck now")
    assert "restart" not in fix
