"""Trigger ids: for three seconds after an interaction, the app may open a modal for that person."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sandbox.slack.clock import Clock
from sandbox.slack.errors import Refused

LIVES_S = 3.0


@dataclass
class Trigger:
    """The person, and the expiry time."""

    team: str
    user: str
    ends: float
    view: str = ""
    """The modal in which the interaction happened; another may be pushed onto it."""
    used: bool = False


class Triggers:
    """All trigger ids issued."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._given: dict[str, Trigger] = {}

    def give(self, team: str, user: str, view: str = "") -> str:
        name = f"{secrets.randbelow(10**13)}.{secrets.randbelow(10**13)}.{secrets.token_hex(16)}"
        self._given[name] = Trigger(team, user, self._clock.now() + LIVES_S, view)
        return name

    def take(self, name: object, team: str) -> Trigger:
        """Use a trigger; raises if it is unknown, already used or expired."""
        found = self._given.get(str(name))
        if found is None or found.team != team:
            raise Refused("invalid_trigger_id")
        if self._clock.now() > found.ends:
            raise Refused("expired_trigger_id")
        if found.used:
            raise Refused("exchanged_trigger_id")
        found.used = True
        return found
