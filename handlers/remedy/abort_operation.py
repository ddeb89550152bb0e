"""Abort an operation that has been running for too long."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import Act, doubts, stands_in_the_way
from handlers.remedy.titles import titled

CLUSTER_ABORT = "Microsoft.ContainerService/managedClusters/abort/action"
POOL_ABORT = "Microsoft.ContainerService/managedClusters/agentPools/abort/action"
ETA, LIMIT = timedelta(minutes=5), timedelta(hours=1)


@remedy(codes=("provisioning-in-progress",), writes=(CLUSTER_ABORT, POOL_ABORT))
def abort_operation(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """End the operation that has been running for long; what it has done so far stays."""
    pool = next((pool for pool in pools.pools if pool.id.lower() == finding.subject.lower()), None)
    target, name, state = (pool.id, pool.name, pool.state) if pool else (cluster.id, cluster.name, cluster.state)
    kind = "pool" if pool else "cluster"
    if not (pool.busy if pool else cluster.busy):
        yield Forbidden(f"{kind} {name} is {state}: the operation has ended", "check again")
        return
    acts = (Act(POOL_ABORT if pool else CLUSTER_ABORT, target),)
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    upgrades = state.lower().startswith("upgrading")
    yield Plan(
        remedy="abort-operation",
        title=titled(f"Abort the operation on {kind} {{}}", name),
        cluster=cluster.id,
        target=target,
        steps=(
            Step(
                verb=Verb.ABORT_LATEST,
                target=target,
                says=f"Abort the operation on {kind} {name}, which has been {state} since {finding.facts['since']}",
                request=f"POST {target}/abort",
                command=_command(cluster, pool.name if pool else ""),
            ),
        ),
        # Do not abort any other operation than the one that was approved.
        before={f"state of {kind} {name}": state, "operation (correlation id)": finding.facts["correlation"]},
        undo="it cannot be undone: start the operation again",
        verify=Verify("provisioning-in-progress", finding.subject),
        risk=Risk.HIGH,
        could_go_wrong=(
            f"{kind} {name} is left Canceled, with whatever was done so far",
            *(["nodes of two versions, surge nodes and cordons stay behind until it is upgraded"] if upgrades else []),
            "an operation that was only slow has to begin again",
        ),
        eta=ETA,
        limit=LIMIT,
        warnings=(
            "look first whether it still moves: nodes that come and go, budgets that hold a drain up",
            *doubts(acts, locks, denials, may),
        ),
        effect=f"The operation on {kind} {name} ({state} since {finding.facts['since']}) ends half way: what it has "
        f"done stays, and the {kind} is left Canceled",
    )


def _command(cluster: ManagedCluster, pool: str) -> str:
    of = f"--subscription {cluster.subscription} --resource-group {cluster.group}"
    if pool:
        return f"az aks nodepool operation-abort {of} --cluster-name {cluster.name} --name {pool}"
    return f"az aks operation-abort {of} --name {cluster.name}"
