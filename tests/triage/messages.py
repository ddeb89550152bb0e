"""Messages with their right answers: those that were learned from, and those that nothing was learned from."""

from __future__ import annotations

from pathlib import Path

from bot.triage.model.labelled import NONE, LabelledMessage, labelled_messages

LEARNED = tuple(labelled_messages())
UNTRAINED = tuple(labelled_messages(Path(__file__).with_name("unheard")))
STRANGERS = tuple(labelled_messages(Path(__file__).with_name("strangers")))
THREADS = tuple(labelled_messages(Path(__file__).with_name("threads")))
CARDS = tuple(labelled_messages(Path(__file__).with_name("cards")))
"""Never learned from: they measure what the messages of tomorrow will meet. Threads are retold as searches found them,
the fitting ones and all others; cards are of alert bots and pipelines, and pasted output."""
KEPT = (*UNTRAINED, *STRANGERS, *THREADS, *CARDS)


def problems(messages: tuple[LabelledMessage, ...]) -> list[LabelledMessage]:
    return [one for one in messages if one.code != NONE]


def others(messages: tuple[LabelledMessage, ...]) -> list[LabelledMessage]:
    """Those to which any answer is a false alarm."""
    return [one for one in messages if one.code == NONE and not one.also]
