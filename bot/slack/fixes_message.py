"""The message of a proposal: one, in the thread of the answer, that changes with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.approvals.offered import Fix
from bot.approvals.proposal import Person, Proposal, State
from bot.render.clean import one_line
from bot.slack import limits, words, words_fixes
from bot.slack.fixes_offer import under
from bot.slack.fixes_people import lines
from bot.slack.fixes_pressed import APPROVE, DECLINE, GLASS, SHOW, STOP, PressedFix
from bot.slack.message import CHECK_AGAIN, Block, Message, Pressed, actions, context, section
from bot.slack.message import button as plain_button
from bot.slack.rich import Element, bullets, quote, text
from bot.slack.rich import blocks as rich_blocks
from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.plan import Risk

MOST_NOTES = 6
MOST_STEPS = 12
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the message depends on."""

    proposal: Proposal
    execution: Execution | None = None
    approvers: tuple[str, ...] = ()
    glass: tuple[str, ...] = ()
    """Who may break the glass; empty where nobody may."""
    now: datetime | None = None


def message(shown: Shown) -> Message:
    """What it says now."""
    one = shown.proposal
    parts: list[Block] = [section(words_fixes.head(one)), *_who(shown), *_progress(shown), *_end(one), *_buttons(shown)]
    return Message(words.fits(words_fixes.head(one), limits.MESSAGE_TEXT), tuple(parts))


def outcome(one: Proposal, fixes: Sequence[Fix] = ()) -> Message:
    """How it ended, as a message of its own."""
    said = words_fixes.head(one)
    parts = [section(said), *lines(words_fixes.for_the_requester(one)), *_end(one)]
    offered = under(fixes)
    if offered:
        parts += [section(f"*{words_fixes.NEW_PLAN}*"), *offered]
    else:
        parts.append(actions(_again(one)))
    return Message(said, tuple(parts))


def _who(shown: Shown) -> list[Block]:
    one = shown.proposal
    said = [words_fixes.asked_by(one), words_fixes.words_given(one), words_fixes.ended_by(one)]
    if one.state is State.OFFERED:
        said += [
            words_fixes.may_approve(shown.approvers) if shown.approvers else (),
            words_fixes.open_until(datetime.fromtimestamp(one.expires_ms / 1000, UTC)),
        ]
    if one.state is State.RUNNING and one.cancel_by:
        said.append(words_fixes.stopping(one.cancel_by))
    parts = lines(*said)
    return [*parts, context(words_fixes.cost(one.plan))] if one.state is not State.ENDED else parts


def _progress(shown: Shown) -> list[Block]:
    """Each step with its mark, then the last notes: the operation's own words."""
    here = shown.execution
    if here is None:
        return []
    rows: list[list[Element]] = []
    steps = here.plan.steps
    # Of many, those around the one that is at work.
    first = max(min(here.step - MOST_STEPS // 2, len(steps) - MOST_STEPS), 0)
    if first:
        rows.append([text(words_fixes.steps_before(first), dim=True)])
    for number in range(first, min(first + MOST_STEPS, len(steps))):
        mark = words_fixes.STEP_MARKS[_mark(here, number)]
        rows.append([text(f"{mark} {words.cut(one_line(steps[number].says), _LONGEST)}")])
    if len(steps) > first + MOST_STEPS:
        rows.append([text(words.more(len(steps) - first - MOST_STEPS), dim=True)])
    notes = [
        [text(f"{note.at:%H:%M:%S} {words.cut(one_line(note.says), _LONGEST)}", dim=True)]
        for note in here.notes[-MOST_NOTES:]
    ]
    made = rich_blocks([bullets(rows), *([bullets(notes, indent=1)] if notes else [])])
    if shown.now is not None and shown.proposal.state is State.RUNNING:
        over = words_fixes.LOOKING_AGAIN if here.ended else words_fixes.running_for(shown.now - here.began)
        made.append(context(over))
    return made


def _mark(here: Execution, number: int) -> str:
    if number > here.step or (number == here.step and here.ended):
        return "skipped" if here.ended or (here.failed_as and not here.plan.steps[number].always) else "later"
    if number == here.step:
        return "now"
    if number < here.step - 1 or here.failed_as is None or here.plan.steps[number].always:
        return "done"
    return "skipped" if here.failed_as in (Outcome.CANCELLED, Outcome.STALE) else "failed"


def _end(one: Proposal) -> list[Block]:
    return (
        rich_blocks([quote(words.cut(words.sentence(one.why), 2 * _LONGEST))])
        if one.state is State.ENDED and one.why
        else []
    )


def _buttons(shown: Shown) -> list[Block]:
    one = shown.proposal
    show = _button(one, words_fixes.SHOW, SHOW)
    if one.state is State.ENDED:
        return [actions(show, _again(one))]
    stop = _button(one, words_fixes.STOP, STOP, sure=words_fixes.SURE_TO_STOP, yes=words_fixes.SURE_STOP)
    if one.state is not State.OFFERED:
        return [actions(show, *([] if one.cancel_by else [stop]))]
    style = "danger" if one.plan.risk is Risk.HIGH else "primary"
    approve = _button(
        one, words_fixes.APPROVE, APPROVE, style=style, sure=words_fixes.sure(one.plan), yes=words_fixes.SURE_APPROVE
    )
    made = [approve, _button(one, words_fixes.DECLINE, DECLINE), show, _button(one, words_fixes.WITHDRAW, STOP)]
    return [actions(*made, *([_button(one, words_fixes.GLASS, GLASS)] if shown.glass else []))]


def _button(one: Proposal, label: str, action: str, *, style: str = "", sure: str = "", yes: str = "") -> Block:
    spot = one.spot
    pressed = PressedFix(one.id, one.digest, words_fixes.name(one.plan), spot.channel, spot.thread_ts or "")
    made: Block = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "value": pressed.dump(),
    }
    made |= {"style": style} if style else {}
    return made | ({"confirm": _confirm(sure, yes)} if sure else {})


def _confirm(said: str, yes: str) -> Block:
    def plain(words_said: str, longest: int) -> Block:
        return {"type": "plain_text", "text": words.cut(one_line(words_said), longest), "emoji": False}

    return {
        "title": plain(words_fixes.SURE, limits.CONFIRM_TITLE),
        "text": plain(said, limits.CONFIRM_TEXT),
        "confirm": plain(yes, limits.CONFIRM_BUTTON),
        "deny": plain(words_fixes.BACK, limits.CONFIRM_BUTTON),
    }


def _again(one: Proposal) -> Block:
    return plain_button(words.CHECK_AGAIN, CHECK_AGAIN, Pressed(one.id, one.plan.cluster))


def broke_glass(one: Proposal, who: Person, reason: str) -> Message:
    """Said to everybody in the thread."""
    said = words_fixes.broke_glass(one)
    return Message(said, (section(said), *lines(words_fixes.broke_glass_by(who, reason))))


def refused(said: str, instead: words_fixes.Said = ()) -> Message:
    """Said to one person alone: why their click did nothing, and who might help."""
    return Message(said, (section(said), *lines(instead)))
