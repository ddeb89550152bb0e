"""The window with a plan: every call, what must still be true, what could go wrong, how to undo it, who decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bot.fixes.may import Called
from bot.fixes.proposal import Proposal
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack import escaping, limits, words, words_fixes, words_fixes_message, words_fixes_plan
from bot.slack.fixes_offer import why_none
from bot.slack.fixes_people import lines
from bot.slack.fixes_pressed import ASK_VIEW, GLASS_VIEW, REASON, REASON_BLOCK, SHOW_VIEW, PressedFix
from bot.slack.message import Block, context, header, section
from bot.slack.rich import Element, bullets, preformatted, text
from bot.slack.rich import blocks as rich_blocks
from bot.slack.rich import section as rich_section
from handlers.remedy.plan import Forbidden, Plan

MOST_STEPS = 12
MOST_LINES = 12
LONGEST = 500
LONGEST_REASON = 500


def asking(
    proposal: Proposal, pressed: PressedFix, called: Called, *, alone: bool, reason_needed: bool
) -> dict[str, Any]:
    """For somebody who may ask for it. Nothing has been asked yet."""
    rules = proposal.rules
    decides = words_fixes_plan.who_decides(rules.needed, requester_counts=rules.requester_counts, alone=alone)
    who = [section(decides), *([] if alone else lines(*words_fixes_message.waits_for(called)))]
    submit = words_fixes_plan.RUN_IT if alone else words_fixes_plan.ASK_FOR_IT
    parts = [*plan_blocks(proposal.plan), header(words_fixes_plan.WHO), *who, _reason(needed=reason_needed)]
    return _view(ASK_VIEW, parts, words_fixes_plan.PLAN_TITLE, submit=submit, metadata=pressed.dump())


def shown(plan: Plan, notes: Sequence[Block] = ()) -> dict[str, Any]:
    """To read only; `notes` say why nothing can be pressed."""
    return _view(SHOW_VIEW, [*notes, *plan_blocks(plan)], words_fixes_plan.PLAN_TITLE)


def told(said: str) -> dict[str, Any]:
    """Instead of a plan."""
    return _view(SHOW_VIEW, [section(said)], words_fixes_plan.PLAN_TITLE)


def not_possible(plan: Plan, reasons: Sequence[Forbidden]) -> dict[str, Any]:
    """The steps, and why nobody can press anything."""
    return shown(plan, why_none(reasons))


def breaking_glass(pressed: PressedFix) -> dict[str, Any]:
    """It is known without looking anything up, so that it opens at once."""
    parts = [section(words_fixes_plan.GLASS_WARNING), _reason(needed=True)]
    return _view(
        GLASS_VIEW, parts, words_fixes_plan.GLASS_TITLE, submit=words_fixes_plan.BREAK_IT, metadata=pressed.dump()
    )


def plan_blocks(plan: Plan) -> list[Block]:
    cluster = words_fixes.name(plan)
    return [
        header(plan.title),
        context(f"{escaping.code(cluster)} · {words_fixes_plan.cost(plan)}"),
        *_titled(words_fixes_plan.CAREFUL, plan.warnings),
        header(words_fixes_plan.STEPS),
        *(block for number, _ in enumerate(plan.steps[:MOST_STEPS]) for block in _step(plan, number)),
        *_more(plan, cluster),
        *_titled(words_fixes_plan.ONLY_IF, [f"{name}: {_value(value)}" for name, value in plan.before.items()]),
        *_titled(words_fixes_plan.WRONG, plan.could_go_wrong),
        *_titled(words_fixes_plan.UNDO, [plan.undo]),
        *_titled(words_fixes_plan.FIXED_WHEN, [words_fixes_plan.fixed_when(plan, short(plan.verify.subject))]),
    ]


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
        yield context(words_fixes_plan.more_steps(len(plan.steps) - MOST_STEPS, cluster, plan.remedy))


def _titled(title: str, lines: Sequence[str]) -> list[Block]:
    if not lines:
        return []
    rows: list[list[Element]] = [[text(escaping.cut(one_line(one), LONGEST))] for one in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        rows.append([text(words.more(len(lines) - MOST_LINES), dim=True)])
    return rich_blocks([rich_section(text(title, bold=True), text("\n")), bullets(rows)])


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _reason(*, needed: bool) -> Block:
    return {
        "type": "input",
        "block_id": REASON_BLOCK,
        "optional": not needed,
        "label": {"type": "plain_text", "text": words_fixes_plan.WHY_NOW, "emoji": False},
        "hint": {"type": "plain_text", "text": words_fixes.reason_missing(), "emoji": False},
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
    close = words_fixes_plan.CANCEL_WORD if submit else words_fixes_plan.CLOSE
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
