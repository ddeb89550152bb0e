"""Reconciling a failed node pool: only if no nodes can be rolled and nothing blocks it."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.remedy.plan import Plan, Risk, Verb
from tests.handlers.diagnose.bodies import CLUSTER, GROUP_ID, NODE_GROUP_ID, SUB, SUBNET, pool_id
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import planned, refused

IMAGE = "AKSUbuntu-2204gen2containerd-202610.27.0"
NEWER = "AKSUbuntu-2204gen2containerd-202611.03.0"


def failed(**pool: Any) -> Azure:
    azure = Azure()
    azure.pool("apps", 2).update({"provisioningState": "Failed", "nodeImageVersion": IMAGE, **pool})
    for number in range(2):
        azure.node(f"node-{number}", machine=number)["metadata"]["labels"] |= labels(IMAGE)
    return azure


def labels(image: str) -> dict[str, str]:
    return {"kubernetes.azure.com/node-image-version": image}


async def test_the_plan_is_one_put_of_the_pool_as_it_was_read() -> None:
    plan = await planned("reconcile-pool", failed())
    [step] = plan.steps
    assert (step.verb, step.target, dict(step.arguments)) == (
        Verb.PUT_POOL_AS_READ,
        pool_id("apps"),
        {"etag": "tag-of-apps"},
    )
    assert step.command == f"az resource update --ids {pool_id('apps')}"
    assert step.request == f"PUT {pool_id('apps')}, the body as read, If-Match tag-of-apps"
    assert plan.before == {
        "state of pool apps": "Failed",
        "version of pool apps": "1.33.6",
        "node image of pool apps": IMAGE,
        "eTag of pool apps": "tag-of-apps",
        "versions of the nodes of pool apps": ["1.33.6"],
        "images of the nodes of pool apps": [IMAGE],
    }
    assert (plan.title, plan.risk, plan.warnings) == ("Reconcile node pool apps", Risk.LOW, ())
    assert (plan.cluster, plan.target) == (CLUSTER, pool_id("apps"))
    assert (plan.verify.code, plan.verify.subject) == ("nodepool-failed", pool_id("apps"))
    assert Plan.from_json(plan.as_json()) == plan


async def test_nodes_that_the_autoscaler_adds_do_not_move_the_plan_but_another_version_does() -> None:
    azure = failed(enableAutoScaling=True)
    before = await planned("reconcile-pool", azure)
    azure.node("node-9", machine=9)["metadata"]["labels"] |= labels(IMAGE)
    azure.pools["apps"]["count"] = 3
    assert before.moved(await planned("reconcile-pool", azure)) == ()
    azure.pools["apps"]["eTag"] = "tag-anew"
    assert before.moved(await planned("reconcile-pool", azure)) == ("eTag of pool apps: was tag-of-apps, is tag-anew",)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"orchestratorVersion": "1.34"}, "is set to 1.34 and runs 1.33.6"),
        ({"currentOrchestratorVersion": "1.33.5", "orchestratorVersion": "1.33.5"}, "node-0 (1.33.6), node-1 (1.33.6)"),
        ({"nodeImageVersion": NEWER}, f"has image {NEWER}, not so node-0 ({IMAGE})"),
        ({"count": 1}, "counts 1 nodes and has 2"),
        ({"eTag": ""}, "no eTag for pool apps"),
    ],
)
async def test_a_pool_whose_nodes_a_put_could_replace_gets_no_button(change: dict[str, Any], why: str) -> None:
    assert why in await refused("reconcile-pool", failed(**change))


async def test_one_node_of_another_version_or_image_is_named() -> None:
    azure = failed()
    azure.nodes["node-1"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.32.9"
    assert "not so node-1 (1.32.9)" in await refused("reconcile-pool", azure)
    azure = failed()
    azure.nodes["node-1"]["metadata"]["labels"] |= labels(NEWER)
    assert f"not so node-1 ({NEWER})" in await refused("reconcile-pool", azure)


async def test_a_node_that_does_not_tell_its_image_is_not_taken_for_a_good_one() -> None:
    azure = failed()
    del azure.nodes["node-1"]["metadata"]["labels"]["kubernetes.azure.com/node-image-version"]
    assert "not so node-1 (not told)" in await refused("reconcile-pool", azure)


async def test_nodes_of_another_pool_are_none_of_its_business() -> None:
    azure = failed()
    azure.pool("web", 1)
    azure.node("web-0", pool="web", machine=0)["status"]["nodeInfo"]["kubeletVersion"] = "v1.32.9"
    assert (await planned("reconcile-pool", azure)).target == pool_id("apps")


async def test_quarantined_nodes_are_an_upgrade_half_done() -> None:
    azure = failed()
    azure.nodes["node-0"]["metadata"]["labels"]["kubernetes.azure.com/upgrade-status"] = "Quarantined"
    assert "quarantined in pool apps: node-0" in await refused("reconcile-pool", azure)


async def test_a_surplus_counts_where_no_autoscaler_is_at_work() -> None:
    assert "counts 1 nodes" in await refused("reconcile-pool", failed(count=1))
    assert (await planned("reconcile-pool", failed(count=1, enableAutoScaling=True))).could_go_wrong[2:]


async def test_nodes_that_cannot_be_seen_forbid_it() -> None:
    azure = failed()
    azure.kube_trouble = "Name or service not known"
    assert "could not see the nodes" in await refused("reconcile-pool", azure)


@pytest.mark.parametrize("where", ["cluster", "web"])
async def test_an_operation_on_the_cluster_or_any_pool_forbids_it(where: str) -> None:
    azure = failed()
    azure.pool("web", 0)
    (azure.cluster if where == "cluster" else azure.pools["web"])["provisioningState"] = "Updating"
    assert "an operation is running" in await refused("reconcile-pool", azure)


async def test_a_stopped_cluster_is_not_reconciled() -> None:
    azure = failed()
    azure.cluster["powerState"] = {"code": "Stopped"}
    assert "is stopped" in await refused("reconcile-pool", azure)


@pytest.mark.parametrize(
    ("scope", "level"),
    [
        (CLUSTER, "ReadOnly"),
        (GROUP_ID, "ReadOnly"),
        (f"/subscriptions/{SUB}", "ReadOnly"),
        (NODE_GROUP_ID, "CanNotDelete"),
        (NODE_GROUP_ID, "ReadOnly"),
    ],
)
async def test_a_lock_that_azure_would_refuse_it_for_forbids_it(scope: str, level: str) -> None:
    azure = failed()
    azure.lock(scope, level)
    assert f"lock keep ({level})" in await refused("reconcile-pool", azure)


@pytest.mark.parametrize("scope", [CLUSTER, GROUP_ID])
async def test_a_lock_against_deletion_elsewhere_does_not(scope: str) -> None:
    azure = failed()
    azure.lock(scope, "CanNotDelete")
    assert (await planned("reconcile-pool", azure)).warnings == ()


async def test_one_that_the_node_resource_group_inherits_is_said_beside_the_button() -> None:
    azure = failed()
    azure.lock(f"/subscriptions/{SUB}", "CanNotDelete")
    [warning] = (await planned("reconcile-pool", azure)).warnings
    assert warning.startswith("lock keep (CanNotDelete) is inherited by the node resource group")


async def test_a_writer_who_may_not_write_pools_is_a_reason_that_names_the_permission() -> None:
    azure = failed()
    azure.writer_may = {"actions": ["*/read", "Microsoft.ContainerService/managedClusters/write"], "notActions": []}
    reasons = await refused("reconcile-pool", azure)
    assert "may not do Microsoft.ContainerService/managedClusters/agentPools/write" in reasons
    assert "grant Microsoft.ContainerService/managedClusters/agentPools/write" in reasons.offer.forbidden[0].do


async def test_a_writer_who_may_not_join_the_subnet_is_told_so() -> None:
    azure = failed(vnetSubnetID=SUBNET)
    azure.subnet("10.0.0.0/24", 10)
    assert (await planned("reconcile-pool", azure)).warnings == ()
    azure.writer_may = {"actions": ["*"], "notActions": ["Microsoft.Network/*"]}
    assert "Microsoft.Network/virtualNetworks/subnets/join/action on nodes" in await refused("reconcile-pool", azure)


@pytest.mark.parametrize("path", ["/permissions", "/locks", "/denyAssignments"])
async def test_what_could_not_be_seen_beside_it_is_a_doubt_and_no_reason(path: str) -> None:
    azure = failed()
    azure.denied = {path}
    [*warnings] = (await planned("reconcile-pool", azure)).warnings
    assert len(warnings) == 1
    assert warnings[0].startswith("could not see ")


async def test_a_pool_that_is_failed_no_more_is_left_alone() -> None:
    plan = await planned("reconcile-pool", failed())
    azure = failed()
    azure.pool("web", 0, provisioningState="Failed")
    azure.pools["apps"]["provisioningState"] = "Succeeded"
    assert (await planned("reconcile-pool", azure)).target == pool_id("web") != plan.target


async def test_what_azure_named_is_the_first_reason_also_where_the_nodes_cannot_be_seen() -> None:
    azure = failed()
    azure.pools["apps"]["status"] = {"provisioningError": {"code": "ZonalAllocationFailed", "message": "no capacity"}}
    azure.kube_trouble = "no such host: one.privatelink.westeurope.azmk8s.io"
    reasons = await refused("reconcile-pool", azure)
    assert "Azure says what stopped it: ZonalAllocationFailed" in reasons.offer.forbidden[0].because
    assert "could not see the nodes" in reasons


async def test_what_azure_named_for_the_cluster_stops_a_pool_that_failed_with_it() -> None:
    azure = failed()
    azure.cluster |= {
        "provisioningState": "Failed",
        "status": {"provisioningError": {"code": "AllocationFailed", "message": "no capacity"}},
    }
    assert "Azure says what stopped it: AllocationFailed" in await refused("reconcile-pool", azure)
