"""The sentences that prove that a node is short of memory: since when, the arithmetic, who was killed, who uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from handlers.evidence.cluster import Nodes
from handlers.evidence.memory_history import MemoryHistory
from handlers.evidence.memory_kills import EVICTED, OOM_KILLED, MemoryKill
from handlers.evidence.node_metrics import NodeMemoryUse
from handlers.evidence.pod_memory import OwnerMemory, PodMemory
from handlers.evidence.quantity import readable
from handlers.evidence.short_of_memory import ShortNode
from handlers.model import Unavailable

MOST_NAMED = 3
"""Pods by name in one line; the rest is counted."""


def headline(short: ShortNode, at: datetime) -> str:
    """What is wrong with which node, and since when."""
    where = f"{short.node.name} (pool {short.node.pool})" if short.node.pool else short.node.name
    if short.pressure:
        since = f" since {_clock(short.pressure.since)}" if short.pressure.since else ""
        return f"{where} reports MemoryPressure{since}: {short.pressure.message or short.pressure.reason}"
    ran_out = [at for at in (*(one.last for one in short.events), *(one.at for one in short.kills)) if at]
    if ran_out:
        return (
            f"{where} ran out of memory, last at {_clock(max(ran_out))}, {_minutes(at, max(ran_out))} before this check"
        )
    return f"{where} has next to no memory left: {arithmetic(short)}"


def arithmetic(short: ShortNode) -> str:
    """What the machine has, what pods may have of it, and what is in use."""
    node = short.node
    if node.memory is None or node.memory_for_pods is None:
        return f"{readable(short.used)} in use" if short.used is not None else "its size is not known"
    reserved = node.memory - node.memory_for_pods
    room = (
        f"{readable(node.memory)} - {readable(reserved)} reserved for the system, the kubelet and eviction"
        f" = {readable(node.memory_for_pods)} for pods"
    )
    if short.used is None:
        return room
    return f"{room}; in use {readable(short.used)} ({percent(short)} %)"


def percent(short: ShortNode) -> int | None:
    """What is in use of what pods may have, as `kubectl top node` shows it."""
    if short.used is None or not short.node.memory_for_pods:
        return None
    return round(100 * short.used / short.node.memory_for_pods)


def fullest(nodes: Nodes, use: NodeMemoryUse | Unavailable) -> str:
    """How full the fullest node is."""
    if isinstance(use, Unavailable):
        return "an unknown share"
    shares = [
        round(100 * use.used[node.name] / node.memory_for_pods)
        for node in nodes.nodes
        if node.memory_for_pods and node.name in use.used
    ]
    return f"{max(shares)} % of what its pods may have" if shares else "an unknown share"


def by_requests(short: ShortNode, pods: Sequence[PodMemory]) -> str:
    """Where nobody measured: what was promised."""
    asked = sum(one.requested for one in pods)
    nothing = sum(not one.requested for one in pods)
    free = sum(one.limit is None for one in pods)
    of = f" of {readable(short.node.memory_for_pods)}" if short.node.memory_for_pods else ""
    notes = [f"{nothing} request nothing"] * bool(nothing) + [f"{free} without a limit"] * bool(free)
    said = f"what is in use was not measured; its {len(pods)} pods request {readable(asked)}{of}"
    return f"{said} ({', '.join(notes)})" if notes else said


def killed(kills: Sequence[MemoryKill]) -> Iterator[str]:
    """Who was evicted, and who was killed without a limit of its own."""
    evicted = [one for one in kills if one.kind == EVICTED]
    ended = [one for one in kills if one.kind == OOM_KILLED]
    if evicted:
        yield f"{_count(evicted, 'pod', 'evicted')}: {_named(evicted)}"
        yield f"the kubelet's message: {max(evicted, key=lambda one: one.at).says}"
    if ended:
        said = "killed although it has no limit of its own, so the node had nothing left"
        yield f"{_count(ended, 'container', said)}: {_named(ended)}"


def top(owners: Sequence[OwnerMemory]) -> Iterator[str]:
    """Who uses it, as people know them."""
    for one in owners:
        used = f"{readable(one.used)} in use, " if one.used is not None else ""
        limit = "no limit" if one.limit is None else f"limit {readable(one.limit)}"
        asked = f"{readable(one.requested)} requested" if one.requested else "nothing requested"
        yield f"{one.owner} ({one.pods} {'pod' if one.pods == 1 else 'pods'} here): {used}{asked}, {limit}"


def outside_pods(short: ShortNode, pods: Sequence[PodMemory]) -> str:
    """What is in use and belongs to no pod; empty where that is not known or is less than what is reserved."""
    node, in_pods = short.node, [one.used for one in pods if one.used is not None]
    if short.used is None or node.memory is None or node.memory_for_pods is None or not in_pods:
        return ""
    rest, reserved = short.used - sum(in_pods), node.memory - node.memory_for_pods
    if rest <= reserved:
        return ""
    return f"{readable(rest)} are in use outside pods (system, kubelet), {readable(reserved)} are reserved for that"


def over_time(node: str, history: MemoryHistory) -> str:
    """How it came to this: the first, the highest and the last value of Azure Monitor."""
    values = history.by_node.get(node, ())
    known = [(at, value) for at, value in zip(history.moments, values, strict=True) if value is not None]
    if not known:
        return ""
    first, last, highest = known[0], known[-1], max(known, key=lambda pair: pair[1])
    others = [value for name, row in history.by_node.items() if name != node for value in row[-1:] if value is not None]
    beside = f"; the other {len(others)} nodes now {round(sum(others) / len(others))} % on average" if others else ""
    peak = f", highest {_at(*highest)}" if highest[1] > max(first[1], last[1]) else ""
    return f"Azure Monitor: {_at(*first)}, {_at(*last)}{peak}{beside}"


def _at(at: datetime, value: float) -> str:
    return f"{round(value)} % at {at:%H:%M} UTC"


def _clock(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _minutes(now: datetime, then: datetime) -> str:
    minutes = max(round((now - then).total_seconds() / 60), 0)
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def _count(kills: Sequence[MemoryKill], noun: str, verb: str) -> str:
    return f"1 {noun} {verb}" if len(kills) == 1 else f"{len(kills)} {noun}s {verb}"


def _named(kills: Sequence[MemoryKill]) -> str:
    latest = sorted(kills, key=lambda one: one.at, reverse=True)
    shown = [f"{one.namespace}/{one.pod} at {one.at:%H:%M} UTC" for one in latest[:MOST_NAMED]]
    rest = len(latest) - len(shown)
    return ", ".join([*shown, f"{rest} more"] if rest else shown)
