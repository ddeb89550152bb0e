"""Pods without a network: the agent, the node's own word, the plugin, and the routes of kubenet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.diagnose.pod_routes import ROUTE_COMES
from handlers.model import Finding, Outcome
from tests.handlers.diagnose.bodies import MANAGED_VNET, NETWORKS, Body, at, resource, rows
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, diagnosed, found

CODE = "cni-or-route-broken"
NO_PLUGIN = (
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "9c": '
    'plugin type="azure-vnet" failed (add): dial tcp 127.0.0.1:10090: connect: connection refused'
)
NO_ADDRESS = (
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "9c": plugin '
    'type="azure-vnet" failed (add): AllocateIPConfig failed: not enough IPs available for 9c6a, waiting on Azure CNS'
)
TABLE = f"{NETWORKS}/routeTables/aks-agentpool-12345678-routetable"
DS = "kube-system/DaemonSet/azure-cns"


def cluster(**network: Any) -> Inside:
    inside = Inside()
    inside.pool("apps", count=2)
    inside.cluster["networkProfile"] |= network
    inside.room("node-0")
    inside.room("node-1")
    return inside


def agent(inside: Inside, trouble: str = "CrashLoopBackOff", *, ready: bool = False) -> Inside:
    """azure-cns runs on node-0, and on node-1 as the case says."""
    inside.daemon_set("azure-cns", wanted=2, ready=1 + ready)
    state: Body = {"running": {}} if ready else {"waiting": {"reason": trouble, "message": "back-off 5m0s"}}
    owner = {"ownerReferences": [{"kind": "DaemonSet", "name": "azure-cns"}]}
    container = {"name": "cns", "restartCount": 9, "state": state}
    for number, well in ((0, True), (1, ready)):
        name, statuses = f"azure-cns-x2k4{number}", [container] if not well else []
        inside.pod(name, f"node-{number}", "kube-system", ready=well, metadata=owner, containerStatuses=statuses)
    return inside


def stuck(
    inside: Inside, message: str = NO_PLUGIN, *, count: int = 7, ago: int = 1, name: str = "web-5d9c7b8f6-x2"
) -> Inside:
    """A pod on node-1 without a network."""
    owner = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d9c7b8f6"}]}
    inside.pod(name, "node-1", ready=False, metadata=owner, phase="Pending")
    inside.add(
        "Event",
        f"{name}.{count}",
        type="Warning",
        reason="FailedCreatePodSandBox",
        message=message,
        count=count,
        firstTimestamp=at(timedelta(minutes=15 + ago)),
        lastTimestamp=at(timedelta(minutes=ago)),
        involvedObject={"kind": "Pod", "name": name, "namespace": "shop"},
    )
    return inside


async def test_an_agent_that_crashes_is_found_with_the_pods_that_wait_for_it() -> None:
    finding = await found(CODE, stuck(agent(cluster())))
    assert (finding.subject, finding.facts["cause"]) == (DS, "agent")
    assert finding.because[0] == (
        "azure-cns sets up the pods' network, and does not run on node-1: azure-cns-x2k41 is CrashLoopBackOff: "
        "back-off 5m0s"
    )
    assert "127.0.0.1:10090: connect: connection refused" in finding.because[1]
    assert {"Node/node-1", "shop/Deployment/web"} <= set(finding.affects)
    assert "kubectl delete pod azure-cns-x2k41 --namespace kube-system" in page("Fix", finding)


async def test_it_beats_the_system_pod_that_does_not_run() -> None:
    diagnosis = await diagnosed(agent(cluster()))
    by_code = {one.finding.code: one for one in diagnosis.findings}
    assert by_code["kube-system-not-running"].explained_by == ((CODE, DS),)


async def test_agents_that_run_are_clear() -> None:
    check = await asked(CODE, agent(cluster(), ready=True))
    assert check.outcome is Outcome.CLEAR
    assert check.why == "2 nodes: none says that its network is unavailable, and no pod waits for it"


async def test_a_daemon_set_that_only_watches_the_network_breaks_nothing() -> None:
    inside = agent(cluster())
    inside.daemon_sets["azure-cns"]["metadata"]["name"] = "azure-cni-networkmonitor"
    for pod in inside.pods:
        pod["metadata"]["ownerReferences"][0]["name"] = "azure-cni-networkmonitor"
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


async def test_a_plugin_that_fails_while_its_agent_runs_is_the_nodes() -> None:
    finding = await found(CODE, stuck(agent(cluster(), ready=True)))
    assert (finding.subject, finding.facts["cause"]) == ("Node/node-1", "plugin")
    assert "shop/Deployment/web" in finding.affects


@pytest.mark.parametrize(
    ("message", "count", "ago"),
    [
        (NO_ADDRESS, 7, 1),
        (NO_PLUGIN, 1, 1),
        (NO_PLUGIN, 7, 12),
        ("Failed to create pod sandbox: failed to reserve sandbox name", 7, 1),
    ],
)
async def test_what_is_no_failure_of_the_plugin_now_is_not_called_one(message: str, count: int, ago: int) -> None:
    inside = stuck(agent(cluster(), ready=True), message, count=count, ago=ago)
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


def cut_off(inside: Inside, condition: Body, minutes: int = 40) -> Inside:
    node = inside.nodes["node-1"]
    node["metadata"]["creationTimestamp"] = at(timedelta(minutes=minutes))
    node["status"]["conditions"] = [condition | {"lastTransitionTime": at(timedelta(minutes=minutes))}, *_ready(node)]
    return inside


def _ready(node: Body) -> list[Body]:
    return [row for row in node["status"]["conditions"] if row["type"] == "Ready"]


NO_ROUTE = {"type": "NetworkUnavailable", "status": "True", "reason": "NoRouteCreated", "message": "no route"}


async def test_a_node_that_says_so_itself_is_found_and_one_that_joins_is_not() -> None:
    finding = await found(CODE, cut_off(cluster(), NO_ROUTE))
    assert (finding.subject, finding.facts["cause"]) == ("Node/node-1", "node")
    assert finding.because[0] == "node-1 (pool apps) says NetworkUnavailable: NoRouteCreated: no route"
    assert (await asked(CODE, cut_off(cluster(), NO_ROUTE, minutes=3))).outcome is Outcome.CLEAR


async def test_a_node_that_waits_for_its_plugin_explains_that_it_is_not_ready() -> None:
    inside = cluster()
    said = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not"
    inside.not_ready("node-1", status="False", message=said, machine=1)
    by_code = {one.finding.code: one for one in (await diagnosed(inside)).findings}
    assert by_code["node-not-ready"].explained_by == ((CODE, "Node/node-1"),)


async def test_a_node_that_is_not_ready_for_another_reason_is_not_the_networks() -> None:
    inside = cluster()
    inside.not_ready("node-1", message="Kubelet stopped posting node status.", machine=1)
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


def kubenet(*routes: tuple[str, str], attached: bool = True) -> Inside:
    """Two nodes with a range each; a table with these routes."""
    inside = cluster(networkPlugin="kubenet", networkPluginMode=None)
    for number in range(2):
        node = inside.nodes[f"node-{number}"]
        node["spec"]["podCIDR"] = f"10.244.{number}.0/24"
        node["status"]["addresses"] = [{"type": "InternalIP", "address": f"10.224.0.{4 + number}"}]
    own = {"name": "aks-subnet", "id": f"{MANAGED_VNET}/subnets/aks-subnet"}
    own["properties"] = {"addressPrefix": "10.224.0.0/16"} | ({"routeTable": {"id": TABLE}} if attached else {})
    network = resource(MANAGED_VNET, {"addressSpace": {"addressPrefixes": ["10.224.0.0/12"]}, "subnets": [own]})
    table = [
        {
            "name": f"to-{prefix.split('.')[2]}",
            "properties": {"addressPrefix": prefix, "nextHopType": "VirtualAppliance", "nextHopIpAddress": to},
        }
        for prefix, to in routes
    ]
    inside.more[f"{NETWORKS}/virtualNetworks"] = rows([network])
    inside.more[TABLE] = resource(TABLE, {"routes": table})
    return inside


RIGHT = (("10.244.0.0/24", "10.224.0.4"), ("10.244.1.0/24", "10.224.0.5"))


async def test_routes_to_every_nodes_pods_are_clear() -> None:
    check = await asked(CODE, kubenet(*RIGHT, ("0.0.0.0/0", "10.1.0.4")))
    assert check.outcome is Outcome.CLEAR
    assert check.why.endswith("2 have their route")


@pytest.mark.parametrize(
    ("routes", "says"),
    [
        (RIGHT[:1], "no route of aks-agentpool-12345678-routetable leads to 10.244.1.0/24, the pods of node-1"),
        (
            (*RIGHT[:1], ("0.0.0.0/0", "10.1.0.4")),
            "no route of aks-agentpool-12345678-routetable leads to 10.244.1.0/24",
        ),
        ((*RIGHT[:1], ("10.244.1.0/24", "10.224.0.9")), "route to-1 sends 10.244.1.0/24 to 10.224.0.9, and its pods"),
        ((*RIGHT, ("10.244.1.0/25", "10.1.0.4")), ""),
    ],
)
async def test_a_route_that_is_missing_or_leads_elsewhere_is_named(
    routes: tuple[tuple[str, str], ...], says: str
) -> None:
    check = await asked(CODE, kubenet(*routes))
    if not says:
        assert check.outcome is Outcome.CLEAR
        return
    finding: Finding = check.findings[0]
    assert (finding.subject, finding.facts["cause"]) == (TABLE, "route")
    assert finding.because[0].startswith(says)
    fix = page("Fix", finding)
    assert "--address-prefix 10.244.1.0/24 --next-hop-type VirtualAppliance --next-hop-ip-address 10.224.0.5" in fix


async def test_a_subnet_that_lost_its_table_is_named() -> None:
    finding = await found(CODE, kubenet(*RIGHT, attached=False))
    assert finding.subject == f"{MANAGED_VNET}/subnets/aks-subnet"
    assert finding.because[0].startswith("subnet aks-subnet has no route table; kubenet needs")
    assert "az network vnet subnet update --ids" in page("Fix", finding)


async def test_a_node_that_came_just_now_has_time_for_its_route() -> None:
    inside = kubenet(*RIGHT[:1])
    inside.nodes["node-1"]["metadata"]["creationTimestamp"] = at(ROUTE_COMES - timedelta(minutes=1))
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


async def test_a_network_that_needs_no_routes_is_not_asked_for_any() -> None:
    inside = cluster()
    inside.denied = {"/routeTables", "/virtualNetworks"}
    assert (await asked(CODE, inside)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    "denied", ["/routeTables", "/virtualNetworks", "/api/v1/nodes", "/api/v1/events", "/api/v1/pods"]
)
async def test_where_the_proof_is_denied_it_stays_open(denied: str) -> None:
    inside = kubenet(*RIGHT)
    inside.denied = {denied}
    check = await asked(CODE, inside)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why
