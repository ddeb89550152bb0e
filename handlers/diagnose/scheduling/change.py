"""The smallest change that would let a pod run, as facts for the runbook: this cluster's own values, filled in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal

from handlers.diagnose.scheduling.obstacles import Obstacle
from handlers.diagnose.scheduling.topology import values_of
from handlers.diagnose.scheduling.verdict import CAPACITY, Verdict
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.quantities import NONE, spoken, written, written_within
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.rooms import Room
from handlers.model import Unavailable

TEMPLATED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
"""What makes its pods anew when its template changes. A job's template cannot be changed."""


def facts_of(
    cluster: ManagedCluster,
    waits: Scheduling,
    verdict: Verdict,
    group: Sequence[Demand],
    cause: str,
    pools: AgentPools | Unavailable,
) -> dict[str, object]:
    """What the page of a pod without a node is filled with."""
    demand = verdict.demand
    answer = next(iter(verdict.nearest), None)
    room = answer.room if answer else None
    mine = [obstacle for obstacle in answer.obstacles if obstacle.cause == cause] if answer else []
    obstacle = min(mine, key=lambda obstacle: obstacle.passing, default=None)
    kind, _, owner = demand.workload.partition("/")
    return {
        "namespace": demand.namespace,
        "kind": kind,
        "kind_word": kind.lower(),
        "owner": owner,
        "templated": kind in TEMPLATED,
        "pod": demand.name,
        "pods": [demand.name for demand in group],
        "cause": cause,
        "said": demand.said,
        "node": room.name if room else "",
        "nearest": [answer.room.name for answer in verdict.nearest],
        "to_uncordon": [answer.room.name for answer in verdict.nearest][:5],
        "why": obstacle.why if obstacle else "",
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        **_of_labels(demand, waits.rooms),
        **_of_room(waits, verdict, obstacle),
        **_of_taint(obstacle),
        **_of_pool(room, pools),
    }


def _of_labels(demand: Demand, rooms: Iterable[Room]) -> dict[str, object]:
    """What the pod asks of labels, and which values the nodes have of them."""
    known = list(rooms)
    missed = [
        requirement for requirement in demand.node_selector if not any(requirement.holds(room.labels) for room in known)
    ]
    wanted = (missed or [*demand.node_selector])[:1]
    terms = demand.node_terms or ()
    keys = [requirement.key for requirement in wanted] or [label.key for term in terms for label in term.labels][:1]
    patch = {"spec": {"template": {"spec": {"nodeSelector": {requirement.key: None for requirement in wanted}}}}}
    return {
        "label_wanted": str(wanted[0]) if wanted else " or ".join(str(term) for term in terms),
        "labels_there": _labels_there(keys[0] if keys else "", known),
        "selector_patch": json.dumps(patch),
    }


def _labels_there(label: str, rooms: Sequence[Room]) -> str:
    """What the nodes have of a label, as half a sentence."""
    values = values_of(rooms, label)[:10]
    return f"the nodes have {label} = {', '.join(values)}" if values else f"no node has the label {label}"


def _of_room(waits: Scheduling, verdict: Verdict, obstacle: Obstacle | None) -> dict[str, object]:
    """How much is asked for, how much is free at best, and how much the largest node could ever give."""
    resource = obstacle.resource if obstacle else ""
    wanted = verdict.demand.requests.get(resource, NONE)
    chosen = [answer for answer in verdict.answers if not {o.cause for o in answer.obstacles} - CAPACITY - {"cordon"}]
    whole = max((answer.room.allocatable.get(resource, NONE) for answer in chosen), default=NONE)
    in_use = [answer.room for answer in chosen if all(o.cause != "cordon" for o in answer.obstacles)]
    free = max((waits.free(room, resource) for room in in_use), default=NONE)
    only = [answer.room for answer in chosen if all(o.resource == resource for o in answer.obstacles)]
    enough = max((waits.free(room, resource) for room in only), default=NONE)
    return {
        "resource": resource,
        "requested": _asked(resource, wanted) if resource else "",
        "requested_written": written(resource, wanted) if resource else "",
        "free": spoken(resource, max(free, NONE)) if resource else "",
        "fits_with": written_within(resource, enough) if resource else "",
        "largest": spoken(resource, whole) if resource else "",
        "too_large": bool(resource) and wanted > whole,
    }


def _asked(resource: str, wanted: Decimal) -> str:
    """`12 CPUs`, `17 GiB of memory`, `1 of nvidia.com/gpu`."""
    return spoken(resource, wanted) + ("" if resource == "cpu" else f" of {resource}")


def _of_taint(obstacle: Obstacle | None) -> dict[str, object]:
    taint = obstacle.taint if obstacle else None
    return {
        "taint": str(taint) if taint else "",
        "taint_key": taint.key if taint else "",
        "taint_effect": taint.effect if taint else "",
    }


def _of_pool(room: Room | None, pools: AgentPools | Unavailable) -> dict[str, object]:
    """The pool of the nearest node: it is the one that would grow."""
    pool = _pool(room, pools)
    return {
        "pool": pool.name if pool else "",
        "pool_size": pool.vm_size if pool else "",
        "pool_count": pool.count if pool else 0,
        "autoscaled": pool.autoscaled if pool else False,
        "most_nodes": pool.most_nodes if pool else 0,
        "grown": pool.count + 1 if pool else 1,
        "raised": max(pool.count, pool.most_nodes) + 1 if pool else 1,
        "max_pods": pool.max_pods if pool else 0,
    }


def _pool(room: Room | None, pools: AgentPools | Unavailable) -> AgentPool | None:
    known = pools.pools if isinstance(pools, AgentPools) else ()
    return next((pool for pool in known if room and pool.name.lower() == room.pool.lower()), None)
