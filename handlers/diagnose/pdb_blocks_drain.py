"""Does a disruption budget forbid what an upgrade needs?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.counted import counted
from handlers.diagnose.draining import Draining, asked_version, draining, named_or_cordoned
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.budgets import Budget, Budgets
from handlers.evidence.cluster import Nodes, Pod, Pods
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.drains import DRAINS, evicted, names_budget
from handlers.model import Clear, Finding, Severity, Unavailable

CODE = "pdb-blocks-drain"
RECOVERING = timedelta(minutes=5)
"""In a rollout that works, the pod that replaces an evicted one is ready within this; the budget allows 0 meanwhile."""


@diagnostic(codes=(CODE,), area="workloads")
def pdb_blocks_drain(
    cluster: ManagedCluster, pools: AgentPools, nodes: Nodes, pods: Pods, budgets: Budgets, complaints: Complaints
) -> Iterator[Finding | Clear | Unavailable]:
    """A PodDisruptionBudget allows no disruption while a node must be drained."""
    emptied = draining(pools, nodes, complaints)
    leaving = [
        (draining, pod) for draining in emptied for node in draining.nodes for pod in pods.on(node.name) if pod.budgeted
    ]
    by_name = sorted(budgets.budgets, key=lambda budget: budget.name)
    covering = {pod.subject: [budget for budget in by_name if budget.covers(pod)] for _, pod in leaving}
    refused = complaints.recent(CODE)
    for budget in budgets.budgets:
        held = [(draining, pod) for draining, pod in leaving if budget.holds(pod) and _insists(budget, draining, pods)]
        twice = [
            (draining, pod)
            for draining, pod in leaving
            if len(covering[pod.subject]) > 1 and covering[pod.subject][0] is budget
        ]
        told = (
            [complaint for complaint in _told(emptied) if _names(complaint, budget)]
            if budget.expected and not budget.allowed
            else []
        )
        told += [
            complaint
            for complaint in refused
            if _names(complaint, budget) and not budget.allowed and complaint not in told
        ]
        if held or twice or told:
            others = [
                each_budget.name
                for _, pod in twice[:1]
                for each_budget in covering[pod.subject]
                if each_budget is not budget
            ]
            yield _blocks(
                cluster, budget, held or twice, told, others, complaints, refused=bool(refused) and not emptied
            )
    blind = complaints.blind_spot()
    if blind:  # a refusal before the upgrade began is told there, and nowhere else
        yield blind
    elif budgets.complete and nodes.complete and (pods.complete or not named_or_cordoned(emptied)):
        until = f"refusals are known until {complaints.until}"
        yield Clear(f"{_none_in_the_way(len(budgets.budgets), sum(len(drain.nodes) for drain in emptied))}; {until}")


def _none_in_the_way(budgets: int, nodes: int) -> str:
    if not nodes:
        return "no node is to be drained, so no disruption budget is in the way"
    return f"{counted(nodes, 'node')} to drain, and none of {budgets} disruption budgets is in the way"


def _insists(budget: Budget, drain: Draining, pods: Pods) -> bool:
    """Whether it is more than the moment between an eviction and the new pod that an upgrade always has."""
    if drain.told or drain.pool.failed or budget.never_allows:
        return True
    since = [pod.ready_since for pod in pods.pods if budget.covers(pod) and not pod.ready and not pod.deleting]
    return any(item is not None and pods.taken_at - item > RECOVERING for item in since)


def _told(emptied: tuple[Draining, ...]) -> list[Complaint]:
    return [told for drain in emptied for told in drain.told]


def _names(told: Complaint, budget: Budget) -> bool:
    return names_budget(told.error, budget.namespace, budget.name)


def _blocks(
    cluster: ManagedCluster,
    budget: Budget,
    held: list[tuple[Draining, Pod]],
    told: list[Complaint],
    others: list[str],
    complaints: Complaints,
    *,
    refused: bool,
) -> Finding:
    pools = {draining.pool.id: draining.pool.name for draining, _ in held}
    pools |= {
        complaint.about: complaint.about.rsplit("/", 1)[-1] for complaint in told if complaint.about != cluster.id
    }
    # Where Azure names pods that were evicted and did not end, no budget refused that drain; it may refuse the next.
    elsewhere = not told and bool(held) and all(_was_evicted(draining) for draining, _ in held)
    told = told or ([] if elsewhere else [complaint for draining, _ in held for complaint in draining.told])
    pods = list(dict.fromkeys(pod.name for _, pod in held))
    nodes = sorted({pod.node for _, pod in held})
    pool = held[0][0].pool if held else None
    return Finding(
        code=CODE,
        subject=budget.subject,
        severity=Severity.WARNING if elsewhere else Severity.ERROR,
        affects=()
        if elsewhere
        else (*(f"Node/{node}" for node in nodes), *complaints.affected((*pools, cluster.id), DRAINS)),
        because=(
            f"budget {budget.namespace}/{budget.name} ({_rule(budget)}) allows {budget.allowed} disruptions",
            f"{budget.healthy} of its {budget.expected} pods are healthy, {budget.desired} must stay",
            *([f"it holds {', '.join(pods[:3])} on {', '.join(nodes[:3])}, which must be drained"] if pods else []),
            *([f"{pods[0]} is also under {', '.join(others)}: Kubernetes evicts no such pod"] if others else []),
            *(str(complaint) for complaint in told[:1]),
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
            "unhealthy": max(0, budget.expected - budget.healthy),
            "refused": refused,
            "pool_state": pool.state if pool else "",
            "upgrade_pending": pool is not None and pool.upgrading,
            "target": asked_version(cluster, pool),
            "subscription": cluster.subscription,
            "pool": next(iter(pools.values()), ""),
            "pool_id": next(iter(pools), cluster.id),
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
        },
    )


def _was_evicted(drain: Draining) -> bool:
    return bool(drain.told) and all(evicted(told.error) for told in drain.told)


def _rule(budget: Budget) -> str:
    if budget.max_unavailable:
        return f"maxUnavailable {budget.max_unavailable}"
    return f"minAvailable {budget.min_available}" if budget.min_available else "no rule"
