"""Who may look, asked at every way to a cluster. Where Slack does not say who somebody is, nobody is let in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from bot.address import Address
from bot.policy.look import Allowed, Asker, Decision, Refused, is_shown_in, may_look, place_of, refused_everywhere
from bot.policy.model import ANYTHING, DIRECT, Look
from bot.slack.api import calls as slack_calls
from bot.slack.api.calls import CallFailed
from bot.slack.api.people import NOBODY, People
from bot.slack.inbound import gate_text
from bot.slack.kit.message import Block, Message, section
from bot.slack.kit.rich_text import Element, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.clusters import FleetMember

AT_THE_DOOR_S = 2.0
"""Slack waits 3 s for an acknowledgement."""
AT_WORK_S = 30.0
_MOST_CHANNELS = 10


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody whom Slack knows, in a place, and what they may see from there."""

    asker: Asker
    channel: str
    look: Look

    @property
    def refusal(self) -> Message | None:
        """Why they may see nothing at all."""
        outside = refused_everywhere(self.look, self.asker, self.channel)
        return refusal(self.look, outside, None) if outside else None

    def refusal_of(self, cluster: str | ClusterRef, account: str = "") -> Message | None:
        """Why they may not look at this one, or not ask about that service account; None when they may."""
        name = name_of(cluster)
        return _refusal_by(self.look, may_look(self.look, self.asker, self.channel, name, account), name)

    def may_see(self, cluster: str) -> bool:
        return self.refusal_of(cluster) is None

    def seen(self, members: Iterable[FleetMember]) -> tuple[FleetMember, ...]:
        """The part of the fleet that they may look at."""
        return tuple(member for member in members if self.may_see(member.name))


class Gate:
    """Decides with the policy and what Slack says."""

    def __init__(self, look: Look, people: People) -> None:
        self._look, self._people = look, people
        self._groups = sorted({person for rule in look.rules for person in rule.people if person.startswith("S")})

    async def refusal(
        self,
        place: Address,
        cluster: str | ClusterRef,
        *,
        account: str = "",
        stranger: bool = False,
        patience_s: float = AT_WORK_S,
    ) -> Message | None:
        """Why this person may not look at a cluster from here, or not ask about that service account."""
        meant = ClusterRef.of(cluster)
        sure = self._without_asking(place, meant.name, account, stranger=stranger)
        if sure is not None:
            return _refusal_by(self._look, sure, meant.name)
        viewer = await self.viewer(place, stranger=stranger, patience_s=patience_s, about=meant.text)
        return viewer if isinstance(viewer, Message) else viewer.refusal_of(meant, account)

    async def may_see(self, place: Address, cluster: str, *, stranger: bool = False) -> bool:
        """Whether this person may look at a cluster from here, where nobody is told why not. Raises CallFailed where
        Slack does not say who they are."""
        decided = self._without_asking(place, name_of(cluster), "", stranger=stranger)
        if decided is None:
            asker = await self._asker(place, stranger=stranger)
            decided = may_look(self._look, asker, place.channel, name_of(cluster)) if asker else None
        return isinstance(decided, Allowed)

    async def may_be_shown(self, place: Address, cluster: str) -> bool:
        """Whether what was once said of a cluster there may still be brought up to date: in a channel, whether anybody
        may look from it; where one person reads alone, whether this one may."""
        if place_of(place.channel) != DIRECT:
            return is_shown_in(self._look, place.channel, cluster)
        return await self.refusal(place, cluster) is None

    async def viewer(
        self, place: Address, *, stranger: bool = False, patience_s: float = AT_WORK_S, about: str | None = None
    ) -> Viewer | Message:
        """Who asks, or why that cannot be told."""
        try:
            async with asyncio.timeout(patience_s):
                asker = await self._people.asker(place.team, place.user, self._groups, stranger=stranger)
        except (CallFailed, TimeoutError) as mute:
            why = str(mute) or gate_text.too_late(patience_s)
            return _told(gate_text.cannot_tell(why, about), gate_text.try_again(self._look.ask))
        return Viewer(asker, place.channel, self._look)

    async def _asker(self, place: Address, *, stranger: bool) -> Asker | None:
        """Who this is; None where Slack knows nobody of that id."""
        try:
            async with asyncio.timeout(AT_WORK_S):
                return await self._people.asker(place.team, place.user, self._groups, stranger=stranger)
        except slack_calls.Refused as refused:
            if refused.error in NOBODY:
                return None
            raise
        except TimeoutError as late:
            raise CallFailed(gate_text.too_late(AT_WORK_S)) from late

    def stranger_refusal(self, place: Address) -> Message | None:
        """For somebody who is known to be of another company: why they may see nothing here."""
        outside = refused_everywhere(self._look, Asker(place.team, place.user, stranger=True), place.channel)
        return refusal(self._look, outside, None) if outside else None

    def _without_asking(self, place: Address, cluster: str, account: str, *, stranger: bool) -> Decision | None:
        """What is decided whoever this turns out to be, so that Slack need not be asked."""
        nobody = Asker(place.team, place.user, guest=True, stranger=True)
        if isinstance(allowed := may_look(self._look, nobody, place.channel, cluster, account), Allowed):
            return allowed
        anybody = Asker(place.team, place.user, stranger=stranger, groups=frozenset(self._groups))
        refused = may_look(self._look, anybody, place.channel, cluster, account)
        return refused if isinstance(refused, Refused) else None


def name_of(cluster: str | ClusterRef) -> str:
    """The name that rules are about, of whatever somebody typed to say which cluster."""
    return ClusterRef.of(cluster).name


def refusal(look: Look, refused: Refused, cluster: str | None) -> Message:
    """What somebody is told who may not look: what, why, and whom to ask."""
    said = gate_text.refused(refused.why, cluster)
    where = [_channel(channel) for channel in refused.channels if channel != ANYTHING]
    return _told(said, gate_text.whom_to_ask(look.ask), _row(where[:_MOST_CHANNELS]))


def _refusal_by(look: Look, decision: Decision, cluster: str) -> Message | None:
    return refusal(look, decision, cluster) if isinstance(decision, Refused) else None


def _told(said: str, do: str, where: list[Block] | None = None) -> Message:
    return Message(f"{said} {do}", (section(said), *(where or ()), section(do)))


def _row(channels: list[Element]) -> list[Block]:
    if not channels:
        return []
    spaced = [part for channel in channels for part in (channel, text(" "))]
    return rich_blocks([rich_section(text(gate_text.ELSEWHERE), *spaced)])


def _channel(name: str) -> Element:
    """A link to a channel; Slack shows its name to those who may know it."""
    return text(gate_text.DIRECTLY) if name == DIRECT else {"type": "channel", "channel_id": name}
