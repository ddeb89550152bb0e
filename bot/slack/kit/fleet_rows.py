"""One cluster in lists and menus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.render.clean import one_line
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import Block
from handlers.fleet.clusters import FleetMember

_FAILED = frozenset({"failed", "canceled", "cancelled"})
_WELL = "Succeeded"


@dataclass(frozen=True, slots=True)
class ShownState:
    """The state of a cluster according to ARM. The lowest rank is listed first."""

    text: str
    rank: int
    light: str
    """A key of `words_home.LIGHTS`."""

    @property
    def well(self) -> bool:
        return self.rank == _RANK_WELL


_RANK_FAILED, _RANK_MOVING, _RANK_STOPPED, _RANK_UNKNOWN, _RANK_WELL = range(5)


def state_of(member: FleetMember) -> ShownState:
    """Failed first, then changing, then stopped."""
    state = member.provisioning_state
    if state and state.lower() in _FAILED:
        return ShownState(state, _RANK_FAILED, "trouble")
    if state and state != _WELL:
        return ShownState(state, _RANK_MOVING, "moving")
    if member.power_state and member.power_state.lower() == "stopped":
        return ShownState(member.power_state, _RANK_STOPPED, "stopped")
    if not state:
        return ShownState(sentences.STATE_UNKNOWN, _RANK_UNKNOWN, "stopped")
    return ShownState(state, _RANK_WELL, "")


def value_of(member: FleetMember, members: Sequence[FleetMember]) -> str:
    """The value that identifies the cluster: its name, or its id if the name is ambiguous."""
    alike = sum(other.name.lower() == member.name.lower() for other in members)
    return member.name if alike == 1 else member.id


def option(member: FleetMember, members: Sequence[FleetMember]) -> Block | None:
    """A menu option; None if the id is longer than Slack allows."""
    value = value_of(member, members)
    if len(value) > limits.OPTION_VALUE:
        return None
    label = escaping.cut(one_line(f"{member.name} · {member.group}"), limits.OPTION_TEXT)
    return {"text": {"type": "plain_text", "text": label, "emoji": False}, "value": value}
