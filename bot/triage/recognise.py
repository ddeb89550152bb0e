"""A message in, the cluster and the problem out. Pure: the same text gives the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.triage.clusters import FleetNames, Named, chosen
from bot.triage.confidence import confidence, unrelated
from bot.triage.decide import Certainty, Suspect, decide, vague_codes, weigh
from bot.triage.likeness import Likeness, Resemblance
from bot.triage.lookalikes import Lookalikes
from bot.triage.odds import Hints, Odds
from bot.triage.plain_text import plain
from bot.triage.quiet import Quiet
from bot.triage.signs import Signs
from bot.triage.voices import voices
from runbooks.library import Library

NO_FLEET = FleetNames(())
_ID = re.compile(r"/subscriptions/[^\s\"',;)\]]{1,400}", re.IGNORECASE)
"""Every id holds the words subscription and provider; what it says stands at its end."""
_PASTED, _FOREIGN_ERROR = 0.5, 0.75
"""What a resemblance counts for in pasted text, and in people's words around an error that no pattern knows."""
_MENU = 10
"""Clusters to choose from; who names more than that names none."""


@dataclass(frozen=True, slots=True)
class Around:
    """What else may say which cluster is meant: the channel's topic, an earlier message, an alert's label."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a message is about, and how that is known."""

    certainty: Certainty
    suspects: tuple[Suspect, ...]
    """At most three, best first; none when quiet."""
    cluster: str | None
    cluster_by: str
    choices: tuple[str, ...]
    """The clusters that are named alike, where no single one is: for a menu."""
    because: str
    """Why quiet."""

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(one.code for one in self.suspects)


class Recogniser:
    """A catalogue of runbooks, ready to be recognised in texts. Make it once: it takes a tenth of a second."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._signs = Signs(library)
        self._likeness = Likeness(library)
        self._odds = Odds(library, unrelated())
        self._vague = vague_codes(library)
        self._quiet = Quiet()
        self._lookalikes = Lookalikes()

    def recognise(self, text: str, fleet: FleetNames = NO_FLEET, around: Iterable[Around] = ()) -> Recognition:
        """`around` is asked, in its order, when the message itself names no cluster."""
        text = plain(text)
        named = fleet.find(text)
        cluster, by, choices = _which(named, fleet, around)
        signs = self._signs.find(text)
        alike = self._resembles(text, named, known=bool(signs))
        hints = self._odds.read(text)
        suspects = weigh(signs, alike, self._library, self._vague, hints.scores)
        against = list(self._quiet.reasons(text)) if suspects else []
        elsewhere = list(self._lookalikes.find(text)) if suspects else []
        sure = confidence(text, signs, alike, hints, ours=bool(named))
        verdict = decide(suspects, against, elsewhere, sure)
        told = tuple(self._explained(one, hints) for one in verdict.suspects)
        return Recognition(verdict.certainty, told, cluster, by, choices, verdict.because)

    def _explained(self, suspect: Suspect, hints: Hints) -> Suspect:
        """Whom only the words' odds speak for has no reason yet."""
        if suspect.why:
            return suspect
        telling = ", ".join(f"“{one}”" for one in self._odds.telling(suspect.code, hints))
        return replace(suspect, why=(f"its words {telling} speak of it",))

    def _resembles(self, text: str, named: list[Named], *, known: bool) -> list[Resemblance]:
        """What people's words resemble; what machines say counts for less, and against if no pattern knows it."""
        said = voices(text)
        pasted = self._likeness.find(_with_clusters_called_so(said.machines, named)) if said.machines else []
        spoken = self._likeness.find(_with_clusters_called_so(said.people, named))
        doubt = _FOREIGN_ERROR if said.machines.strip() and not known else 1.0
        best: dict[str, Resemblance] = {}
        for share, ones in ((doubt, spoken), (_PASTED, pasted)):
            for one in ones:
                counted = replace(one, weight=one.weight * share)
                if one.code not in best or counted.points > best[one.code].points:
                    best[one.code] = counted
        return sorted(best.values(), key=lambda one: (-one.points, one.code))


def _which(named: list[Named], fleet: FleetNames, around: Iterable[Around]) -> tuple[str | None, str, tuple[str, ...]]:
    where = ""
    for other in around:
        if named:
            break
        named, where = fleet.find(plain(other.text)), f" in {other.what}"
    cluster, choices = chosen(named)
    by = next((one.by + where for one in named if one.name == cluster), "")
    return cluster, by, choices if len(choices) <= _MENU else ()


def _with_clusters_called_so(text: str, named: list[Named]) -> str:
    """`prod-weu is Failed` says of a cluster that it is Failed: the runbooks' phrases do not know the names."""
    text = _ID.sub(lambda id_: " ".join(id_[0].rsplit("/", 2)[1:]), text)
    for one in named[:_MENU]:
        text = text.replace(one.name, f"{one.name} cluster", 3)
    return text
