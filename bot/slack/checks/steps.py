"""The window with a runbook: what it means, how to see it, what to do, and when it is something else."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.render.subject import short
from bot.slack.checks.thread import runbook_section
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import Block, context, header
from bot.slack.kit.modal import modal
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import markdown, size
from handlers.model import Finding
from runbooks.library import FURTHER, SECTIONS, Runbook


def steps(runbook: Runbook, finding: Finding, as_of: datetime | None = None) -> dict[str, Any]:
    """A view of the runbook with this finding's facts. `as_of`: when they were looked up, where it is shown later."""
    about = sentences.subject(finding.code, short(finding.subject))
    found = [sentences.as_of(as_of)] if as_of else []
    blocks: list[Block] = [header(runbook.title), context(about, *found)]
    for name in SECTIONS:
        blocks.append(header(name))
        blocks += rich_blocks(runbook_section(runbook, name, finding))
    if runbook.links:
        blocks += [header(FURTHER), *rich_blocks(markdown(runbook.further, runbook.further))]
    room = limits.BLOCKS_IN_VIEW - 1
    kept = blocks[:room]
    if len(blocks) > room or any(size(block) > limits.RICH_TEXT for block in kept):
        kept.append(context(escaping.CUT.strip()))
    return modal(kept)
