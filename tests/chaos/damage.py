"""All kinds of damage to a response, and all routes of a check that it can affect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any

from bot.checks.clients import clients
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.clients.recording.case import Recorder
from handlers.engine.run import Engine
from handlers.model import Diagnosis, Evidence, Target
from sandbox.arm.faults import Fault
from sandbox.arm.server import ArmServer
from sandbox.kube import place
from sandbox.scenario import Scenario
from sandbox.world import World
from tests import sample
from tests.checking import GRAPH, LIBRARY, access, azure, check, cluster_id, collectors_that

DEADLINE_S = 2.0
AT_ONCE = 6
CREDENTIAL = "listclusterusercredential"
OF = 4
"""`make test` runs every fourth case of the matrix, so that each route gets some damage; soak runs all."""

DAMAGES: dict[str, dict[str, Any]] = {
    "500": {"kind": "500"},
    "429": {"kind": "429", "retry_after_s": 60},
    "403": {"kind": "403"},
    "timeout": {"kind": "timeout"},
    "reset": {"kind": "reset"},
    "empty": {"kind": "empty"},
    "malformed": {"kind": "malformed"},
    "half": {"kind": "half"},
    "html": {"kind": "html"},
    "an object": {"kind": "shape", "body": "{}"},
    "a list": {"kind": "shape", "body": "[]"},
    "a text": {"kind": "shape", "body": '"x"'},
    "no list of values": {"kind": "shape", "body": '{"value": {}, "items": {}}'},
}
"""The kinds of damage. The last four are JSON with unexpected content."""


A_LOG = ("empty", "malformed", "half", "html", "an object", "a list", "a text", "no list of values")
"""A container may print any text, or nothing: as its log, this is what it says."""
NARROWED = ("403", "/subscriptions/{}/providers/Microsoft.Authorization/locks")
"""Without permission to list a subscription's locks, the resource groups are read, which include inherited locks."""


@dataclass(frozen=True, slots=True)
class Route:
    """The template of one path that a check requests (Azure or the cluster), and the evidence that comes from it."""

    template: str
    kinds: frozenset[type[Evidence]]
    inside: bool = False

    def strike(self, server: ArmServer, cluster: str, damage: str, **more: Any) -> None:
        """Apply the damage to this route from now on."""
        key = cluster_id(server.world, cluster).key
        faults = server.kube[key].faults if self.inside else server.faults
        faults.append(Fault(**DAMAGES[damage], route=self.template, **more))


def world_of(scenario: str) -> World:
    """A scenario's world, shared read-only for a minute: checks would report the data of an older one as stale."""
    return _world_of(scenario, int(monotonic()) // 60)


@lru_cache(maxsize=4)
def _world_of(scenario: str, minute: int) -> World:
    return Scenario.load(scenario).world


async def routes_of(scenario: str, cluster: str) -> tuple[Route, ...]:
    """Every route that an undamaged check requests."""
    world = world_of(scenario)
    collecting: dict[tuple[str, bool], set[str]] = {}
    async with azure(world) as server, clients(access(server), KubeAccess()) as opened:
        target = Target(cluster_id(world, cluster))
        async with opened.for_target(target) as given:
            undamaged = await Engine(GRAPH, LIBRARY.explains).diagnose(target, given)
            for call in given[KubeReader].calls:
                inside = place.parse(call.method, call.path, {}).route
                collecting.setdefault((inside, True), set()).add(call.kind)
        kind_by_request = {call.request_id: call.kind for call in opened.arm.calls}
        for request in server.log:
            if kind := kind_by_request.get(request.client_request_id or ""):
                collecting.setdefault((request.route, False), set()).add(kind)
    assert undamaged.unseen == (), undamaged.unseen
    # The first collector to call the cluster fetches the credential for all.
    asks_the_cluster = {name for (_, inside), names in collecting.items() if inside for name in names}
    return tuple(
        Route(template, _made_by(asks_the_cluster if template.lower().endswith(CREDENTIAL) else names), inside)
        for (template, inside), names in sorted(collecting.items())
    )


def _made_by(names: set[str]) -> frozenset[type[Evidence]]:
    return frozenset(collectors_that(lambda collector: collector.name in names))


def sampled(routes: Sequence[Route], damage: str, beside: int = 0) -> list[Route]:
    """The routes that this damage is applied to in a sample. `beside` selects a different sample, for more coverage."""
    shift = list(DAMAGES).index(damage) + sample.dice("damage").randrange(OF) + beside
    return [route for number, route in enumerate(routes) if (number + shift) % OF == 0]


async def struck(
    scenario: str, cluster: str, route: Route, damage: str, recorder: Recorder | None = None, **more: Any
) -> Diagnosis:
    """Run one check with one damaged route, within its time limit."""
    async with azure(world_of(scenario)) as server:
        route.strike(server, cluster, damage, **more)
        async with asyncio.timeout(DEADLINE_S + 3):
            return await check(server, cluster, deadline_s=DEADLINE_S, recorder=recorder)


def harmed(routes: Sequence[Route], damage: str) -> list[Route]:
    """The routes on which this damage hides something."""
    return [
        route
        for route in routes
        if (damage, route.template) != NARROWED and not (route.template.endswith("/log") and damage in A_LOG)
    ]


async def side_by_side(routes: Sequence[Route], one: Callable[[Route], Awaitable[None]]) -> None:
    """Run checks concurrently, as they mostly wait, and report all failures together."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def passing(route: Route) -> None:
        async with gate:
            await one(route)

    ended = await asyncio.gather(*(passing(route) for route in routes), return_exceptions=True)
    if wrong := [one for one in ended if isinstance(one, Exception)]:
        raise AssertionError("\n".join(dict.fromkeys(str(one).split("\nassert")[0] or repr(one) for one in wrong)))
