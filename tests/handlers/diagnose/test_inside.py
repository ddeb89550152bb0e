"""Does the control plane answer, is the cluster private, and do its own pods run?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome, Severity
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import CLUSTER, at
from tests.handlers.diagnose.wire import Azure, asked, diagnosed, found


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


@pytest.mark.parametrize("word", ["refused", "Unavailable", "Degraded"])
async def test_a_private_api_server_that_refuses_or_that_azure_calls_unwell_is_down_and_nobody_is_outside(
    word: str,
) -> None:
    azure = cluster(apiServerAccessProfile=PRIVATE, privateFQDN="one.privatelink.westeurope.azmk8s.io")
    azure.kube_trouble = "connection refused: one:443" if word == "refused" else "no connection within 3 s: one"
    azure.health = "Available" if word == "refused" else word
    finding = await found("api-server-unavailable", azure)
    assert (finding.subject, finding.severity) == (CLUSTER, Severity.ERROR)
    line = finding.because[0 if word == "refused" else 1]
    assert line.startswith("one.privatelink.westeurope.azmk8s.io: no answer from here")
    assert (await asked("private-cluster-unreachable", azure)).outcome is not Outcome.FOUND


@pytest.mark.parametrize("trouble", ["no connection within 3 s: one", "no such host: one"])
async def test_a_private_api_server_that_nobody_calls_unwell_is_only_out_of_reach(trouble: str) -> None:
    azure = cluster(apiServerAccessProfile=PRIVATE)
    azure.kube_trouble = trouble
    assert (await asked("api-server-unavailable", azure)).outcome is Outcome.INCONCLUSIVE
    assert (await found("private-cluster-unreachable", azure)).severity is Severity.WARNING
    azure.denied = {"/availabilityStatuses/"}
    assert (await found("private-cluster-unreachable", azure)).severity is Severity.WARNING


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
    assert finding.because[0] == "Deployment/coredns: 1 of 2 pods does not run"
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
    said = finding.because.index(f"Azure Resource Health: {health}, as seen by Azure")
    assert (said == 0) is (health == "Unavailable"), "where it is Azure's fault, that comes first"


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


KILLED = {"name": "c", "image": "mcr/coredns:1", "restartCount": 212, "state": {"running": {}}}


def ended(ago: timedelta, reason: str = "OOMKilled") -> dict[str, Any]:
    return KILLED | {"lastState": {"terminated": {"reason": reason, "exitCode": 137, "finishedAt": at(ago)}}}


@pytest.mark.parametrize("refusal", ["webhook", "nothing said", "never created a pod"])
async def test_a_deployment_without_a_single_pod_is_found_with_what_its_controller_says(refusal: str) -> None:
    azure = cluster()
    denied = 'admission webhook "deny.example.com" denied the request: no'
    if refusal == "webhook":
        condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": denied}
        azure.deployment("coredns", ready=0, conditions=[condition])
    elif refusal == "nothing said":
        azure.deployment("coredns", ready=0)
    else:
        azure.deployment("coredns")["status"] = {}
    finding = await found("kube-system-not-running", azure)
    assert (finding.subject, finding.severity) == ("kube-system/Deployment/coredns", Severity.ERROR)
    assert finding.because[0] == "Deployment/coredns wants 2 pods and has 0"
    if refusal == "webhook":
        assert finding.because[1] == f"its controller says FailedCreate: {denied}"


async def test_one_of_two_is_a_warning() -> None:
    azure = cluster()
    azure.deployment("coredns", ready=1)
    system_pod(azure)
    finding = await found("kube-system-not-running", azure)
    assert (finding.severity, finding.because) == (Severity.WARNING, ("Deployment/coredns wants 2 pods and has 1",))


@pytest.mark.parametrize(
    ("name", "severity"),
    [("coredns", Severity.ERROR), ("konnectivity-agent", Severity.ERROR), ("metrics-server", Severity.WARNING)],
)
async def test_what_the_cluster_cannot_do_without_is_found_where_it_is_scaled_to_0(
    name: str, severity: Severity
) -> None:
    azure = cluster()
    azure.deployment(name, wanted=0)
    finding = await found("kube-system-not-running", azure)
    assert (finding.facts["trouble"], finding.severity) == ("ScaledToZero", severity)
    assert finding.because[0].startswith(f"Deployment/{name} is scaled to 0: ")
    assert f"kubectl scale deployment/{name} --namespace kube-system" in LIBRARY["kube-system-not-running"].render(
        "Fix", finding.facts
    )


async def test_a_daemon_set_with_fewer_ready_pods_than_nodes_is_found() -> None:
    azure = cluster()
    for number in range(1, 3):
        azure.node(f"node-{number}", machine=number)
    azure.daemon_set("kube-proxy", wanted=3, ready=1)
    finding = await found("kube-system-not-running", azure)
    assert finding.subject == "kube-system/DaemonSet/kube-proxy"
    assert finding.because == ("DaemonSet/kube-proxy wants 3 pods and has 1",)


@pytest.mark.parametrize(
    "quiet",
    [
        "other deployment scaled to 0",
        "new deployment",
        "just scaled up",
        "unready for a moment",
        "pods that are seen",
        "pod on a node that is down",
        "node that has just come",
        "node that came after the list",
        "finished daemon set pods",
    ],
)
async def test_pods_that_are_only_on_their_way_are_no_finding(quiet: str) -> None:
    azure = cluster()
    if quiet == "other deployment scaled to 0":
        azure.deployment("coredns-autoscaler", wanted=0)
    elif quiet == "new deployment":
        azure.deployment("coredns", ready=0, metadata={"creationTimestamp": at(timedelta(minutes=2))})
    elif quiet == "just scaled up":
        azure.deployment("coredns", wanted=3, ready=2, metadata={"generation": 4})
    elif quiet == "unready for a moment":
        since = at(timedelta(minutes=1))
        waits = {"type": "Available", "status": "False", "lastTransitionTime": since}
        azure.deployment("coredns", ready=0, conditions=[waits])
    elif quiet == "pods that are seen":
        azure.deployment("coredns", ready=1)
        system_pod(azure)
        system_pod(azure, "coredns-5fc4f744d8-two22")
    elif quiet == "pod on a node that is down":
        azure.not_ready("node-1", machine=1)
        azure.daemon_set("kube-proxy", wanted=2, ready=1)
        for node in ("node-0", "node-1"):
            owner = {"ownerReferences": [{"kind": "DaemonSet", "name": "kube-proxy"}]}
            azure.pod(f"kube-proxy-{node}", node, "kube-system", ready=node == "node-0", metadata=owner)
    elif quiet == "node that has just come":
        azure.node("node-1", machine=1)["metadata"]["creationTimestamp"] = at(timedelta(minutes=1))
        azure.daemon_set("kube-proxy", wanted=2, ready=1)
    elif quiet == "node that came after the list":
        azure.daemon_set("kube-proxy", wanted=2, ready=1)
    else:
        azure.daemon_set("kube-proxy", wanted=0)
    check = await asked("kube-system-not-running", azure)
    assert check.outcome is Outcome.CLEAR, check.why


@pytest.mark.parametrize("denied", ["/deployments", "/daemonsets", "/apis/apps"])
async def test_workloads_that_are_denied_are_never_clear(denied: str) -> None:
    azure = cluster()
    azure.denied = {denied}
    check = await asked("kube-system-not-running", azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_pod_that_was_killed_212_times_and_is_ready_now_is_found() -> None:
    azure = cluster()
    system_pod(azure)["status"]["containerStatuses"] = [ended(timedelta(seconds=41))]
    finding = await found("kube-system-not-running", azure)
    assert finding.severity is Severity.WARNING
    assert finding.because[0].endswith(
        "is Ready now; its container c was restarted 212 times, last 41 s ago (OOMKilled, exit code 137)"
    )


@pytest.mark.parametrize("quiet", ["long ago", "a few times", "rebooted", "another's"])
async def test_restarts_that_are_history_are_no_finding(quiet: str) -> None:
    azure = cluster()
    pod = system_pod(azure)
    pod["status"]["containerStatuses"] = [ended(timedelta(hours=3) if quiet == "long ago" else timedelta(seconds=41))]
    if quiet == "a few times":
        pod["status"]["containerStatuses"][0]["restartCount"] = 4
    elif quiet == "rebooted":
        azure.nodes["node-0"]["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(seconds=30))
    elif quiet == "another's":
        pod["metadata"]["namespace"] = "shop"
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_what_kubectl_debug_left_behind_is_no_system_pod(phase: str) -> None:
    azure = cluster()
    state = {"name": "debugger", "state": {"terminated": {"reason": "Error", "exitCode": 130}}}
    azure.pod(
        "node-debugger-node-0-x7k2p", namespace="kube-system", ready=False, phase=phase, containerStatuses=[state]
    )
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.CLEAR
    azure.pods[0]["metadata"]["name"] = "etcd-backup"
    if phase == "Failed":
        assert (await asked("kube-system-not-running", azure)).outcome is Outcome.FOUND


@pytest.mark.parametrize("nodes", ["none", "none is Ready"])
async def test_without_a_node_that_is_ready_one_finding_says_so(nodes: str) -> None:
    azure = cluster()
    azure.nodes.clear()
    if nodes == "none is Ready":
        azure.not_ready("node-0")
    for name in ("coredns", "konnectivity-agent", "metrics-server"):
        azure.deployment(name, ready=0)
        pod = system_pod(azure, f"{name}-5fc4f744d8-fsgrt", phase="Pending")
        pod["spec"], pod["status"]["conditions"], pod["status"]["containerStatuses"] = {}, [], []
    finding = await found("kube-system-not-running", azure)
    assert (finding.subject, finding.severity) == ("Namespace/kube-system", Severity.ERROR)
    has = "it has no node" if nodes == "none" else "none of its 1 nodes is Ready"
    assert finding.because[0] == f"one: {has}, so none of its system pods can run"
    if nodes == "none is Ready":
        assert "Namespace/kube-system" in (await found("node-not-ready", azure)).affects


async def test_a_cluster_that_is_starting_has_no_nodes_yet() -> None:
    azure = cluster(provisioningState="Starting")
    azure.nodes.clear()
    azure.deployment("coredns", ready=0)
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.NOT_APPLICABLE


async def test_pods_of_calico_are_system_pods() -> None:
    azure = cluster()
    azure.cluster["networkProfile"]["networkPolicy"] = "calico"
    azure.daemon_set("calico-node", metadata={"namespace": "calico-system"})
    owner = {"ownerReferences": [{"kind": "DaemonSet", "name": "calico-node"}]}
    waits = [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}]
    azure.pod("calico-node-x", namespace="calico-system", ready=False, metadata=owner, containerStatuses=waits)
    finding = await found("kube-system-not-running", azure)
    assert finding.subject == "calico-system/DaemonSet/calico-node"
    assert "--namespace calico-system" in LIBRARY["kube-system-not-running"].render("Check it yourself", finding.facts)


async def test_a_daemon_set_of_calico_that_has_no_pod_is_found() -> None:
    azure = cluster()
    azure.cluster["networkProfile"]["networkPolicy"] = "calico"
    azure.daemon_set("calico-node", ready=0, metadata={"namespace": "calico-system"})
    assert (await found("kube-system-not-running", azure)).subject == "calico-system/DaemonSet/calico-node"


@pytest.mark.parametrize(
    ("code", "explained"), [("ControlPlaneAddOnsNotReady", {"kube-system-not-running"}), ("QuotaExceeded", set())]
)
async def test_a_broken_system_pod_is_why_the_cluster_failed_only_where_azure_says_so(
    code: str, explained: set[str]
) -> None:
    error = {"code": code, "message": "Pods not in Running status: coredns-5fc4f744d8-fsgrt"}
    azure = cluster(provisioningState="Failed", status={"provisioningError": error})
    system_pod(azure, reason="CrashLoopBackOff")
    ranked = {one.finding.code: one for one in (await diagnosed(azure)).findings}
    assert {cause for cause, _ in ranked["cluster-failed"].explained_by} == explained
    assert ranked["kube-system-not-running"].root


async def test_a_broken_system_pod_is_found_also_where_the_node_pools_are_not_seen() -> None:
    azure = cluster()
    system_pod(azure, reason="CrashLoopBackOff")
    azure.denied = {"/agentPools"}
    assert (await asked("kube-system-not-running", azure)).outcome is Outcome.FOUND
