"""Let one pod at a time go for as long as an upgrade needs it, go on with the upgrade, and put the budget back.

The pool's PUT goes on with an upgrade that is half done, which elsewhere is never behind a button (see `rolling`).
Here it is what the plan is for: the drain failed over this one budget, and relaxing it without going on would help
nobody. So the plan names the upgrade and the nodes that it replaces; pools that it is not about must not roll.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from shlex import quote
from typing import Any

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.budgets import Budget, Budgets
from handlers.evidence.cluster import Nodes, Pods
from handlers.evidence.governance import Locks, RoleAssignments
from handlers.evidence.growth import share_of, surge_nodes
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.evidence.permissions_inside import WriterMayInside
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.inside import doubts_inside, may_not_inside
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.putting import (
    ASKED_OF_A_CLUSTER,
    CLUSTER_WRITE,
    POOL_WRITE,
    cluster_acts,
    cluster_before,
    pool_acts,
    pool_before,
    put_cluster,
    put_pool,
    untagged,
    zone_is_written,
)
from handlers.remedy.reasons import doubts, not_now, some, stands_in_the_way
from handlers.remedy.reconcile_cluster import half_upgraded
from handlers.remedy.rolling import Rolled, as_they_are, could_roll, rolled_by
from handlers.remedy.titles import titled

ACTS = ("get poddisruptionbudgets.policy", "patch poddisruptionbudgets.policy")
FINDING_LEFTOVERS = "list poddisruptionbudgets.policy"
"""A budget that was left relaxed is found by its annotation when all records are lost."""
SCALED = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
"""Controllers that Kubernetes asks how many pods they want; for others a budget with maxUnavailable allows nothing."""
ETA_EACH_NODE, ETA_AROUND = timedelta(minutes=7), timedelta(minutes=10)
"""A node that is upgraded is made, drained and deleted; control plane and budget come on top."""
LONGEST = timedelta(hours=6)


@remedy(
    codes=("pdb-blocks-drain",),
    writes=(CLUSTER_WRITE, POOL_WRITE, *ASKED_OF_A_CLUSTER),
    acts=(*ACTS, FINDING_LEFTOVERS),
)
def relax_budget(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes,
    pods: Pods,
    budgets: Budgets,
    inside: WriterMayInside,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
    roles: RoleAssignments | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Relax the budget to one pod at a time, go on with what it stopped, and put the budget back."""
    budget = next((budget for budget in budgets.budgets if budget.subject == finding.subject), None)
    if budget is None:
        yield Forbidden("the budget is not there any more", "check again")
        return
    blocked = tuple(pool for pool in pools.failed if _affected(pool, finding))
    others = tuple(pool for pool in pools.pools if pool not in blocked)
    acts = tuple(act for pool in blocked for act in pool_acts(pool))
    acts += cluster_acts(cluster, pools) if cluster.failed else ()
    yield from not_now(cluster, pools)
    yield from _cannot_be_relaxed(budget, finding, pods)
    yield from _nothing_to_go_on_with(blocked, pools, finding)
    yield from untagged({f"pool {pool.name}": pool.etag for pool in (pools.pools if cluster.failed else blocked)})
    if not nodes.complete:
        yield Forbidden("not all nodes could be seen, so it is unknown which of them are replaced", "check again")
    if cluster.failed:
        yield from half_upgraded(cluster)
        yield from could_roll(others, nodes)
        yield from zone_is_written(cluster, roles)
    yield from may_not_inside(ACTS, budget.namespace, inside)
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    rolled = rolled_by(blocked, nodes)
    replaced = sum(len(pool.nodes) for pool in rolled)
    yield Plan(
        remedy="relax-budget",
        title=titled("Relax budget {}, then go on", budget.name),
        cluster=cluster.id,
        target=budget.subject,
        steps=(
            _relax(budget, cluster),
            *(put_pool(pool, cluster) for pool in blocked),
            *((put_cluster(cluster, pools, blocked),) if cluster.failed else ()),
            _restore(budget),
        ),
        before={
            **_before(budget),
            **{name: value for pool in blocked for name, value in pool_before(pool).items()},
            **(cluster_before(cluster) if cluster.failed else {}),
            **as_they_are(blocked, nodes),
        },
        undo="the budget is put back whatever happens; nodes that are upgraded by then stay so",
        verify=Verify("pdb-blocks-drain", budget.subject),
        risk=Risk.MEDIUM,
        could_go_wrong=(
            *map(_goes_on, rolled),
            _away(budget),
            "the drain may fail over something else: then the pool is Failed again, and the budget is put back",
        ),
        eta=min(ETA_AROUND + ETA_EACH_NODE * replaced, LONGEST),
        limit=min(2 * (ETA_AROUND + ETA_EACH_NODE * replaced), LONGEST),
        warnings=(
            *_owned(budget),
            *doubts_inside(ACTS, budget.namespace, inside),
            *doubts(acts, locks, denials, may),
        ),
        effect=_effect(budget, rolled, cluster),
    )


def _effect(budget: Budget, rolled: tuple[Rolled, ...], cluster: ManagedCluster) -> str:
    who = f"{budget.namespace}/{budget.name}"
    after = f", then cluster {cluster.name} is reconciled" if cluster.failed else ""
    goes_on = "; ".join(map(_replaces, rolled))
    return f"PDB {who} allows 1 disruption, then {goes_on}{after}; the PDB is restored afterwards"


def _replaces(rolled: Rolled) -> str:
    pool, number = rolled.pool, len(rolled.nodes)
    if not number:
        return f"pool {pool.name} is reconciled and no node is replaced"
    what = f"the upgrade of pool {pool.name} to {rolled.to}" if rolled.to else f"the node image of pool {pool.name}"
    how = "goes on" if rolled.to else "is changed"
    if number == 1:
        return f"{what} {how}: 1 node is replaced"
    emptied = share_of(pool.rolling.batch, pool.count) if pool.rolling.blue_green else surge_nodes(pool)
    together = min(emptied or share_of(pool.max_unavailable, pool.count), number)
    return f"{what} {how}: {number} nodes are replaced {'one by one' if together <= 1 else f'{together} at a time'}"


def _affected(pool: AgentPool, finding: Finding) -> bool:
    return pool.id.lower() in {affected.lower() for affected in finding.affects}


def _cannot_be_relaxed(budget: Budget, finding: Finding, pods: Pods) -> Iterator[Forbidden]:
    if others := finding.facts.get("others"):
        what = f"its pods are under {budget.name} and {', '.join(others)}: Kubernetes evicts no pod with two budgets"
        yield Forbidden(what, "choose which one stays, and delete the other by the steps")
    if budget.relaxed:
        yield Forbidden("a fix has relaxed it already", "see how that fix ended; it puts the budget back")
    if not budget.uid or not budget.spec:
        what = "the cluster was seen through run-command only, and is not written to that way"
        yield Forbidden(what, "follow the steps from inside its network")
    if budget.healthy < budget.expected:
        what = f"{budget.expected - budget.healthy} of its {budget.expected} pods are down: one at a time is none more"
        yield Forbidden(what, "repair those pods first: the budget may then allow the drain as it is")
    unscaled = sorted({pod.owner_kind for pod in pods.pods if budget.covers(pod) and pod.owner_kind not in SCALED})
    if unscaled:
        what = f"it covers pods of {some(unscaled)}: there maxUnavailable allows nothing"
        yield Forbidden(what, "lower its minAvailable instead, as a whole number, by the steps")


def _nothing_to_go_on_with(blocked: tuple[AgentPool, ...], pools: AgentPools, finding: Finding) -> Iterator[Forbidden]:
    if finding.facts.get("refused"):
        what = "AKS refused the upgrade before it began: there is nothing to go on with"
        yield Forbidden(what, "relax the budget by the steps, and start the upgrade again")
    elif not blocked:
        states = some(f"{pool.name} is {pool.state}" for pool in pools.pools)
        yield Forbidden(f"no pool that it blocks is Failed ({states})", "check again when the operation has ended")


def _goes_on(rolled: Rolled) -> str:
    named = some(node.name for node in rolled.nodes)
    if not rolled.nodes:
        return f"pool {rolled.pool.name} is written unchanged: no node is replaced, as far as versions and images tell"
    what = f"upgrade to {rolled.to}" if rolled.to else "change of the node image"
    return f"goes on with the {what} of pool {rolled.pool.name}: replaces {len(rolled.nodes)} nodes ({named})"


def _away(budget: Budget) -> str:
    if budget.expected == 1:
        return f"{budget.namespace}/{budget.name} has one pod only: nothing serves until the next one is Ready"
    return (
        f"while it lasts, one of the {budget.expected} pods of {budget.namespace}/{budget.name} at a time may be away"
    )


def _owned(budget: Budget) -> tuple[str, ...]:
    if not budget.owner:
        return ()
    return (f"{budget.owner} owns the budget and may put it back while the upgrade runs: pause it there first",)


def _before(budget: Budget) -> dict[str, Any]:
    return {f"rule of budget {budget.name}": budget.spec, f"uid of budget {budget.name}": budget.uid}


def _relax(budget: Budget, cluster: ManagedCluster) -> Step:
    patch = {"spec": {"minAvailable": None, "maxUnavailable": 1}}
    return Step(
        verb=Verb.RELAX_BUDGET,
        target=budget.subject,
        says=f"Allow one pod of {budget.namespace}/{budget.name} in {cluster.name} to be evicted at a time",
        request=f"PATCH {_path(budget)}, maxUnavailable 1; what it was goes into an annotation",
        command=_patch(budget, patch),
        arguments={**_arguments(budget), "max_unavailable": 1},
    )


def _restore(budget: Budget) -> Step:
    was = {name: budget.spec.get(name) for name in ("minAvailable", "maxUnavailable")}
    return Step(
        verb=Verb.RESTORE_BUDGET,
        target=budget.subject,
        says=f"Restore budget {budget.namespace}/{budget.name}",
        request=f"PATCH {_path(budget)}, what the annotation says; the annotation goes",
        command=_patch(budget, {"spec": was}),
        arguments=_arguments(budget),
        always=True,
    )


def _arguments(budget: Budget) -> dict[str, Any]:
    return {"namespace": budget.namespace, "name": budget.name, "uid": budget.uid, "spec": dict(budget.spec)}


def _path(budget: Budget) -> str:
    return f"/apis/policy/v1/namespaces/{budget.namespace}/poddisruptionbudgets/{budget.name}"


def _patch(budget: Budget, patch: dict[str, Any]) -> str:
    where = f"{quote(budget.name)} --namespace {quote(budget.namespace)}"
    return f"kubectl patch pdb {where} --type merge --patch {quote(json.dumps(patch, separators=(',', ':')))}"
