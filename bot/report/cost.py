"""What each question of a check cost: the reads it waited for. `aksbot check --output json` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from handlers.clients.call_log import Call
from handlers.engine.run import Collected, DiagnosticEnded


@dataclass(frozen=True, slots=True)
class FactCost:
    """How long a fact took, and the calls made for it. An answer shared with another fact counts for one of them."""

    fact: str
    took_ms: float
    arm: tuple[Call, ...]
    kube: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class QuestionCost:
    """When a question could be judged, and the facts with calls of their own that it waited for."""

    waited_ms: float
    facts: tuple[FactCost, ...]

    @property
    def arm(self) -> int:
        return sum(len(fact.arm) for fact in self.facts)

    @property
    def kube(self) -> int:
        return sum(len(fact.kube) for fact in self.facts)


@dataclass(slots=True)
class Stopwatch:
    """Collects the times of a check while it runs."""

    took_ms: dict[str, float] = field(default_factory=dict)
    waited_ms: dict[str, float] = field(default_factory=dict)

    def note(self, event: object) -> None:
        if isinstance(event, Collected):
            self.took_ms[event.kind] = event.took_ms
        if isinstance(event, DiagnosticEnded):
            self.waited_ms[event.check.id] = event.waited_ms

    def costs(
        self, waits_for: Mapping[str, tuple[str, ...]], arm: Iterable[Call], kube: Iterable[Call]
    ) -> dict[str, QuestionCost]:
        """By question."""
        facts = {cost.fact: cost for cost in self._facts(tuple(arm), tuple(kube))}
        return {
            question: QuestionCost(waited_ms, tuple(facts[name] for name in waits_for[question] if name in facts))
            for question, waited_ms in self.waited_ms.items()
        }

    def _facts(self, arm: tuple[Call, ...], kube: tuple[Call, ...]) -> Iterator[FactCost]:
        for fact, took_ms in self.took_ms.items():
            of_arm, of_kube = _made_for(fact, arm), _made_for(fact, kube)
            if of_arm or of_kube:
                yield FactCost(fact, took_ms, of_arm, of_kube)


def _made_for(fact: str, calls: tuple[Call, ...]) -> tuple[Call, ...]:
    return tuple(call for call in calls if call.kind == fact)
