"""Which evidence a set of questions needs, and which collectors fetch it. Discovered, not listed by hand."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import TypeVar

from handlers.engine.declare import BadDeclaration, Collector, Diagnostic, Need
from handlers.model import Evidence

T = TypeVar("T")


@dataclass(frozen=True)
class Graph:
    """Diagnostics, and the collectors they need."""

    collectors: dict[type[Evidence], Collector]
    diagnostics: tuple[Diagnostic, ...]
    also: tuple[Need, ...] = ()
    """Wanted for its own sake, by nobody's question."""
    known: tuple[Diagnostic, ...] = ()
    """Every diagnostic there is: whose verdict another one asks for is judged, although nobody asked about it."""
    behind: tuple[Diagnostic, ...] = ()
    """Judged for the sake of others only: their verdicts are no part of the answer."""
    on_request: tuple[Diagnostic, ...] = ()
    """Those that answer a question about something in particular, and are asked with its word only."""

    @classmethod
    def of(cls, collectors: Iterable[Collector], diagnostics: Iterable[Diagnostic]) -> Graph:
        by_kind: dict[type[Evidence], Collector] = {}
        for collector in collectors:
            if collector.makes in by_kind:
                raise BadDeclaration(f"two collectors make {collector.name}")
            by_kind[collector.makes] = collector
        every = tuple(sorted(diagnostics, key=lambda diagnostic: diagnostic.id))
        if len({diagnostic.id for diagnostic in every}) != len(every):
            raise BadDeclaration("two diagnostics have one name")
        known = tuple(diagnostic for diagnostic in every if diagnostic.word is None)
        on_request = tuple(diagnostic for diagnostic in every if diagnostic.word is not None)
        graph = cls(by_kind, known, known=known, on_request=on_request)
        for diagnostic in every:
            graph._follow(diagnostic.id, diagnostic.needs, ())
        return graph

    @classmethod
    def discover(cls, evidence: ModuleType, diagnose: ModuleType) -> Graph:
        """Discover both in two packages. A module that cannot be imported is an error, never skipped."""
        return cls.of(declared(evidence, Collector), declared(diagnose, Diagnostic))

    def only(self, diagnostics: Iterable[Diagnostic]) -> Graph:
        """The same graph with fewer questions."""
        return Graph(self.collectors, tuple(diagnostics), known=self.known, on_request=self.on_request)

    def whole(self) -> Graph:
        """The same graph with every question, also those that are asked with a word only: for roles."""
        return self.only((*self.known, *self.on_request))

    def with_behind(self, diagnostics: Iterable[Diagnostic]) -> Graph:
        """The same questions, plus those whose verdicts they wait for."""
        return replace(
            self, behind=tuple(diagnostic for diagnostic in diagnostics if diagnostic not in self.diagnostics)
        )

    @property
    def judged(self) -> tuple[Diagnostic, ...]:
        return *self.diagnostics, *self.behind

    def facts(self, needs: Iterable[Need]) -> Graph:
        """The same graph with these facts alone, and no questions."""
        wanted = tuple(need for need in needs if issubclass(need.kind, Evidence))
        for need in wanted:
            self._follow("a remedy", (need,), ())
        return Graph(self.collectors, (), wanted)

    @cached_property
    def wanted(self) -> tuple[Collector, ...]:
        """Every collector that some diagnostic needs, directly or not, dependencies first."""
        order: dict[type[Evidence], Collector] = {}
        for diagnostic in self.judged:
            self._order(diagnostic.needs, order)
        self._order(self.also, order)
        return tuple(order.values())

    def behind_facts(self, needs: Iterable[Need]) -> tuple[str, ...]:
        """The names of all facts that these needs wait for, directly or not, dependencies first."""
        order: dict[type[Evidence], Collector] = {}
        self._order(tuple(needs), order)
        return tuple(collector.name for collector in order.values())

    def _order(self, needs: tuple[Need, ...], order: dict[type[Evidence], Collector]) -> None:
        for need in needs:
            if need.kind in order or not issubclass(need.kind, Evidence):
                continue
            collector = self.collectors[need.kind]
            self._order(collector.needs, order)
            order[need.kind] = collector

    def _follow(self, who: str, needs: tuple[Need, ...], path: tuple[type, ...]) -> None:
        for need in needs:
            if not issubclass(need.kind, Evidence):
                continue
            if need.kind in path:
                loop = " -> ".join(kind.__name__ for kind in (*path, need.kind))
                raise BadDeclaration(f"evidence that needs itself: {loop}")
            if need.kind not in self.collectors:
                raise BadDeclaration(f"{who} needs {need.kind.__name__}, and nothing collects it")
            self._follow(need.kind.__name__, self.collectors[need.kind].needs, (*path, need.kind))


def declared(package: ModuleType, kind: type[T]) -> list[T]:
    """Everything of one kind that is declared in a package's modules."""
    found: dict[int, T] = {}
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        found |= {id(value): value for value in vars(module).values() if isinstance(value, kind)}
    return list(found.values())
