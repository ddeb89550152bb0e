"""The use case behind `aksbot check`: a name goes in, events come out, and a report last. Knows no terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import handlers.diagnose
import handlers.evidence
from bot.checks.clients import Clients
from bot.checks.narrowed import narrowed
from bot.checks.remedies import detectors_of, every_question, offers_for
from bot.report.cost import Stopwatch
from bot.report.events import Event, Report, Selection, Started
from handlers.clients.arm.freshness import require_fresh_answers
from handlers.clients.arm.reader import ArmReader
from handlers.clients.call_log import Tally
from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.clients.recording.case import Recording
from handlers.engine.declare import Diagnostic
from handlers.engine.graph import Graph
from handlers.engine.run import Engine, Finished
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.names import resolve
from handlers.model import CannotSee, Target, Unavailable, Why
from handlers.problem import Exit, Problem
from handlers.question import Question, Word
from runbooks.library import Library


def engine_for(library: Library, scope: Selection, timeout_s: float) -> Engine:
    """The engine with every question of the scope."""
    graph = Graph.discover(handlers.evidence, handlers.diagnose)
    asked = scope.about
    chosen = _chosen(graph.diagnostics, scope) if asked is None or asked.narrows else _answering(graph, asked)
    on_request = [diagnostic for diagnostic in graph.on_request if asked and diagnostic.word is asked.word]
    return Engine(graph.only((*chosen, *on_request)), library.explains, deadline_s=timeout_s)


def engine_for_recording(library: Library, recording: Recording, timeout_s: float) -> Engine:
    """The engine with the questions that were asked then."""
    graph = Graph.discover(handlers.evidence, handlers.diagnose)
    return Engine(asked_then(graph, recording), library.explains, deadline_s=timeout_s)


def asked_then(graph: Graph, recording: Recording) -> Graph:
    """Those that have no check any more are left out. A recording that names none is from before they were kept."""
    every = graph.whole().diagnostics
    asked = [diagnostic for diagnostic in every if diagnostic.id in recording.questions]
    return graph.only(asked) if asked else graph


FIND_TIMEOUT_S = 30.0
Beside = Callable[[Finished, Target, Mapping[type, Any]], Awaitable[None]]
"""What else is read with the same clients once the verdict is there, by whoever needs more than a report."""


@dataclass(frozen=True, slots=True)
class _Start:
    """When a check began, and what it asks of Azure: one reader serves many checks."""

    at: float
    calls: Tally

    @classmethod
    def now(cls, arm: ArmReader) -> _Start:
        return cls(asyncio.get_running_loop().time(), arm.calls.tally())


async def check(
    cluster: str | ClusterRef,
    clients: Clients,
    engine: Engine,
    *,
    timeout_s: float,
    fresh: bool = False,
    detectors: bool = False,
    about: Question | None = None,
    beside: Beside | None = None,
) -> AsyncGenerator[Event, None]:
    """Find the cluster, check it, and say what happens on the way. Close the iterator to cancel it.

    With `fresh` no answer of Azure from before this moment is used; with `detectors` Azure's own are run, too.
    `about`: what the engine was made to answer.
    """
    start = _Start.now(clients.arm)
    if fresh:
        require_fresh_answers(clients.arm.clock)
    target = replace(await find(cluster, clients.arm, timeout_s=timeout_s), about=about)
    asked = check_target(target, clients, engine, start=start, detectors=detectors, beside=beside)
    async with aclosing(asked) as events:
        async for event in events:
            yield event


async def check_target(
    target: Target,
    clients: Clients,
    engine: Engine,
    *,
    start: _Start | None = None,
    detectors: bool = False,
    beside: Beside | None = None,
) -> AsyncGenerator[Event, None]:
    """The same, for a cluster whose id is known."""
    start = start or _Start.now(clients.arm)
    recorded_at = clients.recording.recorded_at if clients.recording else None
    evidence, questions = engine.plan()
    stopwatch = Stopwatch()
    yield Started(target, len(evidence), len(questions))
    async with clients.for_target(target) as given, aclosing(engine.check(target, given)) as events:
        async for event in events:
            stopwatch.note(event)
            if not isinstance(event, Finished):
                yield event
                continue
            # A cause is a root only among all questions; and nobody fixes what was recorded.
            asks_all = not clients.recording and len(questions) == len(every_question())
            offers = await offers_for(event, target, given) if asks_all else ()
            own = await detectors_of(event, target, given) if detectors else None
            if beside:
                await beside(event, target, given)
            took_ms = (asyncio.get_running_loop().time() - start.at) * 1000
            kube = given[KubeReader]
            arm_calls, kube_calls = start.calls.count + kube.azure_calls, len(kube.calls)
            costs = stopwatch.costs(engine.waits_for(), start.calls.calls, kube.calls)
            diagnosis = narrowed(event.diagnosis, event.facts) if target.about else event.diagnosis
            yield Report(diagnosis, took_ms, arm_calls, kube_calls, recorded_at, offers, own, costs)


async def find(cluster: str | ClusterRef, arm: ArmReader, *, timeout_s: float = FIND_TIMEOUT_S) -> Target:
    """The cluster that a person means, or a Problem that says what to do."""
    meant = ClusterRef.of(cluster)
    try:
        async with asyncio.timeout(timeout_s):
            target = await resolve(meant, arm)
            if meant.id:
                await _must_exist(target, arm)
            return target
    except CannotSee as blind:
        raise _cannot_look(meant.text, blind.unavailable) from blind
    except TimeoutError as late:
        why = f"Azure did not answer within {timeout_s:g} s"
        raise Problem(f"cannot look for {meant.text[:80]}", why, _WHAT_TO_DO[Why.TIMEOUT]) from late


async def _must_exist(target: Target, arm: ArmReader) -> None:
    """An id may be mistyped, or of a cluster that is gone. The check itself reads the same: the answer is kept."""
    if not target.id.is_a(MANAGED_CLUSTER):
        return
    try:
        await arm.managed_cluster(target.id)
    except NotFound as gone:
        do = f"check the subscription, the group and the name; `aksbot check {target.name}` looks for it by name"
        raise Problem(f"cannot find {target.id}", gone.detail, do, code=Exit.USAGE) from gone
    except CannotSee:
        return  # the check meets it too, and says what stays open because of it


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


_ANSWERED_BY: Mapping[Word, tuple[str, ...]] = {
    Word.FROM: ("api-server-unreachable-ip-ranges", "private-cluster-unreachable", "api-server-unavailable"),
}
"""The checks of a whole check that answer a question; those that answer it alone declare its word."""


def _answering(graph: Graph, asked: Question) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for diagnostic in graph.diagnostics if diagnostic.id in _ANSWERED_BY.get(asked.word, ()))


def _chosen(diagnostics: tuple[Diagnostic, ...], scope: Selection) -> tuple[Diagnostic, ...]:
    chosen = _narrowed(diagnostics, scope.area, "area", lambda diagnostic: (diagnostic.area,))
    return _narrowed(chosen, scope.only, "code", lambda diagnostic: diagnostic.codes)


def _narrowed(
    diagnostics: tuple[Diagnostic, ...],
    wanted: str | None,
    kind: str,
    names: Callable[[Diagnostic], tuple[str, ...]],
) -> tuple[Diagnostic, ...]:
    if wanted is None:
        return diagnostics
    word = wanted.strip().lower()
    chosen = tuple(diagnostic for diagnostic in diagnostics if word in names(diagnostic))
    if chosen:
        return chosen
    known = sorted({name for diagnostic in diagnostics for name in names(diagnostic)})
    near = get_close_matches(word, known, n=3, cutoff=0.4)
    raise Problem(
        f"cannot check only that {kind}",
        f"no check has the {kind} {wanted[:80]!r}",
        f"perhaps you mean {' or '.join(near)}" if near else f"known are {', '.join(known)}",
        code=Exit.USAGE,
    )
