"""The window with a plan: first what it does to whom, and who decides; below, every call and every precondition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.fixes.may import Called
from bot.fixes.proposal import Proposal
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack.fixes import message_text, plan_text
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes.buttons import (
    ASK_VIEW,
    DECLINE_VIEW,
    GLASS_VIEW,
    REASON,
    REASON_BLOCK,
    SHOW_VIEW,
    PressedFix,
)
from bot.slack.fixes.offer_view import why_none
from bot.slack.fixes.people_view import lines
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import Block, context, header, section
from bot.slack.kit.rich_text import Element, bullets, preformatted, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.remedy.in_words import in_words
from handlers.remedy.plan import Forbidden, Plan

MOST_STEPS = 12
MOST_LINES = 12
LONGEST = 500
LONGEST_REASON = 500
_TAGS = ("eTag of ", "uid of ", "operation (")
"""How `before` names what identifies a version of a thing."""


def asking(
    proposal: Proposal, pressed: PressedFix, called: Called, *, alone: bool, reason_needed: bool
) -> dict[str, Any]:
    """For somebody who may ask for it. Nothing has been asked yet."""
    rules = proposal.rules
    decides = plan_text.who_decides(rules.needed, requester_counts=rules.requester_counts, alone=alone)
    who = [section(decides), *([] if alone else lines(*message_text.waits_for(called)))]
    submit = plan_text.RUN_IT if alone else plan_text.ASK_FOR_IT
    asks = [header(plan_text.WHO), *who, _reason(needed=reason_needed)]
    parts = [*_outline(proposal.plan), *asks, *_details(proposal.plan)]
    return _view(ASK_VIEW, parts, plan_text.PLAN_TITLE, submit=submit, metadata=pressed.dump())


def shown(plan: Plan, notes: Sequence[Block] = ()) -> dict[str, Any]:
    """To read only; `notes` say why nothing can be pressed."""
    return _view(SHOW_VIEW, [*notes, *plan_blocks(plan)], plan_text.PLAN_TITLE)


def told(said: str) -> dict[str, Any]:
    """Instead of a plan."""
    return _view(SHOW_VIEW, [section(said)], plan_text.PLAN_TITLE)


def not_possible(plan: Plan, reasons: Sequence[Forbidden]) -> dict[str, Any]:
    """The steps, and why nobody can press anything."""
    return shown(plan, why_none(reasons))


def breaking_glass(pressed: PressedFix) -> dict[str, Any]:
    """It is known without looking anything up, so that it opens at once."""
    parts = [section(plan_text.GLASS_WARNING), _reason(needed=True)]
    return _view(GLASS_VIEW, parts, plan_text.GLASS_TITLE, submit=plan_text.BREAK_IT, metadata=pressed.dump())


def declining(pressed: PressedFix) -> dict[str, Any]:
    """It opens at once, as well: whoever asked for the fix is told why they do not get it."""
    parts = [section(plan_text.DECLINE_NOTE), _reason(needed=True, label=plan_text.WHY_NOT, hint=plan_text.WHO_READS)]
    return _view(DECLINE_VIEW, parts, plan_text.DECLINE_TITLE, submit=plan_text.DECLINE_IT, metadata=pressed.dump())


def plan_blocks(plan: Plan) -> list[Block]:
    return [*_outline(plan), *_details(plan)]


def _outline(plan: Plan) -> list[Block]:
    """What fits on the first screen of a phone."""
    return [
        header(plan.title),
        *rich_blocks([rich_section(text(escaping.cut(one_line(message_text.effect(plan)), LONGEST)))]),
        context(f"{escaping.code(fixes_text.name(plan))} · {plan_text.cost(plan)}"),
        *_titled(plan_text.CAREFUL, plan.warnings),
        *_titled(plan_text.WRONG, plan.could_go_wrong),
        *_titled(plan_text.UNDO, [plan.undo]),
    ]


def _details(plan: Plan) -> list[Block]:
    """For whoever wants to know exactly."""
    states, tags = _preconditions(plan)
    return [
        header(plan_text.STEPS),
        *(block for number, _ in enumerate(plan.steps[:MOST_STEPS]) for block in _step(plan, number)),
        *_more(plan, fixes_text.name(plan)),
        *_titled(plan_text.ONLY_IF, states),
        *_titled(plan_text.TAGS, tags),
        *_titled(plan_text.FIXED_WHEN, [plan_text.fixed_when(plan, short(plan.verify.subject))]),
    ]


def _preconditions(plan: Plan) -> tuple[list[str], list[str]]:
    """What people understand, and below it what only says that nobody has changed anything since."""
    lines = {name: f"{name}: {in_words(value)}" for name, value in plan.before.items()}
    tags = [line for name, line in lines.items() if name.startswith(_TAGS)]
    return [line for line in lines.values() if line not in tags], tags


def _step(plan: Plan, number: int) -> list[Block]:
    step = plan.steps[number]
    said = f"{number + 1}. {one_line(step.says)}"
    return rich_blocks(
        [
            rich_section(text(escaping.cut(said, LONGEST), bold=True), text("\n")),
            rich_section(text(escaping.cut(one_line(step.request), 2 * LONGEST), as_code=True)),
            preformatted(escaping.cut(one_line(step.command), 2 * LONGEST)),
        ]
    )


def _more(plan: Plan, cluster: str) -> Iterator[Block]:
    if len(plan.steps) > MOST_STEPS:
        yield context(plan_text.more_steps(len(plan.steps) - MOST_STEPS, cluster, plan.remedy))


def _titled(title: str, lines: Sequence[str]) -> list[Block]:
    if not lines:
        return []
    rows: list[list[Element]] = [[text(escaping.cut(one_line(line), LONGEST))] for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        rows.append([text(sentences.more(len(lines) - MOST_LINES), dim=True)])
    return rich_blocks([rich_section(text(title, bold=True), text("\n")), bullets(rows)])


def _reason(*, needed: bool, label: str = plan_text.WHY_NOW, hint: str = plan_text.ASKED_LATER) -> Block:
    return {
        "type": "input",
        "block_id": REASON_BLOCK,
        "optional": not needed,
        "label": {"type": "plain_text", "text": label, "emoji": False},
        "hint": {"type": "plain_text", "text": hint, "emoji": False},
        "element": {
            "type": "plain_text_input",
            "action_id": REASON,
            "multiline": True,
            "max_length": LONGEST_REASON,
        },
    }


def _view(callback: str, parts: list[Block], title: str, *, submit: str = "", metadata: str = "") -> dict[str, Any]:
    room = limits.BLOCKS_IN_VIEW
    kept = parts if len(parts) <= room else [*parts[: room - 1], context(escaping.CUT.strip())]
    close = plan_text.CANCEL_WORD if submit else plan_text.CLOSE
    made: dict[str, Any] = {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": metadata,
        "title": _plain(escaping.cut(title, limits.VIEW_TITLE)),
        "close": _plain(close),
        "blocks": kept,
    }
    return made | ({"submit": _plain(submit)} if submit else {})


def _plain(said: str) -> Block:
    return {"type": "plain_text", "text": said, "emoji": False}
