"""A cluster's history, for a terminal, and as a picture; Slack shares the sentences."""

from __future__ import annotations

from collections.abc import Iterator

from bot.render.clean import one_line, wrapped
from bot.render.line import Line
from bot.render.pictures.picture import Lane, Mark, Picture, Tone
from bot.render.pictures.timeline import timeline
from bot.render.verdict import count
from bot.report.past import History, Past, PastKind

NOTHING = "nothing is known of it yet: no whole check, no incident and no fix in the last 30 days"
KEPT = "Times are UTC. Verdicts are kept for 30 days, incidents for 3, fixes for as long as the audit."
FEWEST = 2
"""One event is read faster in words."""


def headline(history: History) -> str:
    if not history.past:
        return NOTHING
    kinds = {
        kind: sum(item.times if kind is PastKind.VERDICT else 1 for item in history.past if item.kind is kind)
        for kind in PastKind
    }
    told = (
        (kinds[PastKind.VERDICT], "verdict"),
        (kinds[PastKind.INCIDENT], "incident"),
        (kinds[PastKind.FIX], "fix"),
    )
    return ", ".join(_count(number, word) for number, word in told if number)


def said(item: Past) -> str:
    """`incident: A core quota is used up, until 03:40`."""
    times = f", {count(item.times, 'check')} alike" if item.times > 1 else ""
    until = f", until {item.until:%d %b %H:%M}" if item.until else ""
    return f"{_WORDS[item.kind]}{item.said}{times}{until}"


def history_lines(history: History, columns: int) -> Iterator[Line]:
    """Newest first; UTC."""
    yield Line.of((one_line(history.cluster), "title"), (f": {headline(history)}", ""))
    for item in history.past:
        at, style = f"{item.at:%d %b %H:%M}", "found" if item.bad else ""
        for number, words in enumerate(wrapped(said(item), columns=columns - len(at) - 2)):
            yield Line.of((f"{at if not number else ' ' * len(at)}  ", "dim"), (words, style))
    for note in (*history.unread, *([KEPT] if history.past else [])):
        for words in wrapped(note, columns=columns):
            yield Line.of((words, "dim"))


def history_picture(history: History) -> Picture | None:
    if len(history.past) < FEWEST:
        return None
    lanes = [Lane(kind.value, tuple(_mark(item) for item in history.past if item.kind is kind)) for kind in PastKind]
    return timeline(f"{history.cluster}: what was found and done", f"history-{history.cluster}", lanes)


_WORDS = {PastKind.VERDICT: "", PastKind.INCIDENT: "incident: ", PastKind.FIX: "fix: "}


def _mark(item: Past) -> Mark:
    tone = Tone.BAD if item.bad else Tone.GOOD if item.good else Tone.PLAIN
    return Mark(item.at.timestamp(), item.said, tone, item.until.timestamp() if item.until else None)


def _count(number: int, word: str) -> str:
    return f"{number} fixes" if word == "fix" and number != 1 else count(number, word)
