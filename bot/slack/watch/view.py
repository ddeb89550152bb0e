"""The messages about what somebody waits for, made of values alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from bot.incidents.watching import LONGEST, Look, Watch
from bot.render.verdict import found_nothing, summary
from bot.slack.kit import escaping
from bot.slack.kit.message import CHECK_AGAIN, STOP, Block, Message, Pressed, actions, button, section
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from bot.slack.kit.rich_text import text
from bot.slack.kit.sentences import CHECK_AGAIN as CHECK_AGAIN_LABEL
from bot.slack.watch import text as said
from handlers.model import State
from runbooks.library import Library

_MOST_NAMED, _MOST_LISTED = 5, 20


def waits_for(state: str, causes: Iterable[tuple[str, str]], library: Library) -> list[str]:
    """In words: what runs, then what is wrong, each title once."""
    titles = dict.fromkeys(_title(code, library) for code, _ in causes)
    return [*([said.runs(state)] if state else []), *titles][:_MOST_NAMED]


def watching(watch: Watch, library: Library, longest: timedelta = LONGEST) -> Message:
    line = said.watching(watch.name, waits_for(watch.state, watch.causes, library), longest)
    ends = [section(escaping.plain(watch.estimate, 600))] if watch.estimate else []
    return Message(line, (section(line), *ends, actions(_stop(watch, said.STOP))))


def after_its_end(watch: Watch) -> Message:
    line = said.ended(watch.name)
    return Message(line, (section(line),))


def over(watch: Watch, after: timedelta, look: Look, library: Library) -> Message:
    line, diagnosis = said.over(watch.name, after), look.diagnosis
    match diagnosis.state:
        case State.CLEAR:
            now = said.now_clear(found_nothing(diagnosis))
        case State.FOUND:
            now = said.now_found(waits_for("", look.causes, library))
        case _:
            now = f"{said.NOW_UNCLEAR} {summary(diagnosis)}"
    return _told(watch, line, now)


def gave_up(watch: Watch, after: timedelta, why: str) -> Message:
    return _told(watch, said.gave_up(watch.name, after), why)


def stopped(watch: Watch, user: str) -> Message:
    line = said.stopped(watch.name)
    return Message(line, (section(line), _with_somebody(said.STOPPED_BY, user)))


def listed(watches: Sequence[tuple[Watch, timedelta]]) -> Message:
    """With a button to stop each."""
    shown: list[Block] = [section(said.LISTED)]
    for watch, lasts in watches[:_MOST_LISTED]:
        stop = _stop(watch, said.STOP)
        shown.append(section(said.listed(watch.name, lasts)) | {"accessory": stop})
    return Message(said.LISTED, tuple(shown))


def _told(watch: Watch, line: str, now: str) -> Message:
    """It calls the one who waits: an end that nobody hears of is none."""
    again = button(CHECK_AGAIN_LABEL, CHECK_AGAIN, Pressed(watch.id, watch.cluster))
    parts = (section(line), section(now), _with_somebody(said.FOR, watch.user), actions(again))
    return Message(f"{line} {now}", parts)


def _with_somebody(intro: str, user: str) -> Block:
    (block,) = rich_blocks([rich_section(text(intro), {"type": "user", "user_id": user})])
    return block


def _stop(watch: Watch, label: str) -> Block:
    return button(label, STOP, Pressed(watch.id, watch.name))


def _title(code: str, library: Library) -> str:
    runbook = library.get(code)
    return runbook.title if runbook else code
