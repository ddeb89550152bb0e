"""What to check, as people type it, in Slack and in the terminal alike: `[cluster] [area] [question]`.

`bot.slack.inbound.commands` and `bot.cli.main` read it; what cannot be read is a Problem that shows the right form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches

from bot.report.events import Selection
from bot.report.known import questions
from handlers.problem import Exit, Problem
from handlers.question import USAGE, NotAQuestion, Question, Word, read_question

CANNOT_READ = "cannot tell what to check"
_QUESTIONS = ", ".join(f"`{usage}`" for usage in USAGE.values())
DETECTORS = "detectors"
FORM = (
    "say `check <cluster> [area] [detectors] [question]`, with a name, a resource id or a portal link; "
    f"a question is one of {_QUESTIONS}"
)
_LONGEST = 80
_WORDS = frozenset(word.value for word in Word)


def read_check(words: Sequence[str], areas: Collection[str]) -> tuple[str | None, Selection]:
    """The cluster as it was given, or none, and what to ask about it."""
    given, asked = _split(words)
    before = [word for word in given if word.lower().lstrip("-") != DETECTORS]
    question = _question(asked) if asked else None
    if len(before) > 2:
        raise _unreadable(f"there are {len(before)} words, and I understand two: a cluster and an area", FORM)
    cluster = before[0] if before else None
    area = before[1].lower() if len(before) == 2 else None
    if len(before) == 1 and before[0].lower() in areas:
        cluster, area = None, before[0].lower()
    if area is not None and area not in areas:
        raise _no_such(before[1], areas)
    if area is not None and question is not None and not question.narrows:
        raise _unreadable(f"`{question.word}` asks one thing only", f"leave out the area {area}")
    return cluster, Selection(area, detectors=len(before) < len(given), about=question)


def scope_of(words: Sequence[str], area: str | None, only: str | None, *, detectors: bool = False) -> Selection:
    """The same on the command line, where the cluster stands before, and options may narrow it further."""
    if not words:
        return Selection(area, only, detectors)
    asked = read_check(("-", *words), areas())[1]
    if only or (area and asked.area):
        raise _unreadable("the words and the options both say what to check", "leave out --only and --area")
    return replace(asked, area=asked.area or area, detectors=asked.detectors or detectors)


def areas() -> frozenset[str]:
    """What a check can be narrowed to."""
    return frozenset(question.area for question in questions().values())


def no_cluster(asked: Question) -> Problem:
    """A question without a cluster, where no default says which is meant."""
    return _unreadable("no cluster is named, and none is the default here", f"say `check <cluster> {asked}`")


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands before the question, and the question. A cluster may be called like one of the words."""
    begins = [place for place, word in enumerate(words) if word.lower() in _WORDS]
    alone = len(words) == 1 and words[0].lower() != Word.LOGS  # which is a whole question
    if begins[:1] == [0] and (alone or 1 in begins):
        begins = begins[1:]  # `node` alone, and `node node aks-1`: a cluster of that name
    return (words[: begins[0]], words[begins[0] :]) if begins else (words, ())


def _question(words: Sequence[str]) -> Question:
    try:
        return read_question(words)
    except NotAQuestion as wrong:
        raise _unreadable(str(wrong), f"say `{USAGE[Word(words[0].lower())]}`") from wrong


def _no_such(word: str, areas: Collection[str]) -> Problem:
    near = get_close_matches(word.lower(), (*areas, *_WORDS), n=3, cutoff=0.5)
    shown = [f"`{USAGE[Word(name)]}`" if name in _WORDS else name for name in near or sorted(areas)]
    return _unreadable(
        f"{word[:_LONGEST]!r} is no area and begins no question", f"choose one of {', '.join(shown)}, or leave it out"
    )


def _unreadable(why: str, do: str) -> Problem:
    return Problem(CANNOT_READ, why, do, code=Exit.USAGE)
