"""How close a check comes to its longest chain of dependent calls."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from handlers.clients.arm import ArmReader
from handlers.clients.names import resolve
from handlers.engine.run import Engine
from sandbox.arm.request_log import LoggedRequest
from tests.bench.azure_process import AzureProcess, azure_process
from tests.bench.figure import Figure
from tests.checking import GRAPH, LIBRARY

LATENCY_S = 0.120
CLUSTER = "prod-eus2"
ROUNDS = 5
AT_ONCE = 50


def figures() -> Iterator[Figure]:
    with azure_process("healthy-fleet", LATENCY_S) as azure:
        yield from asyncio.run(_figures(azure))


async def _figures(azure: AzureProcess) -> list[Figure]:
    async with ArmReader(azure.access, fresh_for_s=0) as arm:
        await _check(arm)  # token, TLS and imports
        azure.log()
        rounds = [await _measured(arm, azure) for _ in range(ROUNDS)]
    wall_s, chain_s, serial_s, calls, twice = sorted(rounds, key=lambda one: one[0] / one[1])[ROUNDS // 2]
    async with ArmReader(azure.access) as arm:
        await asyncio.gather(*(_check(arm) for _ in range(AT_ONCE)))
        together = len(_arm_calls(azure.log()))
    told = f"{calls} calls of {LATENCY_S * 1000:.0f} ms; wall {wall_s * 1000:.0f} ms"
    return [
        Figure("check-vs-chain", wall_s / chain_s, "ratio", 1.15, f"{told}, longest chain {chain_s * 1000:.0f} ms"),
        Figure("check-vs-serial", wall_s / serial_s, "ratio", 0.25, f"{told}, in a row {serial_s * 1000:.0f} ms"),
        Figure("calls-made-twice", twice, "calls", 0, f"of {calls} calls of one check"),
        Figure("calls-of-50-checks", together / calls, "ratio", 1.0, f"{together} calls of {AT_ONCE} checks at once"),
    ]


async def _check(arm: ArmReader) -> None:
    target = await resolve(CLUSTER, arm)
    await Engine(GRAPH, LIBRARY.explains).diagnose(target, {ArmReader: arm})


async def _measured(arm: ArmReader, azure: AzureProcess) -> tuple[float, float, float, int, int]:
    before, began = len(arm.calls), time.perf_counter()
    await _check(arm)
    wall_s = time.perf_counter() - began
    log = _arm_calls(azure.log())
    kinds = {call.request_id: call.kind for call in list(arm.calls)[before:]}
    by_kind: dict[str, list[LoggedRequest]] = {}
    for request in log:
        by_kind.setdefault(kinds[request.client_request_id or ""], []).append(request)
    twice = sum(times - 1 for times in Counter((one.method, one.path, one.query) for one in log).values())
    return wall_s, _longest_chain_s(by_kind), sum(_lasted_s(one) for one in log), len(log), twice


def _longest_chain_s(by_kind: dict[str, list[LoggedRequest]]) -> float:
    """Along the evidence graph, by the server's clock: finding the name, then each kind after what it needs."""
    chain_s: dict[type, float] = {}
    for collector in GRAPH.wanted:
        before = max((chain_s.get(need.kind, 0.0) for need in collector.needs), default=0.0)
        chain_s[collector.makes] = before + _in_a_row_s(by_kind.get(collector.name, []))
    return _in_a_row_s(by_kind.get("", [])) + max(chain_s.values())


def _in_a_row_s(requests: Sequence[LoggedRequest]) -> float:
    """The heaviest run of requests of one collector of which each began after the one before had ended."""
    best: list[tuple[float, float]] = []
    for request in sorted(requests, key=lambda one: one.started):
        before = max((weight for ended, weight in best if ended <= request.started), default=0.0)
        best.append((request.started + _lasted_s(request), before + _lasted_s(request)))
    return max((weight for _, weight in best), default=0.0)


def _lasted_s(request: LoggedRequest) -> float:
    return (request.ended or request.started) - request.started


def _arm_calls(log: list[LoggedRequest]) -> list[LoggedRequest]:
    return [request for request in log if request.principal == "reader"]
