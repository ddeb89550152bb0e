"""Runs real checks against the sandbox: real clients, real sockets, and every request in the server's log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import handlers.diagnose
import handlers.evidence
from bot.checks.clients import Clients, clients
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.clients.recording.case import Recorder
from handlers.engine.declare import Collector, Diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import CHECK_DEADLINE_S, Engine
from handlers.evidence.cluster import Pods
from handlers.evidence.system import SystemPods
from handlers.model import Diagnosis, Evidence, Outcome, Target
from handlers.resource_id import ResourceId
from runbooks.library import Library
from sandbox.arm.server import ArmServer
from sandbox.world import World

GRAPH = Graph.discover(handlers.evidence, handlers.diagnose)
LIBRARY = Library.load()
# For tests that ask what is found, not how soon: four times as long, for the whole and for each fact.
PATIENT_S = 4 * CHECK_DEADLINE_S
PATIENT = replace(
    GRAPH, collectors={kind: replace(one, deadline_s=4 * one.deadline_s) for kind, one in GRAPH.collectors.items()}
)


@asynccontextmanager
async def azure(world: World, *, latency_s: float = 0.0, page_size: int | None = None) -> AsyncIterator[ArmServer]:
    """A local Azure. On teardown, asserts that the reader has sent no writes."""
    async with ArmServer(world, latency_s=latency_s, page_size=page_size) as server:
        yield server
        written = [request for request in server.log if request.is_write and request.principal == "reader"]
        assert written == []


def access(server: ArmServer, principal: str = "reader") -> AzureAccess:
    environment = server.environment(principal)
    return AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
        log_analytics=environment["AKSBOT_LOG_ANALYTICS"],
    )


def cluster_id(world: World, name: str) -> ResourceId:
    """The id of the fleet's cluster with that name. A Nexus cluster takes precedence over its connected cluster."""
    kinds = ("managedclusters", "kubernetesclusters", "appliances", "connectedclusters")
    found = (
        world.resources.get(key) for kind in kinds for key in world.resources if key.endswith(f"/{kind}/{name}".lower())
    )
    return ResourceId.parse(next(body["id"] for body in found if body))


async def check(
    server: ArmServer,
    name: str,
    *,
    deadline_s: float = CHECK_DEADLINE_S,
    recorder: Recorder | None = None,
    graph: Graph = GRAPH,
) -> Diagnosis:
    """Check one cluster with its own reader."""
    async with clients(access(server), KubeAccess(server.site_kubeconfig), recorder=recorder) as opened:
        return await diagnose(opened, Target(cluster_id(server.world, name)), graph, deadline_s)


async def diagnose(
    opened: Clients, target: Target, graph: Graph = GRAPH, deadline_s: float = CHECK_DEADLINE_S
) -> Diagnosis:
    """Check with clients that are already open."""
    async with opened.for_target(target) as given:
        return await Engine(graph, LIBRARY.explains, deadline_s=deadline_s).diagnose(target, given)


def collectors_that(reads: Callable[[Collector], bool]) -> set[type[Evidence]]:
    return {one.makes for one in GRAPH.wanted if reads(one)}


def needing(kinds: set[type[Evidence]]) -> set[str]:
    """The diagnostics that need one of these kinds of evidence for a verdict, directly or through a dependency."""
    lost = set(kinds)
    for collector in GRAPH.wanted:  # dependencies come first
        if any(need.kind in lost and not need.or_unavailable for need in collector.needs):
            lost.add(collector.makes)
    return {one.id for one in GRAPH.diagnostics if _cannot_do_without(one, lost)}


ASKS_AGAIN: dict[type[Evidence], type[Evidence]] = {SystemPods: Pods}
"""Evidence that is read with a narrower request if the broader one is missing, so it is not lost along with it."""


def touched(kinds: set[type[Evidence]]) -> set[str]:
    """The diagnostics that use one of these kinds of evidence, even if only optionally."""
    lost = set(kinds)
    for collector in GRAPH.wanted:
        if any(need.kind in lost and ASKS_AGAIN.get(collector.makes) is not need.kind for need in collector.needs):
            lost.add(collector.makes)
    return {one.id for one in GRAPH.diagnostics if any(need.kind in lost for need in one.needs)}


Lost = frozenset[type[Evidence]]


def wrongly_clear(diagnosis: Diagnosis, lost: Lost, *, in_health: bool) -> dict[str, set[str]]:
    """Diagnostics that are clear although non-optional evidence was missing, with that evidence."""
    found = {}
    for check in diagnosis.checks:
        excused = may_be_clear_without(check.id, in_health=in_health)
        blind = {kind.__name__ for kind in lost - excused if check.id in touched({kind})}
        if blind and check.outcome is Outcome.CLEAR:
            found[check.id] = blind
    return found


def may_be_clear_without(name: str, *, in_health: bool) -> Lost:
    declared = next(one.clear_without for one in GRAPH.diagnostics if one.id == name)
    holds = declared is not None and (in_health or not declared.in_health_only)
    return frozenset(declared.kinds) if declared and holds else frozenset()


def _cannot_do_without(diagnostic: Diagnostic, lost: set[type[Evidence]]) -> bool:
    return any(need.kind in lost and not need.or_unavailable for need in diagnostic.needs)
