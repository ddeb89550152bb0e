"""From evidence to an answer: which codes, how sure, or why silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.triage.learned import Reading
from bot.triage.phrases import Said
from bot.triage.quiet import Reason
from bot.triage.signs import INNERMOST, PATTERN, Sign


class Certainty(StrEnum):
    SURE = "sure"
    LIKELY = "likely"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A code that the message may be about, and why: the strongest first."""

    code: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    certainty: Certainty
    codes: tuple[str, ...]
    """At most three, best first; none when quiet."""
    odds: float
    because: str = ""
    """Why quiet."""


SURE, LIKELY = 5.5, 2.0
"""The odds from which the bot answers, or offers to. See tests/bench/triage.py."""
_SURE_BY_A_SIGN = 4.0
"""And where a code or a pattern of the runbook stands in the text, too."""
_STATED = 6.5
"""The odds of the problem whose error code the text states: of a hundred such, one was none."""
_PHRASE = 4.5
"""The odds of a code that nothing was learned of, when the text says a phrase of its runbook, or a pattern matches."""
_FIRST = 0.4
"""The first is answered outright if it has this chance."""
_NAMED = (0.0, 0.0005, 0.1)
"""The chance from which the second and the third are named beside it: an error of one code often comes wrapped in what
it led to, which is what a check then finds. One whose sign stands in the text needs none."""
MOST = len(_NAMED)


def decide(read: Reading, outright: Mapping[str, float], against: Sequence[Reason], signs: Sequence[Sign]) -> Verdict:
    """`outright`: the odds of what the text states, which a reason for silence takes back."""
    outright = {} if against else outright
    odds = max([read.odds, *outright.values()])
    reasons = [one for one in against if one.final or odds < LIKELY]
    if reasons or odds < LIKELY:
        told = next((f"{one.name}: “{one.found}”" for one in reasons), "nothing that a runbook speaks of")
        return Verdict(Certainty.QUIET, (), odds, told)
    first = [code for code, odds_ in outright.items() if odds_ >= max(read.odds, LIKELY)]
    likeliest = zip(read.chances.items(), _NAMED, strict=False) if read.odds >= LIKELY else ()
    marked = {one.code for one in signs}
    learned = [code for (code, chance), least in likeliest if chance >= least or code in marked]
    codes = tuple(dict.fromkeys((*first, *learned)))[:MOST]
    clear = bool(first) or read.chances[codes[0]] >= _FIRST
    signed = not against and any(one.code == codes[0] and one.points >= PATTERN for one in signs)
    sure = clear and odds >= (_SURE_BY_A_SIGN if signed else SURE)
    return Verdict(Certainty.SURE if sure else Certainty.LIKELY, codes, odds)


def stated(signs: Sequence[Sign], said: Sequence[Said], learned: Sequence[str], by_words: Reading) -> dict[str, float]:
    """The odds of what the text states outright, the likeliest first: an error's own code, and of the codes that
    nothing was learned of their patterns and phrases. Where its words as a whole speak of no problem, a code of which
    something was learned is somebody else's: any service of Azure may say InternalServerError."""
    odds: dict[str, float] = {}
    for sign in signs:
        if sign.code in learned and by_words.odds < LIKELY:
            continue
        if sign.points >= INNERMOST:
            odds[sign.code] = _STATED
        elif sign.code not in learned and sign.points >= PATTERN:
            odds.setdefault(sign.code, _PHRASE)
    for one in said:
        odds.setdefault(one.code, _PHRASE)
    return dict(sorted(odds.items(), key=lambda one: -one[1]))
