"""What can be offered for a diagnosis: each root cause, with its remedies."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import handlers.remedy
from handlers.engine.declare import BadDeclaration, Need
from handlers.engine.graph import declared
from handlers.model import Diagnosis, Evidence, Finding, Outcome
from handlers.remedy.declare import Remedy, offer
from handlers.remedy.plan import Forbidden, Offer
from handlers.remedy.reasons import some

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Remedies:
    """All remedies, by name."""

    all: tuple[Remedy, ...]

    @classmethod
    def discover(cls) -> Remedies:
        """Discover them in the package. There is no list to edit."""
        found = tuple(sorted(declared(handlers.remedy, Remedy), key=lambda remedy: remedy.name))
        if len({remedy.name for remedy in found}) != len(found):
            raise BadDeclaration("two remedies have one name")
        return cls(found)

    @cached_property
    def by_code(self) -> Mapping[str, tuple[Remedy, ...]]:
        codes = sorted({code for remedy in self.all for code in remedy.codes})
        return {code: tuple(remedy for remedy in self.all if code in remedy.codes) for code in codes}

    def named(self, name: str) -> Remedy | None:
        return next((remedy for remedy in self.all if remedy.name == name), None)

    def of(self, finding: Finding) -> tuple[Remedy, ...]:
        """The remedies for this finding."""
        return tuple(remedy for remedy in self.by_code.get(finding.code, ()) if remedy.when(finding))

    def missing(self, diagnosis: Diagnosis, facts: Mapping[type, Any]) -> tuple[Need, ...]:
        """The facts that the remedies need and the check did not gather. None for a healthy cluster."""
        needs = {need.kind: need for finding, pair in self._pairs(diagnosis) for need in pair.needs}
        return tuple(need for kind, need in needs.items() if issubclass(kind, Evidence) and kind not in facts)

    def offers(self, diagnosis: Diagnosis, facts: Mapping[type, Any]) -> tuple[Offer, ...]:
        """A plan, or the reasons against one, for every root cause that has a remedy. Findings that follow from another
        one are not treated: their cause would break them again.
        """
        doubts = _open_questions(diagnosis)
        offers = (_asked(pair, finding, facts) for finding, pair in self._pairs(diagnosis))
        return tuple(_with(doubts, offer) for offer in offers)

    def _pairs(self, diagnosis: Diagnosis) -> Iterator[tuple[Finding, Remedy]]:
        for ranked in diagnosis.findings:
            if ranked.root:
                yield from ((ranked.finding, remedy) for remedy in self.of(ranked.finding))


def _asked(remedy: Remedy, finding: Finding, facts: Mapping[type, Any]) -> Offer:
    """An isolation boundary, as around a diagnostic: a remedy that raises costs its button, not the diagnosis."""
    try:
        return offer(remedy, finding, facts)
    except Exception as error:
        log.exception("remedy %s crashed", remedy.name)
        fault = Forbidden(f"a fault in this remedy: {type(error).__name__}: {error}", "follow the steps, and report it")
        return Offer(finding.code, finding.subject, remedy.name, None, (fault,))


def _open_questions(diagnosis: Diagnosis) -> tuple[str, ...]:
    """A cause that could not be checked may turn out to be the root."""
    unsure = [check.id for check in diagnosis.checks if check.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED)]
    return (f"not every cause could be ruled out; still open: {some(unsure)}",) if unsure else ()


def _with(doubts: tuple[str, ...], offer: Offer) -> Offer:
    return replace(offer, plan=replace(offer.plan, warnings=(*offer.plan.warnings, *doubts))) if offer.plan else offer


def distinct(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Each plan once: three failed instances of one scale set are three findings, but one plan."""
    seen: set[str] = set()
    kept = []
    for offered in offers:
        digest = offered.plan.digest if offered.plan else ""
        if not digest or digest not in seen:
            kept.append(offered)
        seen.add(digest)
    return tuple(kept)
