"""The service default/kubernetes: what is behind it, whose it is, and what was not looked at."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.checking import LIBRARY
from tests.handlers.diagnose.wire import CLUSTER, Azure, asked, found

QUESTION = "node-cannot-reach-api-server"


def cluster(**service: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", 1)
    azure.node("node-0")
    azure.api_service["spec"] |= service
    return azure


async def test_a_service_that_leads_to_the_api_server_is_clear_with_the_proof_that_it_is_used() -> None:
    check = await asked(QUESTION, cluster())
    assert check.outcome is Outcome.CLEAR
    assert check.why == (
        "default/kubernetes leads to 20.101.44.17; 1 of 1 Ready nodes renewed their leases within 2 minutes; Ready, "
        "which takes the API server: coredns (2 of 2), metrics-server (2 of 2)"
    )


@pytest.mark.parametrize(
    ("lost", "says"),
    [
        ("a silent kubelet", "the way of node-0 to the API server: absent, its kubelet last renewed its lease at"),
        ("no lease", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no node", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no node that is Ready", "no node is Ready whose kubelet has renewed its lease within 2 minutes"),
        ("no pod", "no pod of coredns and metrics-server is Ready"),
    ],
)
async def test_without_that_proof_it_stays_open(lost: str, says: str) -> None:
    azure = cluster()
    if lost == "a silent kubelet":
        azure.node("node-1")
        azure.leases["node-0"] -= timedelta(minutes=4)
    elif lost == "no lease":
        azure.leases.clear()
    elif lost == "no node":
        azure.nodes.clear()
    elif lost == "no node that is Ready":
        azure.not_ready("node-0")
    else:
        azure.deployment("coredns", ready=0)
        azure.deployment("metrics-server", ready=0)
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert says in check.why


@pytest.mark.parametrize("denied", ["/leases", "/api/v1/nodes", "/apis/apps/v1"])
async def test_where_the_proof_is_denied_it_stays_open_and_is_named(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


@pytest.mark.parametrize("excuse", ["not Ready", "virtual"])
async def test_the_nodes_that_are_ready_prove_it(excuse: str) -> None:
    azure = cluster()
    if excuse == "not Ready":
        azure.not_ready("node-1", machine=1)
    else:
        azure.node("node-1", machine=1)["metadata"]["labels"]["type"] = "virtual-kubelet"
        del azure.leases["node-1"]
    assert "1 of 1 Ready nodes renewed" in (await asked(QUESTION, azure)).why


async def test_where_neither_runs_in_the_cluster_the_nodes_prove_it() -> None:
    azure = cluster()
    azure.deployments.clear()
    assert (await asked(QUESTION, azure)).why.endswith("1 of 1 Ready nodes renewed their leases within 2 minutes")


async def test_a_service_without_endpoints_leads_nowhere() -> None:
    azure = cluster()
    azure.api_slices = []
    finding = await found(QUESTION, azure)
    assert finding.subject == "default/Service/kubernetes"
    assert finding.because[0] == "it leads to no address that is ready (there are no endpoints)"
    assert "were not looked at" in finding.because[-1]
    assert CLUSTER not in finding.affects


async def test_an_endpoint_that_is_not_ready_is_named() -> None:
    azure = cluster()
    azure.api_slices[0]["endpoints"][0]["conditions"] = {"ready": False}
    assert "no address that is ready (20.101.44.17)" in (await found(QUESTION, azure)).because[0]


@pytest.mark.parametrize("conditions", [{}, {"ready": None}, {"ready": True}])
async def test_an_endpoint_that_says_nothing_of_itself_is_ready(conditions: dict[str, Any]) -> None:
    azure = cluster()
    azure.api_slices[0]["endpoints"][0]["conditions"] = conditions
    assert (await asked(QUESTION, azure)).outcome is Outcome.CLEAR


async def test_a_selector_hands_the_service_to_pods() -> None:
    finding = await found(QUESTION, cluster(selector={"app": "shop"}))
    assert finding.because[0].startswith("somebody gave the service default/kubernetes a selector (app=shop)")


async def test_a_port_that_no_endpoint_has_under_its_name_leads_nowhere() -> None:
    finding = await found(QUESTION, cluster(ports=[{"name": "web", "port": 443}]))
    assert finding.because[0] == "nothing is behind its port 443 (endpoints: https 443)"


async def test_a_service_that_is_gone_is_found() -> None:
    azure = cluster()
    azure.api_service = {}
    assert (await found(QUESTION, azure)).because[0].startswith("there is no service default/kubernetes")


async def test_pods_of_the_system_that_do_not_run_follow_from_it() -> None:
    azure = cluster(selector={"app": "shop"})
    owners = [{"kind": "ReplicaSet", "name": "coredns-6d5f7c8b9"}]
    azure.pod("coredns-1", namespace="kube-system", ready=False, metadata={"ownerReferences": owners})
    assert "kube-system/Deployment/coredns" in (await found(QUESTION, azure)).affects


@pytest.mark.parametrize("denied", ["/services", "/endpointslices"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    check = await asked(QUESTION, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_nodes_and_pods_it_is_found_all_the_same() -> None:
    azure = cluster(selector={"app": "shop"})
    azure.denied = {"/api/v1/nodes", "/api/v1/pods"}
    assert (await found(QUESTION, azure)).facts["scale_set"] == "<scale-set>"


async def test_a_stopped_cluster_is_not_asked() -> None:
    azure = cluster()
    azure.cluster["powerState"] = {"code": "Stopped"}
    assert (await asked(QUESTION, azure)).outcome is Outcome.NOT_APPLICABLE


async def test_its_runbook_is_filled_from_what_was_found() -> None:
    finding = await found(QUESTION, cluster(selector={"app": "shop"}))
    runbook = LIBRARY[QUESTION]
    checks, fix = (runbook.render(section, finding.facts) for section in ("Check it yourself", "Fix"))
    assert "kubectl get service kubernetes --namespace default" in checks
    assert "aks-apps-12345678-vmss" in checks
    assert """--patch '{"spec":{"selector":null}}'""" in fix
    azure = cluster()
    azure.api_slices = []
    assert "selector" not in runbook.render("Fix", (await found(QUESTION, azure)).facts)
