"""What a worker is asked to do besides checks: clicks, lists, replies in threads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from bot.address import Address
from bot.slack.api.poster import Reply
from bot.slack.kit.message import Message

KIND = "slack_ask"


class What(StrEnum):
    """The kinds of asks."""

    CLUSTERS = "clusters"
    PICKER = "picker"
    REPLY = "reply"
    SHOW_CHECKS = "show_checks"
    FILL_STEPS = "fill_steps"
    KEEP_CASE = "keep_case"
    INVITE = "invite"
    HOME = "home"
    TRIAGE = "triage"
    DEFAULT = "default"
    FIXES = "fixes"
    AUDIT = "audit"
    CHANGES = "changes"
    HISTORY = "history"
    CHECK_ALL = "check_all"
    DIGEST = "digest"
    FIX_PLAN = "fix_plan"
    FIX_SHOW = "fix_show"
    FIX_ASK = "fix_ask"
    FIX_APPROVE = "fix_approve"
    FIX_DECLINE = "fix_decline"
    FIX_GLASS = "fix_glass"
    FIX_STOP = "fix_stop"
    TALK = "talk"
    SAY = "say"
    WHISPER = "whisper"
    SUPPORT = "support"


ALONE = frozenset(
    {
        What.CLUSTERS,
        What.PICKER,
        What.REPLY,
        What.FILL_STEPS,
        What.INVITE,
        What.HOME,
        What.TRIAGE,
        What.TALK,
        What.SAY,
        What.WHISPER,
        What.SUPPORT,
    }
)
"""What a process can do without the bot's memory: it reads, and answers in place."""


MUST_BE_KEPT = frozenset({What.FIX_ASK, What.FIX_APPROVE, What.FIX_DECLINE, What.FIX_GLASS, What.FIX_STOP})
"""What somebody says to a fix. Where it cannot be kept, they hear of it at once."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One of them. What is not needed is empty: the text of a reply, the area of a picker, the window to fill."""

    id: str
    what: What
    place: Address
    text: str = ""
    pressed: str = ""
    """What the button carried."""
    number: int = 0
    """Which of several buttons of one kind."""
    view: str = ""
    pressed_ms: int = 0
    """When it was pressed, by the server's clock; 0 where that does not count."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def where(self) -> Reply:
        return Reply(self.id, self.place, self.asked_at)

    @property
    def said(self) -> Message:
        """The words that `told` was given."""
        text, blocks = json.loads(self.text)
        return Message(text, tuple(blocks))


def told(name: str, what: What, place: Address, said: Message) -> Ask:
    """Words that are known already, to be said by a worker: Slack can be slow to take them."""
    return Ask(name, what, place, text=json.dumps([said.text, list(said.blocks)]))
