"""Lists of large clusters: in parts that together are the whole."""

from __future__ import annotations

from bot.checks.clients import clients
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.evidence.cluster import Nodes, read_node
from handlers.evidence.node_metrics import NODE_METRICS, NodeMemoryUse, read_memory_use, selectors
from handlers.model import NotApplicable, Target
from sandbox.blueprint.inside.services import MOST_ENDPOINTS
from sandbox.kube.world import KubeWorld
from sandbox.scenario import Scenario
from tests.bench.inside_process import world_with
from tests.checking import access, azure, cluster_id

OUTSIDE = "aks-nap-x7k2p"


def nodes_of(kube: KubeWorld) -> Nodes:
    nodes = tuple(map(read_node, kube.every("nodes")))
    return Nodes(source="", taken_at=kube.clock(), truncated=False, nodes=nodes)


async def test_the_metrics_server_is_asked_pool_by_pool_where_nodes_are_many_and_no_node_is_left_out() -> None:
    world = Scenario.load("healthy-fleet").world
    target = Target(cluster_id(world, "prod-weu"))
    kube = world.kubes[target.id.key]
    assert kube.usage is not None
    of_a_pool = next(iter(kube.every("nodes")))
    labels = {key: value for key, value in of_a_pool["metadata"]["labels"].items() if "agentpool" not in key}
    kube.put({**of_a_pool, "metadata": {"name": OUTSIDE, "labels": labels}})
    kube.usage.nodes[OUTSIDE] = {"cpu": "1", "memory": "3Gi"}
    nodes = nodes_of(kube)
    pools = {node.pool for node in nodes.nodes} - {""}
    async with (
        azure(world) as server,
        clients(access(server), KubeAccess()) as opened,
        opened.for_target(target) as given,
    ):
        reader = given[KubeReader]
        at_once = await read_memory_use(NodeMemoryUse, reader, selectors(nodes))
        in_parts = await read_memory_use(NodeMemoryUse, reader, selectors(nodes, most=len(pools)))
        asked = sum(one.path == NODE_METRICS for one in server.kube[target.id.key].log)
    assert not isinstance(at_once, NotApplicable)
    assert not isinstance(in_parts, NotApplicable)
    assert in_parts.used == at_once.used
    assert in_parts.used[OUTSIDE] == 3 * 1024**3
    assert asked == 1 + len(pools) + 1


def test_a_slice_of_endpoints_is_as_long_as_kubernetes_makes_it() -> None:
    world, cluster = world_with(350)  # one workload runs 110 pods
    slices = [body for body in world.kubes[cluster].every("endpointslices") if body["metadata"].get("ownerReferences")]
    assert max(len(body["endpoints"]) for body in slices) == MOST_ENDPOINTS
    behind = [end["targetRef"]["uid"] for body in slices for end in body["endpoints"]]
    assert len(behind) == len(set(behind))
    assert len({body["metadata"]["name"] for body in slices}) == len(slices)
