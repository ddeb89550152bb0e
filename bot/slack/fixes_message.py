"""The message of a proposal: one, in the thread of the answer, that changes with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.fixes.may import NOBODY, Called
from bot.fixes.proposal import End, Person, Proposal, State
from bot.jobs.offered import Fix
from bot.render.clean import one_line
from bot.slack import escaping, limits, words, words_fixes, words_fixes_message, words_fixes_plan
from bot.slack.fixes_offer import under
from bot.slack.fixes_people import as_text, lines
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
    called: Called = NOBODY
    """Those whose word it waits for."""
    glass: tuple[str, ...] = ()
    """Who may break the glass; empty where nobody may."""
    now: datetime | None = None


def message(shown: Shown) -> Message:
    """What it says now."""
    one = shown.proposal
    parts: list[Block] = [
        section(words_fixes_message.head(one)),
        *_who(shown),
        *_progress(shown),
        *_end(one),
        *_buttons(shown),
    ]
    return Message(_notice(words_fixes_message.head(one), *_said(shown)), tuple(parts))


def _notice(head: str, *said: words_fixes.Said, why: str = "") -> str:
    """What a phone shows of it: what it is about, who is asked, and what for."""
    return escaping.fits(" · ".join(filter(None, [head, as_text(*said), why])), limits.MESSAGE_TEXT)


def outcome(one: Proposal, fixes: Sequence[Fix] = ()) -> Message:
    """How it ended, as a message of its own."""
    said = words_fixes_message.head(one)
    called = words_fixes_message.for_the_requester(one)
    parts = [section(said), *lines(called)]
    notice = _notice(said, called, why=escaping.plain(one.why, _LONGEST))
    if one.end is End.FIXED:
        # It rings; what it was like before and what it is now, with the buttons, stands right above.
        return Message(notice, tuple(parts))
    parts += _end(one)
    offered = under(fixes)
    if offered:
        parts += [section(f"*{words_fixes_message.NEW_PLAN}*"), *offered]
    else:
        parts.append(actions(_again(one)))
    return Message(notice, tuple(parts))


def _said(shown: Shown) -> list[words_fixes.Said]:
    one = shown.proposal
    said = [words_fixes_message.asked_by(one), words_fixes_message.words_given(one), words_fixes_message.ended_by(one)]
    if one.state is State.OFFERED:
        said += [
            *words_fixes_message.waits_for(shown.called),
            words_fixes_message.open_until(datetime.fromtimestamp(one.expires_ms / 1000, UTC)),
        ]
    if one.state is State.RUNNING and one.cancel_by:
        said.append(words_fixes_message.stopping(one.cancel_by))
    return said


def _who(shown: Shown) -> list[Block]:
    one, parts = shown.proposal, lines(*_said(shown))
    return [*parts, context(words_fixes_plan.cost(one.plan))] if one.state is not State.ENDED else parts


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
        rows.append([text(words_fixes_message.steps_before(first), dim=True)])
    for number in range(first, min(first + MOST_STEPS, len(steps))):
        mark = words_fixes_message.STEP_MARKS[_mark(here, number)]
        rows.append([text(f"{mark} {escaping.cut(one_line(steps[number].says), _LONGEST)}")])
    if len(steps) > first + MOST_STEPS:
        rows.append([text(words.more(len(steps) - first - MOST_STEPS), dim=True)])
    notes = [
        [text(f"{note.at:%H:%M:%S} {escaping.cut(one_line(_noted(here, note.says)), _LONGEST)}", dim=True)]
        for note in here.notes[-MOST_NOTES:]
    ]
    made = rich_blocks([bullets(rows), *([bullets(notes, indent=1)] if notes else [])])
    if shown.now is not None and shown.proposal.state is State.RUNNING:
        over = (
            words_fixes_message.LOOKING_AGAIN if here.ended else words_fixes_message.running_for(shown.now - here.began)
        )
        made.append(context(over))
    return made


def _noted(here: Execution, says: str) -> str:
    """A step that begins is noted by its words, which stand right above."""
    number = next((number for number, step in enumerate(here.plan.steps, 1) if step.says == says), 0)
    return words_fixes_message.begins(number, len(here.plan.steps)) if number else says


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
        rich_blocks([quote(escaping.cut(escaping.sentence(one.why), 2 * _LONGEST))])
        if one.state is State.ENDED and one.why
        else []
    )


def _buttons(shown: Shown) -> list[Block]:
    one = shown.proposal
    show = _button(one, words_fixes_message.SHOW, SHOW)
    if one.state is State.ENDED:
        return [actions(show, _again(one))]
    stop = _button(
        one, words_fixes_message.STOP, STOP, sure=words_fixes_message.SURE_TO_STOP, yes=words_fixes_message.SURE_STOP
    )
    if one.state is not State.OFFERED:
        return [actions(show, *([] if one.cancel_by else [stop]))]
    style = "danger" if one.plan.risk is Risk.HIGH else "primary"
    approve = _button(
        one,
        words_fixes_message.APPROVE,
        APPROVE,
        style=style,
        sure=words_fixes_message.sure(one.plan),
        yes=words_fixes_message.SURE_APPROVE,
    )
    made = [
        approve,
        _button(one, words_fixes_message.DECLINE, DECLINE),
        show,
        _button(one, words_fixes_message.WITHDRAW, STOP),
    ]
    return [actions(*made, *([_button(one, words_fixes_message.GLASS, GLASS)] if shown.glass else []))]


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
        return {"type": "plain_text", "text": escaping.cut(one_line(words_said), longest), "emoji": False}

    return {
        "title": plain(words_fixes_message.SURE, limits.CONFIRM_TITLE),
        "text": plain(said, limits.CONFIRM_TEXT),
        "confirm": plain(yes, limits.CONFIRM_BUTTON),
        "deny": plain(words_fixes_message.BACK, limits.CONFIRM_BUTTON),
    }


def _again(one: Proposal) -> Block:
    return plain_button(words.CHECK_AGAIN, CHECK_AGAIN, Pressed(one.id, one.plan.cluster))


def broke_glass(one: Proposal, who: Person, reason: str) -> Message:
    """Said to everybody in the thread."""
    said, by = words_fixes_message.broke_glass(one), words_fixes_message.broke_glass_by(who, reason)
    return Message(_notice(said, by), (section(said), *lines(by)))


def refused(said: str, instead: words_fixes.Said = ()) -> Message:
    """Said to one person alone: why their click did nothing, and who might help."""
    return Message(_notice(said, instead), (section(said), *lines(instead)))
