"""Where something is said: a channel, a thread in it, a message there, and the person who is spoken to.

Plain strings, and what is not needed is empty. Features keep an address and compare it; only `bot.slack` calls with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_or_empty)]
"""Records of earlier versions hold null where nothing is."""


@dataclass(frozen=True, slots=True)
class Address:
    """Of a person who asks it is all that is known; a thread or a message has less in it."""

    team: str = ""
    channel: str = ""
    user: str = ""
    thread_ts: Text = ""
    """Empty in the channel itself."""
    message_ts: Text = ""
    response_url: Text = ""
    """The only way to answer where the bot is not a member."""

    @property
    def thread(self) -> Address:
        """The thread alone, whoever speaks there: two of the same thread are equal."""
        return Address(channel=self.channel, thread_ts=self.thread_ts)
