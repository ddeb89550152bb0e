"""The head of an answer that is no longer the latest. Pure."""

from __future__ import annotations

from datetime import datetime

from bot.checks.store.recent import RecentCheck
from bot.render.verdict import in_words
from bot.slack.checks import superseded_text as said
from bot.slack.checks.view import first_line, light_of, state_and_titles
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import CHECK_AGAIN, SHOW_ALL, Message, Pressed, actions, button, context, section
from bot.slack.kit.rich_text import Element, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.model import Diagnosis
from runbooks.library import Library


def superseded(
    check: RecentCheck,
    over: bool,
    diagnosis: Diagnosis,
    library: Library,
    moment: datetime,
    by: str,
    link: str,
    newer: Pressed | None = None,
) -> Message:
    """What it says now, who found that and when; what it said stands below. `link`: to the newer answer, which
    the buttons go by that have `newer` as their value."""
    headline = said.over(check.cluster) if over else f"{light_of(diagnosis)} {first_line(diagnosis, library)}"
    parts: list[Element] = [text((said.gone if over else said.checked)(moment, moment - check.at))]
    if by:
        parts += [text(said.BY), {"type": "user", "user_id": by}]
    if link:
        parts += [text(" · "), {"type": "link", "url": link, "text": said.NEWER}]
    was = rich_section(text(said.was(in_words(check.verdict), check.cause), dim=True))
    pressed = newer or Pressed(check.request, check.id)
    row = actions(button(sentences.CHECK_AGAIN, CHECK_AGAIN, pressed), button(sentences.SHOW_ALL, SHOW_ALL, pressed))
    shown = (section(headline), *rich_blocks([rich_section(*parts), was]), row)
    return Message(escaping.fits(headline, limits.MESSAGE_TEXT), shown)


def outside(check: RecentCheck, over: bool, diagnosis: Diagnosis, library: Library, moment: datetime) -> Message:
    """The same where guests or another company read along: no more than a check there says openly, and no button."""
    if over:
        line = said.over(check.cluster)
        shown = [section(line)]
    else:
        line, shown = state_and_titles(diagnosis, library)
    when = (said.gone if over else said.checked)(moment, moment - check.at)
    return Message(line, (*shown, context(when), context(sentences.OUTSIDE)))
