"""The writes of fixes inside a cluster work with just the shipped roles, in the sandbox and on a real API server.

The real one is used only if KUBEBUILDER_ASSETS is a folder with etcd and kube-apiserver.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.aio import client

from deploy.roles import KUBERNETES_WRITER
from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.errors import Denied, NotFound, Refused
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.permission_reader import WriterKubePermissionReader
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.writer import KubeWriter
from handlers.evidence.budgets import RELAXED_FROM
from handlers.model import Target
from handlers.remedy.acts.act import WriterClients
from handlers.remedy.acts.budgets.budget import path_of
from handlers.remedy.acts.delete_pod import pod_path
from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.executor import Executor
from handlers.remedy.plan import Plan, Risk, Step, Verb, Verify
from handlers.remedy.probe_from_pod import NAME, manifest
from tests.clients_kube.cluster import CLUSTER
from tests.remedy_execution.stage import Clock, ListLedger
from tests.sandbox_kube.bodies import ADMIN_TOKEN, NOBODY_TOKEN
from tests.sandbox_kube.clusters import Cluster, real, sandbox_cluster

__all__ = ["real"]

Body = dict[str, Any]

WRITER, WRITER_TOKEN = "nobody", NOBODY_TOKEN
"""A user without permissions until the shipped roles are bound."""
STRICT = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}


@dataclass
class Bench:
    """A cluster, its administrator, and the hands of a fix."""

    admin: client.ApiClient
    write_clients: WriterClients
    writer_permissions: WriterKubePermissionReader
    namespace: str

    @property
    def writer(self) -> KubeWriter:
        assert isinstance(self.write_clients.kube, KubeWriter)
        return self.write_clients.kube

    async def budget(self) -> Body:
        path = path_of(self.namespace, "web")
        found: Body = await self.writer.get(path)
        return found

    async def run(self, *steps: Step) -> Execution:
        plan = Plan(
            remedy="a-remedy",
            title="A fix",
            cluster=str(CLUSTER),
            target=steps[0].target,
            steps=steps,
            before={},
            undo="",
            verify=Verify("drain-error", "Node/node-1"),
            risk=Risk.LOW,
            could_go_wrong=(),
            eta=timedelta(minutes=1),
            limit=timedelta(minutes=20),
        )
        clock, ledger = Clock(), ListLedger()
        here, executor = Execution.begin("fix-1", plan), Executor(self.write_clients, now=clock.now)
        for _ in range(50):
            here = await executor.advance(here, ledger)
            if here.ended:
                return here
            clock.wait(here.wait_s)
        raise AssertionError(here.as_json())


@pytest.fixture
async def bench(real: Cluster | None, tmp_path: Path) -> AsyncIterator[Bench]:
    if real is not None:
        async with served(real, tmp_path) as bench:
            yield bench
    else:
        async with sandbox_cluster() as cluster, served(cluster, tmp_path) as bench:
            yield bench


@asynccontextmanager
async def served(cluster: Cluster, folder: Path) -> AsyncIterator[Bench]:
    target, arm_access = Target(CLUSTER), AzureAccess(identity={})
    writers, admins = (
        KubeAccess(kubeconfig=kubeconfig(cluster, folder / name, token))
        for name, token in (("writer", WRITER_TOKEN), ("admin", ADMIN_TOKEN))
    )
    async with (
        cluster.client() as admin,
        ArmWriter(arm_access) as arm_writer,
        ArmReader(arm_access) as arm,
        KubeReader(target, arm, admins) as nodes,
        KubeWriter(target, arm, writers) as writer,
        WriterKubePermissionReader(target, arm, writers) as writer_permissions,
    ):
        await grant(admin)
        core: Any = client.CoreV1Api(admin)
        made = await core.create_namespace({"metadata": {"generateName": "shop-"}})
        yield Bench(admin, WriterClients(arm_writer, arm, nodes, writer), writer_permissions, str(made.metadata.name))


def kubeconfig(cluster: Cluster, file: Path, token: str) -> Path:
    name = str(CLUSTER).rsplit("/", 1)[-1]
    where = {"server": cluster.url, "certificate-authority": str(cluster.ca_file)}
    config = {
        "clusters": [{"name": name, "cluster": where}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "users": [{"name": name, "user": {"token": token}}],
    }
    file.write_text(yaml.safe_dump(config))
    return file


async def grant(admin: client.ApiClient) -> None:
    """As an administrator does: kubectl apply of what we ship, with the writer's name in it."""
    rbac: Any = client.RbacAuthorizationV1Api(admin)
    known = {one.metadata.name for one in (await rbac.list_cluster_role()).items}
    if "aksbot-writer" in known:
        return
    text = KUBERNETES_WRITER.read_text(encoding="utf-8").replace("<object-id-of-the-writers-identity>", WRITER)
    role, binding, here, binding_here = yaml.safe_load_all(text)
    await rbac.create_cluster_role(role)
    await rbac.create_cluster_role_binding(binding)
    await rbac.create_namespaced_role(here["metadata"]["namespace"], here)
    await rbac.create_namespaced_role_binding(here["metadata"]["namespace"], binding_here)


async def a_budget(bench: Bench, **metadata: Any) -> Body:
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", **metadata},
        "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "web"}}},
    }
    policy: Any = client.PolicyV1Api(bench.admin)
    await policy.create_namespaced_pod_disruption_budget(bench.namespace, body)
    return await bench.budget()


def budget_steps(body: Body) -> tuple[Step, Step]:
    metadata = body["metadata"]
    known = {"namespace": metadata["namespace"], "name": "web", "uid": metadata["uid"], "spec": body["spec"]}
    target = f"{metadata['namespace']}/PodDisruptionBudget/web"
    return (
        Step(Verb.RELAX_BUDGET, target, "Relax", "PATCH", "kubectl", {**known, "max_unavailable": 1}),
        Step(Verb.RESTORE_BUDGET, target, "Restore", "PATCH", "kubectl", known, always=True),
    )


def as_written(body: Body) -> tuple[Any, Any, Any]:
    return body["spec"], body["metadata"].get("labels"), body["metadata"].get("annotations")


@pytest.mark.parametrize("metadata", [{}, {"labels": {"a": "b"}, "annotations": {"c": "d"}}], ids=["bare", "marked"])
async def test_a_budget_is_relaxed_and_put_back_as_it_was(bench: Bench, metadata: Body) -> None:
    before = await a_budget(bench, **metadata)
    relax, restore = budget_steps(before)
    assert (await bench.run(relax)).outcome is Outcome.DONE
    relaxed = await bench.budget()
    assert relaxed["spec"] == {"maxUnavailable": 1, "selector": before["spec"]["selector"]}
    assert RELAXED_FROM in relaxed["metadata"]["annotations"]
    ended = await bench.run(restore)
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert as_written(await bench.budget()) == as_written(before)


async def test_whoever_was_faster_wins(bench: Bench) -> None:
    before = await a_budget(bench)
    stale = before["metadata"]["resourceVersion"]
    policy: Any = client.PolicyV1Api(bench.admin)
    await policy.patch_namespaced_pod_disruption_budget("web", bench.namespace, {"metadata": {"labels": {"a": "b"}}})
    patch = {"metadata": {"resourceVersion": stale}, "spec": {"minAvailable": None, "maxUnavailable": 1}}
    with pytest.raises(Refused) as caught:
        await bench.writer.merge_patch(path_of(bench.namespace, "web"), patch)
    assert (caught.value.status, caught.value.code) == (409, "Conflict")
    assert (await bench.budget())["spec"] == before["spec"]


async def a_stuck_pod(bench: Bench) -> Body:
    """On a node that no kubelet serves, and told to go."""
    core: Any = client.CoreV1Api(bench.admin)
    spec = {"nodeName": "node-1", "containers": [{"name": "main", "image": "registry.example.com/web:1"}]}
    await core.create_namespaced_pod(bench.namespace, {"metadata": {"name": "web-1"}, "spec": spec})
    await core.delete_namespaced_pod("web-1", bench.namespace)
    body: Body = await bench.writer.get(pod_path(bench.namespace, "web-1"))
    assert body["metadata"]["deletionTimestamp"]
    return body


async def test_a_pod_whose_node_is_gone_is_removed_by_force(bench: Bench) -> None:
    pod = await a_stuck_pod(bench)
    known = {"namespace": bench.namespace, "name": "web-1", "uid": pod["metadata"]["uid"]}
    arguments = {**known, "grace_s": 30, "force": True, "node": "node-1"}
    ended = await bench.run(
        Step(Verb.DELETE_POD, f"{bench.namespace}/Pod/web-1", "Delete", "DELETE", "kubectl", arguments)
    )
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    with pytest.raises(NotFound):
        await bench.writer.get(pod_path(bench.namespace, "web-1"))


async def test_another_pod_of_the_same_name_stays(bench: Bench) -> None:
    await a_stuck_pod(bench)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    with pytest.raises(Refused) as caught:
        await bench.writer.delete(
            pod_path(bench.namespace, "web-1"), {**options, "preconditions": {"uid": str(uuid.uuid4())}}
        )
    assert (caught.value.status, caught.value.code) == (409, "Conflict")
    assert await bench.writer.get(pod_path(bench.namespace, "web-1"))


async def test_the_probe_pod_passes_the_strictest_standard_and_is_removed(bench: Bench) -> None:
    await client.CoreV1Api(bench.admin).patch_namespace("default", STRICT)
    body = manifest(("https://kubernetes.default.svc/",), "registry.example.com/python:3")
    made = await bench.writer.post(pod_path("default"), body)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    await bench.writer.delete(pod_path("default", NAME), {**options, "preconditions": {"uid": made["metadata"]["uid"]}})
    with pytest.raises(NotFound):
        await bench.writer.get(pod_path("default", NAME))


async def test_a_pod_is_made_in_one_namespace_only(bench: Bench) -> None:
    with pytest.raises(Denied) as caught:
        await bench.writer.post(pod_path(bench.namespace), manifest((), "registry.example.com/python:3"))
    assert caught.value.unavailable.grant == f"create pods (namespace {bench.namespace})"


async def test_the_cluster_says_what_the_writer_may_do(bench: Bench) -> None:
    may = bench.writer_permissions.may
    assert await may("patch", "poddisruptionbudgets", "policy")
    assert await may("delete", "pods")
    assert await may("create", "pods", "", "default")
    assert await may("get", "pods/log", "", "default")
    assert not await may("create", "pods", "", bench.namespace)
    assert not await may("patch", "pods")
    assert not await may("get", "secrets")
