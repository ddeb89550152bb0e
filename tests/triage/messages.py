"""Messages with their right answers: those that were learned from, and those that nothing was learned from."""

from __future__ import annotations

from pathlib import Path

from bot.triage.heard import NONE, Heard, heard

LEARNED = tuple(heard())
UNHEARD = tuple(heard(Path(__file__).with_name("unheard")))
STRANGERS = tuple(heard(Path(__file__).with_name("strangers")))
"""Never learned from and never tuned on: they measure what the messages of tomorrow will meet."""


def problems(messages: tuple[Heard, ...]) -> list[Heard]:
    return [one for one in messages if one.code != NONE]


def others(messages: tuple[Heard, ...]) -> list[Heard]:
    """Those to which any answer is a false alarm."""
    return [one for one in messages if one.code == NONE and not one.also]
