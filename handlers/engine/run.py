"""The engine: fetch each kind of evidence once, in parallel where possible, and judge each diagnostic when its evidence
is in.

So the wall clock of a check is its longest chain of dependent calls. Two boundaries keep a check alive: a collector
that raises makes its kind `Unavailable`, a diagnostic that raises is `crashed`. Neither is ever "clear".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from handlers.engine.causes import CausePlan
from handlers.engine.current import Lateness, collecting, deadline
from handlers.engine.declare import Collector, Diagnostic, Need
from handlers.engine.graph import Graph
from handlers.engine.judge import judge
from handlers.engine.rank import Explains, rank
from handlers.model import (
    CannotSee,
    Causes,
    Check,
    Diagnosis,
    Evidence,
    NotApplicable,
    Target,
    Unavailable,
    Why,
)

log = logging.getLogger(__name__)

CHECK_DEADLINE_S = 30.0
"""How long a whole check may take: a person waits for it, and the longest chain is four calls."""

LATE = "no answer before the deadline"

Fact = Evidence | Unavailable | NotApplicable


@dataclass(frozen=True, slots=True)
class Collected:
    """A kind of evidence has arrived, or is known to be unavailable."""

    kind: str
    value: Fact
    took_ms: float


@dataclass(frozen=True, slots=True)
class DiagnosticEnded:
    """A diagnostic has ended; `waited_ms` after the check began, its evidence was in."""

    check: Check
    waited_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Finished:
    """All checks have ended, and causes are ranked. Includes the facts they were judged by."""

    diagnosis: Diagnosis
    facts: Mapping[type, Fact] = field(default_factory=dict)


Event = Collected | DiagnosticEnded | Finished


class Engine:
    """Answers the questions of one graph for any number of targets, concurrently if needed."""

    def __init__(self, graph: Graph, explains: Explains, *, deadline_s: float = CHECK_DEADLINE_S) -> None:
        self._causes = CausePlan.of(graph.known, explains)
        self._graph = graph.with_behind(self._causes.behind(graph.diagnostics))
        self._explains = explains
        self._deadline_s = deadline_s

    def plan(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of what a check will collect and judge."""
        collected = tuple(collector.name for collector in self._graph.wanted)
        return collected, tuple(diagnostic.id for diagnostic in self._graph.diagnostics)

    def waits_for(self) -> dict[str, tuple[str, ...]]:
        """For each diagnostic, the facts it waits for: its own, and those of the checks whose verdicts it asks for."""
        return {one.id: self._graph.behind_facts(self._needs(one)) for one in self._graph.diagnostics}

    def _needs(self, diagnostic: Diagnostic) -> list[Need]:
        return [need for one in (*self._causes.behind((diagnostic,)), diagnostic) for need in one.needs]

    async def check(self, target: Target, clients: Mapping[type, Any]) -> AsyncGenerator[Event, None]:
        """Events as they happen, the diagnosis last. Closing the iterator cancels everything still running."""
        run = _Run(self._graph, self._causes, self._explains, self._deadline_s, target, clients)
        work = asyncio.create_task(run.all(), name=f"check {target.name}")
        try:
            while (event := await run.events.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def diagnose(self, target: Target, clients: Mapping[type, Any]) -> Diagnosis:
        """The diagnosis alone, for callers that show no progress."""
        async for event in self.check(target, clients):
            if isinstance(event, Finished):
                return event.diagnosis
        raise AssertionError("a check that ends has a diagnosis")

    async def gather(
        self, target: Target, clients: Mapping[type, Any], known: Mapping[type, Fact] | None = None
    ) -> Mapping[type, Fact]:
        """The facts alone. Known ones are not fetched again."""
        run = _Run(self._graph, self._causes, self._explains, self._deadline_s, target, clients, known or {})
        await run.all()
        while (event := run.events.get_nowait()) is not None:
            if isinstance(event, Finished):
                return event.facts
        raise AssertionError("a run that ends has its facts")


class _Run:
    """One check of one target."""

    def __init__(
        self,
        graph: Graph,
        causes: CausePlan,
        explains: Explains,
        deadline_s: float,
        target: Target,
        clients: Mapping[type, Any],
        known: Mapping[type, Fact] = MappingProxyType({}),
    ) -> None:
        loop = asyncio.get_running_loop()
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._graph = graph
        self._causes = causes
        self._explains = explains
        self._target = target
        self._lateness: Lateness = clients.get(Lateness) or Lateness()
        self._given: dict[type, Any] = {Target: target, **clients, **known}
        self._known = known
        self._missing = [collector for collector in graph.wanted if collector.makes not in known]
        self._clock = loop.time
        self._began = loop.time()
        self._ends = self._began + deadline_s
        self._facts: dict[type, asyncio.Future[Fact]] = {
            collector.makes: loop.create_future() for collector in self._missing
        }
        self._checks: dict[str, asyncio.Future[Check]] = {
            diagnostic.id: loop.create_future() for diagnostic in graph.judged
        }

    async def all(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for collector in self._missing:
                    group.create_task(self._collect(collector), name=collector.name)
                for diagnostic in self._graph.judged:
                    group.create_task(self._judge(diagnostic), name=diagnostic.id)
            facts = {kind: fact.result() for kind, fact in self._facts.items()}
            self.events.put_nowait(Finished(self._diagnosis(), {**self._known, **facts}))
        finally:
            self.events.put_nowait(None)

    async def _collect(self, collector: Collector) -> None:
        arguments = {need.name: await self._value(need) for need in collector.needs}
        began = self._clock()
        fact = _stands_in(collector.needs, arguments) or await self._fetch(collector, arguments)
        self._facts[collector.makes].set_result(fact)
        self.events.put_nowait(Collected(collector.name, fact, (self._clock() - began) * 1000))

    async def _fetch(self, collector: Collector, arguments: dict[str, Any]) -> Fact:
        """An isolation boundary: whatever goes wrong in a collector becomes a value."""
        if self._lateness.was_late(collector.name):
            return Unavailable(collector.title, Why.TIMEOUT, LATE)
        ends = min(self._ends, self._clock() + collector.deadline_s)
        collecting.set(collector.name)
        deadline.set(ends)
        try:
            async with asyncio.timeout_at(ends):
                return _without_newer_questions(await collector.fetch(**arguments))
        except CannotSee as error:
            return replace(error.unavailable, wanted=collector.title)
        except TimeoutError:
            self._lateness.note(collector.name)
            return Unavailable(collector.title, Why.TIMEOUT, LATE)
        except Exception as error:
            log.exception("collector %s failed", collector.name)
            detail = f"the answer could not be understood ({type(error).__name__} while reading it)"
            return Unavailable(collector.title, Why.FAILED, detail)

    async def _judge(self, diagnostic: Diagnostic) -> None:
        arguments = {
            need.name: await (self._causes_for(diagnostic) if need.kind is Causes else self._value(need))
            for need in diagnostic.needs
        }
        began = self._clock()
        check = judge(diagnostic, arguments)
        check = replace(check, took_ms=(self._clock() - began) * 1000)
        self._checks[diagnostic.id].set_result(check)
        if diagnostic not in self._graph.behind:
            self.events.put_nowait(DiagnosticEnded(check, (began - self._began) * 1000))

    async def _causes_for(self, diagnostic: Diagnostic) -> Causes:
        """The verdicts it asks for, once those checks have ended."""
        before = self._causes.before(diagnostic)
        return self._causes.causes(
            diagnostic, {diagnostic.id: await self._checks[diagnostic.id] for diagnostic in before}
        )

    async def _value(self, need: Need) -> Any:
        return self._given[need.kind] if need.kind in self._given else await self._facts[need.kind]

    def _diagnosis(self) -> Diagnosis:
        checks = tuple(self._checks[diagnostic.id].result() for diagnostic in self._graph.diagnostics)
        findings = [finding for check in checks for finding in check.findings]
        missing = [fact.result() for fact in self._facts.values()]
        absent = (fact for fact in missing if isinstance(fact, Unavailable))
        unseen = dict.fromkeys(fact for fact in absent if fact.why is not Why.NOT_ASKED)
        unseen |= dict.fromkeys(gap for fact in missing if isinstance(fact, Evidence) for gap in fact.gaps)
        unseen |= dict.fromkeys(gap for check in checks for gap in check.unseen)
        took_ms = (self._clock() - self._began) * 1000
        return Diagnosis(self._target, rank(findings, self._explains), checks, tuple(unseen), took_ms)


def _without_newer_questions(fact: Evidence | NotApplicable) -> Evidence | NotApplicable:
    """A recording is complete as it is: questions newer than the recording leave no gap in it."""
    if isinstance(fact, NotApplicable) or not fact.gaps:
        return fact
    return replace(fact, gaps=tuple(gap for gap in fact.gaps if gap.why is not Why.NOT_ASKED))


def _stands_in(needs: tuple[Need, ...], arguments: Mapping[str, Any]) -> Unavailable | NotApplicable | None:
    """The value of a collector whose required evidence is missing: the same absence, unchanged."""
    for need in needs:
        value = arguments[need.name]
        if isinstance(value, NotApplicable) and not need.or_not_applicable:
            return value
    for need in needs:
        value = arguments[need.name]
        if isinstance(value, Unavailable) and not need.or_unavailable:
            return value
    return None
