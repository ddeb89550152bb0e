"""The digest as a message, made of values alone."""

from __future__ import annotations

from bot.checks.digest import Digest, headline, parts
from bot.render.clean import one_line
from bot.slack.digest import text as said
from bot.slack.kit import escaping
from bot.slack.kit.message import Message, context, pages, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from runbooks.library import Library

_LONGEST = 300
_MOST = 20
"""Lines under one heading."""


def digest(told: Digest, library: Library) -> Message:
    """Nothing to say is one line."""
    line = f"*{said.TITLE}:* {escaping.plain(headline(told))}"
    elements: list[Element] = []
    for heading, lines in parts(told, library):
        elements += [rich_section(text(heading, bold=True), text("\n")), bullets(_rows(lines))]
    steps = [context(said.STEPS)] if elements else []
    (message, *_), _ = pages([section(line), *rich_blocks(elements), *steps], line, most=1)
    return message


def _rows(lines: tuple[str, ...]) -> list[list[Element]]:
    rows = [[text(escaping.cut(one_line(line), _LONGEST))] for line in lines[:_MOST]]
    more = len(lines) - _MOST
    return [*rows, [text(f"… and {more} more", dim=True)]] if more > 0 else rows
