"""The service default/kubernetes: what is behind it, whose it is, and what was not looked at."""

from __future__ import annotations

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


async def test_a_service_that_leads_to_the_api_server_is_clear_and_says_what_was_not_looked_at() -> None:
    check = await asked(QUESTION, cluster())
    assert check.outcome is Outcome.CLEAR
    assert "20.101.44.17" in check.why
    for unseen in ("network policies", "authorized IP ranges", "firewalls", "private DNS"):
        assert unseen in check.why


async def test_a_service_without_endpoints_leads_nowhere() -> None:
    azure = cluster()
    azure.api_slices = []
    finding = await found(QUESTION, azure)
    assert finding.subject == "default/Service/kubernetes"
    assert finding.because[0] == "it leads to no address that is ready (there are no endpoints)"
    assert "were not looked at" in finding.because[-1]
    assert CLUSTER in finding.affects


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
