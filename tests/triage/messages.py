"""Messages with their right answers: those that were learned from, and those that nothing was learned from."""

from __future__ import annotations

from pathlib import Path

from bot.triage.model.labelled import NONE, Heard, heard

LEARNED = tuple(heard())
UNHEARD = tuple(heard(Path(__file__).with_name("unheard")))
STRANGERS = tuple(heard(Path(__file__).with_name("strangers")))
THREADS = tuple(heard(Path(__file__).with_name("threads")))
CARDS = tuple(heard(Path(__file__).with_name("cards")))
"""Never learned from: they measure what the messages of tomorrow will meet. Threads are retold as searches found them,
the fitting ones and all others; cards are of alert bots and pipelines, and pasted output."""
KEPT = (*UNHEARD, *STRANGERS, *THREADS, *CARDS)


def problems(messages: tuple[Heard, ...]) -> list[Heard]:
    return [one for one in messages if one.code != NONE]


def others(messages: tuple[Heard, ...]) -> list[Heard]:
    """Those to which any answer is a false alarm."""
    return [one for one in messages if one.code == NONE and not one.also]
