"""The features of a text: its words, word pairs, concepts, signs, and reasons for silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from bot.triage.model.tokens import THESAURUS, sentences
from bot.triage.quiet import Reason
from bot.triage.signs import PATTERN, Sign
from runbooks.linear import compile_linear

WORD, PAIR, CONCEPT, SIGN, REASON = "w:", "b:", "c:", "s:", "q:"
SPOKEN = {WORD: 1.0, PAIR: 0.7, CONCEPT: 1.0}
"""What the text says, weighed by how rare it is; and how much each kind counts. A pair's words count already."""
_SIGN, _REASON = 0.3, 1.0
"""What a sign, and a reason for silence, may count for, next to all words together. A sign counts for less: an
error is quoted when it is over, too."""
OURS = "ourcluster"
"""Any cluster's name: what is true of one is true of all."""
_MOST = 400
"""Of a text: what it is about shows in fewer."""
_ID = compile_linear(r"(?i)/subscriptions/[^\s\"',;)\]]{1,400}")
"""Every id holds the words subscription and provider; what it says stands at its end."""
_TOKEN = compile_linear(r"\^|\?|!|```|:[a-z_]+:|[a-z0'’]+")
_DIGITS = compile_linear(r"\d+")
_MOST_TOKENS = 400
_GUID = compile_linear(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}\b")


def bare(text: str, clusters: Iterable[str] = ()) -> str:
    """The text without what is unique to one cluster: its name, and all but the end of ids."""
    for name in clusters:
        text = text.replace(name, OURS)
    return _GUID.sub(" ", _ID.sub(lambda id_: " ".join(id_[0].rsplit("/", 2)[1:]), text))


def spoken(text: str, clusters: Iterable[str] = ()) -> dict[str, float]:
    """The words, pairs and concepts of a text."""
    found: dict[str, float] = {}
    for stems in sentences(bare(text, clusters)):
        for stem in stems:
            if not stem.isdigit():
                found[WORD + stem] = SPOKEN[WORD]
        for left, other in pairwise(stems):
            found[f"{PAIR}{left} {other}"] = SPOKEN[PAIR]
        for concept in sorted(THESAURUS.named(stems)):
            found[CONCEPT + concept] = SPOKEN[CONCEPT]
        if len(found) >= _MOST:
            break
    return found


def phrased(text: str, clusters: Iterable[str] = ()) -> list[str]:
    """How a text is worded: its words unchanged, with small words and punctuation, in runs of one to three. It tells
    whether the author has the problem now, asks about it, or remembers it.
    """
    for name in clusters:
        text = text.replace(name, OURS)
    tokens = _TOKEN.findall(f"^ {_DIGITS.sub('0', _ID.sub(' armid ', text).lower())}", _MOST_TOKENS)
    runs = (" ".join(tokens[at : at + long]) for long in (1, 2, 3) for at in range(len(tokens) - long + 1))
    return list(dict.fromkeys(runs))


def shown(signs: Sequence[Sign], against: Sequence[Reason]) -> dict[str, float]:
    """The patterns and codes that match, and the reasons for silence."""
    found = {REASON + reason.name: _REASON for reason in against}
    for sign in signs:
        if sign.points >= PATTERN:
            name = SIGN + sign.code
            found[name] = max(found.get(name, 0.0), _SIGN * sign.points / 100)
    return found
