"""Labeled messages: the training set and the held-out set."""

from __future__ import annotations

from pathlib import Path

from bot.triage.model.labelled import NONE, LabelledMessage, labelled_messages

LEARNED = tuple(labelled_messages())
UNTRAINED = tuple(labelled_messages(Path(__file__).with_name("unheard")))
STRANGERS = tuple(labelled_messages(Path(__file__).with_name("strangers")))
THREADS = tuple(labelled_messages(Path(__file__).with_name("threads")))
CARDS = tuple(labelled_messages(Path(__file__).with_name("cards")))
"""Never used for training: they estimate accuracy on future messages. Threads are paraphrased from search results,
relevant or not; cards are from alert bots and pipelines, plus pasted output."""
KEPT = (*UNTRAINED, *STRANGERS, *THREADS, *CARDS)


def problems(messages: tuple[LabelledMessage, ...]) -> list[LabelledMessage]:
    return [one for one in messages if one.code != NONE]


def others(messages: tuple[LabelledMessage, ...]) -> list[LabelledMessage]:
    """Messages for which any match is a false positive."""
    return [one for one in messages if one.code == NONE and not one.also]
