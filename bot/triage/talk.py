"""What somebody wants who just talks to the bot: a bare name, "why is prod-weu broken?", a pasted error. Pure.

Only what is said to the bot itself is read this way; what people say to each other is recognised much more carefully
(`recognise.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from bot.triage.clusters import FleetNames
from bot.triage.explain import Explanation, explain
from runbooks.library import Library
from runbooks.linear import compile_linear

_CERTAIN = frozenset({1, 3, 4})
"""The ranks of `Named` that leave no doubt: its name, something that belongs to it alone, its name spelt apart."""
_MOST_NEAR = 3
_LONGEST_NAME = 80
"""A cluster's name has 63 letters at most. Comparing takes the square of them."""
_LONGEST = 2000
"""Characters of a question about changes; what is longer was pasted."""
_TIME = compile_linear(
    r"\b(?:(?:in|within|over|during|since|for)\s+)?(?:the\s+)?(?:last\s+|past\s+)?(\d{1,3})\s*"
    r"(m|min|mins|minutes?|h|hrs?|hours?|d|days?)\b(?:\s+ago)?",
    ignore_case=True,
)
_CHANGED = compile_linear(r"\bchang(?:e|ed|es)\b", ignore_case=True)
_WORD = compile_linear(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_WORDS_AROUND = """
    what what's whats which who has have had did was were is are been being changed changes change on in to of for at
    with the a any all anything something somebody anybody there cluster recently lately today just please show list
    me us last past since around aks it made happened and or s
"""
_AROUND = frozenset(_WORDS_AROUND.split())
"""Words of a question about changes that name no cluster."""


class Wants(Enum):
    """What is done with it."""

    CHECK = "check the one cluster that it names"
    WHICH = "ask which of these clusters is meant"
    EXPLAIN = "say what the error means"
    NOTHING = "it says nothing that the bot understands"


@dataclass(frozen=True, slots=True)
class Talk:
    """`clusters`: the one that is named, or those that may be meant."""

    wants: Wants
    clusters: tuple[str, ...] = ()
    explanation: Explanation | None = None


def read_talk(text: str, names: FleetNames, library: Library) -> Talk:
    """`names`: the clusters that this person may see."""
    sure, near = _named(text, names)
    explanation = explain(text, library)
    if explanation.is_certain or (explanation.matches and not sure):
        return Talk(Wants.EXPLAIN, sure or near, explanation)
    if len(sure) == 1:
        return Talk(Wants.CHECK, sure)
    return Talk(Wants.WHICH, sure or near) if sure or near else Talk(Wants.NOTHING)


def changes_asked(text: str) -> str | None:
    """`prod-weu 2h` of "what changed on prod-weu in the last 2 hours?"; None where it asks for no changes, or does not
    say of which cluster."""
    if len(text) > _LONGEST or not _CHANGED.search(text):
        return None
    time = _TIME.search(text)
    rest = f"{text[: time.start()]} {text[time.end() :]}" if time else text
    named = [word[0] for word in _WORD.finditer(rest) if word[0].lower() not in _AROUND]
    if len(named) != 1:
        return None
    return f"{named[0]} {time[1]}{_unit(time[2])}" if time else named[0]


def _unit(word: str) -> str:
    return "min" if word.lower().startswith("m") else word[0].lower()


def _named(text: str, names: FleetNames) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The clusters that it names for certain, and those that it may mean."""
    bare = text.strip().strip("`'\"?!. ")
    alone = [name for name in dict.fromkeys(names.names) if name.lower() == bare.lower()]
    if alone:
        return tuple(alone), ()
    found = names.find(text)
    sure = tuple(match.name for match in found if match.rank in _CERTAIN)
    near = [match.name for match in found if match.rank not in _CERTAIN]
    if not found and " " not in bare and len(bare) <= _LONGEST_NAME:
        known = {name.lower(): name for name in names.names}
        near = [known[name] for name in get_close_matches(bare.lower(), known, n=_MOST_NEAR, cutoff=0.6)]
    return sure, tuple(near[:_MOST_NEAR])
