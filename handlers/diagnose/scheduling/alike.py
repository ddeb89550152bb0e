"""Pods that ask the same of nodes: every node is asked once for all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from handlers.diagnose.scheduling.verdict import Verdict, judge
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand, PodTerm


def alike(demands: Iterable[Demand], seen: Scheduling) -> list[list[Demand]]:
    """Groups of pods for which every node has the same answer. Five hundred workloads mostly ask for a few sizes."""
    terms = tuple(dict.fromkeys(term for pod in seen.neighbours for term in pod.away))
    groups: dict[Hashable, list[Demand]] = {}
    for demand in demands:
        groups.setdefault(_asks(demand, seen, terms), []).append(demand)
    return list(groups.values())


def judge_all(demands: Iterable[Demand], seen: Scheduling) -> list[Verdict]:
    """A verdict for each pod, in their order."""
    ordered = list(demands)
    verdicts: dict[int, Verdict] = {}
    for group in alike(ordered, seen):
        first = judge(group[0], seen)
        verdicts |= {id(demand): replace(first, demand=demand) for demand in group}
    return [verdicts[id(demand)] for demand in ordered]


def _asks(demand: Demand, seen: Scheduling, terms: tuple[PodTerm, ...]) -> Hashable:
    """All of a pod that the filters look at. Its own namespace and labels count only where a rule is about them."""
    kept_off = [term for term in terms if term.chooses(demand.namespace, demand.labels, seen.namespaces)]
    by_label = demand.near or demand.away or demand.spreads or kept_off
    return (
        demand.node_selector,
        demand.node_terms,
        demand.tolerations,
        frozenset(demand.requests.items()),
        demand.ports,
        (demand.near, demand.away, demand.spreads),
        (demand.namespace, demand.volume_claims) if demand.volume_claims else (),
        (demand.namespace, frozenset(demand.labels.items())) if by_label else (),
    )
