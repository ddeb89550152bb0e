"""Sentences with people in them, as rich text: there a name calls, and text that looks like one does not."""

from __future__ import annotations

from datetime import datetime

from bot.render.clean import one_line
from bot.slack.fixes.text import Moment, Said, Who
from bot.slack.kit import escaping
from bot.slack.kit.message import Block
from bot.slack.kit.naming import mention
from bot.slack.kit.rich_text import Element, entity_of, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section

_LONGEST = 600


def lines(*said: Said) -> list[Block]:
    """A line for each; an empty one is none."""
    shown = [item for item in said if item]
    if not shown:
        return []
    elements: list[Element] = []
    for entry in shown:
        elements += [text("\n")] if elements else []
        elements += [_element(piece) for piece in entry if piece]
    return rich_blocks([rich_section(*elements)])


def as_text(*said: Said) -> str:
    """The same for a notification, which holds no blocks: a sentence after the other."""
    elements = [[_element(piece) for piece in item if piece] for item in said if item]
    return " · ".join("".join(entity_of(item) or escaping.escape(item["text"]) for item in line) for line in elements)


def _element(piece: str | Who | Moment) -> Element:
    if isinstance(piece, Who):
        return mention(piece.id)
    if isinstance(piece, Moment):
        return _date(piece.at, "{time}", f"{piece.at:%H:%M} UTC")
    return text(_spaced(piece))


def second(at: datetime) -> Element:
    """To the second, in the reader's own time."""
    return _date(at, "{time_secs}", f"{at:%H:%M:%S} UTC")


def _date(at: datetime, shown: str, fallback: str) -> Element:
    return {"type": "date", "timestamp": int(at.timestamp()), "format": shown, "fallback": fallback}


def _spaced(said: str) -> str:
    """On one line; a space at an end holds two pieces apart."""
    line = escaping.cut(one_line(said), _LONGEST)
    before, after = said[:1].isspace(), said[-1:].isspace()
    return f"{' ' if before else ''}{line}{' ' if after and line else ''}"
