"""A support packet in Slack: what it is called, what is in it, and what to do with it. Pure."""

from __future__ import annotations

from bot.checks.support.packets import Packet
from bot.render.clean import one_line
from bot.render.packet.archive import Archive
from bot.render.verdict import word
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import AnswerMessages, Message, context, section
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import bullets, text
from bot.slack.kit.rich_text import section as rich_section
from bot.slack.support import text as said
from handlers.problem import Problem


def collecting(cluster: str) -> Message:
    return _one(said.collecting(cluster))


def made(packet: Packet, user: str) -> AnswerMessages:
    """The head, and in its thread who asked, the table of contents and the file."""
    archive = packet.archive
    title = said.made(packet.target.name, word(packet.report.diagnosis))
    asked = rich_section({"type": "user", "user_id": user}, text(" "), text(said.CONTENTS, bold=True))
    shown = rich_blocks([asked, bullets(_contents(archive))])
    notes = [said.BEFORE_SENDING, *([said.not_seen(packet.unseen)] if packet.unseen else [])]
    listed = Message(
        escaping.fits(f"{title} {said.BEFORE_SENDING}", limits.MESSAGE_TEXT),
        (*shown, section(said.how_to_use(archive.name)), context(*notes)),
    )
    return AnswerMessages(_one(title), (listed,), archive)


def failed(cluster: str, problem: Problem) -> Message:
    """What could not be done, why, and what to do."""
    return _one(f"{said.failed(cluster)} {sentences.problem(problem)}")


def _contents(archive: Archive) -> list[list[dict[str, object]]]:
    return [[text(name, as_code=True), text(f" {one_line(holds)}")] for name, holds in archive.contents]


def _one(sentence: str) -> Message:
    return Message(escaping.fits(sentence, limits.MESSAGE_TEXT), (section(sentence),))
