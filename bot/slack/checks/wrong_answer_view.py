"""The window behind *Wrong answer*: what is wrong with it, in people's own words. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bot.address import Address
from bot.slack.checks import cases_text
from bot.slack.kit.message import Block, section
from bot.slack.kit.modal import modal

WRONG_VIEW, COMMENT_BLOCK, COMMENT = "wrong_answer_why", "wrong_answer_comment", "comment"
LONGEST_COMMENT = 1000


@dataclass(frozen=True, slots=True)
class CalledWrong:
    """What the window carries: the value of the button, and where the answer stands."""

    pressed: str
    channel: str
    thread_ts: str

    def dump(self) -> str:
        return json.dumps([self.pressed, self.channel, self.thread_ts], separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> CalledWrong:
        return cls(*map(str, json.loads(text)))

    def place(self, team: str, user: str) -> Address:
        return Address(team, self.channel or user, user, thread_ts=self.thread_ts)


def window(called: CalledWrong) -> dict[str, Any]:
    shown = modal([section(cases_text.WHAT_HAPPENS), _comment()], title=cases_text.TITLE)
    submit = {"type": "plain_text", "text": cases_text.SEND, "emoji": False}
    return {**shown, "callback_id": WRONG_VIEW, "private_metadata": called.dump(), "submit": submit}


def _comment() -> Block:
    return {
        "type": "input",
        "block_id": COMMENT_BLOCK,
        "optional": True,
        "label": {"type": "plain_text", "text": cases_text.WHAT_IS_WRONG, "emoji": False},
        "element": {
            "type": "plain_text_input",
            "action_id": COMMENT,
            "multiline": True,
            "max_length": LONGEST_COMMENT,
        },
    }
