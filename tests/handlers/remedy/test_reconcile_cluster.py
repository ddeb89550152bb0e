"""Reconciling a failed cluster: its failed pools first, and healthy pools untouched."""

from __future__ import annotations

import pytest

from handlers.remedy.plan import Risk, Verb
from tests.handlers.diagnose.bodies import CLUSTER, NODE_GROUP_ID, pool_id
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import offered, planned, refused

INTERNAL = {"code": "ControlPlaneProvisioningInternalError", "message": "timeout"}


def failed(*pools: str) -> Azure:
    """A cluster of pools apps and web that is Failed, and so are these pools."""
    azure = Azure()
    azure.cluster |= {"provisioningState": "Failed", "status": {"provisioningError": INTERNAL}}
    for number, name in enumerate(("apps", "web")):
        azure.pool(name, 1, provisioningState="Failed" if name in pools else "Succeeded")
        azure.node(f"{name}-0", pool=name, machine=number)
    return azure


async def test_a_cluster_alone_is_one_put_with_the_etags_of_all_its_pools() -> None:
    plan = await planned("reconcile-cluster", failed())
    [step] = plan.steps
    assert (step.verb, step.target) == (Verb.PUT_CLUSTER_AS_READ, CLUSTER)
    assert step.arguments == {
        "etag": "tag-of-one",
        "pools": {pool_id("apps"): "tag-of-apps", pool_id("web"): "tag-of-web"},
    }
    assert step.command == f"az resource update --ids {CLUSTER}"
    assert plan.before["eTag of cluster one"] == "tag-of-one"
    assert plan.before["eTag of pool web"] == "tag-of-web"
    assert plan.before["state of cluster one"] == "Failed"
    assert (plan.title, plan.risk) == ("Reconcile cluster one", Risk.MEDIUM)


async def test_failed_pools_come_first_and_healthy_ones_are_left_alone() -> None:
    plan = await planned("reconcile-cluster", failed("web"))
    assert [(one.verb, one.target) for one in plan.steps] == [
        (Verb.PUT_POOL_AS_READ, pool_id("web")),
        (Verb.PUT_CLUSTER_AS_READ, CLUSTER),
    ]
    # The first step changes the eTags of what it writes: only the others' are known beforehand.
    assert plan.steps[1].arguments == {"etag": "", "pools": {pool_id("apps"): "tag-of-apps"}}
    both = await planned("reconcile-cluster", failed("web", "apps"))
    assert [one.target for one in both.steps] == [pool_id("apps"), pool_id("web"), CLUSTER]
    assert both.title == "Reconcile 2 node pools and cluster one"


async def test_it_is_verified_by_the_code_that_was_found() -> None:
    found = await offered("reconcile-cluster", failed())
    assert found.plan is not None
    assert (found.plan.verify.code, found.plan.verify.subject) == (found.code, CLUSTER)


async def test_one_old_node_in_a_healthy_pool_forbids_it() -> None:
    azure = failed()
    azure.nodes["web-0"]["status"]["nodeInfo"]["kubeletVersion"] = "v1.32.9"
    assert "pool web runs 1.33.6, not so web-0 (1.32.9)" in await refused("reconcile-cluster", azure)


async def test_an_upgrade_of_the_control_plane_that_has_not_ended_forbids_it() -> None:
    azure = failed()
    azure.cluster["kubernetesVersion"] = "1.34"
    assert "set to 1.34 and runs 1.33.6" in await refused("reconcile-cluster", azure)


async def test_a_pool_without_an_etag_forbids_it() -> None:
    azure = failed()
    del azure.pools["web"]["eTag"]
    assert "no eTag for pool web" in await refused("reconcile-cluster", azure)


@pytest.mark.parametrize("spelling", ["eTag", "etag"])
async def test_both_spellings_of_an_etag_are_understood(spelling: str) -> None:
    azure = failed()
    del azure.pools["web"]["eTag"]
    azure.pools["web"][spelling] = "spelt"
    assert (await planned("reconcile-cluster", azure)).before["eTag of pool web"] == "spelt"


async def test_nodes_that_cannot_be_seen_and_operations_that_run_forbid_it() -> None:
    azure = failed()
    azure.kube_trouble = "Name or service not known"
    assert "could not see the nodes" in await refused("reconcile-cluster", azure)
    azure = failed()
    azure.pools["web"]["provisioningState"] = "Scaling"
    assert "an operation is running: pool web is Scaling" in await refused("reconcile-cluster", azure)


async def test_a_lock_in_the_node_group_forbids_it() -> None:
    azure = failed()
    azure.lock(f"{NODE_GROUP_ID}/providers/Microsoft.Network/loadBalancers/kubernetes", "CanNotDelete")
    assert "lock keep (CanNotDelete) on kubernetes" in await refused("reconcile-cluster", azure)


async def test_a_writer_who_may_only_write_pools_may_not_write_the_cluster() -> None:
    azure = failed("web")
    azure.writer_may = {"actions": ["Microsoft.ContainerService/managedClusters/agentPools/*"], "notActions": []}
    reasons = await refused("reconcile-cluster", azure)
    assert [one.because for one in reasons.offer.forbidden] == [
        "the writer may not do Microsoft.ContainerService/managedClusters/write on one"
    ]


async def test_an_identity_that_the_cluster_uses_must_be_the_writers_to_assign() -> None:
    azure = failed()
    own = f"{NODE_GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/one"
    azure.identity = {"type": "UserAssigned", "userAssignedIdentities": {own: {"principalId": "0c"}}}
    azure.writer_may = {"actions": ["*"], "notActions": ["Microsoft.ManagedIdentity/*/assign/action"]}
    warned = await offered("reconcile-cluster", azure)
    # Its own scope was not seen: the roles above allow nothing, and one of its own might.
    assert warned.plan is not None
    assert any("userAssignedIdentities/assign/action" in one for one in warned.plan.warnings)


async def test_however_many_pools_there_are_the_time_is_longer_than_it_should_take() -> None:
    """One that runs out half way leaves the rest undone, and says that it has not worked."""
    azure = failed()
    for number in range(2, 50):
        azure.pool(f"p{number}", 1, provisioningState="Failed")
        azure.node(f"p{number}-0", pool=f"p{number}", machine=number)
    plan = await planned("reconcile-cluster", azure)
    assert len(plan.steps) == 49
    assert plan.limit >= 2 * plan.eta
