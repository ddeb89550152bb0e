"""What two readings of one text say together: the words' and the sentence's."""

from __future__ import annotations

import math

from bot.triage.learned import Reading

UNSURE = (-1.0, 5.0)
"""The odds of the words alone between which the sentence is read too. Further out it changes few answers (of 2,259
messages of which nothing was learned, it was right about three more between 5 and 6), and every reading takes longer
than the words do."""
_WORDS, _SENTENCE, _LEAN = 0.4, 0.6, 1.5
"""What the odds of each count for, and what stands beside them."""
_SENTENCE_NAMES = 0.4
"""What the sentence counts for in which code it is."""
_LEAST = 1e-4


def is_unsure(words: Reading) -> bool:
    return UNSURE[0] < words.odds < UNSURE[1]


def together(words: Reading, sentence: Reading | None) -> Reading:
    """What the sentence says counts only where it knows the code that the words name first: a new one it has yet to
    learn."""
    if sentence is None or next(iter(words.chances), None) not in sentence.chances:
        return words
    odds = _WORDS * words.odds + _SENTENCE * sentence.odds + _LEAN
    mixed = {code: _mixed(chance, sentence.chances.get(code, chance)) for code, chance in words.chances.items()}
    whole = sum(mixed.values())
    likeliest = sorted(mixed, key=lambda code: (-mixed[code], code))
    return Reading(odds, {code: mixed[code] / whole for code in likeliest})


def _mixed(by_words: float, by_sentence: float) -> float:
    return math.exp(
        (1 - _SENTENCE_NAMES) * math.log(max(by_words, _LEAST)) + _SENTENCE_NAMES * math.log(max(by_sentence, _LEAST))
    )
