"""Does the API server reach the kubelets, and where does the way end?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import CLUSTER, Body
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked, diagnosed, found

CODE = "tunnel-broken"
NO_AGENT = 'Get "https://10.224.0.4:10250/containerLogs/kube-system/x/main": No agent available'
BLOCKED = "error dialing backend: dial tcp 10.224.0.5:10250: i/o timeout"
AGENTS = "kube-system/Deployment/konnectivity-agent"


class Tunnel(Inside):
    """Three Ready nodes; an agent on the first two, and a pod of the system on each."""

    def __init__(self, agents_ready: int = 2) -> None:
        super().__init__()
        self.pool("apps", count=3)
        self.cluster["fqdn"] = "one.hcp.westeurope.azmk8s.io"
        self.deployment("konnectivity-agent", ready=agents_ready)
        self.refusals: dict[str, str] = {}
        """The API server's errors instead of logs, by substring of the path."""
        for number in range(3):
            self.room(f"node-{number}")
            self.runs(f"cloud-node-manager-{number}", f"node-{number}", "kube-system")
        for number in range(2):
            labels = {"app": "konnectivity-agent"}
            ready = number < agents_ready
            self.runs(
                f"konnectivity-agent-abcdef12-{number}", f"node-{number}", "kube-system", ready=ready, labels=labels
            )

    def inside(self, path: str) -> tuple[int, Any]:
        refusal = next((why for part, why in self.refusals.items() if part in path and path.endswith("/log")), "")
        return (500, _status(refusal)) if refusal else super().inside(path)

    def without_reach(self, *nodes: int, why: str = BLOCKED) -> Tunnel:
        for node in nodes:
            self.refusals |= {f"cloud-node-manager-{node}/": why, f"konnectivity-agent-abcdef12-{node}/": why}
        return self


def _status(message: str) -> str:
    body: Body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json.dumps(body | {"message": message, "code": 500}, separators=(",", ":"))


async def test_without_an_agent_that_is_ready_the_agents_are_the_cause() -> None:
    finding = await found(CODE, Tunnel(agents_ready=0).without_reach(0, 1, 2, why=NO_AGENT))
    assert (finding.subject, finding.facts["cause"]) == (AGENTS, "agents")
    assert "konnectivity-agent: 0 of 2 pods are Ready" in finding.because
    assert finding.because[0] == (
        "the API server does not reach the kubelet of node-0, which is Ready: No agent available"
    )
    assert "kubectl rollout restart deployment/konnectivity-agent" in page("Fix", finding)


async def test_agents_that_are_ready_and_not_connected_have_no_way_to_the_api_server() -> None:
    finding = await found(CODE, Tunnel().without_reach(0, 1, 2, why=NO_AGENT))
    assert (finding.subject, finding.facts["cause"]) == (AGENTS, "agents-cannot-connect")
    assert "https://one.hcp.westeurope.azmk8s.io/readyz" in page("Fix", finding)


async def test_a_node_whose_port_is_blocked_is_named_with_those_that_answer() -> None:
    finding = await found(CODE, Tunnel().without_reach(2))
    assert (finding.subject, finding.facts["cause"]) == ("Node/node-2", "node-port")
    assert "it does reach node-0 (an agent runs there), node-1" in finding.because[1]
    assert "10250" in page("Fix", finding)


async def test_where_no_kubelet_is_reached_through_connected_agents_the_cluster_is_the_subject() -> None:
    finding = await found(CODE, Tunnel().without_reach(0, 1, 2))
    assert (finding.subject, finding.facts["cause"]) == (CLUSTER, "node-port")


@pytest.mark.parametrize("managed", [False, True])
async def test_an_api_server_in_the_clusters_own_network_has_no_agents(managed: bool) -> None:
    azure = Tunnel().without_reach(0, 1, 2)
    azure.objects = [one for one in azure.objects if not one["metadata"]["name"].startswith("konnectivity-agent-")]
    del azure.deployments["konnectivity-agent"]
    subnet = f"{CLUSTER.split('/providers')[0]}/providers/Microsoft.Network/virtualNetworks/vnet/subnets/api"
    own: Body = {} if managed else {"subnetId": subnet}
    azure.cluster["apiServerAccessProfile"] = {"enableVnetIntegration": True, **own}
    assert (await found(CODE, azure)).facts["cause"] == "own-network"


async def test_kubelets_that_answer_prove_the_way() -> None:
    check = await asked(CODE, Tunnel())
    assert check.outcome is Outcome.CLEAR
    assert check.why == "the API server reaches the kubelets that it was told to ask: node-0, node-2, node-1"


async def test_one_agent_of_two_is_enough() -> None:
    assert (await asked(CODE, Tunnel(agents_ready=1))).outcome is Outcome.CLEAR


async def test_a_log_that_speaks_of_the_tunnel_is_no_refusal() -> None:
    azure = Tunnel()
    azure.logs["/api/v1/namespaces/kube-system/pods/konnectivity-agent-abcdef12-0/log"] = (
        "error dialing backend: No agent available"
    )
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


async def test_a_kubelet_without_a_certificate_was_reached_and_proves_nothing() -> None:
    azure = Tunnel().without_reach(2, why="error dialing backend: remote error: tls: internal error")
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "tls: internal error" in check.why


async def test_a_silent_kubelet_on_a_node_that_is_not_ready_is_that_nodes_matter() -> None:
    azure = Tunnel().without_reach(2)
    azure.not_ready("node-2")
    assert (await asked(CODE, azure)).outcome is Outcome.CLEAR


@pytest.mark.parametrize("denied", ["/log", "/namespaces/kube-system/pods", "/api/v1/nodes"])
async def test_where_the_proof_is_denied_it_stays_open(denied: str) -> None:
    azure = Tunnel()
    azure.denied = {denied}
    check = await asked(CODE, azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "403" in check.why


async def test_without_a_ready_node_nobody_can_be_asked() -> None:
    azure = Tunnel()
    azure.nodes.clear()
    assert (await asked(CODE, azure)).outcome is Outcome.INCONCLUSIVE


async def test_the_agents_that_do_not_run_follow_from_it() -> None:
    azure = Tunnel(agents_ready=0).without_reach(0, 1, 2, why=NO_AGENT)
    diagnosis = await diagnosed(azure)
    agents = next(one for one in diagnosis.findings if one.finding.code == "kube-system-not-running")
    assert agents.finding.subject == AGENTS
    assert [code for code, _ in agents.explained_by] == [CODE]
