"""Does a disruption budget forbid what an upgrade needs?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.diagnose.draining import Draining, draining
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Budget, Budgets, Nodes, Pod, Pods
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.drains import speaks_of_budgets
from handlers.model import Clear, Finding, Unavailable


@diagnostic(codes=("pdb-blocks-drain",), area="workloads")
def pdb_blocks_drain(
    cluster: ManagedCluster, pools: AgentPools, nodes: Nodes, pods: Pods, budgets: Budgets, complaints: Complaints
) -> Iterator[Finding | Clear | Unavailable]:
    """A PodDisruptionBudget allows no disruption while a node must be drained."""
    emptied = draining(pools, nodes, complaints)
    refused = complaints.recent(speaks_of_budgets)
    for budget in budgets.budgets:
        held = [(one, pod) for one in emptied for node in one.nodes for pod in pods.on(node.name) if budget.covers(pod)]
        told = [one for one in (*(told for drain in emptied for told in drain.told), *refused) if _names(one, budget)]
        twice = [pod for _, pod in held if _first_of_several(budget, pod, budgets)]
        if (budget.allowed == 0 and budget.expected and (held or told)) or twice:
            yield _blocks(cluster, budget, budgets, held, told, twice)
    if pools.failed and complaints.gaps:  # whether that was a drain is told there
        yield complaints.gaps[0]
    elif budgets.complete and pods.complete:
        yield Clear(f"{len(budgets.budgets)} budgets, none in the way of {len(emptied)} drains")


def _first_of_several(budget: Budget, pod: Pod, budgets: Budgets) -> bool:
    """Whether a pod has more than one budget; the pair is told once, by the first of them."""
    covering = sorted((one for one in budgets.budgets if one.covers(pod)), key=lambda one: one.name)
    return len(covering) > 1 and covering[0] is budget


def _names(told: Complaint, budget: Budget) -> bool:
    """Whether Azure named the budget."""
    return re.search(rf"\b{re.escape(budget.namespace)}/{re.escape(budget.name)}\b", told.error.message) is not None


def _blocks(
    cluster: ManagedCluster,
    budget: Budget,
    budgets: Budgets,
    held: list[tuple[Draining, Pod]],
    told: list[Complaint],
    twice: list[Pod],
) -> Finding:
    pools = {one.pool.id: one.pool.name for one, _ in held}
    pools |= {one.about: one.about.rsplit("/", 1)[-1] for one in told if one.about != cluster.id}
    told = told or [complaint for one, _ in held for complaint in one.told]
    pods = list(dict.fromkeys(pod.name for _, pod in held))
    nodes = sorted({pod.node for _, pod in held})
    others = [one.name for one in budgets.budgets if one is not budget and any(one.covers(pod) for pod in twice)]
    return Finding(
        code="pdb-blocks-drain",
        subject=budget.subject,
        affects=(*(f"Node/{node}" for node in nodes), *pools, cluster.id),
        because=(
            f"budget {budget.namespace}/{budget.name} ({_rule(budget)}) allows {budget.allowed} disruptions",
            f"{budget.healthy} of its {budget.expected} pods are healthy, {budget.desired} must stay",
            *([f"it holds {', '.join(pods[:3])} on {', '.join(nodes[:3])}, which must be drained"] if pods else []),
            *(
                [f"{twice[0].name} is under {budget.name} and {', '.join(others)}: Kubernetes evicts no such pod"]
                if twice
                else []
            ),
            *(str(one) for one in told[:1]),
        ),
        facts={
            "budget": budget.name,
            "namespace": budget.namespace,
            "rule": _rule(budget),
            "allowed": budget.allowed,
            "healthy": budget.healthy,
            "desired": budget.desired,
            "expected": budget.expected,
            "pods": pods,
            "nodes": nodes,
            "others": others,
            "owner": budget.owner,
            "pool": next(iter(pools.values()), ""),
            "pool_id": next(iter(pools), cluster.id),
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
        },
    )


def _rule(budget: Budget) -> str:
    if budget.max_unavailable:
        return f"maxUnavailable {budget.max_unavailable}"
    return f"minAvailable {budget.min_available}" if budget.min_available else "no rule"
