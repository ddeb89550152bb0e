"""Sees that Slack says what is known of an incident. It can be done again: what stands is not said twice."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from weakref import WeakValueDictionary

from bot.address import Address
from bot.checks.store.recent import RecentCheck
from bot.incidents.model import Book, Incident, State
from bot.incidents.store import Incidents
from bot.policy.look import is_shown_in
from bot.policy.model import Look
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.people import People
from bot.slack.api.poster import NO_PLACE, Poster, Reply
from bot.slack.inbound import replies
from bot.slack.inbound.outside import Outside
from bot.slack.incidents import text as said
from bot.slack.incidents import view as incidents_view
from bot.slack.incidents.places import Places
from bot.slack.kit.links import thread_link
from bot.slack.kit.message import Message
from runbooks.library import Library

log = logging.getLogger(__name__)

CARD = "card"
WORKING = "eyes"
_REMEMBERED = 2000
_MOST_IN_A_LINE = 50
_MOST_SINCE = 3


class IncidentMessages:
    """Raises CallFailed."""

    def __init__(
        self,
        message_poster: Poster,
        places: Places,
        people: People,
        outside: Outside,
        library: Library,
        incidents: Incidents,
        look: Look,
    ) -> None:
        self._message_poster, self._places, self._people, self._library = message_poster, places, people, library
        self._outside, self._incidents, self._look = outside, incidents, look
        self._reacted: dict[str, bool] = {}
        self._reacting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One at a time for an incident: a check may end before its sign stands."""

    @property
    def library(self) -> Library:
        return self._library

    async def is_outside(self, place: Address) -> bool:
        """Whether people read along who may not look."""
        return await self._outside.covers(place)

    async def show(self, team: str, book: Book, incident: Incident) -> Address | None:
        """The card, and each line that belongs into its threads. Where nothing can be said, that is all right.

        A rule may have gone since it was reported there: then nothing more is said of the cluster in that channel.
        """
        where = self.where(team, incident)
        if not is_shown_in(self._look, incident.home.channel, incident.cluster):
            return None
        try:
            card = await self._card(where, book, incident)
            if not incident.silenced:
                await self._lines(where, book, incident)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            log.warning("incident %s cannot be told in %s: %s", incident.id, incident.home.channel, refused)
            return None
        return card

    async def hush(self, team: str, book: Book, incident: Incident) -> None:
        """The last change of the card: its buttons go. After that nothing is said or changed."""
        where = self.where(team, incident)
        if standing := await self._message_poster.standing(where, CARD):
            message = await self._message(team, book, incident)
            await self._message_poster.change_or_repeat(where, standing, CARD, message)

    async def once_where_possible(self, where: Reply, part: str, message: Message) -> None:
        """A line of its own, once."""
        try:
            await self._message_poster.once(where, part, message)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            log.warning("cannot say anything in %s: %s", where.place.channel, refused)

    def where(self, team: str, incident: Incident, spot: Address | None = None) -> Reply:
        spot = spot or incident.home
        place = Address(team, spot.channel, thread_ts=spot.thread_ts)
        return Reply(f"incident-{incident.id}", place, datetime.fromtimestamp(incident.opened_ms / 1000, UTC))

    async def head(self, team: str, incident: Incident) -> Address | None:
        """The card in the channel itself, as the head of a thread; nothing where that cannot be said."""
        where = self.where(team, incident, Address(channel=incident.home.channel))
        try:
            message = await self._message(team, Book((incident,)), incident)
            posted, _ = await self._message_poster.once(where, CARD, message)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            return None
        return posted

    async def _card(self, where: Reply, book: Book, incident: Incident) -> Address | None:
        if incident.silenced:
            return await self._message_poster.standing(where, CARD)
        return await self._saying(where, CARD, await self._message(where.place.team, book, incident))

    async def _saying(self, where: Reply, part: str, message: Message) -> Address:
        """This part says this: posted, or edited where it says something else, whichever process wrote that."""
        posted, new = await self._message_poster.once(where, part, message)
        what, digest = f"{where.job} {part}", sha256(repr(message).encode(errors="replace")).hexdigest()
        if not new and await self._incidents.shown(where.place.team, what) != digest:
            posted = await self._message_poster.change_or_repeat(where, posted, part, message)
        await self._incidents.note_shown(where.place.team, what, digest)
        return posted

    async def _message(self, team: str, book: Book, incident: Incident) -> Message:
        home = book.get(incident.merged_into) if incident.merged_into else None
        if await self.is_outside(Address(team, incident.home.channel)):
            return incidents_view.card_outside(incident, self._library, home=home)
        address = await self._address()
        return incidents_view.card(incident, self._library, lambda spot: _link(address, spot), home=home)

    async def _lines(self, where: Reply, book: Book, incident: Incident) -> None:
        home = book.get(incident.merged_into) if incident.merged_into else None
        if home:
            address = await self._address()
            line = incidents_view.pointing(said.MERGED_LINE, home.home, lambda spot: _link(address, spot))
            await self._message_poster.once(where, "merged", line)
            return
        if incident.rounds > 1:
            await self._line(where, f"back-{incident.rounds}", said.back_line(incident.cluster, incident.rounds))
        if incident.is_closed:
            await self._line(
                where, f"closed-{incident.rounds}", said.closed_line(incident.cluster, proved=bool(incident.causes))
            )
        since = incident.since_found[:_MOST_SINCE]
        proof = bool(since) and not await self.is_outside(where.place)
        for cause in since:
            line = incidents_view.found_since(incident, cause, self._library, proof=proof)
            await self._message_poster.once(where, f"found-{incident.rounds}-{cause.code}", line)
        if incident.joined:
            await self._joined(where, incident)
        told = {each_incident.home for each_incident in book.incidents if each_incident.merged_into == incident.id}
        for spot in incident.elsewhere:
            if spot in told:
                continue
            await self.point_from(where.place.team, incident, spot)

    async def point_from(self, team: str, incident: Incident, spot: Address, *, apart: bool = False) -> None:
        """In another thread: where it goes on. A guess is not passed on as what it is called.

        `apart`: that thread is about another cluster.
        """
        there = self.where(team, incident, spot)
        address = await self._address()
        line = incidents_view.pointing(
            self._pointer(incident, apart=apart), incident.home, lambda home: _link(address, home)
        )
        try:
            await self._message_poster.once(there, f"there-{spot.channel}-{spot.thread_ts}", line)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise

    def _pointer(self, incident: Incident, *, apart: bool) -> str:
        if apart:
            return said.apart(incident.cluster)
        if code := incident.proved:
            return said.known_elsewhere(incidents_view.title_of(self._library, code), incident.cluster)
        return said.checked_elsewhere(incident.cluster)

    async def _joined(self, where: Reply, incident: Incident) -> None:
        """Who reported it, too, and got no link: one line, which grows; another where that one is full."""
        for first in range(0, len(incident.joined), _MOST_IN_A_LINE):
            part = f"joined-{first}" if first else "joined"
            line = incidents_view.reported_by(incident.joined[first : first + _MOST_IN_A_LINE])
            await self._saying(where, part, line)

    async def _line(self, where: Reply, part: str, line: str) -> None:
        await self._message_poster.once(where, part, replies.only(line))

    async def react(self, incident: Incident) -> None:
        """A sign on the message while its check runs. Another process may have set it, so it is always taken away."""
        working, sign = incident.state is State.CHECKING, incident.sign
        name = f"{incident.id} {incident.rounds}"
        async with self._reacting.setdefault(name, asyncio.Lock()):
            if self._reacted.get(name) == working:
                return
            if await self._places.react(sign.channel, sign.message_ts, WORKING, there=working):
                _keep(self._reacted, name, working)

    async def _address(self) -> str:
        with suppress(CallFailed):
            return await self._people.address()
        return ""


def _link(address: str, spot: Address) -> str:
    """As Slack's own *Copy link* makes it."""
    return thread_link(RecentCheck("", "", "", "", "", spot.channel, datetime.now(UTC), ts=spot.thread_ts), address)


def _keep(known: dict[str, bool], name: str, value: bool) -> None:
    known.pop(name, None)
    known[name] = value
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]
