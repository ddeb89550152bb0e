"""A message for Slack, and the few blocks that all messages are made of. Pure, and always within Slack's limits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.render.clean import one_line
from bot.render.packet.archive import Archive
from bot.render.pictures.picture import Picture
from bot.report.events import EVERYTHING, Selection
from bot.slack.kit import escaping, limits
from handlers.clients.redact import redact_text
from handlers.question import read_question

Block = dict[str, Any]

CHECK_AGAIN, CHECK_ALL, SHOW_ALL = "check_again", "check_everything", "show_all_checks"
WRONG, STEPS = "wrong_answer", "show_steps"
DETECTORS = "run_detectors"
SUPPORT = "support_packet"
INVITE, PICK = "invite_me", "pick_cluster"
CHECK_THIS, SUGGESTED, WATCH = "check_this", "suggested", "watch_this"
"""The action ids of the buttons. Several of one kind in a message are numbered: `show_steps_0`."""


@dataclass(frozen=True, slots=True)
class Message:
    """`text` is for notifications and screen readers, and replaces the blocks where Slack refuses them."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file for the thread."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """The value of a button: the answer it belongs to, and enough to ask again when that has expired."""

    request: str
    cluster: str
    scope: Selection = EVERYTHING
    code: str | None = None

    def dump(self) -> str:
        # The cluster may be text that a person typed; the rest are ids and words of ours.
        values: list[str | bool | None] = [self.request, redact_text(self.cluster)]
        values += [self.scope.area, self.scope.only, self.code]
        values += [True] if self.scope.detectors else []
        values += [str(self.scope.about)] if self.scope.about else []
        value = json.dumps(values, separators=(",", ":"))
        # No existing cluster's id is this long; pasted text may be.
        return value if len(value) <= limits.BUTTON_VALUE else json.dumps([self.request[:255], "", None, None, None])

    @classmethod
    def load(cls, value: str) -> Pressed:
        request, cluster, area, only, code, *more = json.loads(value)
        asked = next((one for one in more if isinstance(one, str)), None)
        about = read_question(asked.split()) if asked else None
        return cls(request, cluster, Selection(area, only, True in more, about), code)


def section(mrkdwn: str) -> Block:
    # verbatim: Slack must not turn names and addresses in it into links.
    shown = escaping.fits(mrkdwn, limits.SECTION_TEXT) or " "
    return {"type": "section", "text": {"type": "mrkdwn", "text": shown, "verbatim": True}}


def context(*mrkdwn: str) -> Block:
    elements = [
        {"type": "mrkdwn", "text": escaping.fits(text, limits.FIELD_TEXT), "verbatim": True}
        for text in mrkdwn[: limits.CONTEXT_ELEMENTS]
    ]
    return {"type": "context", "elements": elements}


def header(plain_text: str) -> Block:
    shown = escaping.cut(one_line(plain_text), limits.HEADER_TEXT) or " "
    return {"type": "header", "text": {"type": "plain_text", "text": shown, "emoji": False}}


def image(file_id: str, alt: str) -> Block:
    """A picture that Slack holds."""
    shown = escaping.cut(one_line(alt), limits.ALT_TEXT)
    return {"type": "image", "slack_file": {"id": file_id}, "alt_text": shown}


def divider() -> Block:
    return {"type": "divider"}


def button(label: str, action: str, pressed: Pressed, *, primary: bool = False) -> Block:
    made = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": escaping.cut(label, limits.BUTTON_TEXT), "emoji": False},
        "value": pressed.dump(),
    }
    return made | {"style": "primary"} if primary else made


def suggestion(label: str, command: str, number: int) -> Block:
    """A button that does what somebody may have wanted to type, without the `/aks`."""
    return {
        "type": "button",
        "action_id": f"{SUGGESTED}_{number}",
        "text": {"type": "plain_text", "text": escaping.cut(one_line(label), limits.BUTTON_TEXT), "emoji": False},
        "value": command,
    }


def check_buttons(clusters: Sequence[str], scope: Selection = EVERYTHING, label: str = "Check {}") -> list[Block]:
    """A button for each cluster that may be meant."""
    return [
        button(
            label.format(one_line(cluster).rpartition("/")[2]), f"{CHECK_THIS}_{number}", Pressed("", cluster, scope)
        )
        for number, cluster in enumerate(clusters)
    ]


def actions(*buttons: Block) -> Block:
    return {"type": "actions", "elements": list(buttons[: limits.ACTIONS_ELEMENTS])}


def pages(blocks: Iterable[Block], text: str, *, most: int) -> tuple[list[Message], bool]:
    """The blocks as a limited number of messages; and whether all of them fitted."""
    made: list[list[Block]] = []
    room = 0
    for block in blocks:
        length = len(json.dumps(block, ensure_ascii=False, separators=(",", ":")))
        if not made or len(made[-1]) == limits.BLOCKS_IN_MESSAGE - 2 or length > room:
            if len(made) == most:
                return [_page(page, text) for page in made], False
            made.append([])
            room = limits.MESSAGE_CHARACTERS
        made[-1].append(block)
        room -= length
    return [_page(page, text) for page in made], True


def _page(blocks: list[Block], text: str) -> Message:
    return Message(escaping.fits(text, limits.MESSAGE_TEXT), tuple(blocks))


@dataclass(frozen=True, slots=True)
class AnswerMessages:
    """An answer: the updated head, the messages for its thread, and a file if something had to be cut."""

    head: Message
    thread: tuple[Message, ...]
    file: Attachment | Archive | None = None
    pictures: tuple[Picture, ...] = ()
    """Drawn once the answer stands, and shown under it; where that does not work, the answer stands without them."""


STOP = "watch_stop"
