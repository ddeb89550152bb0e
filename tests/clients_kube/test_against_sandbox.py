"""The reader against the sandbox's API server, and the five questions as the real kubectl understands them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import Denied
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.inside.questions import (
    API_SERVICE,
    AUTOSCALER,
    BAD_PODS,
    BUDGETS,
    LEASES,
    NODES,
    OTHER_PODS,
    OTHER_SYSTEMS,
    OTHER_WORKLOADS,
    PROVISIONING,
    QUESTIONS,
    SYSTEM_PODS,
    SYSTEM_WORKLOADS,
    WARNINGS,
    Question,
    objects,
)
from handlers.clients.kube.reader import KubeReader
from handlers.evidence.autoscaling import CLAIMS, read_claim
from handlers.evidence.endpoints import Service, Slice, read_service, read_slice
from handlers.evidence.network import NODE_CLASSES, read_node_class
from handlers.evidence.system import read_workload
from handlers.evidence.system_namespaces import system_namespaces_of
from handlers.model import Target
from sandbox.arm.server import ArmServer
from sandbox.kube.command.get import Asker
from sandbox.kube.command.script import run
from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from sandbox.scenario import Scenario
from tests.checking import access, cluster_id
from tests.clients.azure import QuickClock

Body = dict[str, Any]
ACTIONS = (
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    "Microsoft.ContainerService/managedClusters/runCommand/action",
)
MADE = "2026-11-01T10:00:00Z"
KUBECTL = shutil.which("kubectl")
RULES = [
    {"apiGroups": ["", "policy"], "resources": ["nodes", "pods", "events", "poddisruptionbudgets"], "verbs": ["list"]}
]


def condition(kind: str, status: str, reason: str = "x", **more: str) -> Body:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": MADE, **more}


def node(name: str, ready: str, *others: Body, **spec: Any) -> Body:
    labels = {"agentpool": "apps", "kubernetes.azure.com/mode": "User", "kubernetes.io/os": "linux", "unused": "x"}
    conditions = [condition("MemoryPressure", "False"), *others, condition("Ready", ready, message=f"it is\n{ready}")]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "creationTimestamp": MADE},
        "spec": {"providerID": f"azure:///{name}", **spec},
        "status": {"conditions": conditions, "nodeInfo": {"kubeletVersion": "v1.33.2"}},
    }


def pod(namespace: str, name: str, phase: str, *states: Body, **status: Any) -> Body:
    containers = [
        {"name": f"c{at}", "ready": "running" in state, "restartCount": at, "state": state, "lastState": {}}
        for at, state in enumerate(states)
    ]
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": "web"},
            "ownerReferences": owners,
            "creationTimestamp": MADE,
        },
        "spec": {"nodeName": "one", "containers": [{"name": "c0", "image": "web"}]},
        "status": {
            "phase": phase,
            "containerStatuses": containers,
            "conditions": [condition("PodScheduled", "True")],
            **status,
        },
    }


def budget(name: str) -> Body:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "shop", "creationTimestamp": MADE, "generation": 2},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {
            "disruptionsAllowed": 0,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 2,
            "conditions": [condition("DisruptionAllowed", "False")],
        },
    }


def event(name: str, kind: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "shop", "creationTimestamp": MADE},
        "type": kind,
        "reason": "BackOff",
        "count": 7,
        "message": "Back-off\trestarting\n@ failed container",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1"},
        "lastTimestamp": MADE,
        "source": {"component": "kubelet"},
    }


def config_map(name: str, status: str) -> Body:
    metadata = {"name": name, "namespace": "kube-system", "creationTimestamp": MADE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"status": status}}


def workload(kind: str, name: str, spec: Body, namespace: str = "kube-system", **status: Any) -> Body:
    selector = {"selector": {"matchLabels": {"app": name}}}
    metadata = {"name": name, "namespace": namespace, "creationTimestamp": MADE, "generation": 3}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": selector | spec, "status": status}


def lease(name: str) -> Body:
    metadata = {"name": name, "namespace": "kube-node-lease", "creationTimestamp": MADE}
    spec = {"holderIdentity": name, "renewTime": "2026-11-18T08:00:00.000000Z"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def way(name: str, *addresses: str) -> list[Body]:
    """A service with one slice."""
    port = {"name": "https", "port": 443, "protocol": "TCP"}
    metadata = {"namespace": "default", "creationTimestamp": MADE}
    labels = {"kubernetes.io/service-name": name}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata | {"name": name},
            "spec": {"clusterIP": "10.0.0.1", "ports": [port], "selector": {"app": "web"}},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": metadata | {"name": f"{name}-x7k2p", "labels": labels},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [one], "conditions": {"ready": True}} for one in addresses],
            "ports": [port],
        },
    ]


REFUSED = condition("ReplicaFailure", "True", "FailedCreate", message="denied:\tno\n@ all")
WAITING, RUNNING = {"waiting": {"reason": "CrashLoopBackOff"}}, {"running": {"startedAt": MADE}}


def world(**facts: Any) -> KubeWorld:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
    kube = KubeWorld.of(
        [
            node("one", "True"),
            node("two", "Unknown", condition("DiskPressure", "True"), unschedulable=True, taints=[taint]),
            pod("kube-system", "coredns-1", "Running", RUNNING, WAITING),
            pod("kube-system", "coredns-2", "Running", RUNNING),
            pod("shop", "web-1", "Running", RUNNING),
            pod("shop", "web-2", "Pending", conditions=[condition("PodScheduled", "False", message="0/2 nodes")]),
            pod("shop", "web-3", "Failed", {"terminated": {"reason": "OOMKilled", "exitCode": 137}}, reason="Evicted"),
            pod("shop", "web-4", "Succeeded", {"terminated": {"reason": "Completed", "exitCode": 0}}),
            budget("web"),
            event("web-1.1", "Warning"),
            event("web-1.2", "Normal"),
            workload("Deployment", "coredns", {"replicas": 2}, observedGeneration=3, conditions=[REFUSED]),
            workload("DaemonSet", "coredns", {}, observedGeneration=3, desiredNumberScheduled=2, numberReady=1),
            workload(
                "DaemonSet", "calico-node", {}, desiredNumberScheduled=2, numberReady=2, namespace="calico-system"
            ),
            pod("calico-system", "calico-node-1", "Running", RUNNING),
            config_map("cluster-autoscaler-status", "time: now\nnodeGroups:\n- name: a\tb\n"),
            config_map("coredns", "no status"),
            lease("one"),
            lease("two"),
            *way("kubernetes", "10.1.0.4", "10.1.0.5"),
            *way("web", "10.2.0.4"),
        ],
        controllers=False,
        **facts,
    )
    kube.grant("reader", RULES)
    return kube


class Cluster:
    """One cluster of the sandbox's fleet with an inside, and a reader of it."""

    def __init__(self, server: ArmServer, target: Target) -> None:
        self.server, self.target = server, target

    @property
    def kube(self) -> KubeServer:
        return self.server.kube[self.target.id.key]


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


async def serving(kube: KubeWorld, name: str) -> AsyncIterator[Cluster]:
    azure = Scenario.load("healthy-fleet").world
    target = Target(cluster_id(azure, name))
    azure.kubes = {target.id.key: kube}
    azure.principals = [replace(one, actions=(*one.actions, *ACTIONS)) for one in azure.principals]
    for one in azure.principals:
        kube.grant(one.object_id, RULES)
    async with ArmServer(azure) as server:
        yield Cluster(server, target)


@pytest.fixture(params=["prod-weu", "dev-shared"])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    async for one in serving(world(), request.param):
        yield one


async def test_lists_come_whole_whichever_way_the_cluster_signs_in(cluster: Cluster) -> None:
    async with ArmReader(access(cluster.server)) as arm, KubeReader(cluster.target, arm, KubeAccess()) as kube:
        nodes = await kube.list("/api/v1/nodes", name_of, page=1)
        pods = await kube.list("/api/v1/pods", name_of, fields="status.phase!=Running", labels="app in (web)", page=2)
        assert await kube.may("list", "nodes")
    assert nodes.items == ("one", "two")
    assert pods.items == ("web-2", "web-3", "web-4")
    assert kube.reached == "directly"
    assert [one.is_write for one in cluster.kube.log] == [False] * len(cluster.kube.log)


async def test_an_expired_token_of_a_list_begins_anew(cluster: Cluster) -> None:
    def keep(row: Any) -> str:
        if len(cluster.kube.log) == 1:
            cluster.kube.expire_continue_tokens()
        return name_of(row)

    async with ArmReader(access(cluster.server)) as arm, KubeReader(cluster.target, arm, KubeAccess()) as kube:
        listing = await kube.list("/api/v1/nodes", keep, page=1)
    assert listing.items == ("one", "two")
    assert [one.status for one in cluster.kube.log] == [200, 410, 200, 200]


async def test_a_denied_list_names_the_permission(cluster: Cluster) -> None:
    cluster.kube.deny("*", "list", "nodes")
    async with ArmReader(access(cluster.server)) as arm, KubeReader(cluster.target, arm, KubeAccess()) as kube:
        with pytest.raises(Denied) as caught:
            await kube.list("/api/v1/nodes", name_of)
    assert caught.value.unavailable.grant == "list nodes (cluster scope)"


@pytest.fixture
async def local() -> AsyncIterator[KubeServer]:
    async with KubeServer(world()) as server:
        yield server


def whole_list(server: KubeServer, path: str) -> list[Body]:
    rows: list[Body] = json.loads(server.ask(path).to_bytes())["items"]
    return rows


async def printed(server: KubeServer, question: Question, folder: Path) -> str:
    """What the real kubectl prints, run by a real shell."""
    config = folder / "config"
    config.write_text(server.kubeconfig())
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        question.command,
        env={"KUBECONFIG": str(config), "HOME": str(folder), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return out.decode()


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on this machine")
@pytest.mark.parametrize("question", [one for one in QUESTIONS if one is not PROVISIONING], ids=lambda one: one.about)
async def test_the_real_kubectl_understands_each_question(
    local: KubeServer, question: Question, tmp_path: Path
) -> None:
    out = await printed(local, question, tmp_path)
    found, cut = objects(question, out)
    assert not cut
    assert [name_of(one) for one in found] == {
        NODES: ["one", "two"],
        BAD_PODS: ["web-2", "web-3", "coredns-1"],
        SYSTEM_PODS: ["coredns-1", "coredns-2"],
        BUDGETS: ["web"],
        WARNINGS: ["web-1.1"],
        SYSTEM_WORKLOADS: ["coredns", "coredns"],
        LEASES: ["one", "two"],
        OTHER_PODS: ["calico-node-1"],
        OTHER_WORKLOADS: ["calico-node"],
        AUTOSCALER: ["cluster-autoscaler-status"],
        API_SERVICE: ["kubernetes", "kubernetes-x7k2p"],
    }[question]
    asker = Asker(lambda path, accept: local.ask(path, accept=accept), local.kind_called)
    assert run(question.command, asker).logs == out


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on this machine")
async def test_what_is_projected_is_what_was_there(local: KubeServer, tmp_path: Path) -> None:
    one, two = objects(NODES, await printed(local, NODES, tmp_path))[0]
    full_one, full_two = whole_list(local, "/api/v1/nodes")
    assert two["spec"]["unschedulable"] is full_two["spec"]["unschedulable"] is True
    assert two["spec"]["taints"] == full_two["spec"]["taints"]
    assert one["metadata"]["labels"] == {
        key: text for key, text in full_one["metadata"]["labels"].items() if key != "unused"
    }
    ready = [row for row in full_two["status"]["conditions"] if row["type"] == "Ready"]
    assert two["status"]["conditions"][0] == ready[0]
    assert [row["type"] for row in two["status"]["conditions"]] == ["Ready", "DiskPressure"]
    (crashing, _) = objects(SYSTEM_PODS, await printed(local, SYSTEM_PODS, tmp_path))[0]
    boxes = crashing["status"]["containerStatuses"]
    assert [box["state"] for box in boxes] == [{"running": {}}, WAITING]
    (pdb,) = objects(BUDGETS, await printed(local, BUDGETS, tmp_path))[0]
    (full_pdb,) = whole_list(local, "/apis/policy/v1/poddisruptionbudgets")
    assert pdb["spec"] == full_pdb["spec"]
    assert pdb["status"] == full_pdb["status"]
    (warning,) = objects(WARNINGS, await printed(local, WARNINGS, tmp_path))[0]
    assert warning["message"] == "Back-off\trestarting\n@ failed container"


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on this machine")
async def test_workloads_leases_and_the_service_read_as_directly(local: KubeServer, tmp_path: Path) -> None:
    deployment, daemons = objects(SYSTEM_WORKLOADS, await printed(local, SYSTEM_WORKLOADS, tmp_path))[0]
    for one, plural in ((deployment, "deployments"), (daemons, "daemonsets")):
        (full,) = whole_list(local, f"/apis/apps/v1/namespaces/kube-system/{plural}")
        assert read_workload(one, one["kind"]) == read_workload(full, one["kind"])
    leases = objects(LEASES, await printed(local, LEASES, tmp_path))[0]
    assert {one["spec"]["renewTime"] for one in leases} == {"2026-11-18T08:00:00.000000Z"}
    service, piece = objects(API_SERVICE, await printed(local, API_SERVICE, tmp_path))[0]
    assert read_service(service) == Service("10.0.0.1", (("https", 443),), {"app": "web"})
    (status,) = objects(AUTOSCALER, await printed(local, AUTOSCALER, tmp_path))[0]
    assert status["data"] == {"status": "time: now\nnodeGroups:\n- name: a\tb\n"}
    assert read_slice(piece) == Slice(("10.1.0.4", "10.1.0.5"), (), (("https", 443),))


@pytest.mark.parametrize("name", ["prod-weu", "dev-shared"])
async def test_a_cluster_out_of_reach_is_asked_by_run_command(name: str) -> None:
    async for cluster in serving(world(reachable=False, refuses=True), name):
        allowed = KubeAccess(run_command=(name,))
        async with (
            ArmReader(access(cluster.server)) as arm,
            KubeReader(cluster.target, arm, allowed, clock=QuickClock()) as kube,
        ):
            nodes = await kube.list("/api/v1/nodes", name_of)
        assert nodes.items == ("one", "two")
        assert kube.reached == "through run-command"


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on this machine")
async def test_node_claims_and_classes_are_read_as_directly(tmp_path: Path) -> None:
    kubes = Scenario.load("unusual-nodes").world.kubes
    kube = next(kube for kube in kubes.values() if any(kube.every("nodeclaims")))
    async with KubeServer(kube) as server:
        found, cut = objects(PROVISIONING, await printed(server, PROVISIONING, tmp_path))
        claims = whole_list(server, CLAIMS)
        classes = whole_list(server, NODE_CLASSES)
    assert not cut
    assert [read_claim(one) for one in found if one["kind"] == "NodeClaim"] == [read_claim(one) for one in claims]
    of_class = [read_node_class(one) for one in found if one["kind"] == "AKSNodeClass"]
    assert of_class == [read_node_class(one) for one in classes]
    assert of_class


def test_the_other_namespaces_are_those_that_a_cluster_may_have() -> None:
    everything = {
        "networkProfile": {"networkPolicy": "calico"},
        "addonProfiles": {"azurepolicy": {"enabled": True}},
        "ingressProfile": {"webAppRouting": {"enabled": True}},
        "serviceMeshProfile": {"mode": "Istio"},
    }
    assert system_namespaces_of(everything) == ("kube-system", *OTHER_SYSTEMS)
