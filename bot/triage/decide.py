"""From evidence to an answer: which codes, how certain, or why silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from bot.triage.model.learned import Reading
from bot.triage.model.phrases import PhraseMatch
from bot.triage.quiet import Reason
from bot.triage.signs import INNERMOST, PATTERN, Sign


class Certainty(StrEnum):
    SURE = "sure"
    LIKELY = "likely"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A code that the message may be about, with the reasons, strongest first."""

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


SURE, LIKELY = 5.0, 1.5
"""The odds from which the bot checks by itself, and from which it offers to. Of a hundred messages under tests/triage
that are none of our business, it checks for one and speaks to five; lower odds miss less and disturb more."""
_BESIDE = 0.01
"""The chance from which the second and the third are named beside the first: an error of one code often comes wrapped
in what it led to, which is what a check then finds. One whose sign stands in the text needs none."""
MOST = 3


def decide(read: Reading, outright: Mapping[str, float], against: Sequence[Reason], signs: Sequence[Sign]) -> Verdict:
    """`outright`: the odds of what the text states. They go before what its words make likely, but not before what its
    words make certain. A reason for silence withdraws the answer.
    """
    outright = {} if against else outright
    odds = max([read.odds, *outright.values()])
    reasons = [reason for reason in against if reason.final or odds < LIKELY]
    if reasons or odds < LIKELY:
        told = next((f"{reason.name}: “{reason.found}”" for reason in reasons), "nothing that a runbook speaks of")
        return Verdict(Certainty.QUIET, (), odds, told)
    first = outright if read.odds < SURE else ()
    codes = tuple(dict.fromkeys((*first, *_likeliest(read, signs))))[:MOST]
    return Verdict(Certainty.SURE if odds >= SURE else Certainty.LIKELY, codes, odds)


def _likeliest(read: Reading, signs: Sequence[Sign]) -> list[str]:
    """The code that the words speak of, if any."""
    if read.odds < LIKELY:
        return []
    marked = {sign.code for sign in signs}
    likeliest = enumerate(islice(read.chances.items(), MOST))
    return [code for at, (code, chance) in likeliest if at == 0 or chance >= _BESIDE or code in marked]


def stated(
    signs: Sequence[Sign], text: Sequence[PhraseMatch], learned: Sequence[str], by_words: Reading
) -> dict[str, float]:
    """The odds of what the text states outright, likeliest first: an error's own code, and, for codes the model was not
    trained on, their patterns; their phrases make it likely. If the words as a whole speak of no problem, a code that
    the model was trained on belongs to somebody else: any Azure service may say InternalServerError.
    """
    odds: dict[str, float] = {}
    for sign in signs:
        if sign.code in learned and by_words.odds < LIKELY:
            continue
        if sign.points >= (PATTERN if sign.code not in learned else INNERMOST) or _agrees(sign, by_words):
            odds[sign.code] = SURE
    for message in text:
        odds.setdefault(message.code, LIKELY)
    return dict(sorted(odds.items(), key=lambda scored: -scored[1]))


def _agrees(sign: Sign, by_words: Reading) -> bool:
    """A quoted error code and the words around it speak of the same problem."""
    return sign.points >= PATTERN and sign.is_error_code and next(iter(by_words.chances), None) == sign.code
