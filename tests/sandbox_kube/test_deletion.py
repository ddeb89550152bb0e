"""DELETE and evictions: what waits for whom, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.kube.world import KubeWorld, Run
from tests.sandbox_kube.bodies import budget, node, pod, replica_set
from tests.sandbox_kube.conftest import Caller

PODS = "/api/v1/namespaces/default/pods"
POD = f"{PODS}/web-1"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def eviction(name: str, **options: Any) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options}


# -- pods that run once ----------------------------------------------------------------------------------------------

ONCE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "once"},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "ask", "image": "registry.example.com/ask:1"}]},
}


@pytest.mark.parametrize(("exit_code", "phase"), [(0, "Succeeded"), (3, "Failed")])
async def test_a_pod_that_is_not_restarted_says_what_its_image_says_and_ends(
    world: KubeWorld, admin: Caller, exit_code: int, phase: str
) -> None:
    world.runs["registry.example.com/ask:1"] = Run("401\n", exit_code)
    assert (await admin("POST", PODS, body=ONCE)).status == 201
    pod = (await admin.get(f"{PODS}/once")).body
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == (phase, "node-1")
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == exit_code
    assert (await admin.get(f"{PODS}/once/log")).text == "401\n"
    await admin.delete(f"{PODS}/once")
    assert (await admin.get(f"{PODS}/once")).status == 404


async def test_a_pod_of_an_image_that_nobody_knows_waits(admin: Caller) -> None:
    await admin("POST", PODS, body=ONCE)
    assert (await admin.get(f"{PODS}/once")).body["status"]["phase"] == "Pending"


# -- deletion -------------------------------------------------------------------------------------------------------


async def test_a_pod_is_given_time_and_its_kubelet_lets_it_go(admin: Caller) -> None:
    gone = await admin.delete(POD)
    assert (gone.status, gone.body["kind"]) == (200, "Pod")
    assert gone.body["metadata"]["deletionGracePeriodSeconds"] == 30
    assert gone.body["metadata"]["deletionTimestamp"] > gone.body["metadata"]["creationTimestamp"]
    assert (await admin.get(POD)).status == 404


@pytest.mark.parametrize("held", ["a silent node", "a node that is gone"])
async def test_a_pod_on_a_dead_node_stays_until_it_is_forced(world: KubeWorld, admin: Caller, held: str) -> None:
    if held == "a silent node":
        world.put(node("node-1", ready=False))
    else:
        kind = world.kinds.by_word("nodes")
        assert kind is not None
        world.remove(kind, "node-1")
    assert (await admin.delete(POD)).status == 200
    assert "deletionTimestamp" in (await admin.get(POD)).body["metadata"]
    assert (await admin.table(PODS)).rows[0][2] == "Terminating"
    await admin.delete(POD, {"gracePeriodSeconds": 0})
    assert (await admin.get(POD)).status == 404


@pytest.mark.parametrize(
    ("preconditions", "message"),
    [
        (
            {"uid": "other"},
            'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition (other) does not match the UID',
        ),
        (
            {"resourceVersion": "1"},
            'Operation cannot be fulfilled on Pod "web-1": the ResourceVersion in the precondition (1) does not match',
        ),
    ],
)
async def test_a_precondition_that_does_not_hold_is_409(
    admin: Caller, preconditions: dict[str, str], message: str
) -> None:
    reply = await admin.delete(POD, {"preconditions": preconditions})
    assert reply.said[:2] == (409, "Conflict")
    assert reply.body["message"].startswith(message)
    assert (await admin.get(POD)).status == 200


async def test_one_that_holds_lets_it_go(admin: Caller) -> None:
    uid = (await admin.get(POD)).body["metadata"]["uid"]
    assert (await admin.delete(POD, {"preconditions": {"uid": uid}, "gracePeriodSeconds": 0})).status == 200
    assert (await admin.get(POD)).status == 404


async def test_other_kinds_go_at_once_and_say_so(admin: Caller) -> None:
    gone = await admin.delete(f"{BUDGETS}/web")
    assert gone.body["status"] == "Success"
    assert gone.body["details"]["name"] == "web"
    assert gone.body["details"]["group"] == "policy"
    assert (await admin.delete(f"{BUDGETS}/web")).said[:2] == (404, "NotFound")


async def test_a_finalizer_holds_an_object_until_it_is_taken_off(admin: Caller) -> None:
    await admin.patch("/api/v1/nodes/node-2", {"metadata": {"finalizers": ["example.com/wait"]}})
    marked = await admin.delete("/api/v1/nodes/node-2")
    assert marked.body["metadata"]["deletionGracePeriodSeconds"] == 0
    assert "deletionTimestamp" in (await admin.get("/api/v1/nodes/node-2")).body["metadata"]
    await admin.patch("/api/v1/nodes/node-2", {"metadata": {"finalizers": None}})
    assert (await admin.get("/api/v1/nodes/node-2")).status == 404


async def test_a_collection_is_deleted_as_far_as_it_is_selected(world: KubeWorld, admin: Caller) -> None:
    world.put(pod("other", app="other"))
    gone = await admin.delete(PODS, labelSelector="app=web")
    assert gone.names == ["web-1", "web-2"]
    assert (await admin.get(PODS)).names == ["other"]
    assert (await admin.get("/api/v1/pods")).names == ["other", "coredns-1"]
    assert (await admin.delete("/api/v1/nodes", labelSelector="agentpool=system")).names == ["node-2"]


async def test_a_namespace_takes_everything_with_it(world: KubeWorld, admin: Caller) -> None:
    gone = await admin.delete("/api/v1/namespaces/kube-system")
    assert gone.body["status"]["phase"] == "Terminating"
    assert (await admin.get("/api/v1/namespaces/kube-system")).status == 404
    assert (await admin.get("/api/v1/pods")).names == ["web-1", "web-2"]


async def test_what_belongs_to_a_deleted_object_goes_too_unless_orphaned(world: KubeWorld, admin: Caller) -> None:
    path = "/apis/apps/v1/namespaces/default/replicasets/web"
    owner = world.put(replica_set("web", 1))
    world.put(pod("web-3", owner=owner))
    await admin.delete(path, {"propagationPolicy": "Orphan"})
    assert (await admin.get(f"{PODS}/web-3")).status == 200
    world.put(replica_set("web", 1))
    await admin.delete(path)
    assert (await admin.get(f"{PODS}/web-3")).status == 404


async def test_a_pod_that_is_wanted_is_replaced_on_a_node_that_takes_it(world: KubeWorld, admin: Caller) -> None:
    owner = world.put(replica_set("web", 1))
    world.put(pod("web-3", owner=owner, app="kept"))
    await admin.patch("/api/v1/nodes/node-1", {"spec": {"unschedulable": True}})
    await admin.delete(f"{PODS}/web-3")
    (item,) = (await admin.get(PODS, labelSelector="app=kept")).body["items"]
    assert item["metadata"]["name"].startswith("web-")
    assert item["spec"]["nodeName"] == "node-2"
    assert item["status"]["phase"] == "Running"
    await admin.patch("/api/v1/nodes/node-2", {"spec": {"unschedulable": True}})
    await admin.delete(f"{PODS}/{item['metadata']['name']}")
    (item,) = (await admin.get(PODS, labelSelector="app=kept")).body["items"]
    assert item["status"]["phase"] == "Pending"


# -- evictions ------------------------------------------------------------------------------------------------------


async def test_an_eviction_is_refused_by_a_budget_that_allows_none(admin: Caller) -> None:
    refused = await admin.post(f"{POD}/eviction", eviction("web-1"))
    assert refused.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Cannot evict pod as it would violate the pod's disruption budget.",
        "reason": "TooManyRequests",
        "details": {
            "causes": [
                {
                    "reason": "DisruptionBudget",
                    "message": "The disruption budget web needs 2 healthy pods and has 2 currently",
                }
            ]
        },
        "code": 429,
    }
    assert (await admin.get(POD)).status == 200


async def test_an_eviction_that_is_allowed_uses_up_the_budget(admin: Caller) -> None:
    await admin.patch(f"{BUDGETS}/web", {"spec": {"minAvailable": 1}})
    assert (await admin.get(f"{BUDGETS}/web")).body["status"]["disruptionsAllowed"] == 1
    done = await admin.post(f"{POD}/eviction", eviction("web-1"))
    assert (done.status, done.body["status"]) == (201, "Success")
    assert (await admin.get(POD)).status == 404
    assert (await admin.get(f"{BUDGETS}/web")).body["status"]["disruptionsAllowed"] == 0
    assert (await admin.post(f"{PODS}/web-2/eviction", eviction("web-2"))).status == 429


async def test_two_budgets_on_one_pod_are_500(world: KubeWorld, admin: Caller) -> None:
    world.put(budget("second", maxUnavailable=2))
    refused = await admin.post(f"{POD}/eviction", eviction("web-1"))
    assert refused.status == 500
    assert refused.body["message"] == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )


async def test_a_budget_that_is_being_processed_says_when_to_come_back(world: KubeWorld, admin: Caller) -> None:
    world.controllers = False
    await admin.patch(f"{BUDGETS}/web", {"spec": {"minAvailable": 0}})
    refused = await admin.post(f"{POD}/eviction", eviction("web-1"))
    assert refused.headers["Retry-After"] == "10"
    assert refused.body["details"]["causes"][0]["message"] == (
        "The disruption budget web is still being processed by the server."
    )


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", "Pending"])
async def test_a_pod_that_does_not_run_needs_no_budget(world: KubeWorld, admin: Caller, phase: str) -> None:
    world.put(pod("web-3", phase=phase, ready=False))
    assert (await admin.post(f"{PODS}/web-3/eviction", eviction("web-3"))).status == 201


async def test_an_unready_pod_may_go_while_enough_others_are_healthy(world: KubeWorld, admin: Caller) -> None:
    world.put(pod("web-3", ready=False))
    assert (await admin.post(f"{PODS}/web-3/eviction", eviction("web-3"))).status == 201
    await admin.patch(f"{BUDGETS}/web", {"spec": {"minAvailable": 5}})
    world.put(pod("web-4", ready=False))
    assert (await admin.post(f"{PODS}/web-4/eviction", eviction("web-4"))).status == 429
    await admin.patch(f"{BUDGETS}/web", {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}})
    assert (await admin.post(f"{PODS}/web-4/eviction", eviction("web-4"))).status == 201


async def test_a_dry_eviction_only_asks(admin: Caller) -> None:
    await admin.patch(f"{BUDGETS}/web", {"spec": {"minAvailable": 1}})
    assert (await admin.post(f"{POD}/eviction", eviction("web-1", dryRun=["All"]))).status == 201
    assert (await admin.get(POD)).status == 200
    assert (await admin.get(f"{BUDGETS}/web")).body["status"]["disruptionsAllowed"] == 1


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 2}, (2, 2, 2, 0)),
        ({"maxUnavailable": 1}, (4, 3, 2, 0)),
        ({"maxUnavailable": "50%"}, (4, 2, 2, 0)),
        ({"maxUnavailable": "75%"}, (4, 1, 2, 1)),
        ({"minAvailable": "25%"}, (4, 1, 2, 1)),
        ({"minAvailable": "30%"}, (4, 2, 2, 0)),
        ({"minAvailable": 0}, (2, 0, 2, 2)),
    ],
)
async def test_the_disruption_controller_counts_what_the_owner_wants(
    world: KubeWorld, admin: Caller, spec: dict[str, Any], expected: tuple[int, int, int, int]
) -> None:
    owner = world.put(replica_set("shop", 4, uid="rs-uid-2"))
    for name in ("shop-1", "shop-2"):
        world.put(pod(name, owner=owner, app="shop"))
    made = (await admin.post(BUDGETS, budget("shop", app="shop", **spec))).body["status"]
    counted = tuple(made[field] for field in ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"))
    assert counted == expected
    assert made["conditions"][0]["reason"] == ("SufficientPods" if expected[3] else "InsufficientPods")


@pytest.mark.parametrize(
    ("spec", "allowed"), [({"maxUnavailable": 1}, 0), ({"minAvailable": "50%"}, 0), ({"minAvailable": 1}, 1)]
)
async def test_pods_of_what_cannot_be_scaled_are_counted_by_a_whole_number_only(
    world: KubeWorld, admin: Caller, spec: dict[str, Any], allowed: int
) -> None:
    meta = {"name": "agent", "namespace": "default", "uid": "ds-uid"}
    owner = world.put({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": {}})
    for name in ("agent-1", "agent-2"):
        world.put(pod(name, owner=owner, app="agent"))
    made = (await admin.post(BUDGETS, budget("agent", app="agent", **spec))).body["status"]
    assert made["disruptionsAllowed"] == allowed
    assert made["conditions"][0]["reason"] == ("SufficientPods" if allowed else "SyncFailed")
    if not allowed:
        assert made["conditions"][0]["message"].startswith("found no controllers for pod")
