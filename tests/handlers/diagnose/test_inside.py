"""Does the control plane answer, is the cluster private, and do its own pods run?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.wire import CLUSTER, Azure, asked, at, found


def cluster(**properties: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", count=1)
    azure.node("node-0")
    azure.cluster |= {"fqdn": "one.hcp.westeurope.azmk8s.io", **properties}
    return azure


PRIVATE = {"enablePrivateCluster": True, "privateDNSZone": "system"}


@pytest.mark.parametrize(
    "trouble", ["connection refused: one:443", "no connection within 3 s: one", "no such host: one", "TLS: expired"]
)
async def test_an_api_server_that_cannot_be_reached_is_found(trouble: str) -> None:
    azure = cluster()
    azure.kube_trouble = trouble
    finding = await found("api-server-unavailable", azure)
    assert finding.subject == CLUSTER
    assert trouble in finding.because[0]


async def test_one_that_is_not_ready_names_what_failed() -> None:
    azure = cluster()
    azure.readyz = (500, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed")
    finding = await found("api-server-unavailable", azure)
    assert finding.because[0] == "one.hcp.westeurope.azmk8s.io: /readyz says that etcd failed"


async def test_one_that_is_ready_is_clear() -> None:
    assert (await asked("api-server-unavailable", cluster())).outcome is Outcome.CLEAR


@pytest.mark.parametrize("profile", [PRIVATE, {"authorizedIPRanges": ["203.0.113.0/24"]}])
async def test_where_we_may_be_outside_the_question_stays_open(profile: dict[str, Any]) -> None:
    azure = cluster(apiServerAccessProfile=profile)
    azure.kube_trouble = "no connection within 3 s: one"
    assert (await asked("api-server-unavailable", azure)).outcome is Outcome.INCONCLUSIVE


async def test_a_stopped_cluster_is_not_asked() -> None:
    azure = cluster(powerState={"code": "Stopped"})
    azure.kube_trouble = "no such host: one"
    assert (await asked("api-server-unavailable", azure)).outcome is Outcome.NOT_APPLICABLE


async def test_a_private_cluster_that_is_out_of_reach_is_a_warning_with_its_private_name() -> None:
    azure = cluster(apiServerAccessProfile=PRIVATE, privateFQDN="one.privatelink.westeurope.azmk8s.io")
    azure.kube_trouble = "no such host: one.privatelink.westeurope.azmk8s.io"
    finding = await found("private-cluster-unreachable", azure)
    assert (finding.subject, finding.severity) == (CLUSTER, Severity.WARNING)
    assert "only one.privatelink.westeurope.azmk8s.io leads to its API server" in finding.because[0]
    assert finding.facts["resolves"] is False


async def test_a_private_cluster_that_is_reached_is_clear_and_a_public_one_is_not_concerned() -> None:
    reached = await asked("private-cluster-unreachable", cluster(apiServerAccessProfile=PRIVATE))
    assert reached.outcome is Outcome.CLEAR
    azure = cluster()
    azure.kube_trouble = "no connection within 3 s: one"
    assert (await asked("private-cluster-unreachable", azure)).outcome is Outcome.NOT_APPLICABLE


def system_pod(azure: Azure, name: str = "coredns-5fc4f744d8-fsgrt", reason: str = "", **more: Any) -> dict[str, Any]:
    owner = {"ownerReferences": [{"kind": "ReplicaSet", "name": name.rsplit("-", 1)[0]}], **more.pop("metadata", {})}
    waiting = {"waiting": {"reason": reason, "message": "back-off 5m0s"}} if reason else {"running": {}}
    states = [{"name": "c", "image": "mcr/coredns:1", "restartCount": 13, "state": waiting}]
    return azure.pod(name, namespace="kube-system", ready=not reason, metadata=owner, containerStatuses=states, **more)


@pytest.mark.parametrize("reason", ["CrashLoopBackOff", "ImagePullBackOff", "CreateContainerConfigError"])
async def test_a_system_pod_that_does_not_run_is_named_by_its_owner(reason: str) -> None:
    azure = cluster()
    system_pod(azure, reason=reason)
    system_pod(azure, "coredns-5fc4f744d8-other")
    finding = await found("kube-system-not-running", azure)
    assert (finding.subject, finding.severity) == ("kube-system/Deployment/coredns", Severity.WARNING)
    assert finding.because[0] == "Deployment/coredns: 1 of 2 pods do not run"
    assert f"is {reason}: back-off 5m0s" in finding.because[1]


async def test_when_none_of_them_runs_it_is_an_error() -> None:
    azure = cluster()
    system_pod(azure, reason="CrashLoopBackOff")
    assert (await found("kube-system-not-running", azure)).severity is Severity.ERROR


async def test_a_pod_that_no_node_takes_says_why() -> None:
    azure = cluster()
    pod = system_pod(azure, reason="", phase="Pending")
    pod["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1"}
    ]
    pod["status"]["containerStatuses"] = []
    assert (await found("kube-system-not-running", azure)).facts["trouble"] == "Unschedulable"


@pytest.mark.parametrize(
    "quiet", ["restarted once", "finished job", "just created", "leaving", "on a node that is down"]
)
async def test_what_is_history_or_has_another_cause_is_no_finding(quiet: str) -> None:
    azure = cluster()
    pod = system_pod(azure, reason="" if quiet == "restarted once" else "Error")
    if quiet == "finished job":
        pod["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "x"}]
        pod["status"]["phase"] = "Failed"
    elif quiet == "just created":
        pod["metadata"]["creationTimestamp"] = at(timedelta(minutes=3))
    elif quiet == "leaving":
        pod["metadata"]["deletionTimestamp"] = at(timedelta(seconds=20))
    elif quiet == "on a node that is down":
        azure.not_ready("node-0")
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("denied", ["/api/v1/pods", "/api/v1/nodes"])
async def test_what_is_denied_is_inconclusive_and_named(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("state", ["Creating", "Starting", "Deleting"])
async def test_an_api_server_that_comes_or_goes_is_not_asked(state: str) -> None:
    azure = cluster(provisioningState=state)
    azure.kube_trouble = "no such host: one"
    assert (await asked("api-server-unavailable", azure)).outcome is Outcome.NOT_APPLICABLE


async def test_a_name_that_does_not_resolve_may_be_our_own_fault_and_a_refusal_is_not() -> None:
    azure = cluster()
    for trouble, severity in (("connection refused: one:443", Severity.ERROR), ("no such host: one", Severity.WARNING)):
        azure.kube_trouble = trouble
        assert (await found("api-server-unavailable", azure)).severity is severity


@pytest.mark.parametrize(("health", "severity"), [("Unavailable", Severity.ERROR), ("Available", Severity.WARNING)])
async def test_azures_own_word_makes_it_sure(health: str, severity: Severity) -> None:
    azure = cluster()
    azure.kube_trouble = "no connection within 3 s: one"
    azure.health = health
    finding = await found("api-server-unavailable", azure)
    assert finding.severity is severity
    assert f"Azure Resource Health: {health}, as seen by Azure" in finding.because


async def test_azures_word_alone_is_no_finding_while_the_server_says_that_it_is_ready() -> None:
    azure = cluster()
    azure.health = "Degraded"
    assert (await asked("api-server-unavailable", azure)).outcome is Outcome.CLEAR


async def test_a_corpse_beside_a_healthy_pod_and_a_blip_are_no_finding() -> None:
    azure = cluster()
    system_pod(azure)
    system_pod(azure, "coredns-5fc4f744d8-dead1", phase="Failed", reason="Evicted")
    blip = system_pod(azure, "coredns-5fc4f744d8-blip1")
    since = at(timedelta(seconds=5))
    blip["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.CLEAR
