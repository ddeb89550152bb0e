"""How close a check comes to its longest chain of dependent calls."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.checks.clients import Clients, clients
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.engine.run import Engine
from handlers.fleet.names import resolve
from sandbox.arm.request_log import LoggedRequest
from sandbox.kube.request_log import LoggedRequest as KubeRequest
from tests.bench.azure_process import AzureProcess, azure_process
from tests.bench.figure import Figure
from tests.checking import GRAPH, LIBRARY

LATENCY_S = 0.120
KUBE_LATENCY_S = 0.030
CLUSTER = "prod-eus2"
ROUNDS = 5
AT_ONCE = 50

Request = LoggedRequest | KubeRequest


@dataclass(frozen=True, slots=True)
class Round:
    """One check: its wall-clock time, and the timing of its calls as measured by the servers."""

    wall_s: float
    chain_s: float
    serial_s: float
    calls: int
    twice: int

    @property
    def ratio(self) -> float:
        return self.wall_s / self.chain_s


def figures() -> Iterator[Figure]:
    with azure_process("healthy-fleet", LATENCY_S, KUBE_LATENCY_S) as azure:
        yield from asyncio.run(_figures(azure))


async def _figures(azure: AzureProcess) -> list[Figure]:
    async with clients(azure.access, KubeAccess(), fresh_for_s=0) as opened:
        await _check(opened)  # token, TLS and imports
        azure.log()
        rounds = sorted([await _measured(opened, azure) for _ in range(ROUNDS)], key=lambda one: one.ratio)
    one = rounds[ROUNDS // 2]
    async with clients(azure.access, KubeAccess()) as opened:
        await asyncio.gather(*(_check(opened) for _ in range(AT_ONCE)))
        together = len(_by_reader(azure.log()[0]))
    alone = await _alone(azure)
    latencies = f"{LATENCY_S * 1000:.0f} or {KUBE_LATENCY_S * 1000:.0f} ms"
    told = f"{one.calls} calls of {latencies}; wall {one.wall_s * 1000:.0f} ms"
    chain, serial = (
        f"{told}, longest chain {one.chain_s * 1000:.0f} ms",
        f"{told}, in a row {one.serial_s * 1000:.0f} ms",
    )
    return [
        Figure("check-vs-chain", one.ratio, "ratio", 1.10, chain),
        Figure("check-vs-serial", one.wall_s / one.serial_s, "ratio", 0.25, serial),
        Figure("calls-made-twice", one.twice, "calls", 0, f"of {one.calls} calls of one check"),
        Figure(
            "calls-of-50-checks", together / alone, "ratio", 1.0, f"{together} Azure calls of {AT_ONCE} checks at once"
        ),
    ]


async def _alone(azure: AzureProcess) -> int:
    """How many Azure calls a check makes in a new process."""
    async with clients(azure.access, KubeAccess()) as opened:
        await _check(opened)
    return len(_by_reader(azure.log()[0]))


async def _check(opened: Clients) -> dict[str, str]:
    """Run one check; also returns the kind of evidence that requested each Kubernetes path."""
    target = await resolve(CLUSTER, opened.arm)
    async with opened.for_target(target) as given:
        await Engine(GRAPH, LIBRARY.explains).diagnose(target, given)
        kube: KubeReader = given[KubeReader]
        return {call.path.partition("?")[0]: call.kind for call in kube.calls}


async def _measured(opened: Clients, azure: AzureProcess) -> Round:
    arm: ArmReader = opened.arm
    before, began = len(arm.calls), time.perf_counter()
    kube_kinds = await _check(opened)
    wall_s = time.perf_counter() - began
    azures, inside = azure.log()
    asked = _by_reader(azures)
    kinds = {call.request_id: call.kind for call in list(arm.calls)[before:]}
    by_kind: dict[str, list[Request]] = {}
    for request in asked:
        by_kind.setdefault(kinds[request.client_request_id or ""], []).append(request)
    for one in inside:
        by_kind.setdefault(kube_kinds[one.path.partition("?")[0]], []).append(one)
    everything: list[Request] = [*asked, *inside]
    return Round(
        wall_s,
        _longest_chain_s(by_kind),
        sum(_lasted_s(request) for request in everything),
        len(everything),
        sum(times - 1 for times in Counter(_identity(request) for request in everything).values()),
    )


def _identity(request: Request) -> tuple[str, str, str]:
    return request.method, request.path, request.query


def _longest_chain_s(by_kind: dict[str, list[Request]]) -> float:
    """The evidence graph's critical path by the servers' clocks: name lookup, then each kind after its dependencies."""
    chain_s: dict[type, float] = {}
    for collector in GRAPH.wanted:
        before = max((chain_s.get(need.kind, 0.0) for need in collector.needs), default=0.0)
        chain_s[collector.makes] = before + _in_a_row_s(by_kind.get(collector.name, []))
    return _in_a_row_s(by_kind.get("", [])) + max(chain_s.values())


def _in_a_row_s(requests: Sequence[Request]) -> float:
    """The longest sequence of one collector's requests that ran strictly one after another."""
    best: list[tuple[float, float]] = []
    for request in sorted(requests, key=lambda one: one.started):
        before = max((weight for ended, weight in best if ended <= request.started), default=0.0)
        best.append((request.started + _lasted_s(request), before + _lasted_s(request)))
    return max((weight for _, weight in best), default=0.0)


def _lasted_s(request: Request) -> float:
    return (request.ended or request.started) - request.started


def _by_reader(log: list[LoggedRequest]) -> list[LoggedRequest]:
    return [request for request in log if request.principal == "reader"]
