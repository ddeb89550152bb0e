"""A pod that no node will take: what keeps it off each, and the smallest change that would let it run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.waiting import CODE, WEB, anti, cluster, dead, fills, found, outcome
from tests.handlers.diagnose.wire import asked


def near(selector: Body, topology: str = "kubernetes.io/hostname") -> Body:
    term = {"labelSelector": {"matchLabels": selector}, "topologyKey": topology}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def on_nodes(*terms: Body) -> Body:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key: str, operator: str, *values: str) -> Body:
    return {"key": key, "operator": operator, "values": list(values)}


TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": WEB},
}

Case = Callable[[], tuple[Inside, Inside]]


def selected() -> tuple[Inside, Inside]:
    wrong, right = cluster(labels={"disk": "hdd"}), cluster(labels={"disk": "ssd"})
    for one in (wrong, right):
        one.waits(nodeSelector={"disk": "ssd"})
    return wrong, right


def preferred() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster(labels={"size": "9"})
    for one in (wrong, right):
        one.waits(affinity=on_nodes({"matchExpressions": [expression("size", "Gt", "8")]}))
    return wrong, right


def tainted() -> tuple[Inside, Inside]:
    wrong, right = cluster(taints=[TAINT]), cluster(taints=[TAINT])
    wrong.waits(tolerations=[{"key": "dedicated", "operator": "Equal", "value": "web"}])
    right.waits(tolerations=[{"key": "dedicated", "operator": "Equal", "value": "batch"}])
    return wrong, right


def cordoned() -> tuple[Inside, Inside]:
    wrong, right = cluster(unschedulable=True), cluster()
    for one in (wrong, right):
        one.waits()
    return wrong, right


def of_resource(name: str, wanted: str, enough: str) -> Case:
    def both() -> tuple[Inside, Inside]:
        wrong, right = cluster(), cluster()
        wrong.waits(requests={name: wanted})
        right.waits(requests={name: enough})
        return wrong, right

    return both


def of_gpus() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster(allocatable={"nvidia.com/gpu": "1"})
    for one in (wrong, right):
        one.waits(requests={"nvidia.com/gpu": "1"})
    return wrong, right


def of_count() -> tuple[Inside, Inside]:
    wrong, right = cluster(allocatable={"pods": "1"}), cluster(allocatable={"pods": "2"})
    for one in (wrong, right):
        one.runs("cache-6f5d-aaaaa")
        one.waits()
    return wrong, right


def apart() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster()
    for one, app in ((wrong, "web"), (right, "cache")):
        one.runs("web-5d9c7b8f6-aaaaa", labels={"app": app})
        one.waits(affinity=anti(WEB))
    return wrong, right


def kept_away() -> tuple[Inside, Inside]:
    """The pod that runs has the rule."""
    wrong, right = cluster(), cluster()
    for one, app in ((wrong, "web"), (right, "mail")):
        one.runs("cache-6f5d-aaaaa", spec={"affinity": anti({"app": app})})
        one.waits()
    return wrong, right


def together() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster()
    right.runs("cache-6f5d-aaaaa")
    for one in (wrong, right):
        one.waits(affinity=near({"app": "cache"}))
    return wrong, right


def uneven() -> tuple[Inside, Inside]:
    wrong, right = cluster(2), cluster(2)
    for one in (wrong, right):
        one.runs("web-5d9c7b8f6-aaaaa", labels=WEB)
        one.nodes["node-1"]["spec"]["taints"] = [TAINT]
    wrong.waits(topologySpreadConstraints=[SPREAD])
    right.waits(topologySpreadConstraints=[{**SPREAD, "maxSkew": 2}])
    return wrong, right


def of_port() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster()
    for one, port in ((wrong, 8443), (right, 9443)):
        taken = {"ports": [{"containerPort": port, "hostPort": port}]}
        one.runs("cache-6f5d-aaaaa", spec={"containers": [{"name": "main", **taken}]})
        one.waits()["spec"]["containers"][0]["ports"] = [{"containerPort": 8443, "hostPort": 8443}]
    return wrong, right


def of_zone() -> tuple[Inside, Inside]:
    wrong, right = cluster(), cluster()
    for one, zone in ((wrong, "westeurope-2"), (right, "westeurope-1")):
        one.waits(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
        one.add("PersistentVolumeClaim", "data", spec={"volumeName": "pvc-1"}, status={"phase": "Bound"})
        terms = [{"matchExpressions": [expression("topology.kubernetes.io/zone", "In", zone)]}]
        one.add(
            "PersistentVolume",
            "pvc-1",
            "",
            spec={
                "claimRef": {"namespace": "shop", "name": "data"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
        )
    return wrong, right


CASES: dict[str, tuple[str, Case]] = {
    "node-selector": ("has no label disk=ssd", selected),
    "node-affinity": ("does not match the node affinity: size > 8", preferred),
    "taint": ("has taint dedicated=batch:NoSchedule, which the pod does not tolerate", tainted),
    "cordon": ("is cordoned", cordoned),
    "cpu": ("CPU: 4 of 4 CPUs free, 5 requested", of_resource("cpu", "5", "4")),
    "memory": ("memory: 16 GiB of 16 GiB free, 17 GiB requested", of_resource("memory", "17Gi", "16Gi")),
    "ephemeral-storage": ("ephemeral storage: 100 GiB of", of_resource("ephemeral-storage", "101Gi", "1Gi")),
    "extended-resource": ("has no nvidia.com/gpu, 1 requested", of_gpus),
    "pods-per-node": ("has 1 of 1 pods", of_count),
    "anti-affinity": ("has a pod with app=web in its node", apart),
    "pod-affinity": ("has no pod with app=cache in its node", together),
    "host-port": ("has TCP 8443 in use by another pod", of_port),
    "volume-zone": ("does not reach the volume of claim data", of_zone),
}


@pytest.mark.parametrize("cause", CASES)
async def test_what_keeps_a_pod_off_its_node_is_named_and_shown(cause: str) -> None:
    why, both = CASES[cause]
    finding = await found(both()[0])
    assert (finding.subject, finding.facts["cause"]) == ("shop/Deployment/web", cause)
    assert finding.because[0] == "web-5d9c7b8f6-x2x4z waits for a node for 10 min: none of 1 will do"
    assert f"1 node: node-0: {why}" in finding.because[1]
    assert "scheduler: 0/1 nodes are available" in finding.because


@pytest.mark.parametrize("cause", CASES)
async def test_where_one_fact_differs_a_node_would_do_and_nothing_is_claimed(cause: str) -> None:
    """The scheduler still says no: that is left open, for we see no reason."""
    assert await outcome(CASES[cause][1]()[1]) is Outcome.INCONCLUSIVE


async def test_a_pod_that_runs_may_keep_another_away_by_its_own_rule() -> None:
    wrong, right = kept_away()
    finding = await found(wrong)
    assert finding.facts["cause"] == "anti-affinity"
    assert "pod shop/cache-6f5d-aaaaa, which keeps this one away" in finding.because[1]
    assert await outcome(right) is Outcome.INCONCLUSIVE


async def test_a_spread_that_would_become_too_uneven_is_told_with_its_counts() -> None:
    wrong, right = uneven()
    finding = await found(wrong)
    assert finding.facts["cause"] == "topology-spread"
    assert "node-0: would have 2 pods with app=web in its node, where another has 0 (maxSkew 1)" in finding.because[1]
    assert await outcome(right) is Outcome.INCONCLUSIVE


async def test_an_unpopulated_zone_counts_only_among_nodes_that_the_pod_may_use() -> None:
    """nodeAffinityPolicy Honor: a node that the selector rules out is no domain to spread over."""
    inside = cluster(2, labels={"disk": "ssd"})
    inside.nodes["node-1"]["metadata"]["labels"]["disk"] = "hdd"
    inside.runs("web-5d9c7b8f6-aaaaa", labels=WEB)
    inside.waits(topologySpreadConstraints=[SPREAD], nodeSelector={"disk": "ssd"})
    assert await outcome(inside) is Outcome.INCONCLUSIVE


async def test_a_pod_that_is_being_deleted_is_not_counted_by_a_spread() -> None:
    inside = uneven()[0]
    next(one for one in inside.objects if one["kind"] == "Pod")["metadata"]["deletionTimestamp"] = at(timedelta(0))
    assert await outcome(inside) is Outcome.INCONCLUSIVE


async def test_a_cordoned_node_is_no_domain_where_the_spread_honours_taints() -> None:
    inside = cluster(2)
    inside.nodes["node-1"]["spec"]["unschedulable"] = True
    inside.runs("web-5d9c7b8f6-aaaaa", labels=WEB)
    pod = inside.waits(topologySpreadConstraints=[SPREAD | {"nodeTaintsPolicy": "Honor"}])
    assert await outcome(inside) is Outcome.INCONCLUSIVE
    pod["spec"]["topologySpreadConstraints"] = [SPREAD]
    finding = await found(inside)
    assert "node-0: would have 2 pods with app=web in its node, where another has 0" in " ".join(finding.because)


async def test_the_nodes_that_its_selector_rules_out_are_asked_last() -> None:
    """The one node that it may have is cordoned; two others have another label."""
    inside = cluster(3)
    inside.nodes["node-2"]["metadata"]["labels"]["disk"] = "ssd"
    inside.nodes["node-2"]["spec"]["unschedulable"] = True
    inside.waits(nodeSelector={"disk": "ssd"})
    finding = await found(inside)
    assert (finding.facts["cause"], finding.facts["node"]) == ("cordon", "node-2")
    assert finding.because[1:3] == ("1 node: node-2: is cordoned", "2 nodes: node-0, node-1: has no label disk=ssd")


async def test_a_tainted_pool_with_room_does_not_hide_that_the_others_are_full() -> None:
    inside = cluster(2)
    inside.nodes["node-0"]["spec"]["taints"] = [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}]
    inside.runs("cache-6f5d-aaaaa", "node-1", spec={"containers": [{"resources": {"requests": {"cpu": "3500m"}}}]})
    inside.waits(requests={"cpu": "1"})
    finding = await found(inside)
    assert (finding.facts["cause"], finding.facts["node"]) == ("cpu", "node-1")
    assert finding.because[1] == "1 node: node-1: CPU: 0.5 of 4 CPUs free, 1 requested"
    assert finding.facts["fits_with"] == "500m"


LOWER = "kubectl set resources"


async def test_a_lower_request_is_rounded_down_to_what_is_free() -> None:
    inside = cluster(allocatable={"memory": "4497008128"})
    inside.waits(requests={"memory": "5Gi"})
    finding = await found(inside)
    assert f"{LOWER} deployment web --namespace shop --requests memory=4288Mi" in page("Fix", finding)


@pytest.mark.parametrize("free", ["0", "524288"])
async def test_where_nothing_is_free_no_lower_request_is_named(free: str) -> None:
    inside = cluster(allocatable={"memory": free})
    inside.waits(requests={"memory": "5Gi"})
    assert LOWER not in page("Fix", await found(inside))


async def test_where_it_lacks_more_than_that_no_lower_request_is_enough() -> None:
    inside = cluster()
    inside.waits(requests={"cpu": "9", "memory": "99Gi"})
    assert LOWER not in page("Fix", await found(inside))


async def test_room_on_a_cordoned_node_is_not_free() -> None:
    inside = cluster(2)
    inside.nodes["node-0"]["spec"]["unschedulable"] = True
    fills(inside, "node-1")
    inside.waits(requests={"cpu": "9"})
    finding = await found(inside)
    assert (finding.facts["free"], finding.facts["fits_with"]) == ("0.1 CPUs", "100m")


async def test_init_containers_sidecars_and_overhead_count() -> None:
    inside = cluster()
    body = inside.waits(requests={"cpu": "2"}, overhead={"cpu": "250m"})
    side = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    body["spec"]["initContainers"] = [side, {"name": "setup", "resources": {"requests": {"cpu": "3"}}}]
    finding = await found(inside)
    assert "CPU: 4 of 4 CPUs free, 4.25 requested" in finding.because[1]


async def test_pods_that_have_ended_hold_no_room() -> None:
    inside = cluster()
    ended = inside.runs("report-1-aaaaa", spec={"containers": [{"resources": {"requests": {"cpu": "4"}}}]})
    ended["status"]["phase"] = "Succeeded"
    inside.waits(requests={"cpu": "4"})
    assert await outcome(inside) is Outcome.INCONCLUSIVE


async def test_a_pod_of_a_daemon_set_is_for_one_node_and_the_others_are_not_asked() -> None:
    inside = cluster(2)
    inside.nodes["node-1"]["status"]["allocatable"]["cpu"] = "50m"
    fields = {"matchFields": [expression("metadata.name", "In", "node-1")]}
    inside.waits(affinity=on_nodes(fields))
    finding = await found(inside)
    assert (finding.facts["cause"], finding.facts["nodes"]) == ("cpu", 1)


async def test_a_pod_with_scheduling_gates_is_held_back_on_purpose() -> None:
    inside = cluster(unschedulable=True)
    inside.waits(schedulingGates=[{"name": "example.com/quota"}])
    assert await outcome(inside) is Outcome.CLEAR


UNBOUND = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: none"
DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


def with_claim(said: str, phase: str = "Bound", **spec: Any) -> Inside:
    """A pod with a claim that shows nothing wrong."""
    inside = cluster()
    inside.waits(said=said, volumes=[DATA], **spec)
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, "storageClassName": ""}
    inside.add("PersistentVolumeClaim", "data", spec=asks, status={"phase": phase})
    inside.more_inside["/apis/storage.k8s.io/v1/storageclasses"] = []
    return inside


async def test_a_pod_whose_claim_is_not_bound_is_a_matter_of_its_volume() -> None:
    inside = with_claim(UNBOUND, phase="Lost")
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.CLEAR
    assert "shop/web-5d9c7b8f6-x2x4z waits for its volume: 0/1 nodes are available: pod has unbound" in check.why
    assert (await asked("volume-unbound", inside)).outcome is Outcome.FOUND


@pytest.mark.parametrize(
    "said",
    [
        UNBOUND,
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
        '0/1 nodes are available: persistentvolumeclaim "data" not found.',
        '0/1 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "x-y".',
    ],
)
async def test_a_pod_that_waits_for_a_volume_of_which_nobody_says_what_is_wrong_is_left_open(said: str) -> None:
    inside = with_claim(said)
    assert (await asked("volume-unbound", inside)).outcome is Outcome.CLEAR
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert f"the scheduler says {said.partition(' preemption')[0]}" in check.why


async def test_a_volume_that_is_being_made_is_waited_for() -> None:
    inside = with_claim(UNBOUND)
    pod = next(one for one in inside.objects if one["kind"] == "Pod")
    pod["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(minutes=1))
    assert await outcome(inside) is Outcome.CLEAR


async def test_a_pod_that_also_lacks_cpu_is_compared_with_the_nodes() -> None:
    said = "0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 Insufficient cpu."
    inside = with_claim(said, requests={"cpu": "9"})
    assert (await found(inside)).facts["cause"] == "cpu"


async def test_claims_that_may_not_be_seen_leave_open_whether_the_volume_is_it() -> None:
    inside = with_claim(UNBOUND, phase="Lost")
    inside.denied = {"persistentvolumeclaims"}
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_a_pod_that_waits_for_some_seconds_is_no_problem_yet() -> None:
    inside = cluster(unschedulable=True)
    inside.waits()["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(seconds=8))
    assert await outcome(inside) is Outcome.CLEAR


async def test_too_many_disks_on_every_node_is_what_only_the_scheduler_knows() -> None:
    inside = cluster()
    inside.waits(said="0/1 nodes are available: 1 node(s) exceed max volume count.")
    finding = await found(inside)
    assert finding.facts["cause"] == "volume-limit"


def autoscaled(reason: str, ago: timedelta) -> Inside:
    inside = cluster()
    inside.pools["apps"] |= {"enableAutoScaling": True, "minCount": 1, "maxCount": 1}
    inside.waits(requests={"cpu": "5"})
    about = {"kind": "Pod", "namespace": "shop", "name": "web-5d9c7b8f6-x2x4z"}
    told = "pod didn't trigger scale-up: 1 max node group size reached"
    inside.add("Event", "e1", type="Normal", reason=reason, message=told, involvedObject=about, lastTimestamp=at(ago))
    return inside


async def test_what_the_autoscaler_says_stands_beside_it() -> None:
    finding = await found(autoscaled("NotTriggerScaleUp", timedelta(minutes=1)))
    assert "cluster autoscaler: pod didn't trigger scale-up: 1 max node group size reached" in finding.because


async def test_a_pod_for_which_a_node_is_being_made_only_waits_but_not_for_ever() -> None:
    assert await outcome(autoscaled("TriggeredScaleUp", timedelta(minutes=3))) is Outcome.CLEAR
    assert await outcome(autoscaled("TriggeredScaleUp", timedelta(minutes=40))) is Outcome.FOUND


async def test_node_auto_provisioning_has_its_time() -> None:
    inside = cluster(unschedulable=True)
    inside.cluster["nodeProvisioningProfile"] = {"mode": "Auto"}
    scheduled = inside.waits()["status"]["conditions"][0]
    scheduled["lastTransitionTime"] = at(timedelta(minutes=2))
    assert await outcome(inside) is Outcome.CLEAR
    scheduled["lastTransitionTime"] = at(timedelta(minutes=9))
    assert await outcome(inside) is Outcome.FOUND


def selects(**labels: str) -> Body:
    return {"matchLabels": labels}


def beside(*terms: Body, topology: str = "kubernetes.io/hostname") -> Body:
    required = [{"topologyKey": topology, **term} for term in terms]
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


OF_TEAM: Body = {"labelSelector": selects(app="web"), "namespaceSelector": selects(team="shop")}


async def test_the_first_pod_of_a_group_of_labelled_namespaces_may_stand_anywhere() -> None:
    inside = cluster()
    inside.add("Namespace", "shop", "", metadata={"labels": {"team": "shop"}})
    inside.waits(affinity=beside(OF_TEAM))
    assert await outcome(inside) is Outcome.INCONCLUSIVE
    inside.objects[0]["metadata"]["labels"]["team"] = "ops"
    assert (await found(inside)).facts["cause"] == "pod-affinity"


async def test_namespaces_and_a_selector_of_namespaces_are_a_union() -> None:
    inside = cluster()
    inside.add("Namespace", "ops", "", metadata={"labels": {"team": "ops"}})
    inside.runs("cache-6f5d-aaaaa", namespace="ops")
    both = {"labelSelector": selects(app="cache"), "namespaces": ["data"], "namespaceSelector": selects(team="ops")}
    inside.waits(affinity=beside(both))
    assert await outcome(inside) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("cpu", "cause"), [("9", "cpu"), ("1", "")])
async def test_where_the_labels_of_namespaces_are_not_seen_affinity_is_not_made_the_cause(cpu: str, cause: str) -> None:
    inside = cluster()
    inside.waits(affinity=beside(OF_TEAM), requests={"cpu": cpu})
    inside.denied = {"/api/v1/namespaces"}
    check = await asked(CODE, inside)
    assert [finding.facts["cause"] for finding in check.findings] == ([cause] if cause else [])
    assert cause or (check.outcome is Outcome.INCONCLUSIVE and "403" in check.why)


async def test_one_pod_must_meet_all_terms_of_an_affinity() -> None:
    """One pod has the first label, another has the second: the scheduler counts neither."""
    terms = ({"labelSelector": selects(app="cache")}, {"labelSelector": selects(tier="fast")})
    inside = cluster()
    inside.runs("cache-6f5d-aaaaa", labels={"app": "cache"})
    inside.runs("other-6f5d-aaaaa", labels={"tier": "fast"})
    inside.waits(affinity=beside(*terms))
    assert (await found(inside)).facts["cause"] == "pod-affinity"
    inside.runs("cache-6f5d-bbbbb", labels={"app": "cache", "tier": "fast"})
    assert await outcome(inside) is Outcome.INCONCLUSIVE


async def test_the_pods_of_one_workload_are_one_finding() -> None:
    inside = cluster(unschedulable=True)
    for last in ("aaaaa", "bbbbb", "ccccc"):
        inside.waits(f"web-5d9c7b8f6-{last}")
    finding = await found(inside)
    assert finding.because[0] == "3 pods of Deployment/web wait for a node for 10 min: none of 1 will do"
    assert "shop/Pod/web-5d9c7b8f6-bbbbb" in finding.affects


def agents(*names: str) -> Inside:
    """A daemon set's pod for each of two nodes, of which the first is dead."""
    inside = cluster(2)
    dead(inside, "node-0")
    for number, name in enumerate(names):
        fields = {"matchFields": [expression("metadata.name", "In", f"node-{number}")]}
        body = inside.waits(name, affinity=on_nodes(fields), requests={"cpu": "1"})
        body["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent"}]
    return inside


async def test_every_pod_of_a_daemon_set_is_asked_about_its_own_node() -> None:
    inside = agents("agent-a", "agent-b")
    fills(inside, "node-1")
    finding = await found(inside)
    assert (finding.subject, finding.facts["cause"], finding.facts["node"]) == ("shop/DaemonSet/agent", "cpu", "node-1")
    assert finding.facts["pods"] == ["agent-b"]


async def test_a_workload_is_clear_only_if_all_its_pods_are() -> None:
    assert await outcome(agents("agent-a")) is Outcome.CLEAR
    assert await outcome(agents("agent-a", "agent-b")) is Outcome.INCONCLUSIVE


async def test_pods_of_one_workload_with_different_causes_are_told_apart() -> None:
    inside = cluster(3)
    inside.nodes["node-2"]["spec"]["unschedulable"] = True
    for number in (0, 1):
        fills(inside, f"node-{number}")
    for number in range(3):
        fields = {"matchFields": [expression("metadata.name", "In", f"node-{number}")]}
        body = inside.waits(f"agent-{number}", affinity=on_nodes(fields), requests={"cpu": "1"})
        body["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent"}]
    finding = await found(inside)
    assert finding.because[:3] == (
        "3 pods of DaemonSet/agent wait for a node for 10 min: none of 3 will do",
        "2 nodes: node-0, node-1: CPU: 0.1 of 4 CPUs free, 1 requested",
        "agent-2: 1 node: node-2: is cordoned",
    )
    assert (finding.facts["cause"], finding.facts["nodes"]) == ("cpu", 3)
    assert "shop/Pod/agent-2" in finding.affects


async def test_of_many_workloads_five_are_named_and_the_others_counted() -> None:
    inside = cluster(unschedulable=True)
    for number in range(7):
        inside.waits(f"app{number}-5d9c7b8f6-aaaaa")
    check = await asked(CODE, inside)
    assert len(check.findings) == 5
    assert "2 more workloads wait for a node" in check.findings[0].because[-1]


async def test_the_service_in_front_of_it_is_harmed() -> None:
    inside = cluster(unschedulable=True)
    inside.waits()
    template = {"metadata": {"labels": WEB}, "spec": {"containers": []}}
    inside.add("Deployment", "web", spec={"replicas": 1, "template": template}, status={})
    inside.add("Service", "web", spec={"selector": WEB, "ports": [{"port": 80}]})
    inside.add("Service", "mail", spec={"selector": {"app": "mail"}, "ports": [{"port": 25}]})
    affects = (await found(inside)).affects
    assert "shop/Service/web" in affects
    assert "shop/Service/mail" not in affects


@pytest.mark.parametrize("path", ["/api/v1/pods", "/api/v1/nodes"])
async def test_what_may_not_be_seen_leaves_the_question_open(path: str) -> None:
    inside = cluster(unschedulable=True)
    inside.waits()
    inside.denied = {path}
    assert await outcome(inside) is Outcome.INCONCLUSIVE


async def test_volumes_that_may_not_be_seen_leave_open_what_hangs_on_them() -> None:
    wrong, _ = of_zone()
    wrong.denied = {"persistentvolume"}
    assert await outcome(wrong) is Outcome.INCONCLUSIVE


async def test_a_cluster_in_which_no_pod_waits_is_clear_and_asks_nothing_more() -> None:
    inside = cluster()
    inside.denied = {"persistentvolume", "/api/v1/namespaces"}
    assert await outcome(inside) is Outcome.CLEAR


@pytest.mark.parametrize("cause", [*CASES, "topology-spread", "volume-limit"])
async def test_the_page_names_what_to_do_for_every_cause(cause: str) -> None:
    """A page that lacks a fact is an error; each branch says something of its own."""
    if cause == "volume-limit":
        inside = cluster()
        inside.waits(said="0/1 nodes are available: 1 node(s) exceed max volume count.")
    else:
        inside = uneven()[0] if cause == "topology-spread" else CASES[cause][1]()[0]
    finding = await found(inside)
    assert DO[cause] in page("Fix", finding)
    assert "web" in page("What it means", finding)


DO = {
    "node-selector": """kubectl patch deployment web --namespace shop --type strategic --patch '{"spec":""",
    "node-affinity": "The pod wants a node with `size > 8`; no node has the label size.",
    "taint": "key: dedicated",
    "cordon": "kubectl uncordon node-0",
    "cpu": "the largest node that it may use has 4 CPUs: more nodes of that size do not help",
    "memory": "kubectl set resources deployment web --namespace shop --requests memory=16384Mi",
    "ephemeral-storage": "It asks for 101 GiB of ephemeral-storage",
    "extended-resource": "az aks nodepool add",
    "pods-per-node": "az aks nodepool scale --subscription",
    "anti-affinity": "kubectl scale deployment web --namespace shop",
    "pod-affinity": "On `node-0`: has no pod with app=cache in its node.",
    "topology-spread": "whenUnsatisfiable: ScheduleAnyway",
    "host-port": "Only one pod of a node can have a host port",
    "volume-zone": "Its disk stays in its zone",
    "volume-limit": "as many disks attached as their VM size allows",
}
