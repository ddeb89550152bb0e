"""To which incident a message belongs. One incident has one thread, however many speak of it, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from bot.address import Address
from bot.incidents.model import REOPENS_WITHIN, Book, How, Incident, Sighting, State, Verdict, pruned

_REMEMBERED = 120
"""Sightings by which a repetition is known; a worker repeats itself within minutes."""
_MOST_PLACES = 20
_MOST_CODES = 20
_ELSEWHERE = "what was said in another channel"


@dataclass(frozen=True, slots=True)
class Joined:
    """The incident as it is now, and what the message was to it."""

    incident: Incident
    how: How


def join(book: Book, sighting: Sighting, *, apart: bool = False) -> tuple[Book, Joined]:
    """Enter a sighting. Entered again it changes nothing, and is what it was the first time.

    `apart`: its thread is about another cluster, so an incident that it opens gets a thread of its own.
    """
    before = _entered(book, sighting)
    if before:
        again = Joined(_with_more(before.incident, sighting, before.how), before.how)
        return book.put(again.incident), again
    book = pruned(book, sighting.at_ms)
    found = _belongs_to(book, sighting)
    if found is None:
        joined = _opened(sighting, apart=apart)
    elif found.is_closed:
        joined = _reopened(found, sighting)
    else:
        joined = _added(found, sighting)
    return book.put(joined.incident), joined


def _entered(book: Book, sighting: Sighting) -> Joined | None:
    for incident in book.incidents:
        for seen, how in incident.seen:
            if seen in sighting.names:
                return Joined(incident, how)
    return None


def _with_more(found: Incident, sighting: Sighting, how: How) -> Incident:
    """What was said in the same breath adds to what is suspected, and is no further report."""
    known = {name for name, _ in found.seen}
    more = tuple((name, how) for name in sighting.names if name not in known)
    if not more and set(sighting.codes) <= set(found.codes):
        return found
    return replace(found, codes=_codes(found, sighting), signs=_added_signs(found, sighting), seen=_seen(found, more))


def _belongs_to(book: Book, sighting: Sighting) -> Incident | None:
    """Its thread says it, else its codes; while the first check runs, everything about the cluster is one."""
    alive = [incident for incident in reversed(book.incidents) if not incident.is_closed]
    here = next((incident for incident in alive if incident.has_posted_in(sighting.spot)), None)
    same = next((incident for incident in alive if incident.speaks_of(sighting.codes)), None)
    unknown_yet = next((incident for incident in alive if incident.state is State.CHECKING), None)
    return here or same or unknown_yet or _closed_lately(book, sighting)


def _closed_lately(book: Book, sighting: Sighting) -> Incident | None:
    oldest = sighting.at_ms - int(REOPENS_WITHIN.total_seconds() * 1000)
    late = [incident for incident in reversed(book.incidents) if incident.is_closed and incident.changed_ms >= oldest]
    own = [incident for incident in late if not incident.merged_into]
    return next(
        (incident for incident in own if incident.has_posted_in(sighting.spot) or incident.speaks_of(sighting.codes)),
        None,
    )


def _name(sighting: Sighting) -> str:
    """The same each time it is entered; another where the message was changed and speaks of another cluster now."""
    return sha256("\0".join((sighting.cluster.lower(), sighting.id)).encode(errors="replace")).hexdigest()[:24]


def _opened(sighting: Sighting, *, apart: bool) -> Joined:
    made = Incident(
        id=_name(sighting),
        cluster=sighting.cluster,
        codes=sighting.codes,
        why=sighting.why,
        home=Address(channel=sighting.spot.channel) if apart else sighting.spot,
        message_ts=sighting.message_ts,
        opened_ms=sighting.at_ms,
        changed_ms=sighting.at_ms,
        seen=tuple((name, How.NEW) for name in sighting.names),
        signs=sighting.signs,
        user=sighting.user,
        began=_message(sighting),
    )
    return Joined(made, How.NEW)


def _reopened(found: Incident, sighting: Sighting) -> Joined:
    signs = _signs(found, sighting)
    again = replace(
        _with(found, sighting, How.REOPENED),
        state=State.CHECKING,
        verdict=Verdict.PENDING,
        causes=(),
        found=(),
        settled=None,
        rounds=found.rounds + 1,
        why=sighting.why if _is_in_its_channel(found, sighting) else _ELSEWHERE,
        signs=signs,
        silenced=False,
        user=sighting.user or found.user,
        closed_ms=0,
        closed_by="",
        began=_message(sighting),
    )
    return Joined(again, How.REOPENED)


def _added(found: Incident, sighting: Sighting) -> Joined:
    first_there = sighting.spot.channel not in {address.channel for address in (found.home, *found.elsewhere)}
    how = How.ELSEWHERE if first_there else How.REPEAT
    return Joined(_with(found, sighting, how), how)


def _with(found: Incident, sighting: Sighting, how: How) -> Incident:
    channels = {address.channel for address in (found.home, *found.elsewhere)}
    places = found.elsewhere
    if sighting.spot.channel not in channels:
        places = (*places, sighting.spot)[:_MOST_PLACES]
    return replace(
        found,
        codes=_codes(found, sighting),
        count=found.count + 1,
        # Messages may come out of order.
        changed_ms=max(found.changed_ms, sighting.at_ms),
        seen=_seen(found, tuple((name, how) for name in sighting.names)),
        elsewhere=places,
        signs=_added_signs(found, sighting),
    )


def _codes(found: Incident, sighting: Sighting) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*found.codes, *sighting.codes)))[:_MOST_CODES]


def _seen(found: Incident, more: tuple[tuple[str, How], ...]) -> tuple[tuple[str, How], ...]:
    return (*found.seen, *more)[-_REMEMBERED:]


def _added_signs(found: Incident, sighting: Sighting) -> tuple[tuple[str, str], ...]:
    more = (sign for sign in _signs(found, sighting) if sign[0] not in dict(found.signs))
    return (*found.signs, *more)[:_MOST_CODES]


def _signs(found: Incident, sighting: Sighting) -> tuple[tuple[str, str], ...]:
    """What people write in one channel is not repeated in another: that one may be private."""
    if _is_in_its_channel(found, sighting):
        return sighting.signs
    return tuple((code, _ELSEWHERE) for code, _ in sighting.signs)


def _message(sighting: Sighting) -> Address:
    return Address(channel=sighting.spot.channel, thread_ts=sighting.spot.thread_ts, message_ts=sighting.message_ts)


def _is_in_its_channel(found: Incident, sighting: Sighting) -> bool:
    return sighting.spot.channel == found.home.channel
