"""The run-command fallback: when it is used, what it returns, and that it is recorded."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import (
    ArmError,
    Unreachable,
)
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.inside.questions import (
    API_SERVICE,
    BAD_PODS,
    BUDGETS,
    LEASES,
    NODES,
    QUESTIONS,
    SYSTEM_PODS,
    SYSTEM_WORKLOADS,
    WARNINGS,
)
from handlers.clients.kube.inside.run_command import RunCommand
from handlers.clients.kube.reader import KubeReader
from handlers.clients.recording.case import Recorder, Recording
from handlers.evidence.endpoints import (
    OF_THE_API_SERVER,
    SERVICES,
    SLICES,
    Service,
    Slice,
    read_service,
    read_slice,
)
from handlers.evidence.system import read_workload
from handlers.model import Target
from tests.clients.azure import LocalAzure, QuickClock, says
from tests.clients_kube.cluster import CLUSTER, CREDENTIAL, LocalCluster, credential, entra_user, page, pod
from tests.clients_kube.commands import ALLOWED, FORBIDDEN, ROWS, Commands, failure, name_of, printed, result


def whole(row: Any) -> dict[str, Any]:
    return dict(row)


async def test_nodes_come_as_far_as_they_are_projected(
    commands: Commands, roundabout: KubeReader, audited: list[tuple[str, str]]
) -> None:
    commands.reply(NODES, says({"id": "x", "properties": {"provisioningState": "Running"}}, 202), printed(*ROWS))
    listing = await roundabout.list("/api/v1/nodes", whole)
    assert not listing.truncated
    assert listing.source == "kubectl get nodes (through run-command)"
    assert roundabout.reached == "through run-command"
    assert roundabout.trouble is not None
    assert roundabout.trouble.code == "dns"
    first, second = listing.items
    assert first["spec"]["unschedulable"] is True
    assert first["spec"]["taints"] == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    assert first["metadata"]["labels"]["kubernetes.azure.com/mode"] == "user"
    assert first["status"]["nodeInfo"] == {"kubeletVersion": "v1.33.2"}
    assert (first["status"]["capacity"], first["status"]["allocatable"]) == ({"memory": "16Gi"}, {"memory": "13Gi"})
    assert first["status"]["conditions"] == [
        {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "lastHeartbeatTime": "2026-11-18T08:00:00Z",
            "lastTransitionTime": "2026-11-18T08:01:00Z",
            "message": "Kubelet stopped posting node status.",
        }
    ]
    assert [row["type"] for row in second["status"]["conditions"]] == ["Ready", "DiskPressure"]
    assert second["status"]["conditions"][0]["message"] == "ok\tstill\nok"
    assert commands.sent == [{"command": NODES.command, "context": ""}]
    assert audited == [(str(CLUSTER), NODES.command)]


POD = (
    'kube-system\tcoredns-1\t2026-11-01T10:00:00Z\t2026-11-18T08:00:00Z\t30\t["a/b"]\t{"k8s-app":"kube-dns"}\tReplicaSet'
    "\tcoredns\tnode-1\tcritical\tRunning\t\t"
    "\tcoredns=false=7=mcr/coredns:1=CrashLoopBackOff===Error=137=2026-11-18T08:00:00Z,metrics=true=0=mcr/x======,"
    "\tReady=False=ContainersNotReady==x,\tback-off 5m0s"
)
PENDING = (
    "shop\tweb-1\t2026-11-01T10:00:00Z" + 8 * "\t" + "\tPending\t\t\t\tPodScheduled=False=Unschedulable==x,\t0/3 nodes"
)


async def test_all_pods_are_those_that_are_not_fine_and_those_of_the_system(
    commands: Commands, roundabout: KubeReader
) -> None:
    commands.reply(BAD_PODS, printed(PENDING, POD, POD))
    commands.reply(SYSTEM_PODS, printed(POD))
    listing = await roundabout.list("/api/v1/pods", whole)
    assert [name_of(one) for one in listing.items] == ["web-1", "coredns-1"]
    assert listing.truncated
    pending, system = listing.items
    assert pending["status"]["conditions"][0]["message"] == "0/3 nodes"
    assert system["metadata"]["ownerReferences"] == [{"kind": "ReplicaSet", "name": "coredns", "controller": True}]
    crashing, running = system["status"]["containerStatuses"]
    assert crashing["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    assert crashing["image"] == "mcr/coredns:1"
    assert system["metadata"]["finalizers"] == ["a/b"]
    assert system["metadata"]["deletionGracePeriodSeconds"] == 30
    assert crashing["lastState"]["terminated"]["exitCode"] == 137
    assert (crashing["ready"], crashing["restartCount"]) == (False, 7)
    assert running["state"] == {"running": {}}


async def test_a_question_is_asked_once_however_many_want_to_know(commands: Commands, roundabout: KubeReader) -> None:
    commands.reply(BAD_PODS, printed(PENDING))
    commands.reply(SYSTEM_PODS, printed(POD))
    both, system, pending = await asyncio.gather(
        roundabout.list("/api/v1/pods", name_of),
        roundabout.list("/api/v1/namespaces/kube-system/pods", name_of),
        roundabout.list("/api/v1/pods", name_of, fields="status.phase=Pending,metadata.namespace!=kube-system"),
    )
    assert both.items == ("web-1", "coredns-1")
    assert (system.items, system.truncated) == (("coredns-1",), False)
    assert pending.items == ("web-1",)
    assert sorted(body["command"] for body in commands.sent) == sorted([BAD_PODS.command, SYSTEM_PODS.command])


async def test_budgets_and_warnings_come_too(commands: Commands, roundabout: KubeReader) -> None:
    commands.reply(
        BUDGETS,
        printed(
            'shop\tweb\t2026-11-01T10:00:00Z\t3\t\tCluster\tpg\t\t\t25%\t{"matchLabels":{"app":"web"}}\t\t0\t1\t2\t2\t3\t'
            "DisruptionAllowed=False=InsufficientPods==x,"
        ),
    )
    commands.reply(
        WARNINGS,
        printed(
            "shop\tweb.1\tPod\tshop\tweb-1\tBackOff\t7\t\t2026-11-18T08:00:00Z\t\t\t\tkubelet\tpassword=hunter2hunter2"
        ),
    )
    (budget,) = (await roundabout.list("/apis/policy/v1/poddisruptionbudgets", whole)).items
    assert budget["spec"] == {"maxUnavailable": "25%", "selector": {"matchLabels": {"app": "web"}}}
    assert budget["status"]["disruptionsAllowed"] == 0
    assert budget["metadata"]["generation"] == 3
    assert budget["metadata"]["ownerReferences"] == [{"kind": "Cluster", "name": "pg", "controller": True}]
    listing = await roundabout.list("/api/v1/events", whole, fields="type=Warning")
    assert not listing.truncated
    assert listing.items[0]["involvedObject"] == {"kind": "Pod", "namespace": "shop", "name": "web-1"}
    assert listing.items[0]["message"] == "password=[redacted:password]"
    assert (await roundabout.list("/api/v1/events", whole)).truncated


async def test_workloads_leases_and_the_api_servers_service_come_too(
    commands: Commands, roundabout: KubeReader
) -> None:
    failure = "ReplicaFailure=True=FailedCreate==2026-11-18T08:00:00Z,"
    commands.reply(
        SYSTEM_WORKLOADS,
        printed(
            f"Deployment\tkube-system\tcoredns\t2026-11-01T10:00:00Z\t3\t2\t3\t\t\t\t{failure}\tdenied: no",
            "DaemonSet\tkube-system\tcoredns\t2026-11-01T10:00:00Z\t1\t\t1\t\t3\t2\t\t",
        ),
    )
    commands.reply(LEASES, printed("kube-node-lease\tnode-1\t2026-11-18T08:00:00.000000Z"))
    commands.reply(
        API_SERVICE,
        printed(
            'Service\tdefault\tkubernetes\t10.0.0.1\t{"app":"web"}\thttps=443,\t\t',
            "EndpointSlice\tdefault\tkubernetes\t\t\t\t10.1.0.4=true,fd00::4=false,10.1.0.5=,\thttps=443,",
        ),
    )
    apps = "/apis/apps/v1/namespaces/kube-system"
    (deployment,) = (await roundabout.list(f"{apps}/deployments", lambda body: read_workload(body, "Deployment"))).items
    (daemons,) = (await roundabout.list(f"{apps}/daemonsets", lambda body: read_workload(body, "DaemonSet"))).items
    assert (deployment.wanted, deployment.ready, deployment.refused) == (2, 0, "FailedCreate: denied: no")
    assert (daemons.wanted, daemons.ready, daemons.settled) == (3, 2, True)
    leases = await roundabout.list("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", whole)
    assert leases.items[0]["spec"] == {"renewTime": "2026-11-18T08:00:00.000000Z"}
    service = await roundabout.list(SERVICES, read_service, fields="metadata.name=kubernetes")
    slices = await roundabout.list(SLICES, read_slice, labels=OF_THE_API_SERVER)
    assert not service.truncated
    assert not slices.truncated
    assert service.items == (Service("10.0.0.1", (("https", 443),), {"app": "web"}),)
    assert slices.items == (Slice(("10.1.0.4", "10.1.0.5"), ("fd00::4",), (("https", 443),)),)
    assert len(commands.sent) == 3
    with pytest.raises(Unreachable, match="run-command does not ask for this"):
        await roundabout.list(SLICES, read_slice)


@pytest.mark.parametrize("cut", ["head", "tail", "middle of a record"])
async def test_an_output_that_was_cut_says_so(commands: Commands, roundabout: KubeReader, cut: str) -> None:
    answers = {
        "head": printed(*ROWS, begin=""),
        "tail": printed(*ROWS, end=""),
        "middle of a record": printed(ROWS[0], ROWS[1][:200], end=""),
    }
    commands.reply(NODES, answers[cut])
    listing = await roundabout.list("/api/v1/nodes", name_of)
    assert listing.truncated
    assert listing.items in [("aks-apps-1-vmss000000",), ("aks-apps-1-vmss000001",)]


async def test_no_rows_are_an_empty_list_and_nothing_is_a_cut_one(commands: Commands, roundabout: KubeReader) -> None:
    commands.reply(NODES, result(logs="#begin\n#end\n", exitCode=0))
    commands.reply(BUDGETS, result(logs="", exitCode=0))
    nodes = await roundabout.list("/api/v1/nodes", name_of)
    budgets = await roundabout.list("/apis/policy/v1/poddisruptionbudgets", name_of)
    assert (nodes.items, nodes.truncated) == ((), False)
    assert (budgets.items, budgets.truncated) == ((), True)


async def test_a_record_that_is_not_whole_is_no_record_and_the_list_is_cut(
    commands: Commands, roundabout: KubeReader
) -> None:
    commands.reply(NODES, printed(ROWS[0], "aks-apps-1-vmss000009\t2026"))
    listing = await roundabout.list("/api/v1/nodes", name_of)
    assert (listing.items, listing.truncated) == (("aks-apps-1-vmss000000",), True)


async def test_words_of_kubectl_around_the_output_do_no_harm(commands: Commands, roundabout: KubeReader) -> None:
    commands.reply(
        NODES, printed(*ROWS, begin="Warning: something is deprecated\n#begin\n", end="#end\nanother word\n")
    )
    listing = await roundabout.list("/api/v1/nodes", name_of)
    assert (len(listing.items), listing.truncated) == (2, False)


@pytest.mark.parametrize(
    ("path", "labels", "fields"),
    [
        ("/api/v1/services", "", ""),
        ("/api/v1/nodes", "agentpool=apps", ""),
        ("/api/v1/pods", "", "spec.restartPolicy=Always"),
    ],
)
async def test_what_no_question_brings_stays_out_of_reach(
    commands: Commands, roundabout: KubeReader, path: str, labels: str, fields: str
) -> None:
    with pytest.raises(Unreachable, match=r"no such host: .*; run-command does not ask for this"):
        await roundabout.list(path, name_of, labels=labels, fields=fields)
    assert commands.sent == []


async def test_it_is_off_unless_the_settings_name_the_cluster(
    commands: Commands, arm: ArmReader, target: Target, clock: QuickClock
) -> None:
    for globs in ((), ("dev-*", "staging-neu")):
        async with KubeReader(target, arm, KubeAccess(run_command=globs), clock=clock) as kube:
            assert type(await failure(kube)) is Unreachable
    assert commands.sent == []


async def test_a_server_that_answers_is_asked_directly(
    azure: LocalAzure, cluster: LocalCluster, roundabout: KubeReader
) -> None:
    commands = Commands(azure)
    cluster.reply("/api/v1/nodes", page(pod("a"), kind="NodeList"))
    assert (await roundabout.list("/api/v1/nodes", name_of)).items == ("a",)
    assert type(await failure(roundabout, "/api/v1/pods")) is not Unreachable
    assert commands.sent == []


async def test_a_certificate_that_is_wrong_is_no_reason_to_go_round(azure: LocalAzure, roundabout: KubeReader) -> None:
    commands = Commands(azure)
    stranger = LocalCluster()
    azure.on[CREDENTIAL.lower()] = [credential(stranger.kubeconfig({"token": "t"}, server=azure.url))]
    assert (await failure(roundabout)).code == "tls"
    assert commands.sent == []


async def test_an_entra_cluster_gets_a_token_for_itself(
    azure: LocalAzure, private: LocalCluster, commands: Commands, roundabout: KubeReader, target: Target, arm: ArmReader
) -> None:
    server = "https://prod-weu.invalid"
    azure.on[CREDENTIAL.lower()] = [credential(private.kubeconfig(entra_user(), server=server))]
    commands.reply(NODES, printed())
    await roundabout.list("/api/v1/nodes", name_of)
    given = KubeAccess(run_command=("*",), run_command_token="from-elsewhere")
    async with KubeReader(target, arm, given, clock=QuickClock()) as other:
        await other.list("/api/v1/nodes", name_of)
    assert [body["clusterToken"] for body in commands.sent] == ["cluster-1", "from-elsewhere"]


async def test_whoever_has_no_audit_finds_it_in_the_log(
    commands: Commands, arm: ArmReader, target: Target, clock: QuickClock, caplog: pytest.LogCaptureFixture
) -> None:
    commands.reply(NODES, printed())
    async with KubeReader(target, arm, ALLOWED, clock=clock) as kube:
        await kube.list("/api/v1/nodes", name_of)
    (line,) = [record for record in caplog.records if record.name == "aksbot.run-command"]
    assert line.levelno == logging.WARNING
    assert json.loads(line.getMessage()) == {
        "event": "run-command",
        "cluster": str(CLUSTER),
        "command": NODES.command,
    }


async def test_nothing_but_the_fixed_questions_is_ever_run(arm: ArmReader, target: Target, clock: QuickClock) -> None:
    async def none() -> str | None:
        return None

    runner = RunCommand(target, arm, token=none, clock=clock)
    with pytest.raises(ValueError, match="only the fixed questions"):
        await runner.output("kubectl delete pods --all")
    assert len(QUESTIONS) == 12
    for question in QUESTIONS:
        assert question.command.startswith("kubectl get ")
        assert question.command.count("'") == 2


@pytest.mark.parametrize("works", [True, False])
async def test_the_way_round_is_recorded(
    commands: Commands, arm: ArmReader, target: Target, clock: QuickClock, works: bool
) -> None:
    commands.reply(NODES, printed(*ROWS, end="") if works else result(exitCode=1, logs=FORBIDDEN))
    recorder = Recorder(str(target.id))
    async with KubeReader(target, arm, ALLOWED, recorder=recorder, clock=clock) as kube:
        live = await said(kube)
    recording = Recording.from_mapping(recorder.recording.as_mapping())
    async with KubeReader(target, arm, ALLOWED, transport=recording.transport()) as kube:
        assert await said(kube) == live
    assert len(commands.sent) == 1


async def said(roundabout: KubeReader) -> object:
    try:
        listing = await roundabout.list("/api/v1/nodes", name_of)
    except ArmError as error:
        return error.unavailable
    return listing, roundabout.reached, str(roundabout.trouble)
