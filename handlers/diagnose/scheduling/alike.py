"""Pods that ask the same of nodes: every node is asked once for all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from handlers.diagnose.scheduling.topology import Topology, meets_itself, topology_of
from handlers.diagnose.scheduling.verdict import Verdict, judge
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand, PodTerm


def alike(demands: Iterable[Demand], seen: Scheduling) -> list[list[Demand]]:
    """Groups of pods for which every node has the same answer. Five hundred workloads mostly ask for a few sizes."""
    terms = _terms(seen)
    groups: dict[Hashable, list[Demand]] = {}
    for demand in demands:
        groups.setdefault(_asks(demand, seen, terms), []).append(demand)
    return list(groups.values())


def judge_all(demands: Iterable[Demand], seen: Scheduling) -> list[Verdict]:
    """A verdict for each pod, in their order."""
    ordered = list(demands)
    verdicts: dict[int, Verdict] = {}
    for first, group in judge_alike(ordered, seen):
        verdicts |= {id(demand): replace(first, demand=demand) for demand in group}
    return [verdicts[id(demand)] for demand in ordered]


def judge_alike(demands: Iterable[Demand], seen: Scheduling) -> Iterator[tuple[Verdict, list[Demand]]]:
    """A verdict for each group. For those of a daemon set, each for its own node, other pods are counted once."""
    terms = _terms(seen)
    counted: dict[Hashable, Topology] = {}
    for group in alike(demands, seen):
        key = _counts(group[0], seen, terms)
        if key not in counted:
            counted[key] = topology_of(group[0], seen)
        yield judge(group[0], seen, counted[key]), group


def _terms(seen: Scheduling) -> tuple[PodTerm, ...]:
    """Whom the pods that run keep away."""
    return tuple(dict.fromkeys(term for pod in seen.neighbours for term in pod.away))


def _asks(demand: Demand, seen: Scheduling, terms: tuple[PodTerm, ...]) -> Hashable:
    """All of a pod that the filters look at."""
    return (
        demand.node_selector,
        demand.node_terms,
        demand.tolerations,
        frozenset(demand.requests.items()),
        demand.ports,
        _volumes(demand, seen),
        _others(demand, seen, terms),
    )


def _volumes(demand: Demand, seen: Scheduling) -> Hashable:
    """Where its volumes can be reached from. They are named in the verdict: only its own workload shares that."""
    known = (seen.volumes.get(f"{demand.namespace}/{claim}") for claim in demand.volume_claims)
    placed = tuple((volume.terms, volume.zones) for volume in known if volume and (volume.terms or volume.zones))
    return (demand.owner_id, placed) if placed else ()


def _others(demand: Demand, seen: Scheduling, terms: tuple[PodTerm, ...]) -> Hashable:
    """What other pods are to it, and it to them. Its own namespace and labels count only where a rule is about them."""
    kept_off = tuple(term for term in terms if term.chooses(demand.namespace, demand.labels, seen.namespaces))
    if not (demand.near or demand.away or demand.spreads or kept_off):
        return ()
    mine = tuple(spread.selector.matches(demand.labels) for spread in demand.spreads)
    rules = (demand.near, demand.away, demand.spreads)
    return demand.namespace, rules, kept_off, mine, meets_itself(demand, seen)


def _counts(demand: Demand, seen: Scheduling, terms: tuple[PodTerm, ...]) -> Hashable:
    """All of a pod that is looked at when other pods are counted: a spread leaves out nodes that it may not have."""
    nodes = (demand.node_selector, demand.node_terms, demand.tolerations) if demand.spreads else ()
    return _others(demand, seen, terms), nodes
