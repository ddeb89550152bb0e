"""Checks that a step stays within the cluster its plan was approved for, and within its verb.

No remedy makes other steps. But the plan is stored between approval and execution, so what comes back is checked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handlers.fleet.kinds import NEXUS
from handlers.remedy.plan import Plan, Step, Verb
from handlers.resource_id import BadResourceId, ResourceId, same

_POOL = re.compile(r"/agentpools/[a-z0-9-]+", re.IGNORECASE)
_DOMAIN = re.compile(r"Microsoft\.ManagedNetworkFabric/l[23]IsolationDomains", re.IGNORECASE)
"""The fabric may be in another group and another subscription than the clusters that stand on it."""
_KINDS = {
    Verb.RELAX_BUDGET: "PodDisruptionBudget",
    Verb.RESTORE_BUDGET: "PodDisruptionBudget",
    Verb.DELETE_POD: "Pod",
}


def out_of_bounds(plan: Plan, step: Step) -> str:
    """What is wrong with a step's target; empty if nothing is."""
    try:
        cluster, inside = ResourceId.parse(plan.cluster), _stays(ResourceId.parse(plan.cluster), step)
    except BadResourceId as bad:
        return str(bad)
    return "" if inside else f"{step.verb} of {step.target} is no part of a fix of cluster {cluster.name}"


def _stays(cluster: ResourceId, step: Step) -> bool:
    target, arguments = step.target, step.arguments
    match step.verb:
        case Verb.PUT_CLUSTER_AS_READ:
            return same(target, str(cluster))
        case Verb.PUT_POOL_AS_READ:
            return _is_pool_of(cluster, target)
        case Verb.ABORT_LATEST:
            return same(target, str(cluster)) or _is_pool_of(cluster, target)
        case Verb.REGISTER_PROVIDER:
            return same(target, f"/subscriptions/{cluster.subscription}")
        case Verb.UPDATE_INSTANCE:
            machine = f"{target}/virtualMachines/{arguments.get('instance_id')}"
            return _is_beside(cluster, target) and same(machine, str(arguments.get("machine")))
        case Verb.REAPPLY_MACHINE:
            return _is_beside(cluster, target)
        case Verb.ENABLE_ISOLATION_DOMAIN:
            return bool(_DOMAIN.fullmatch(ResourceId.parse(target).type)) and cluster.is_a(NEXUS)
        case Verb.RELAX_BUDGET | Verb.RESTORE_BUDGET | Verb.DELETE_POD:
            return target == _named(_KINDS[step.verb], arguments)
        case Verb.PROBE_FROM_POD:
            return True  # Created in this cluster, under our own name.


def _is_pool_of(cluster: ResourceId, target: str) -> bool:
    above = len(str(cluster))
    return same(target[:above], str(cluster)) and bool(_POOL.fullmatch(target[above:]))


def _is_beside(cluster: ResourceId, target: str) -> bool:
    """Machines live in another resource group, but never in another subscription."""
    return ResourceId.parse(target).subscription.lower() == cluster.subscription.lower()


def _named(kind: str, arguments: Mapping[str, Any]) -> str:
    return f"{arguments.get('namespace')}/{kind}/{arguments.get('name')}"
