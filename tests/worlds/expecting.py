"""Runs checks of a generated cluster, with the expected outcome for a healthy one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import handlers.diagnose
import handlers.evidence
from handlers.clients.access import AzureAccess
from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.permission_reader import WriterKubePermissionReader
from handlers.clients.kube.reader import KubeReader
from handlers.engine.graph import Graph
from handlers.engine.run import Engine, Finished
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.tunnel import KubeletCalls
from handlers.evidence.workloads.unwell import EmptyServices, ShortWorkloads
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Diagnosis, Evidence, Outcome
from runbooks.library import Library
from tests.worlds.answering import InProcess
from tests.worlds.build import Cluster, build
from tests.worlds.shape import Shape

GRAPH = Graph.discover(handlers.evidence, handlers.diagnose)
LIBRARY = Library.load()
UNSURE = (Outcome.INCONCLUSIVE, Outcome.CRASHED)

Bend = Callable[[InProcess], None]


@asynccontextmanager
async def clients(cluster: Cluster, transport: InProcess) -> AsyncIterator[Mapping[type, Any]]:
    """The clients for a check of this cluster."""
    target, access = cluster.target, AzureAccess()
    async with (
        ArmReader(access, transport=transport) as arm,
        WriterPermissionReader(access, transport=transport) as writer_permissions,
        KubeReader(target, arm, KubeAccess(), transport=transport) as kube,
        WriterKubePermissionReader(target, writer_permissions, KubeAccess(), transport=transport) as inside,
    ):
        yield {
            ArmReader: arm,
            KubeReader: kube,
            WriterPermissionReader: writer_permissions,
            WriterKubePermissionReader: inside,
        }


async def check(cluster: Cluster, bend: Bend = lambda _: None, graph: Graph = GRAPH) -> Finished:
    """A complete check with every diagnostic and collector."""
    transport = InProcess(cluster)
    bend(transport)
    async with clients(cluster, transport) as given:
        async for event in Engine(graph, LIBRARY.explains).check(cluster.target, given):
            if isinstance(event, Finished):
                return event
    raise AssertionError("a check ends")


@dataclass(frozen=True)
class Expected:
    """The expected outcome of a check of a healthy cluster."""

    findings: frozenset[str] = frozenset()
    blind: frozenset[str] = frozenset()
    """Diagnostics that cannot be answered from where the bot runs."""


def expected(shape: Shape) -> Expected:
    """No findings and nothing inconclusive, unless the API server is unreachable by design."""
    if shape.stopped or shape.reach == "directly":
        return Expected()
    if shape.reach == "run-command":
        return Expected(blind=beyond_the_questions(shape))
    blind = needing_the_inside()
    return Expected(frozenset({"private-cluster-unreachable"}) if shape.private else frozenset(), blind)


def beyond_the_questions(shape: Shape) -> frozenset[str]:
    """Evidence that run-command does not fetch, as its output is cut at 512 kB: workloads, all pods of a node that
    is being drained, and logs, which prove that kubelets are reachable."""
    emptied = {"drain-error", "pdb-blocks-drain"} if shape.operation.endswith("upgrade") else set()
    return frozenset(emptied) | needing({WarningEvents, ShortWorkloads, EmptyServices, Scheduling, KubeletCalls})


def needing_the_inside() -> frozenset[str]:
    """The diagnostics that use Kubernetes evidence, even if only optionally."""
    return needing({one.makes for one in GRAPH.wanted if one.sees})


def needing(lost: set[type[Evidence]]) -> frozenset[str]:
    """The diagnostics that need one of these facts, directly or not."""
    lost = set(lost)
    for collector in GRAPH.wanted:
        if any(need.kind in lost for need in collector.needs):
            lost.add(collector.makes)
    return frozenset(one.id for one in GRAPH.diagnostics if any(need.kind in lost for need in one.needs))


def wrong(shape: Shape, diagnosis: Diagnosis) -> list[str]:
    """Anything wrong in the diagnosis of a healthy cluster, one per line."""
    right = expected(shape)
    found = [
        f"{one.finding.code} on {one.finding.subject}: {'; '.join(one.finding.because)}"
        for one in diagnosis.findings
        if one.finding.code not in right.findings
    ]
    found += [f"{code} was not found" for code in right.findings - {one.finding.code for one in diagnosis.findings}]
    found += [
        f"{one.id} is {one.outcome}: {one.why}"
        for one in diagnosis.checks
        if one.outcome in UNSURE and one.id not in right.blind
    ]
    return found


async def wrong_with(shape: Shape) -> list[str]:
    return wrong(shape, (await check(build(shape))).diagnosis)


async def smallest(shape: Shape, fails: Callable[[Shape], Any]) -> Shape:
    """Shrink a failing shape to a minimal one that still fails."""
    found = True
    while found:
        found = False
        for less in shape.smaller():
            if await fails(less):
                shape, found = less, True
                break
    return shape
