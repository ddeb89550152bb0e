"""What a worker is asked to do about incidents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.address import Address

KIND = "incident_task"


class Do(StrEnum):
    """The kinds of tasks."""

    TURN = "turn"
    """Somebody has said something. With a `number`: so many messages of a turn that may still go on."""
    CHECK = "check"
    """Somebody pressed *Check … for …?*, or chose the cluster."""
    SHOW = "show"
    """What is known of an incident has changed: see that Slack says it."""
    LOOK_AGAIN = "look_again"
    COURSE = "course"
    """It is over: its course is shown as a picture."""
    SILENCE = "silence"
    SNOOZE = "snooze"
    ALLOW = "allow"
    ARRIVED = "arrived"
    """The bot has come into a channel."""
    APPEARED = "appeared"
    """A channel was made or renamed."""
    ALERT = "alert"
    """An alert came in over HTTP."""
    ALERTS_REFUSED = "alerts_refused"
    """So many alerts came in one request that none was taken in."""
    MUTE = "mute"
    WATCH = "watch"
    """`/aks watch`."""
    UNWATCH = "unwatch"
    WATCH_LOOK = "watch_look"
    """Whether what somebody waits for is over."""


PEOPLE_WAIT = frozenset({Do.CHECK, Do.SILENCE, Do.SNOOZE, Do.ALLOW, Do.MUTE, Do.WATCH, Do.UNWATCH, Do.WATCH_LOOK})
"""What somebody has asked for and must hear of, also where it fails."""


@dataclass(frozen=True, slots=True)
class Task:
    """One of them. What is not needed is empty."""

    id: str
    do: Do
    place: Address
    me: str = ""
    """The bot's own user."""
    cluster: str = ""
    incident: str = ""
    code: str = ""
    text: str = ""
    number: int = 0
    of: tuple[str, ...] = ()
