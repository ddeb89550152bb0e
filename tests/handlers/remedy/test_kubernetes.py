"""What is changed inside a cluster: one budget for a while, one stuck pod, one probe; and every reason not to."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handlers.clients.kube.access import PROBE_IMAGE
from handlers.evidence.permissions_inside import EVERYWHERE, WriterMayInside
from handlers.remedy.inside import doubts_inside, may_not_inside
from handlers.remedy.plan import Plan, Risk, Verb
from handlers.remedy.probe_from_pod import SCRIPT
from tests.clients_kube.cluster import LocalCluster
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, NOW, at, event, pool_id
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import offered, planned, refused

BUDGET = "shop/PodDisruptionBudget/web"
REFUSED = "Drain node node-0 failed when evicting pod web-0 with Too Many Requests error."
OWNED = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6c5d8f7b9", "controller": True}]


def blocked(*, cluster: str = "Succeeded", **budget: Any) -> Azure:
    """The upgrade of pool apps to 1.34.2 failed at node-0: budget web lets no pod go. Both pods of it are well."""
    azure = Azure()
    azure.cluster |= {
        "provisioningState": cluster,
        "kubernetesVersion": "1.34.2",
        "currentKubernetesVersion": "1.34.2",
    }
    azure.pool("apps", 2, provisioningState="Failed", orchestratorVersion="1.34.2")
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "UpgradeFailed", "message": REFUSED}}
    azure.node("node-0")["spec"]["unschedulable"] = True
    azure.node("node-1", machine=1)
    azure.pod("web-0", labels={"app": "web"}, metadata={"ownerReferences": OWNED})
    azure.budget("web", "web", **budget)["metadata"] |= {"uid": "budget-uid", "resourceVersion": "41"}
    return azure


async def test_a_budget_is_relaxed_the_pool_goes_on_and_the_budget_is_put_back_whatever_happens() -> None:
    plan = await planned("relax-budget", blocked())
    assert [(one.verb, one.target, one.always) for one in plan.steps] == [
        (Verb.RELAX_BUDGET, BUDGET, False),
        (Verb.PUT_POOL_AS_READ, pool_id("apps"), False),
        (Verb.RESTORE_BUDGET, BUDGET, True),
    ]
    relax, _, restore = plan.steps
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2}
    known = {"namespace": "shop", "name": "web", "uid": "budget-uid", "spec": spec}
    assert dict(restore.arguments) == known
    assert dict(relax.arguments) == {**known, "max_unavailable": 1}
    assert relax.command == (
        "kubectl patch pdb web --namespace shop --type merge "
        """--patch '{"spec":{"minAvailable":null,"maxUnavailable":1}}'"""
    )
    assert restore.command.endswith("""'{"spec":{"minAvailable":2,"maxUnavailable":null}}'""")
    assert plan.before["rule of budget web"] == spec
    assert plan.before["state of pool apps"] == "Failed"
    assert (plan.risk, plan.verify.code, plan.verify.subject) == (Risk.MEDIUM, "pdb-blocks-drain", BUDGET)
    assert plan.warnings == ()
    assert Plan.from_json(plan.as_json()) == plan


async def test_the_upgrade_that_it_goes_on_with_and_its_nodes_are_named() -> None:
    azure = blocked()
    azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.34.2"
    plan = await planned("relax-budget", azure)
    assert plan.could_go_wrong[0] == "goes on with the upgrade to 1.34.2 of pool apps: replaces 1 nodes (node-0)"
    again = await planned("relax-budget", blocked())
    assert again.could_go_wrong[0].endswith("replaces 2 nodes (node-0, node-1)")
    assert again.eta > plan.eta
    assert plan.moved(again), "a node that is upgraded meanwhile makes it another plan"


async def test_people_read_what_it_does_to_whom_before_they_approve() -> None:
    plan = await planned("relax-budget", blocked())
    assert plan.effect == (
        "PDB shop/web allows 1 disruption, then the upgrade of pool apps to 1.34.2 goes on: 2 nodes are replaced "
        "one by one; the PDB is restored afterwards"
    )
    azure = blocked(cluster="Failed")
    azure.pools["apps"] |= {"upgradeSettings": {"maxSurge": "100%"}}
    both = await planned("relax-budget", azure)
    assert "2 nodes are replaced 2 at a time, then cluster" in both.effect, both.effect
    azure.pools["apps"] |= {"upgradeStrategy": "BlueGreen", "upgradeSettingsBlueGreen": {"drainBatchSize": "50%"}}
    green = await planned("relax-budget", azure)
    assert "2 nodes are replaced one by one, then cluster" in green.effect, "it empties batches, however many it brings"
    assert Plan.from_json(both.as_json()) == both
    assert replace(plan, effect="").digest != plan.digest, "an approval covers what people have read"


async def test_a_cluster_that_failed_with_its_pool_is_sent_after_it() -> None:
    plan = await planned("relax-budget", blocked(cluster="Failed"))
    assert [one.verb for one in plan.steps] == [
        Verb.RELAX_BUDGET,
        Verb.PUT_POOL_AS_READ,
        Verb.PUT_CLUSTER_AS_READ,
        Verb.RESTORE_BUDGET,
    ]
    assert dict(plan.steps[2].arguments) == {"etag": "", "pools": {}}


async def test_a_pool_that_it_is_not_about_must_not_roll_with_the_cluster() -> None:
    azure = blocked(cluster="Failed")
    azure.pool("batch", 1, orchestratorVersion="1.34.2")
    azure.node("node-9", pool="batch", machine=9)
    assert "pool batch is set to 1.34.2 and runs 1.33.6" in await refused("relax-budget", azure)
    azure.cluster["provisioningState"] = "Succeeded"
    assert [one.target for one in (await planned("relax-budget", azure)).steps] == [BUDGET, pool_id("apps"), BUDGET]


@pytest.mark.parametrize(
    ("owner", "who"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "Argo CD"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, "Flux"),
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "Helm"),
        ({"ownerReferences": [{"kind": "Kafka", "name": "orders"}]}, "Kafka orders"),
    ],
)
async def test_whoever_owns_the_budget_may_put_it_back_meanwhile(owner: dict[str, Any], who: str) -> None:
    azure = blocked()
    azure.budgets[0]["metadata"] |= owner
    [warning] = (await planned("relax-budget", azure)).warnings
    assert warning.startswith(f"{who} owns the budget")


async def test_two_budgets_are_for_people_to_choose_from() -> None:
    azure = blocked()
    azure.budget("also", "web", allowed=1)["metadata"]["uid"] = "another"
    assert "no pod with two budgets" in await refused("relax-budget", azure)


@pytest.mark.parametrize("kind", ["Pod", "Kafka", "DaemonSet"])
async def test_pods_that_nothing_scales_need_another_rule(kind: str) -> None:
    azure = blocked()
    azure.pod(
        "web-9", node="node-0", labels={"app": "web"}, metadata={"ownerReferences": [{"kind": kind, "name": "x"}]}
    )
    assert f"it covers pods of {kind}" in await refused("relax-budget", azure)


async def test_a_pod_that_is_down_already_is_the_one_that_may_be() -> None:
    azure = blocked()
    azure.budgets[0]["status"] |= {"currentHealthy": 1}
    assert "1 of its 2 pods are down" in await refused("relax-budget", azure)


async def test_a_budget_that_a_fix_has_relaxed_is_left_to_that_fix() -> None:
    azure = blocked()
    azure.budgets[0]["metadata"]["annotations"] = {"aksbot.dev/relaxed-from": "{}"}
    assert "relaxed it already" in await refused("relax-budget", azure)


async def test_an_upgrade_that_aks_refused_beforehand_has_nothing_to_go_on_with() -> None:
    azure = blocked()
    azure.pools["apps"] |= {"provisioningState": "Succeeded", "status": {}, "orchestratorVersion": "1.33.6"}
    message = '{"code":"UnsatisfiablePDB","message":"1 error occurred: * PDB shop/web has minAvailable == 2"}'
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(minutes=9), message)]
    assert "refused the upgrade before it began" in await refused("relax-budget", azure)


async def test_while_the_upgrade_runs_nothing_is_started_beside_it() -> None:
    azure = blocked()
    azure.pools["apps"] |= {"provisioningState": "Upgrading"}
    reasons = await refused("relax-budget", azure)
    assert "an operation is running" in reasons


@pytest.mark.parametrize("remedy", ["relax-budget", "delete-stuck-pod"])
async def test_what_the_writer_may_not_do_inside_is_a_reason_that_names_the_role(remedy: str) -> None:
    azure = blocked() if remedy == "relax-budget" else stuck()
    azure.writer_may_inside = False
    offer = await offered(remedy, azure)
    assert offer.plan is None
    [reason] = [one for one in offer.forbidden if "the writer may not" in one.because]
    assert "in namespace shop" in reason.because
    assert "deploy/kubernetes/writer.yaml" in reason.do


def test_a_writer_that_may_act_in_one_namespace_may_act_there_only() -> None:
    answers = {("delete pods", EVERYWHERE): False, ("delete pods", "shop"): True, ("delete pods", "other"): False}
    may = WriterMayInside(source="", taken_at=NOW, answers=answers)
    assert [*may_not_inside(["delete pods"], "shop", may)] == []
    assert "delete pods in namespace other" in next(may_not_inside(["delete pods"], "other", may)).because
    assert [*may_not_inside(["delete pods"], "unasked", may)] == []
    assert doubts_inside(["delete pods"], "unasked", may)
    assert not doubts_inside(["delete pods"], "shop", may)


def stuck(ready: str = "Unknown", finalizers: tuple[str, ...] = (), owner: str = "ReplicaSet") -> Azure:
    """The drain of node-0 waits for pod web-0, which was deleted 40 minutes ago."""
    azure = Azure()
    azure.pool("apps", 2, provisioningState="Failed")
    message = "Drain node node-0 failed: pods did not terminate within 30m0s: [shop/web-0: still terminating]"
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "UpgradeFailed", "message": message}}
    azure.not_ready("node-0", ready)["spec"]["unschedulable"] = True
    azure.node("node-1", machine=1)
    gone = {"deletionTimestamp": at(timedelta(minutes=40)), "deletionGracePeriodSeconds": 30}
    owners = [{"kind": owner, "name": "web", "controller": True}]
    metadata = {"uid": "pod-uid", "finalizers": list(finalizers), "ownerReferences": owners, **gone}
    azure.pod("web-0", metadata=metadata)
    return azure


@pytest.mark.parametrize("gone", [False, True], ids=["silent", "gone"])
async def test_a_stuck_pod_is_deleted_by_force_where_its_node_is_silent_or_gone(gone: bool) -> None:
    azure = stuck()
    if gone:
        del azure.nodes["node-0"]
    plan = await planned("delete-stuck-pod", azure)
    [step] = plan.steps
    assert (step.verb, step.target) == (Verb.DELETE_POD, "shop/Pod/web-0")
    assert dict(step.arguments) == {
        "namespace": "shop",
        "name": "web-0",
        "uid": "pod-uid",
        "grace_s": 30,
        "force": True,
        "node": "node-0",
    }
    assert step.command == "kubectl delete pod web-0 --namespace shop --force --grace-period 0"
    assert plan.before == {"node node-0": "gone" if gone else "Ready is Unknown", "uid of pod shop/web-0": "pod-uid"}
    assert (plan.verify.code, plan.verify.subject, plan.risk) == ("drain-error", "Node/node-0", Risk.MEDIUM)
    assert plan.warnings == (() if gone else ("Azure says that the machine of node-0 is running",))
    assert Plan.from_json(plan.as_json()) == plan


@pytest.mark.parametrize("ready", ["True", "False"])
async def test_a_node_that_answers_ends_its_pods_itself(ready: str) -> None:
    assert "its containers do not end" in await refused("delete-stuck-pod", stuck(ready))


async def test_a_pod_that_is_lost_and_was_never_deleted_gets_its_grace_first() -> None:
    azure = stuck("True")
    [pod] = azure.pods
    del pod["metadata"]["deletionTimestamp"], pod["metadata"]["deletionGracePeriodSeconds"]
    pod["status"]["phase"] = "Unknown"
    pod["spec"]["terminationGracePeriodSeconds"] = 90
    [step] = (await planned("delete-stuck-pod", azure)).steps
    assert (step.arguments["force"], step.arguments["grace_s"]) == (False, 90)
    assert "--force" not in step.command


async def test_finalizers_are_named_because_no_deletion_removes_them() -> None:
    azure = stuck(finalizers=("queue.example.com/drained",))
    assert "held by finalizer queue.example.com/drained" in await refused("delete-stuck-pod", azure)


async def test_a_pod_of_a_stateful_set_could_run_twice() -> None:
    plan = await planned("delete-stuck-pod", stuck(owner="StatefulSet"))
    assert plan.risk is Risk.HIGH
    assert any("run twice under one name" in one for one in plan.could_go_wrong)


async def test_each_stuck_pod_is_a_step_of_its_own() -> None:
    azure = stuck()
    gone = {"deletionTimestamp": at(timedelta(minutes=40)), "uid": "other-uid"}
    azure.pod("api-0", metadata=gone)
    azure.pod("fine", metadata={"uid": "fine-uid"})
    assert [one.target for one in (await planned("delete-stuck-pod", azure)).steps] == [
        "shop/Pod/web-0",
        "shop/Pod/api-0",
    ]


async def test_a_node_that_comes_back_moves_the_plan() -> None:
    before = await planned("delete-stuck-pod", stuck())
    azure = stuck()
    del azure.nodes["node-0"]
    assert before.moved(await planned("delete-stuck-pod", azure)) == ("node node-0: was Ready is Unknown, is gone",)


def astray() -> Azure:
    """Somebody gave the service default/kubernetes a selector."""
    azure = Azure()
    azure.cluster["fqdn"] = "one-1a2b3c4d.hcp.westeurope.azmk8s.io"
    azure.pool("apps", 1)
    azure.node("node-0")
    azure.api_service["spec"]["selector"] = {"app": "shop"}
    return azure


async def test_the_probe_asks_by_name_by_address_and_from_outside() -> None:
    plan = await planned("probe-from-pod", astray())
    [step] = plan.steps
    assert (step.verb, step.target) == (Verb.PROBE_FROM_POD, "default/Pod/aksbot-probe")
    [container] = step.arguments["manifest"]["spec"]["containers"]
    assert container["command"][3:] == [
        "https://kubernetes.default.svc/",
        "https://10.0.0.1/",
        "https://one-1a2b3c4d.hcp.westeurope.azmk8s.io/",
    ]
    assert container["image"] == PROBE_IMAGE
    assert plan.risk is Risk.LOW
    assert Plan.from_json(plan.as_json()) == plan


async def test_a_private_cluster_is_asked_by_its_private_name() -> None:
    azure = astray()
    name = "one-1a2b3c4d.privatelink.westeurope.azmk8s.io"
    azure.cluster |= {"privateFQDN": name, "apiServerAccessProfile": {"enablePrivateCluster": True}}
    [step] = (await planned("probe-from-pod", azure)).steps
    assert f"https://{name}/" in step.command


async def test_the_probe_pod_may_nothing_and_ends_by_itself() -> None:
    [step] = (await planned("probe-from-pod", astray())).steps
    spec = step.arguments["manifest"]["spec"]
    [container] = spec["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["activeDeadlineSeconds"] == 90
    assert spec["restartPolicy"] == "Never"
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert {"cpu", "memory"} <= container["resources"]["limits"].keys()
    # What Kubernetes' "restricted" standard asks for.
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not {"hostNetwork", "hostPID", "hostIPC", "volumes"} & spec.keys()


async def test_a_writer_that_may_make_no_pods_probes_nothing() -> None:
    azure = astray()
    azure.writer_may_inside = False
    assert "may not get pods, nor create pods" in await refused("probe-from-pod", azure)


async def ran(*urls: str) -> list[str]:
    """What the probe's own script prints."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SCRIPT, *urls, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode().splitlines()


async def test_the_script_tells_an_open_way_from_a_closed_one_and_from_a_name_that_is_unknown() -> None:
    cluster = LocalCluster(tokens={"nobody's"})
    await cluster.start()
    try:
        with socket.socket() as shut:  # its port is taken, so nobody else's, and nobody listens
            shut.bind(("127.0.0.1", 0))
            port = shut.getsockname()[1]
            says = await ran(f"{cluster.url}/", f"https://127.0.0.1:{port}/", "https://kubernetes.default.invalid/")
    finally:
        await cluster.stop()
    assert says[0] == f"{cluster.url}/ 401: the way is open"
    assert says[1] == f"https://127.0.0.1:{port}/ no connection (Connection refused)"
    assert says[2].startswith("https://kubernetes.default.invalid/ the name cannot be looked up")
