"""Do pods stand on a node without an address, and who holds the addresses?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, pods_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.pod_addresses import AddressUse, PodAddresses
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

CODE = "pod-ip-exhaustion"
MOST_NAMED = 3


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(WITHOUT_AZURE.kinds, WITHOUT_AZURE.because),
)
def pod_ip_exhaustion(
    cluster: ManagedCluster,
    network: NetworkProfile,
    nodes: Nodes,
    pools: AgentPools | Unavailable,
    addresses: PodAddresses | NotApplicable,
) -> Iterator[Judgement]:
    """A pod was placed on a node and gets no address."""
    if isinstance(addresses, NotApplicable):
        yield Clear(addresses.because)
        return
    by_pool: dict[str, list[AddressUse]] = {}
    at = {node.name: node for node in nodes.nodes}
    for use in addresses.nodes:
        by_pool.setdefault(at[use.node].pool if use.node in at else "", []).append(use)
    for name, uses in by_pool.items():
        yield _finding(cluster, network, _pool(name, pools), uses, at.get(uses[0].node), addresses)


def _pool(name: str, pools: AgentPools | Unavailable) -> AgentPool | None:
    known = pools.pools if isinstance(pools, AgentPools) else ()
    return next((pool for pool in known if name and pool.name.lower() == name.lower()), None)


def cause_of(use: AddressUse, network: NetworkProfile) -> str:
    """Why there is no address left on a node, as far as it can be told from outside of it."""
    wanted = use.live + len(use.waiting)
    if use.config and use.config.requested > use.config.assigned:
        return "subnet"
    if use.size and wanted > use.size:
        return "range-full"
    if use.size and wanted + use.ended > use.size:
        return "churn"
    # Only azure-cns says how many addresses it holds; what host-local holds stands on the node alone.
    return "leaked" if use.config and use.config.assigned else "unclear"


def _finding(
    cluster: ManagedCluster,
    network: NetworkProfile,
    pool: AgentPool | None,
    uses: list[AddressUse],
    node: Node | None,
    addresses: PodAddresses,
) -> Finding:
    first = uses[0]
    cause = cause_of(first, network)
    waiting = [failure for use in uses for failure in use.waiting]
    owners = dict.fromkeys(f"{failure.pod.namespace}/{failure.pod.workload}" for failure in waiting)
    return Finding(
        code=CODE,
        subject=pool.id if pool else f"Node/{first.node}",
        affects=(*owners, *(f"Node/{use.node}" for use in uses)),
        because=(
            f"without an address: {pods_of(len(waiting))} on {', '.join(use.node for use in uses[:MOST_NAMED])}",
            f"kubelet about {waiting[0].pod.namespace}/{waiting[0].pod.name}: {waiting[0].says}",
            *(_arithmetic(use) for use in uses[:MOST_NAMED]),
            *([f"pods on {addresses.left_out} more nodes wait, too"] if addresses.left_out else []),
            *(str(gap) for gap in addresses.gaps[:1]),
        ),
        facts={
            "cause": cause,
            "pod": waiting[0].pod.name,
            "namespace": waiting[0].pod.namespace,
            "times": str(waiting[0].told.count),
            "pods": [failure.pod.name for failure in waiting],
            "node": first.node,
            "machine": node.machine if node else "",
            "live": first.live,
            "ended": first.ended,
            "size": first.size,
            "range": first.range,
            "assigned": first.config.assigned if first.config else 0,
            "requested": first.config.requested if first.config else 0,
            "max_pods": pool.max_pods if pool else 0,
            "pool": pool.name if pool else "<pool>",
            "pool_size": pool.vm_size if pool else "<size>",
            "in_scale_set": node.in_scale_set if node else True,
            "plugin": " ".join(filter(None, (network.plugin, network.mode))),
            "host_local": network.plugin.lower() == "kubenet",
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _arithmetic(use: AddressUse) -> str:
    """`node-1: 254 addresses, held by 251 pods, waited for by 4, 30 have ended and are not cleared away`."""
    size = f"{use.size} addresses" if use.size else "an unknown number of addresses"
    asked = f" ({use.config.requested} requested)" if use.config and use.config.requested > use.config.assigned else ""
    ended = f", {use.ended} have ended and are not cleared away" if use.ended else ""
    return f"{use.node}: {size}{asked}, held by {pods_of(use.live)}, waited for by {len(use.waiting)}{ended}"
