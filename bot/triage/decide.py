"""From evidence to an answer: which codes, how sure, or why silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.triage.likeness import Resemblance
from bot.triage.quiet import Reason
from bot.triage.signs import INNERMOST, Sign
from runbooks.library import Library


class Certainty(StrEnum):
    SURE = "sure"
    LIKELY = "likely"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A code that the message may be about, and why: the strongest first."""

    code: str
    points: float
    """How strong the strongest evidence is; a reason for silence may outweigh it."""
    why: tuple[str, ...]
    rank: float = 0.0
    """All evidence together: what the order goes by."""


@dataclass(frozen=True, slots=True)
class Verdict:
    certainty: Certainty
    suspects: tuple[Suspect, ...]
    """At most three, best first; none when quiet."""
    because: str = ""
    """Why quiet."""


SURE, LIKELY = 1.5, -0.35
"""The confidence from which the bot answers, or offers to. See tests/bench/triage.py."""
_CAUSE, _CAUSE_IN_WORDS = 0.62, 0.92
"""A cause goes before what it explains if it has at least this share of its points; words alone are weaker."""
_LIKE = 10.0
_VAGUE, _MANY = 0.8, 20
"""Words that fit a code which this many others explain say less."""
_ALIKE, _HINTS = 0.5, 3.0
"""What a resemblance and the words' odds count for in the order, next to a sign."""
_MOST_BY_HINTS = 60.0
MOST = 3
_REASONS = 3


def weigh(
    signs: Sequence[Sign],
    alike: Sequence[Resemblance],
    library: Library,
    vague: frozenset[str] = frozenset(),
    hints: Mapping[str, float] | None = None,
) -> list[Suspect]:
    """Every code that anything speaks for, best first. Words count less for those that are `vague`."""
    points: dict[str, float] = {}
    ranks: dict[str, float] = {}
    why: dict[str, list[str]] = {}
    for sign in sorted(signs, key=lambda one: -one.points):
        before = points.get(sign.code, 0.0)
        points[sign.code] = ranks[sign.code] = max(before, sign.points) + (4.0 if before else 0.0)
        why.setdefault(sign.code, []).append(f"“{sign.found}” ({sign.source})")
    for one in alike:
        gain = one.points * _LIKE * (_VAGUE if one.code in vague else 1.0)
        before = points.get(one.code, 0.0)
        points[one.code] = before + gain * 0.35 if before else min(gain, 95.0)
        ranks[one.code] = ranks.get(one.code, 0.0) + _ALIKE * min(gain, 95.0)
        why.setdefault(one.code, []).append(f"it reads like “{one.phrase}”")
    for code, odds in (hints or {}).items():
        points.setdefault(code, min(_HINTS * odds, _MOST_BY_HINTS))
        ranks[code] = ranks.get(code, 0.0) + _HINTS * odds
    suspects = [Suspect(code, points[code], tuple(why.get(code, ())[:_REASONS]), rank) for code, rank in ranks.items()]
    suspects.sort(key=lambda one: (-one.rank, one.code))
    return _causes_first(suspects, library, frozenset(sign.code for sign in signs))


def vague_codes(library: Library) -> frozenset[str]:
    """The codes that many others explain: what they say is true of nearly everything."""
    explained = Counter(code for runbook in library.values() for code in runbook.explains)
    return frozenset(code for code, times in explained.items() if times >= _MANY)


def _causes_first(suspects: list[Suspect], library: Library, signed: frozenset[str]) -> list[Suspect]:
    """A code that names the blocking object goes before the vaguer ones that it explains."""
    ordered: list[Suspect] = []
    for one in suspects:
        at = len(ordered)
        least = _CAUSE if one.code in signed else _CAUSE_IN_WORDS
        for place, other in enumerate(ordered):
            if other.code in library.explains(one.code) and one.rank >= least * other.rank:
                at = place
                break
        ordered.insert(at, one)
    return ordered


def decide(
    suspects: Sequence[Suspect], against: Sequence[Reason], elsewhere: Sequence[str], confidence: float
) -> Verdict:
    best = max((one.points for one in suspects), default=0.0)
    if elsewhere and best < 110:
        return Verdict(Certainty.QUIET, (), f"it is {elsewhere[0]}")
    for one in against:
        if best < one.outweighs:
            return Verdict(Certainty.QUIET, (), f"{one.name}: “{one.found}”")
    if not suspects or confidence < LIKELY:
        return Verdict(Certainty.QUIET, (), "nothing that a runbook speaks of")
    kept = tuple(one for one in suspects if one.rank >= 0.4 * suspects[0].rank)[:MOST]
    sure = confidence >= SURE or kept[0].points >= INNERMOST
    return Verdict(Certainty.SURE if sure else Certainty.LIKELY, kept)
