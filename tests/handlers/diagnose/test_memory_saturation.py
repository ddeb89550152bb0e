"""Does a node run out of memory, and who uses it up?"""

from datetime import timedelta
from typing import Any

import pytest

from handlers.engine.graph import Graph
from handlers.model import Finding, Outcome, Severity
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import CLUSTER, NOW, Body, at
from tests.handlers.diagnose.wire import GRAPH, Azure, asked, diagnosed, found

CODE = "memory-saturation"
SUFFICIENT = "kubelet has sufficient memory available"
INSUFFICIENT = "kubelet has insufficient memory available"
LOW = (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 81200Ki. Container api was using 9Gi, "
    "request is 512Mi, has larger consumption of memory."
)
ARITHMETIC = "15.6 GiB - 2.9 GiB reserved for the system, the kubelet and eviction = 12.7 GiB for pods"
DISK = "The node was low on resource: ephemeral-storage. Threshold quantity: 13Gi, available: 12Gi."
HISTORY = f"{CLUSTER}/providers/Microsoft.Insights/metrics"
ROOM = {"capacity": {"memory": "16000Mi"}, "allocatable": {"memory": "13000Mi"}}


def calm() -> Azure:
    """Three nodes of 16,000 MiB, 13,000 of them for pods, half full."""
    azure = Azure()
    azure.pool("apps", count=3)
    for number in range(3):
        azure.node(f"node-{number}", machine=number, **ROOM)
        pressure(azure, f"node-{number}", "False", SUFFICIENT)
    azure.node_memory = {f"node-{number}": "6500Mi" for number in range(3)}
    return azure


def pressure(azure: Azure, node: str = "node-0", status: str = "True", said: str = INSUFFICIENT) -> Body:
    conditions = azure.nodes[node]["status"]["conditions"]
    conditions[:] = [one for one in conditions if one["type"] != "MemoryPressure"]
    row = {"type": "MemoryPressure", "status": status, "message": said, "lastTransitionTime": at(timedelta(minutes=9))}
    conditions.append(row)
    return row


def short() -> Azure:
    """`node-0` reports MemoryPressure; two pods of one deployment without a limit use most of it."""
    azure = calm()
    pressure(azure)
    azure.node_memory = {"node-0": "15300Mi", "node-1": "6500Mi", "node-2": "6500Mi"}
    for name, used in (("api-5d9c7b6f4d-x2x9k", "7000Mi"), ("api-5d9c7b6f4d-p8hj4", "6000Mi")):
        running(azure, name, request="512Mi", limit="")
        azure.pod_memory[f"shop/{name}"] = used
    running(azure, "web-0", request="1Gi", limit="2Gi", owner=("StatefulSet", "web"))
    azure.pod_memory["shop/web-0"] = "800Mi"
    return azure


def running(
    azure: Azure,
    name: str,
    *,
    request: str = "",
    limit: str = "",
    owner: tuple[str, str] = ("ReplicaSet", "api-5d9c7b6f4d"),
    node: str = "node-0",
    **status: Any,
) -> Body:
    kind, owned_by = owner
    body = azure.pod(name, node, metadata={"ownerReferences": [{"kind": kind, "name": owned_by}]}, **status)
    asked_for = {"requests": {"memory": request} if request else {}, "limits": {"memory": limit} if limit else {}}
    body["spec"]["containers"] = [{"name": "main", "resources": asked_for}]
    return body


def evicted(azure: Azure, said: str = LOW, ago: timedelta = timedelta(minutes=12), name: str = "api-gone") -> Body:
    body = running(azure, name, ready=False)
    when = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(ago)}
    body["status"] |= {"phase": "Failed", "reason": "Evicted", "message": said, "conditions": [when]}
    return body


def killed(azure: Azure, limit: str, ago: timedelta = timedelta(minutes=12), name: str = "worker-0") -> Body:
    last = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": at(ago)}
    boxes = [{"name": "main", "restartCount": 1, "lastState": {"terminated": last}}]
    return running(azure, name, limit=limit, owner=("StatefulSet", "worker"), containerStatuses=boxes)


def history(azure: Azure, **series: list[float]) -> None:
    rows = [
        {
            "metadatavalues": [{"name": {"value": "Node", "localizedValue": "Node"}, "value": name.replace("_", "-")}],
            "data": [
                {"timeStamp": at(timedelta(minutes=5 * (len(values) - number))), "average": value}
                for number, value in enumerate(values)
            ],
        }
        for name, values in series.items()
    ]
    azure.more[HISTORY] = {"value": [{"name": {"value": "node_memory_working_set_percentage"}, "timeseries": rows}]}


async def test_a_node_under_pressure_is_found_with_the_arithmetic_and_its_largest_users() -> None:
    azure = short()
    history(azure, node_0=[61.2, 84.0, 117.7], node_1=[50, 50, 50], node_2=[50, 52, 54])
    finding = await found(CODE, azure)
    assert (finding.subject, finding.severity) == ("Node/node-0", Severity.ERROR)
    assert finding.because == (
        "node-0 (pool apps) reports MemoryPressure since 2026-11-18 02:58 UTC: " + INSUFFICIENT,
        f"{ARITHMETIC}; in use 14.9 GiB (118 %)",
        "shop/Deployment/api (2 pods here): 12.7 GiB in use, 1.0 GiB requested, no limit",
        "shop/StatefulSet/web (1 pod here): 800 MiB in use, 1.0 GiB requested, limit 2.0 GiB",
        "Azure Monitor: 61 % at 02:52 UTC, 118 % at 03:02 UTC; the other 2 nodes now 52 % on average",
    )


async def test_the_twin_without_pressure_is_clear_and_says_how_full_the_fullest_is() -> None:
    check = await asked(CODE, calm())
    assert check.outcome is Outcome.CLEAR
    assert check.why == (
        "3 nodes, none short of memory now or in the last hour; the fullest uses 50 % of what its pods may have"
    )


@pytest.mark.parametrize("kind", ["DiskPressure", "PIDPressure"])
async def test_other_pressures_are_not_about_memory(kind: str) -> None:
    azure = calm()
    azure.nodes["node-0"]["status"]["conditions"].append({"type": kind, "status": "True", "message": "no room"})
    evicted(azure, DISK)
    azure.warning("EvictionThresholdMet", "Attempting to reclaim ephemeral-storage")
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


async def test_a_container_killed_at_its_own_limit_says_nothing_about_the_node() -> None:
    azure = calm()
    killed(azure, limit="512Mi")
    azure.warning("OOMKilling", "Memory cgroup out of memory: Killed process 4242 (java) total-vm:812344kB")
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


async def test_one_that_has_no_limit_was_killed_because_the_node_had_nothing_left() -> None:
    azure = calm()
    killed(azure, limit="")
    finding = await found(CODE, azure)
    assert finding.severity is Severity.WARNING
    assert "1 container killed although it has no limit of its own" in " ".join(finding.because)
    assert "shop/StatefulSet/worker" in finding.affects


async def test_a_limit_of_the_whole_pod_is_a_limit() -> None:
    azure = calm()
    killed(azure, limit="")["spec"]["resources"] = {"limits": {"memory": "1Gi"}}
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


async def test_where_the_containers_are_not_known_nobody_blames_the_node() -> None:
    azure = calm()
    del killed(azure, limit="")["spec"]["containers"]
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(("ago", "outcome"), [(12, Outcome.FOUND), (59, Outcome.FOUND), (61, Outcome.CLEAR)])
async def test_an_eviction_for_memory_is_told_for_an_hour_and_is_history_then(ago: int, outcome: Outcome) -> None:
    azure = calm()
    evicted(azure, ago=timedelta(minutes=ago))
    assert (await asked(CODE, azure)).outcome is outcome


async def test_an_evicted_pod_without_a_date_is_no_symptom_of_today() -> None:
    azure = calm()
    evicted(azure)["status"]["conditions"] = []
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


async def test_the_kernel_that_found_no_memory_on_the_node_is_quoted() -> None:
    azure = calm()
    azure.warning("SystemOOM", "System OOM encountered, victim process: java, pid: 4242")
    finding = await found(CODE, azure)
    assert (
        finding.because[0]
        == "node-0 (pool apps) ran out of memory, last at 2026-11-18 02:57 UTC, 10 minutes before this check"
    )
    assert "event SystemOOM: System OOM encountered, victim process: java, pid: 4242" in finding.because


@pytest.mark.parametrize(("used", "outcome"), [("15400Mi", Outcome.FOUND), ("13500Mi", Outcome.CLEAR)])
async def test_more_than_pods_may_have_is_a_warning_only_where_next_to_nothing_is_left(
    used: str, outcome: Outcome
) -> None:
    azure = calm()
    azure.node_memory = {"node-0": used}
    check = await asked(CODE, azure)
    assert check.outcome is outcome
    assert all(one.severity is Severity.WARNING for one in check.findings)


async def test_without_a_metrics_server_requests_are_told_and_pressure_is_still_found() -> None:
    azure = short()
    azure.node_memory = None
    finding = await found(CODE, azure)
    said = "what is in use was not measured; its 3 pods request 2.0 GiB of 12.7 GiB (2 without a limit)"
    assert said in finding.because
    assert finding.facts["measured"] is False


async def test_without_a_metrics_server_a_calm_cluster_is_clear() -> None:
    azure = calm()
    azure.node_memory = None
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert "no metrics server" in check.why


@pytest.mark.parametrize("denied", ["/metrics.k8s.io/v1beta1/nodes", "/api/v1/events", "/api/v1/pods"])
async def test_what_could_not_be_seen_leaves_it_open(denied: str) -> None:
    azure = calm()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen


@pytest.mark.parametrize("denied", ["/metrics.k8s.io", "/api/v1/events", "/api/v1/pods", "Microsoft.Insights/metrics"])
async def test_what_the_kubelet_says_stands_whatever_else_could_not_be_seen(denied: str) -> None:
    azure = short()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert [one.subject for one in check.findings] == ["Node/node-0"]
    assert check.unseen, "what is missing is told beside it"


async def test_history_is_kept_for_the_picture() -> None:
    azure = short()
    history(azure, node_0=[61.2, 84.0, 117.7], node_1=[50, 50, 50], node_2=[50, 52, 54])
    assert (await found(CODE, azure)).facts["memory_over_time"] == {
        "from": "2026-11-18T02:52:00Z",
        "moments": [0, 300, 600],
        "step_s": 300,
        "percent": [61.2, 84.0, 117.7],
        "others": 2,
        "others_percent": [50.0, 51.0, 52.0],
    }


async def test_no_history_is_asked_for_where_no_node_is_short() -> None:
    azure = calm()
    azure.denied = {"Microsoft.Insights/metrics"}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.CLEAR
    assert not check.unseen


async def together(azure: Azure) -> dict[str, tuple[bool, Finding]]:
    """What both questions make of it, by code, and whether it is a root."""
    both = [one for one in GRAPH.diagnostics if one.id in (CODE, "node-not-ready")]
    graph: Graph = GRAPH.only(both)
    diagnosis = await diagnosed(azure, graph, LIBRARY.explains)
    return {one.finding.code: (one.root, one.finding) for one in diagnosis.findings}


def not_ready(azure: Azure, status: str, message: str) -> Azure:
    ready = azure.nodes["node-0"]["status"]["conditions"][0]
    ready |= {"status": status, "message": message, "lastTransitionTime": at(timedelta(minutes=5))}
    return azure


async def test_memory_explains_a_node_whose_runtime_went_down_under_pressure() -> None:
    seen = await together(not_ready(short(), "False", "PLEG is not healthy: pleg was last seen active 5m"))
    assert seen[CODE][0]
    assert not seen["node-not-ready"][0]
    assert seen["node-not-ready"][1].facts["reason"] == "memory-pressure"


async def test_it_does_not_where_the_kubelet_names_its_network() -> None:
    said = "container runtime network not ready: cni plugin not initialized"
    seen = await together(not_ready(short(), "False", said))
    assert seen["node-not-ready"][0]
    assert said in seen["node-not-ready"][1].because[1]


async def test_it_does_not_where_the_pressure_came_after_the_node_went_down() -> None:
    azure = not_ready(short(), "False", "PLEG is not healthy")
    azure.nodes["node-0"]["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(minutes=40))
    assert (await together(azure))["node-not-ready"][0]


@pytest.mark.parametrize(("power", "explained"), [("running", True), ("deallocated", False)])
async def test_a_silent_node_is_explained_by_the_kernel_unless_its_machine_was_stopped(
    power: str, explained: bool
) -> None:
    azure = not_ready(calm(), "Unknown", "Kubelet stopped posting node status.")
    azure.warning("SystemOOM", "System OOM encountered, victim process: kubelet, pid: 812")
    azure.machines["apps"][0]["properties"]["instanceView"] = {"statuses": [{"code": f"PowerState/{power}"}]}
    assert (await together(azure))["node-not-ready"][0] is not explained


async def test_a_node_that_went_down_hours_ago_is_still_explained_by_what_was_killed_there_then() -> None:
    azure = not_ready(calm(), "Unknown", "Kubelet stopped posting node status.")
    gone = NOW - timedelta(hours=5)
    azure.nodes["node-0"]["status"]["conditions"][0]["lastTransitionTime"] = gone.strftime("%Y-%m-%dT%H:%M:%SZ")
    evicted(azure, ago=timedelta(hours=5, minutes=3))
    assert not (await together(azure))["node-not-ready"][0]


async def test_only_the_five_fullest_nodes_are_read_pod_by_pod_and_all_are_found() -> None:
    azure = calm()
    azure.pool("apps", count=8)
    for number in range(8):
        name = f"node-{number}"
        azure.node(name, machine=number, **ROOM)
        pressure(azure, name)
        running(azure, f"hog-{number}", request="1Gi", owner=("StatefulSet", "hog"), node=name)
    azure.node_memory = {f"node-{number}": f"{15000 + number}Mi" for number in range(8)}
    check = await asked(CODE, azure)
    assert len(check.findings) == 8
    assert sum(bool(one.facts["users"]) for one in check.findings) == 5


async def test_its_steps_name_the_largest_user_and_the_pool() -> None:
    finding = await found(CODE, short())
    fix = LIBRARY[CODE].render("Fix", finding.facts)
    assert "kubectl rollout undo deployment api --namespace shop" in fix
    assert "--name apps --node-count 4" in fix
    assert "kubectl cordon node-0" in fix
