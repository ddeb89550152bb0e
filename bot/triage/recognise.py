"""From a message to cluster and problem. Pure: the same text gives the same answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.triage.clusters import NEAR_MISS, FleetNames, Named, chosen
from bot.triage.decide import Certainty, Suspect, decide, stated
from bot.triage.model.features import OURS, phrased, shown, spoken
from bot.triage.model.learned import Learned, Weighed
from bot.triage.model.phrases import PhraseMatch, Phrases
from bot.triage.model.stop_words import STOP
from bot.triage.model.tokens import STANDS_FOR, stem
from bot.triage.model.tokens import words as split
from bot.triage.plain_text import plain
from bot.triage.quiet import Quiet
from bot.triage.signs import Sign, Signs
from runbooks.library import Library

NO_FLEET = FleetNames(())
_MENU = 10
"""Clusters to choose from; who names more than that names none."""
_REASONS, _WORDS_TOLD = 3, 4
_LOOKED_FOR = 40
"""Characters of a sign by which its line is found again."""
_LONG = 1_200
"""Characters from which on the rest of a text may drown what one line of it says."""


@dataclass(frozen=True, slots=True)
class Around:
    """Other texts that may name the cluster: the channel's topic, an earlier message, an alert's label."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a message is about, and the reasons."""

    certainty: Certainty
    suspects: tuple[Suspect, ...]
    """At most three, best first; none when quiet."""
    cluster: str | None
    cluster_by: str
    choices: tuple[str, ...]
    """The clusters that are named alike, where no single one is: for a menu."""
    because: str
    """Why quiet."""
    odds: float = 0.0
    """The logarithm of how much likelier it is one of the problems than none; what louder messages have more of."""

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(suspect.code for suspect in self.suspects)


class Recogniser:
    """A catalogue of runbooks, prepared for recognition. Make it once: that takes a tenth of a second."""

    def __init__(self, library: Library) -> None:
        self._signs = Signs(library)
        self._learned = Learned.load()
        self._phrases = Phrases(library, self._learned.codes)
        self._quiet = Quiet()

    def recognise(self, text: str, fleet: FleetNames = NO_FLEET, around: Iterable[Around] = ()) -> Recognition:
        """`around` is searched, in order, if the message itself names no cluster."""
        text = plain(text)
        named = fleet.find(text)
        cluster, by, choices = _which(named, fleet, around)
        signs = self._signs.find(text)
        against = list(self._quiet.reasons(text))
        names, marks = [match.name for match in named[:_MENU]], shown(signs, against)
        words, worded = self._learned.weighed(spoken(text, names)), phrased(text, names)
        read = self._learned.read(words, marks, worded)
        near = _around_signs(text, signs)
        if near:
            there = self._learned.weighed(spoken(near, names))
            alone = self._learned.read(there, marks, worded)
            words, read = max((words, read), (there, alone), key=lambda item: item[1].odds)
        phrases = self._phrases.find(text)
        outright = stated(signs, phrases, self._learned.codes, read)
        verdict = decide(read, outright, against, signs)
        suspects = tuple(Suspect(code, self._why(code, signs, phrases, words, text)) for code in verdict.codes)
        return Recognition(verdict.certainty, suspects, cluster, by, choices, verdict.because, verdict.odds)

    def clusters(self, text: str, fleet: FleetNames) -> str:
        """The cluster that a text names itself, or those of which one is meant; a near miss names none."""
        named = [match for match in fleet.find(plain(text)) if match.rank < NEAR_MISS]
        cluster, choices = chosen(named)
        return cluster or " ".join(sorted(choices))

    def _why(
        self, code: str, signs: list[Sign], phrases: list[PhraseMatch], found: Weighed, text: str
    ) -> tuple[str, ...]:
        """Strongest first."""
        strongest = sorted((sign for sign in signs if sign.code == code), key=lambda sign: -sign.points)
        why = [f"“{suspect.found}” ({suspect.source})" for suspect in strongest]
        why += [f"it says “{phrase.phrase}”" for phrase in phrases if phrase.code == code]
        telling = _as_written(self._learned.telling(code, found, 2 * _WORDS_TOLD), text)
        if telling:
            why.append(f"its words {', '.join(f'“{word}”' for word in telling)} speak of it")
        return tuple(dict.fromkeys(why))[:_REASONS]


def _as_written(names: list[str], text: str) -> list[str]:
    """The words as written in the text: the model compares stems."""
    whole = {
        **{stem(word): word for word in reversed(split(text))},
        **{stem(word): told for word, told in STANDS_FOR.items()},
    }
    written = [" ".join(whole.get(part, part) for part in name.split()) for name in names if OURS not in name]
    return [word for word in written if not STOP.issuperset(word.split())][:_WORDS_TOLD]


def _around_signs(text: str, signs: list[Sign]) -> str:
    """In a long text, the lines that contain a sign; none if there is no sign."""
    if len(text) <= _LONG or not signs:
        return ""
    wanted = [sign.found[:_LOOKED_FOR] for sign in sorted(signs, key=lambda sign: -sign.points)[:_REASONS]]
    lines = [line[:_LONG] for line in text.splitlines() if any(action in line for action in wanted)]
    return "\n".join(dict.fromkeys(lines))[:_LONG]


def _which(named: list[Named], fleet: FleetNames, around: Iterable[Around]) -> tuple[str | None, str, tuple[str, ...]]:
    where = ""
    for other in around:
        if named:
            break
        named, where = fleet.find(plain(other.text)), f" in {other.what}"
    cluster, choices = chosen(named)
    by = next((match.by + where for match in named if match.name == cluster), "")
    return cluster, by, choices if len(choices) <= _MENU else ()
