"""The use case behind `aksbot check`: a name goes in, events come out, and a report last. Knows no terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from difflib import get_close_matches

import handlers.diagnose
import handlers.evidence
from bot.events import Event, Report, Scope, Started
from bot.settings import Settings
from handlers.clients.access import AzureAccess
from handlers.clients.arm import ArmReader
from handlers.clients.names import resolve
from handlers.engine.declare import Diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import Engine, Finished
from handlers.model import CannotSee, Diagnosis, Target, Unavailable, Why
from handlers.problem import Exit, Problem
from runbooks.library import Library


def azure_access(settings: Settings) -> AzureAccess:
    """Where Azure is, as the settings say."""
    return AzureAccess(
        resource_manager=settings.azure_resource_manager,
        authority=settings.azure_authority,
        ca_bundle=settings.ca_bundle,
    )


def engine_for(library: Library, scope: Scope, timeout_s: float) -> Engine:
    """The engine with every question of the scope."""
    graph = Graph.discover(handlers.evidence, handlers.diagnose)
    chosen = _chosen(graph.diagnostics, scope)
    return Engine(graph.only(chosen), library.explains, deadline_s=timeout_s)


FIND_TIMEOUT_S = 30.0


class _Meter:
    """What a check has taken so far. A reader may serve several checks, one after the other."""

    def __init__(self, arm: ArmReader) -> None:
        self._arm, self._calls = arm, len(arm.calls)
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()

    def report(self, diagnosis: Diagnosis, recorded_at: datetime | None) -> Report:
        took_ms = (self._clock() - self._began) * 1000
        return Report(diagnosis, took_ms, len(self._arm.calls) - self._calls, recorded_at=recorded_at)


async def check(cluster: str, arm: ArmReader, engine: Engine, *, timeout_s: float) -> AsyncGenerator[Event, None]:
    """Find the cluster, check it, and say what happens on the way. Close the iterator to cancel it."""
    meter = _Meter(arm)
    target = await find(cluster, arm, timeout_s=timeout_s)
    async with aclosing(check_target(target, arm, engine, meter=meter)) as events:
        async for event in events:
            yield event


async def check_target(
    target: Target,
    arm: ArmReader,
    engine: Engine,
    *,
    meter: _Meter | None = None,
    recorded_at: datetime | None = None,
) -> AsyncGenerator[Event, None]:
    """The same, for a cluster whose id is known."""
    meter = meter or _Meter(arm)
    evidence, questions = engine.plan()
    yield Started(target, len(evidence), len(questions))
    async with aclosing(engine.check(target, {ArmReader: arm})) as events:
        async for event in events:
            yield meter.report(event.diagnosis, recorded_at) if isinstance(event, Finished) else event


async def find(cluster: str, arm: ArmReader, *, timeout_s: float = FIND_TIMEOUT_S) -> Target:
    """The cluster that a person means, or a Problem that says what to do."""
    try:
        async with asyncio.timeout(timeout_s):
            return await resolve(cluster, arm)
    except CannotSee as blind:
        raise _cannot_look(cluster, blind.unavailable) from blind
    except TimeoutError as late:
        why = f"Azure did not answer within {timeout_s:g} s"
        raise Problem(f"cannot look for {cluster[:80]}", why, _WHAT_TO_DO[Why.TIMEOUT]) from late


_BAD_CERTIFICATE = "set AKSBOT_CA_BUNDLE to the certificates of whoever answers there"
_WHAT_TO_DO: dict[Why, str] = {
    Why.DENIED: "correct the credentials: AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or `az login`",
    Why.TIMEOUT: "try again, or give it longer with --timeout",
    Why.ABSENT: "check the name, and that you may see its subscription",
    Why.THROTTLED: "try again in a minute: Azure counts the calls of each subscription",
    Why.FAILED: "check the network, AKSBOT_AZURE_RESOURCE_MANAGER and AKSBOT_AZURE_AUTHORITY; then try again",
}


def _cannot_look(cluster: str, unavailable: Unavailable) -> Problem:
    do = _BAD_CERTIFICATE if "CERTIFICATE_VERIFY_FAILED" in unavailable.detail else _WHAT_TO_DO[unavailable.why]
    if unavailable.grant:
        do = f"grant {unavailable.grant} to the identity that aksbot runs as"
    return Problem(f"cannot look for {cluster[:80]}", unavailable.detail, do)


def _chosen(diagnostics: tuple[Diagnostic, ...], scope: Scope) -> tuple[Diagnostic, ...]:
    chosen = _narrowed(diagnostics, scope.area, "area", lambda one: (one.area,))
    return _narrowed(chosen, scope.only, "code", lambda one: one.codes)


def _narrowed(
    diagnostics: tuple[Diagnostic, ...],
    wanted: str | None,
    kind: str,
    names: Callable[[Diagnostic], tuple[str, ...]],
) -> tuple[Diagnostic, ...]:
    if wanted is None:
        return diagnostics
    word = wanted.strip().lower()
    chosen = tuple(one for one in diagnostics if word in names(one))
    if chosen:
        return chosen
    known = sorted({name for one in diagnostics for name in names(one)})
    near = get_close_matches(word, known, n=3, cutoff=0.4)
    raise Problem(
        f"cannot check only that {kind}",
        f"no check has the {kind} {wanted[:80]!r}",
        f"perhaps you mean {' or '.join(near)}" if near else f"known are {', '.join(known)}",
        code=Exit.USAGE,
    )
