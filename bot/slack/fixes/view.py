"""The message of a proposal: one, in the thread of the answer, that changes with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.checks.offered_fix import Fix
from bot.fixes.may import NOBODY, Called, NotAllowed
from bot.fixes.proposal import End, Person, Proposal, State
from bot.render.clean import one_line
from bot.slack.fixes import message_text, plan_text
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes.buttons import APPROVE, DECLINE, GLASS, SHOW, STOP, PressedFix
from bot.slack.fixes.offer_view import under
from bot.slack.fixes.people_view import as_text, lines, second
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import CHECK_AGAIN, Block, Message, Pressed, actions, context, section
from bot.slack.kit.message import button as plain_button
from bot.slack.kit.rich_text import Element, bullets, quote, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.remedy.execution import Execution
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
    barred: NotAllowed | None = None
    """Why nobody can approve it now, although it was offered."""
    now: datetime | None = None


def message(shown: Shown) -> Message:
    """What it says now."""
    proposal = shown.proposal
    parts: list[Block] = [
        section(message_text.head(proposal)),
        *_effect(proposal),
        *_who(shown),
        *_progress(shown),
        *_end(proposal),
        *_buttons(shown),
    ]
    what = [(message_text.effect(proposal.plan),)] if proposal.state is State.OFFERED else []
    return Message(_notice(message_text.head(proposal), *what, *_said(shown)), tuple(parts))


def _effect(proposal: Proposal) -> list[Block]:
    """Whoever approves it reads here what they approve."""
    if proposal.state is State.ENDED:
        return []
    return rich_blocks([rich_section(text(escaping.cut(one_line(message_text.effect(proposal.plan)), _LONGEST)))])


def _notice(head: str, *said: fixes_text.Said, why: str = "") -> str:
    """What a phone shows of it: what it is about, who is asked, and what for."""
    return escaping.fits(" · ".join(filter(None, [head, as_text(*said), why])), limits.MESSAGE_TEXT)


def outcome(proposal: Proposal, fixes: Sequence[Fix] = ()) -> Message:
    """How it ended, as a message of its own."""
    said = message_text.head(proposal)
    called = message_text.for_the_requester(proposal)
    parts = [section(said), *lines(called)]
    notice = _notice(said, called, why=escaping.plain(proposal.why, _LONGEST))
    if proposal.end is End.FIXED:
        # It rings; what it was like before and what it is now, with the buttons, stands right above.
        return Message(notice, tuple(parts))
    parts += _end(proposal)
    offered = under(fixes)
    if offered:
        parts += [section(f"*{message_text.NEW_PLAN}*"), *offered]
    else:
        parts.append(actions(_again(proposal)))
    return Message(notice, tuple(parts))


def _said(shown: Shown) -> list[fixes_text.Said]:
    proposal = shown.proposal
    said = [message_text.asked_by(proposal), message_text.words_given(proposal), message_text.ended_by(proposal)]
    if proposal.state is State.OFFERED:
        said += [
            *message_text.waits_for(shown.called),
            message_text.nobody_may(shown.barred, proposal.plan),
            message_text.open_until(datetime.fromtimestamp(proposal.expires_ms / 1000, UTC)),
        ]
    if proposal.state is State.RUNNING and proposal.cancel_by:
        said.append(message_text.stopping(proposal.cancel_by))
    return said


def _who(shown: Shown) -> list[Block]:
    proposal, parts = shown.proposal, lines(*_said(shown))
    return [*parts, context(plan_text.cost(proposal.plan))] if proposal.state is not State.ENDED else parts


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
        rows.append([text(message_text.steps_before(first), dim=True)])
    for number in range(first, min(first + MOST_STEPS, len(steps))):
        mark = message_text.STEP_MARKS[_mark(here, number)]
        rows.append([text(f"{mark} {escaping.cut(one_line(steps[number].says), _LONGEST)}")])
    if len(steps) > first + MOST_STEPS:
        rows.append([text(sentences.more(len(steps) - first - MOST_STEPS), dim=True)])
    notes = [
        [second(note.at), text(f" {escaping.cut(one_line(_noted(here, note.says)), _LONGEST)}", dim=True)]
        for note in here.notes[-MOST_NOTES:]
    ]
    made = rich_blocks([bullets(rows), *([bullets(notes, indent=1)] if notes else [])])
    if shown.now is not None and shown.proposal.state is State.RUNNING:
        over = message_text.LOOKING_AGAIN if here.ended else message_text.running_for(shown.now - here.began)
        made.append(context(over))
    return made


def _noted(here: Execution, says: str) -> str:
    """A step that begins is noted by its words, which stand right above."""
    number = next((number for number, step in enumerate(here.plan.steps, 1) if step.says == says), 0)
    return message_text.begins(number, len(here.plan.steps)) if number else says


def _mark(here: Execution, number: int) -> str:
    if number < here.step:
        return here.step_ends[number].value
    if here.ended or (here.failed_as and not here.plan.steps[number].always):
        return "skipped"
    return "now" if number == here.step else "later"


def _end(proposal: Proposal) -> list[Block]:
    return (
        rich_blocks([quote(escaping.cut(escaping.sentence(proposal.why), 2 * _LONGEST))])
        if proposal.state is State.ENDED and proposal.why
        else []
    )


def _buttons(shown: Shown) -> list[Block]:
    proposal = shown.proposal
    show = _button(proposal, message_text.SHOW, SHOW)
    if proposal.state is State.ENDED:
        return [actions(show, _again(proposal))]
    stop = _button(proposal, message_text.STOP, STOP, sure=message_text.SURE_TO_STOP, yes=message_text.SURE_STOP)
    if proposal.state is not State.OFFERED:
        return [actions(show, *([] if proposal.cancel_by else [stop]))]
    style = "danger" if proposal.plan.risk is Risk.HIGH else "primary"
    approve = _button(
        proposal,
        message_text.APPROVE,
        APPROVE,
        style=style,
        sure=message_text.sure(proposal.plan),
        yes=message_text.SURE_APPROVE,
        title=message_text.approve_what(proposal.plan),
    )
    made = [
        approve,
        _button(proposal, message_text.DECLINE, DECLINE),
        show,
        _button(proposal, message_text.WITHDRAW, STOP),
    ]
    return [actions(*made, *([_button(proposal, message_text.GLASS, GLASS)] if shown.glass else []))]


def _button(
    proposal: Proposal,
    label: str,
    action: str,
    *,
    style: str = "",
    sure: str = "",
    yes: str = "",
    title: str = message_text.SURE,
) -> Block:
    spot = proposal.spot
    pressed = PressedFix(proposal.id, proposal.digest, fixes_text.name(proposal.plan), spot.channel, spot.thread_ts)
    made: Block = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "value": pressed.dump(),
    }
    made |= {"style": style} if style else {}
    return made | ({"confirm": _confirm(title, sure, yes)} if sure else {})


def _confirm(title: str, said: str, yes: str) -> Block:
    def plain(words_said: str, longest: int) -> Block:
        return {"type": "plain_text", "text": escaping.cut(one_line(words_said), longest), "emoji": False}

    return {
        "title": plain(title, limits.CONFIRM_TITLE),
        "text": plain(said, limits.CONFIRM_TEXT),
        "confirm": plain(yes, limits.CONFIRM_BUTTON),
        "deny": plain(message_text.BACK, limits.CONFIRM_BUTTON),
    }


def _again(proposal: Proposal) -> Block:
    return plain_button(sentences.CHECK_AGAIN, CHECK_AGAIN, Pressed(proposal.id, proposal.plan.cluster))


def escalated(proposal: Proposal, called: Called, now: datetime) -> Message:
    """A message of its own, as it is to ring: what waits, for how long, and who can approve it now."""
    head = message_text.still_waits(proposal)
    waited = now - datetime.fromtimestamp(proposal.waits_since_ms / 1000, UTC)
    asked, who = message_text.asked_before(proposal, waited), message_text.now_called(called)
    until = message_text.open_until(datetime.fromtimestamp(proposal.expires_ms / 1000, UTC))
    where = (message_text.PRESS_ABOVE,)
    return Message(
        _notice(head, who, asked, until), (section(head), *_effect(proposal), *lines(asked, who, until, where))
    )


def broke_glass(proposal: Proposal, who: Person, reason: str) -> Message:
    """Said to everybody in the thread."""
    said, by = message_text.broke_glass(proposal), message_text.broke_glass_by(who, reason)
    return Message(_notice(said, by), (section(said), *lines(by)))


def refused(said: str, instead: fixes_text.Said = ()) -> Message:
    """Said to one person alone: why their click did nothing, and who might help."""
    return Message(_notice(said, instead), (section(said), *lines(instead)))
