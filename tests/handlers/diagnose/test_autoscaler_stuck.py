"""Pods wait, and the autoscaler adds no node: its maximum, its back-off, its silence, its health, and Karpenter."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Finding, Outcome
from tests.handlers.diagnose.bodies import CLUSTER, NOW, Body, at, pool_id, usage
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, diagnosed, found

CODE = "autoscaler-stuck"
POD = "web-5d9c7b8f6-x2x4z"
AT_MOST = "pod didn't trigger scale-up: 1 max node group size reached"


def status(
    target: int = 1, most: int = 3, scale_up: str = "NoActivity", why: str = "", health: str = "Healthy", ago: int = 0
) -> str:
    written = (NOW - timedelta(minutes=ago)).strftime("%Y-%m-%d %H:%M:%S")
    return f"""\
time: {written}.123456789 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: {health}
    nodeCounts:
      registered: {{total: 8, ready: 3, unready: {{total: 5}}}}
nodeGroups:
- name: aks-apps-12345678-vmss
  health:
    status: Healthy
    nodeCounts: {{registered: {{total: 1, ready: 1}}}}
    cloudProviderTarget: {target}
    minSize: 1
    maxSize: {most}
  scaleUp:
    status: {scale_up}
    backoffInfo:
      errorCode: cloudProviderError
      errorMessage: '{why}'
    lastTransitionTime: "2026-11-18T03:01:04.603109712Z"
"""


def cluster(told: str, said: str = "", reason: str = "NotTriggerScaleUp", ago: int = 1, **requests: str) -> Inside:
    """One node of an autoscaled pool, which is full, and a pod that has waited for ten minutes."""
    inside = Inside()
    inside.pool("apps", count=1, enableAutoScaling=True, minCount=1, maxCount=3)
    inside.room()
    inside.runs("full-abc-1", spec={"containers": [{"name": "main", "resources": {"requests": {"cpu": "3500m"}}}]})
    inside.waits(POD, "0/1 nodes are available: 1 Insufficient cpu.", requests=requests or {"cpu": "1"})
    inside.autoscaler = told
    about = {"kind": "Pod", "namespace": "shop", "name": POD}
    if said:
        last = at(timedelta(minutes=ago))
        inside.add("Event", "e1", type="Normal", reason=reason, message=said, involvedObject=about, lastTimestamp=last)
    return inside


async def test_a_pool_at_its_maximum_is_found_with_the_higher_one_to_set() -> None:
    inside = cluster(status(target=1, most=1), AT_MOST)
    inside.pools["apps"]["maxCount"] = 1
    finding = await found(CODE, inside)
    assert (finding.subject, finding.facts["cause"]) == (pool_id("apps"), "at-most")
    assert finding.because == (
        f"1 pod waits for a node for 10 min: shop/{POD}",
        "pool apps is at its maximum: 1 of 1 nodes",
        f"cluster autoscaler: {AT_MOST}",
    )
    assert "--min-count 1 --max-count 2" in page("Fix", finding)


async def test_its_twin_that_may_grow_is_not_called_stuck() -> None:
    check = await asked(CODE, cluster(status(target=1, most=3), AT_MOST))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "pool apps could have one more; the autoscaler says: " in check.why


async def test_a_pod_that_no_larger_pool_would_take_is_not_the_autoscalers_matter() -> None:
    inside = cluster(status(target=1, most=1), AT_MOST, cpu="9")
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


def bound_to(node: str) -> Body:
    """As the controller of daemon sets binds a pod to its node."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }


@pytest.mark.parametrize(
    ("spec", "owner"),
    [
        (bound_to("node-0"), "DaemonSet"),
        (bound_to("node-0"), "ReplicaSet"),
        ({}, "DaemonSet"),
        ({"nodeSelector": {"kubernetes.io/hostname": "node-0"}}, "ReplicaSet"),
        ({"priority": -11}, "ReplicaSet"),
    ],
    ids=["daemon set", "field", "any daemon set", "host name", "expendable"],
)
@pytest.mark.parametrize("most", [1, 3])
async def test_a_pod_for_which_no_autoscaler_adds_a_node_is_not_its_matter(spec: Body, owner: str, most: int) -> None:
    inside = cluster(status(target=1, most=most), AT_MOST)
    pod = next(one for one in inside.objects if one["metadata"]["name"] == POD)
    pod["spec"] |= spec
    pod["metadata"]["ownerReferences"][0]["kind"] = owner
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.CLEAR
    assert check.why == "1 pod waiting, none for long for a node that an autoscaler could add"


async def test_a_pod_of_the_least_priority_that_counts_is_its_matter() -> None:
    inside = cluster(status(target=1, most=1), AT_MOST)
    next(one for one in inside.objects if one["metadata"]["name"] == POD)["spec"]["priority"] = -10
    assert (await asked(CODE, inside)).outcome is Outcome.FOUND


async def test_karpenter_knows_no_pods_that_are_not_worth_a_node() -> None:
    inside = provisioned("no capacity for Standard_D4s_v5 in westeurope")
    next(one for one in inside.objects if one["metadata"]["name"] == POD)["spec"]["priority"] = -11
    assert (await asked(CODE, inside)).outcome is Outcome.FOUND


async def cpu_seconds(pods: int) -> float:
    """What the check costs where so many pods of one workload wait, and every one of 1,500 nodes is full."""
    inside = cluster(status(target=1, most=1), AT_MOST)
    for number in range(1, 1500):
        inside.room(f"node-{number}", taints=[{"key": "full", "effect": "NoSchedule"}])
    for number in range(1, pods):
        inside.waits(f"{POD[:-5]}{number:05}", requests={"cpu": "1"})
    began = time.process_time()
    finding = await found(CODE, inside)
    spent = time.process_time() - began
    assert finding.facts["pods"] == f"{pods} pod{'s' if pods > 1 else ''}"
    return spent


async def test_many_pods_of_one_workload_cost_little_more_than_one() -> None:
    await cpu_seconds(1)  # what is only done once
    assert await cpu_seconds(500) < 3 * await cpu_seconds(1)


@pytest.mark.parametrize(("ago", "outcome"), [(3, Outcome.CLEAR), (40, Outcome.FOUND)])
async def test_a_node_on_its_way_is_waited_for_and_not_for_ever(ago: int, outcome: Outcome) -> None:
    inside = cluster(status(target=1, most=1), "pod triggered scale-up", "TriggeredScaleUp", ago)
    assert (await asked(CODE, inside)).outcome is outcome


async def test_a_node_that_was_asked_for_and_has_not_registered_is_on_its_way() -> None:
    assert (await asked(CODE, cluster(status(target=2, most=2)))).outcome is not Outcome.FOUND


async def test_a_node_group_in_back_off_is_found_with_the_error() -> None:
    finding = await found(CODE, cluster(status(scale_up="Backoff", why="Azure said no")))
    assert (finding.subject, finding.facts["cause"]) == (pool_id("apps"), "backed-off")
    assert "is backed off since 2026-11-18T03:01:04 UTC: cloudProviderError: Azure said no" in finding.because[1]
    assert "--disable-cluster-autoscaler" in page("Fix", finding)


async def test_a_back_off_because_of_a_quota_follows_from_the_quota() -> None:
    inside = cluster(status(scale_up="Backoff", why="exceeding approved Cores quota"))
    inside.usages[2] = usage("standardDSv5Family", 100, 100)
    by_code = {one.finding.code: one for one in (await diagnosed(inside)).findings}
    assert [code for code, _ in by_code[CODE].explained_by] == ["quota-exceeded"]
    assert [code for code, _ in by_code["pod-unschedulable"].explained_by] == [CODE]


async def test_a_back_off_for_which_nobody_waits_is_no_problem_now() -> None:
    inside = cluster(status(scale_up="Backoff", why="Azure said no"))
    inside.objects = [one for one in inside.objects if one["metadata"]["name"] != POD]
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


async def test_an_autoscaler_that_has_not_written_for_hours_does_not_work() -> None:
    finding = await found(CODE, cluster(status(ago=190)))
    assert (finding.subject, finding.facts["cause"]) == (CLUSTER, "silent")
    assert finding.facts["written"] == "2026-11-17 23:57 UTC"


async def test_a_cluster_that_it_calls_unhealthy_is_found_with_the_counts() -> None:
    finding = await found(CODE, cluster(status(health="Unhealthy")))
    assert finding.facts["cause"] == "unhealthy"
    assert finding.because[1] == "cluster autoscaler: the cluster is Unhealthy, 5 of 8 nodes are not Ready"


AS_TEXT = """\
Cluster-autoscaler status at 2026-11-18 03:06:51.123456789 +0000 UTC:
Cluster-wide:
  Health:      {health} (ready=3 unready=5 registered=8 longUnregistered=0)

NodeGroups:
  Name:        aks-apps-12345678-vmss
    Health:      Healthy (ready=1 unready=0 registered=1 cloudProviderTarget=1 (minSize=1, maxSize=1))
    ScaleUp:     NoActivity (ready=1 cloudProviderTarget=1)
"""


@pytest.mark.parametrize(("health", "cause"), [("Healthy", "at-most"), ("Unhealthy", "unhealthy")])
async def test_the_older_text_says_the_same(health: str, cause: str) -> None:
    finding = await found(CODE, cluster(AS_TEXT.format(health=health)))
    assert finding.facts["cause"] == cause


def provisioned(message: str, ago: int = 20) -> Inside:
    inside = cluster("")
    inside.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    inside.pools["apps"] = {key: value for key, value in inside.pools["apps"].items() if key != "enableAutoScaling"}
    launched: Body = {"type": "Launched", "status": "Unknown", "reason": "LaunchFailed", "message": message}
    metadata: dict[str, Any] = {"name": "default-q7m4z", "labels": {"karpenter.sh/nodepool": "default"}}
    metadata["creationTimestamp"] = at(timedelta(minutes=ago))
    inside.claims.append({"metadata": metadata, "spec": {}, "status": {"conditions": [launched]}})
    return inside


async def test_a_claim_of_node_auto_provisioning_that_gets_no_machine_is_found() -> None:
    finding: Finding = await found(CODE, provisioned("no capacity for Standard_D4s_v5 in westeurope"))
    assert (finding.subject, finding.facts["cause"]) == (CLUSTER, "claim")
    assert "no capacity for Standard_D4s_v5" in finding.because[1]
    assert "kubectl describe nodeclaim default-q7m4z" in page("Check it yourself", finding)


async def test_a_claim_that_is_a_minute_old_is_waited_for() -> None:
    assert (await asked(CODE, provisioned("no capacity", ago=1))).outcome is Outcome.CLEAR


async def test_node_auto_provisioning_that_makes_no_claim_is_left_open() -> None:
    inside = provisioned("")
    inside.claims.clear()
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"the node for shop/{POD}: absent, no claim of node auto-provisioning waits for a machine" in check.why
    assert "the limits and requirements of its NodePools are not read" in check.why


async def test_what_node_auto_provisioning_says_of_a_pod_is_quoted() -> None:
    inside = provisioned("")
    inside.claims.clear()
    about = {"kind": "Pod", "namespace": "shop", "name": POD}
    for name, said in (
        ("e8", "0/1 nodes are available"),
        ("e9", 'Failed to schedule pod, all available instance types exceed limits for nodepool: "default"'),
    ):
        inside.add(
            "Event",
            name,
            type="Warning",
            reason="FailedScheduling",
            message=said,
            involvedObject=about,
            lastTimestamp=at(timedelta(minutes=1)),
        )
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "it says: Failed to schedule pod, all available instance types exceed limits for nodepool" in check.why


@pytest.mark.parametrize("denied", ["cluster-autoscaler-status", "/api/v1/pods", "/api/v1/nodes"])
async def test_where_the_proof_is_denied_it_stays_open(denied: str) -> None:
    inside = cluster(status(target=1, most=1), AT_MOST)
    inside.denied = {denied}
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_an_autoscaler_without_a_status_leaves_it_open() -> None:
    check = await asked(CODE, cluster(""))
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "it has not written any" in check.why


async def test_where_nothing_is_autoscaled_nobody_is_asked() -> None:
    inside = cluster("")
    inside.pools["apps"]["enableAutoScaling"] = False
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR
