"""Does a node of an AKS hybrid cluster run out of memory because of the pods of Azure Arc?"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.checks.clients import clients
from handlers.clients.kube.access import KubeAccess
from handlers.model import Check, Diagnosis, Finding, Outcome, Severity, Target
from sandbox.kube.world import KubeWorld, stamp
from sandbox.merge import merged_by_name
from sandbox.world import World
from tests.checking import access, azure, check, cluster_id, diagnose
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.on_site import change, world_of

CODE, CLUSTER = "hybrid-memory-saturation", "edge-aks-01"
OFFLINE, ARC = "hybrid-cluster-offline", "/connectedclusters/edge-aks-01"
SIGHTS = [("list", "nodes"), ("list", "pods"), ("list", "nodes.metrics.k8s.io"), ("list", "pods.metrics.k8s.io")]


def short() -> World:
    """An Arc agent has used up one node, the network function another."""
    return world_of(CODE)


def inside(world: World) -> KubeWorld:
    return next(kube for key, kube in world.kubes.items() if key.endswith(f"/{CLUSTER}"))


def pods(world: World, namespace: str, container: str) -> list[dict[str, Any]]:
    found = inside(world).every("pods", namespace)
    return [pod for pod in found if pod["spec"]["containers"][0]["name"] == container]


def agent(world: World) -> dict[str, Any]:
    [pod] = pods(world, "azure-arc", "metrics-agent")
    return pod


def node(world: World) -> str:
    return str(agent(world)["spec"]["nodeName"])


def patch(world: World, body: dict[str, Any], **change: Any) -> None:
    inside(world).put({**merged_by_name(body, change), "metadata": dict(body["metadata"])})


def on_node(world: World) -> list[dict[str, Any]]:
    return [pod for pod in inside(world).every("pods", "azure-arc") if pod["spec"]["nodeName"] == node(world)]


def resources(world: World, pod: dict[str, Any], **resources: Any) -> None:
    name = pod["spec"]["containers"][0]["name"]
    patch(world, pod, spec={"containers": {name: {"resources": resources}}})


async def diagnosed(world: World, denied: tuple[str, str] | None = None) -> Diagnosis:
    async with azure(world) as server:
        if denied:
            server.kube[cluster_id(world, CLUSTER).key].deny("reader", *denied)
        return await check(server, CLUSTER)


def of_code(diagnosis: Diagnosis, code: str = CODE) -> Check:
    return next(ended for ended in diagnosis.checks if code in ended.codes)


async def found(world: World) -> Finding:
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.FOUND, ended.why
    [finding] = ended.findings
    return finding


async def test_the_node_the_pods_and_the_arithmetic_are_named() -> None:
    world = short()
    finding = await found(world)
    assert (finding.subject, finding.severity) == (f"Node/{node(world)}", Severity.ERROR)
    assert finding.affects == ()  # Azure hears from the cluster
    assert "4 Arc pods use 9.7 GiB of 13.5 GiB for pods (72 %)" in finding.because[0]
    assert finding.because[1] == (
        "15.8 GiB - 2.3 GiB reserved for the system, the kubelet and eviction = 13.5 GiB for pods; "
        "in use 15.5 GiB (115 %)"
    )
    assert "azure-arc/Deployment/metrics-agent (1 pod here): 9.6 GiB in use, 40 MiB requested, no limit" in (
        finding.because
    )
    assert f"delete pod {agent(world)['metadata']['name']} --namespace azure-arc" in page("Fix", finding)
    assert "short of memory now" in page("What it means", finding)


async def test_the_twin_whose_arc_pods_are_small_is_clear_with_the_arithmetic() -> None:
    world = short()
    usage = inside(world).usage
    assert usage
    usage.pods[f"azure-arc/{agent(world)['metadata']['name']}"] = {"metrics-agent": {"cpu": "1m", "memory": "60Mi"}}
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.CLEAR
    assert f"{node(world)} is short of memory, not because of Azure Arc: 4 Arc pods use " in ended.why
    assert "packet-core/StatefulSet/upf (1 pod here): 13.8 GiB in use" in ended.why


async def test_a_cluster_with_room_is_clear_and_says_how_full_the_fullest_is() -> None:
    world = short()
    for body in inside(world).every("nodes"):
        patch(world, body, status={"conditions": {"MemoryPressure": {"status": "False"}}})
    for pod in [pod for pod in inside(world).every("pods") if pod["status"].get("reason") == "Evicted"]:
        inside(world).remove(inside(world).kinds.of_body(pod), pod["metadata"]["name"], pod["metadata"]["namespace"])
    usage = inside(world).usage
    assert usage
    usage.nodes = {name: {"cpu": "1", "memory": "6760Mi"} for name in usage.nodes}
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.CLEAR
    assert ended.why == (
        "3 nodes, none short of memory now or in the last hour; the fullest uses 49 % of what its pods may have"
    )


async def test_where_nobody_measures_their_requests_count_and_it_is_a_warning() -> None:
    world = short()
    inside(world).usage = None
    resources(world, agent(world), requests={"memory": "5Gi"})
    finding = await found(world)
    assert finding.severity is Severity.WARNING
    assert "4 Arc pods request 5.1 GiB of 13.5 GiB for pods (38 %)" in finding.because[0]
    assert "what the Arc pods use was not measured: this counts what they request" in finding.because
    assert "these are their requests" in page("What it means", finding)


async def test_where_nobody_measures_small_requests_without_a_limit_prove_nothing() -> None:
    world = short()
    inside(world).usage = None
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "nobody measures it, and not all of them have a limit" in ended.why


async def test_where_nobody_measures_small_limits_prove_that_they_use_little() -> None:
    world = short()
    inside(world).usage = None
    for pod in on_node(world):
        resources(world, pod, limits={"memory": "600Mi"})
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.CLEAR
    assert "4 Arc pods request 115 MiB of 13.5 GiB for pods (1 %)" in ended.why


@pytest.mark.parametrize("sight", SIGHTS)
async def test_what_may_not_be_read_inside_is_named_and_never_clear(sight: tuple[str, str]) -> None:
    world = short()
    usage = inside(world).usage
    assert usage
    usage.pods[f"azure-arc/{agent(world)['metadata']['name']}"] = {"metrics-agent": {"cpu": "1m", "memory": "60Mi"}}
    ended = of_code(await diagnosed(world, sight))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert {gap.grant for gap in ended.unseen} == {f"{' '.join(sight)} (cluster scope)"}


async def test_a_server_that_cannot_be_reached_is_inconclusive() -> None:
    world = short()
    inside(world).reachable = False
    inside(world).refuses = True
    ended = of_code(await diagnosed(world))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "connection refused" in ended.why


async def test_without_a_context_it_does_not_apply_and_says_what_to_do() -> None:
    world = short()
    async with azure(world) as server:
        async with clients(access(server), KubeAccess(run_command=("*",))) as opened:
            diagnosis = await diagnose(opened, Target(cluster_id(world, CLUSTER)))
        asked = [
            request
            for request in server.log
            if "credential" in request.path.lower() or "runcommand" in request.path.lower()
        ]
    ended = of_code(diagnosis)
    assert ended.outcome is Outcome.NOT_APPLICABLE
    assert f"add a context called {CLUSTER} to AKSBOT_KUBECONFIG" in ended.why
    assert Outcome.INCONCLUSIVE not in {one.outcome for one in diagnosis.checks}
    assert asked == []


async def test_a_kubeconfig_that_cannot_be_used_is_inconclusive(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("[]")
    world = short()
    async with azure(world) as server, clients(access(server), KubeAccess(file)) as opened:
        ended = of_code(await diagnose(opened, Target(cluster_id(world, CLUSTER))))
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "(AKSBOT_KUBECONFIG) cannot be used: it is no kubeconfig" in ended.why


@pytest.mark.parametrize(("silent_for", "explained"), [(timedelta(minutes=12), True), (timedelta(hours=26), False)])
async def test_agents_that_were_evicted_before_their_last_report_are_why_azure_does_not_hear_from_it(
    silent_for: timedelta, explained: bool
) -> None:
    world = short()
    last = (datetime.now(UTC) - silent_for).isoformat()
    change(world, ARC, {"properties": {"connectivityStatus": "Offline", "lastConnectivityTime": last}})
    diagnosis = await diagnosed(world)
    offline = next(one for one in diagnosis.findings if one.finding.code == OFFLINE)
    assert (CODE in {code for code, _ in offline.explained_by}) is explained


async def test_an_agent_that_was_evicted_two_hours_ago_is_history() -> None:
    world = short()
    for body in inside(world).every("nodes"):
        patch(world, body, status={"conditions": {"MemoryPressure": {"status": "False"}}})
    gone = next(pod for pod in inside(world).every("pods") if pod["status"].get("reason") == "Evicted")
    then = stamp(datetime.now(UTC) - timedelta(hours=2))
    patch(world, gone, status={"conditions": {"DisruptionTarget": {"lastTransitionTime": then}}})
    usage = inside(world).usage
    assert usage
    usage.nodes = {name: {"cpu": "1", "memory": "9000Mi"} for name in usage.nodes}
    assert of_code(await diagnosed(world)).outcome is Outcome.CLEAR
