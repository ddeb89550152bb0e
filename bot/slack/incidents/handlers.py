"""Reads what was said in channels, in a worker: what it is about, and whether to report, offer, ask or be quiet."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.address import Address
from bot.incidents.breath import by_cluster
from bot.incidents.model import How, Incident, Sighting
from bot.incidents.named import is_of_one_cluster
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.policy.look import Allowed, Asker, may_look
from bot.policy.model import Policy
from bot.report.known import checked_codes
from bot.report.scope import kind_of
from bot.slack.api.poster import Reply
from bot.slack.api.text_files import TextFiles
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.message_reader import Utterance, latest
from bot.slack.inbound.replier import Replier
from bot.slack.incidents import text as said
from bot.slack.incidents import view as incidents_view
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.places import Fleet, Places
from bot.slack.incidents.service import IncidentService
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit.message import AnswerMessages
from bot.store.codec import decode_or_none
from bot.triage.clusters import FleetNames
from bot.triage.decide import Certainty
from bot.triage.recognise import Around, Recogniser, Recognition
from bot.triage.with_files import WithFiles
from handlers.fleet.clusters import FleetMember
from handlers.resource_id import ResourceId
from runbooks.library import Library

log = logging.getLogger(__name__)

_OVER = ("it is over", "it seems over", "it may be over")
"""Reasons of triage for silence that hold for all that was said in the same breath."""
_SHORT = 200
"""Characters of a last word; in a log much may be resolved."""
_MOST_READ = 20
"""Messages of a turn that are looked at one by one."""


class IncidentHandlers:
    """Raises CallFailed, CannotTell and StoreAway, after which it is done again."""

    def __init__(
        self,
        *,
        incident_service: IncidentService,
        turns: Turns,
        incidents: Incidents,
        recogniser: Recogniser,
        places: Places,
        telling: IncidentMessages,
        gate: Gate,
        policy: Policy,
        library: Library,
        files: TextFiles,
        replier: Replier,
    ) -> None:
        self._incident_service, self._turns, self._incidents = incident_service, turns, incidents
        self._recogniser, self._places, self._telling = recogniser, places, telling
        self._gate, self._policy, self._library = gate, policy, library
        self._files, self._together, self._replier = files, WithFiles(), replier

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {Do.TURN: self._turn, Do.CHECK: self._pressed, Do.SILENCE: self._silence_pressed}

    # -- what was said ----------------------------------------------------------------------------------------

    async def _turn(self, task: Task) -> None:
        if task.number:
            await self._read_early(task)
            return
        team, channel, whose = task.of
        texts = await self._turns.take(task.text, (team, channel, whose))
        if texts:
            turn = latest(readable(texts))
            if turn and not await self._turns.is_read(task.text, len(texts)):
                await self.consider(turn, task.me)
            # An app's words are wanted once somebody allows it.
            await self._turns.done(task.text, keep=bool(turn and turn[0].app))

    async def _read_early(self, task: Task) -> None:
        """What is certain already is checked at once; nothing is asked before the turn has closed."""
        texts = await self._turns.kept(task.text)
        turn = latest(readable(texts))
        if not turn or await self._turns.is_read(task.text, len(texts)):
            return
        if len(texts) > task.number:
            return  # a later message has a job of its own, which reads them all
        if await self.consider(turn, task.me, closed=False):
            await self._turns.read_to(task.text, len(texts))

    async def consider(self, turn: Sequence[Utterance], me: str, *, closed: bool = True) -> bool:
        """One turn: what it speaks of, and what follows. Whether nothing is left to do when it closes."""
        first = min(turn, key=lambda utterance: utterance.ts)
        here = await self._incidents.told_in(first.team, first.spot) if first.thread_ts else []
        if first.thread_ts and await self._is_silent(turn, first, here, me):
            return True
        # What a try before this one has opened in its own thread is no talk: its check may not have been asked for yet.
        ids = {utterance.id for utterance in turn}
        here = [incident for incident in here if ids.isdisjoint(name for name, _ in incident.seen)]
        if here and first.app:
            return True
        fleet = await self._places.fleet()
        done = True
        for group in await asyncio.to_thread(self._groups, turn, fleet.names):
            done = await self._consider_group(group, here, me, closed=closed) and done
        return done

    def _groups(self, turn: Sequence[Utterance], names: FleetNames) -> list[list[Utterance]]:
        """The messages about each cluster by themselves: two clusters are two incidents, also in one breath."""
        ordered = sorted(turn, key=lambda utterance: utterance.ts)
        named = [self._recogniser.clusters(utterance.text, names) for utterance in ordered[:_MOST_READ]]
        named += [""] * (len(ordered) - len(named))
        return [[ordered[number] for number in group] for group in by_cluster(named)]

    async def _consider_group(
        self, turn: Sequence[Utterance], here: Sequence[Incident], me: str, *, closed: bool
    ) -> bool:
        """Whether nothing is left to do when the turn closes."""
        names = (await self._places.fleet()).names
        texts = [utterance.text for utterance in turn]
        text, seen = await asyncio.to_thread(self._read, texts, names)
        first = turn[await asyncio.to_thread(self._says_it, texts, names)]
        if any(utterance.files for utterance in turn) and await self._may_open_files(first, text):
            seen = await self._with_files(turn, text, seen, names)
        if seen.certainty is Certainty.QUIET or not await self._may_speak(first, me):
            return True
        if seen.cluster is None and not seen.choices:
            around = await self._around(first, text)
            where = await asyncio.to_thread(self._recogniser.recognise, text, names, around)
            seen = replace(seen, cluster=where.cluster, cluster_by=where.cluster_by, choices=where.choices)
        is_talk = await asyncio.to_thread(self._is_talk, here, seen, text, names)
        if is_talk:
            return True
        if not closed and (seen.cluster is None or seen.certainty is not Certainty.SURE):
            return False
        await self.act(first, seen, me, tuple(utterance.id for utterance in turn))
        return True

    def _is_talk(self, here: Sequence[Incident], seen: Recognition, text: str, names: FleetNames) -> bool:
        """Whether people talk about an incident in its own thread. Of one that is over they talk, too, unless they
        name the cluster again: then it is back."""
        if not here:
            return False
        if seen.cluster is None or any(told.cluster == seen.cluster and not told.is_closed for told in here):
            return True
        is_over = any(incident.cluster == seen.cluster for incident in here)
        return is_over and self._recogniser.clusters(text, names) != seen.cluster

    async def _around(self, first: Utterance, text: str) -> list[Around]:
        """What says which cluster is meant: a generated name that a check has named, then what stands around the
        message, then other names (several clusters may have a namespace of one name)."""
        near = await self._places.around(first.team, first.spot, threaded=bool(first.thread_ts))
        named = await self._incidents.clusters_named_in(first.team, text)
        told = [(name, Around(f"what a check has named: {name}", " ".join(clusters))) for name, clusters in named]
        sure = [around for name, around in told if is_of_one_cluster(name)]
        return [*sure, *near, *(around for name, around in told if not is_of_one_cluster(name))]

    def _says_it(self, texts: Sequence[str], names: FleetNames) -> int:
        """The first message that names a cluster or a problem: under it the answer belongs."""
        for number, text in enumerate(texts[:_MOST_READ]):
            if self._recogniser.clusters(text, names):
                return number
            if self._recogniser.recognise(text, names).certainty is not Certainty.QUIET:
                return number
        return 0

    async def _is_silent(self, turn: Sequence[Utterance], first: Utterance, here: Sequence[Incident], me: str) -> bool:
        """Whether somebody wants nothing of us in this thread. What goes on in another thread goes on there."""
        at_home = [incident for incident in here if incident.home == first.spot]
        stops = [utterance for utterance in turn if utterance.asks_for_silence and not utterance.app]
        if not stops:
            silenced = bool(at_home) and all(incident.silenced for incident in at_home)
            return silenced or await self._incidents.is_hushed(first.team, first.spot)
        if at_home:
            await self._incident_service.silence(first.team, at_home, first.spot)
            return True
        await self._incidents.hush(first.team, first.spot)
        if here or any(stop.to_us for stop in stops):
            await self._telling.once_where_possible(_where(first, me), "silenced", replies.only(said.SILENCED))
        return True

    def _read(self, texts: Sequence[str], names: FleetNames) -> tuple[str, Recognition]:
        """What a turn is about: as a whole, or, where small talk drowns it, the message that says most."""
        text = "\n".join(texts)
        whole = self._recogniser.recognise(text, names)
        if len(texts) > 1 and (over := self._is_over(texts[-1])):
            return text, replace(whole, certainty=Certainty.QUIET, suspects=(), because=over)
        if len(texts) == 1 or whole.because.startswith(_OVER):
            return text, whole
        if whole.certainty is not Certainty.QUIET:
            return text, self._with_all_that_is_certain(whole, texts, names)
        each = self._each(texts, names)
        loud = [target for target in each if target[1].certainty is not Certainty.QUIET]
        return max(loud, key=lambda item: item[1].odds, default=(text, whole))

    def _each(self, texts: Sequence[str], names: FleetNames) -> list[tuple[str, Recognition]]:
        return [(text, self._recogniser.recognise(text, names)) for text in texts[:_MOST_READ]]

    def _with_all_that_is_certain(self, seen: Recognition, texts: Sequence[str], names: FleetNames) -> Recognition:
        """A problem that one message states is not lost behind what the next one says."""
        certain = [read.suspects[0] for _, read in self._each(texts, names) if read.certainty is Certainty.SURE]
        added = {suspect.code: suspect for suspect in certain if suspect.code not in seen.codes}
        return replace(seen, suspects=(*seen.suspects, *added.values()))

    def _is_over(self, last: str) -> str:
        """Why the last word of a turn takes back what stands before it, however loud that is."""
        reasons = (reason for reason in self._together.against(last) if reason.name in _OVER)
        return next((f"{reason.name}: {reason.found}" for reason in reasons), "") if len(last) <= _SHORT else ""

    async def _may_open_files(self, first: Utterance, text: str) -> bool:
        """Nobody's files are fetched where nothing is read, or where the words say already that it is none of ours."""
        if any(reason.covers_files for reason in self._together.against(text)):
            return False
        return await self._is_read(first)

    async def _with_files(
        self, turn: Sequence[Utterance], text: str, seen: Recognition, names: FleetNames
    ) -> Recognition:
        contents = await self._files.read([file for utterance in turn for file in utterance.files])
        read = await asyncio.to_thread(lambda: [self._recogniser.recognise(content, names) for content in contents])
        return self._together.together(text, seen, read)

    async def _is_read(self, first: Utterance) -> bool:
        channels = self._policy.channels
        return channels.reads_everything or channels.reads((await self._places.channel(first.channel)).name)

    async def recognised(self, text: str, chosen: str) -> Recognition:
        """What an alert is about, as a whole or by its words alone; it has nothing around it."""
        names = (await self._places.fleet()).names
        whole = await asyncio.to_thread(self._recogniser.recognise, text, names)
        if whole.because.startswith(_OVER):
            return whole
        words = await asyncio.to_thread(self._recogniser.recognise, chosen, names)
        if words.certainty is Certainty.QUIET or (whole.certainty is not Certainty.QUIET and whole.odds >= words.odds):
            return whole
        return replace(words, cluster=whole.cluster, cluster_by=whole.cluster_by, choices=whole.choices)

    async def _may_speak(self, first: Utterance, me: str) -> bool:
        channels = self._policy.channels
        if not await self._is_read(first):
            return False
        if not first.app or first.app in channels.alert_apps:
            return True
        known = await self._incidents.is_alert_app(first.team, first.app)
        if known is None and channels.ask_about_apps:
            await self._incidents.waits(first.team, first.app, first.turn)
            await self._ask_about(first, me)
        return bool(known)

    async def _ask_about(self, first: Utterance, me: str) -> None:
        """Once in a channel, about an app."""
        message = incidents_view.ask_about(first.app, first.app_name, first.turn)
        where = Reply(f"app-{first.channel}-{first.app}", _place(first, me), datetime.now(UTC))
        await self._telling.once_where_possible(where, "ask", message)

    async def act(self, first: Utterance, seen: Recognition, me: str, ids: tuple[str, ...] = ()) -> None:
        """Report what was recognised, offer to check it, ask which cluster, or be quiet. `ids`: of all its messages."""
        if seen.certainty is Certainty.QUIET:
            return
        if seen.cluster is None:
            await self._ask_which(first, seen, me)
            return
        code = seen.codes[0]
        if not await self._is_ours(first, seen.cluster, code, me):
            return
        sighting = _sighting(first, seen.cluster, seen, ids)
        if await self._incident_service.known(first.team, seen) or (
            seen.certainty is Certainty.SURE and self._policy.channels.auto_check
        ):
            await self._incident_service.report(first.team, sighting, first.user or me)
            return
        offered = {member.name for member in self._can_be_checked(await self._places.fleet(), code)}
        if seen.cluster not in offered:
            return
        key = f"offer {first.team} {first.channel} {seen.cluster} {code} {int(time.time() // 3600)}"
        if await self._incidents.claim(key, first.id):
            title = incidents_view.title_of(self._library, code)
            offer = incidents_view.offer(title, code, first.id, [seen.cluster])
            await self._telling.once_where_possible(_where(first, me), "offer", offer)

    async def _is_ours(self, first: Utterance, cluster: str, code: str, me: str) -> bool:
        """Whether the bot may speak of this cluster to these people, and nobody has muted it."""
        if not self._policy.channels.speaks_of(cluster):
            return False
        return await self._may_see(first, cluster, me) and not await self._mutes(first.team, cluster, code)

    async def is_muted(self, team: str, seen: Recognition) -> bool:
        return bool(seen.cluster and seen.codes and await self._mutes(team, seen.cluster, seen.codes[0]))

    async def _mutes(self, team: str, cluster: str, code: str) -> bool:
        muted = await self._incidents.mutes(team, _now_ms())
        return any(mute.code in (code, "*") and mute.cluster.lower() == cluster.lower() for mute in muted)

    async def _may_see(self, first: Utterance, cluster: str, me: str) -> bool:
        if first.app:
            return isinstance(may_look(self._policy.look, Asker(first.team, me), first.channel, cluster), Allowed)
        return await self._gate.may_see(_place(first, me), cluster, stranger=first.stranger)

    async def _ask_which(self, first: Utterance, seen: Recognition, me: str) -> None:
        """No cluster, or several: people are asked, once in a thread, and once an hour in a channel."""
        if not seen.choices and seen.certainty is not Certainty.SURE:
            return
        code, fleet = seen.codes[0], await self._places.fleet()
        title = incidents_view.title_of(self._library, code)
        offered = self._can_be_checked(fleet, code)
        known = {member.name for member in offered}
        choices = [item for item in seen.choices if item in known and await self._is_ours(first, item, code, me)]
        if seen.choices and not choices:
            return
        here = f"which {first.team} {first.channel} {first.spot.thread_ts}"
        key = f"which {first.team} {first.channel} {code} {' '.join(choices)} {int(time.time() // 3600)}"
        if not (await self._incidents.claim(here, first.id) and await self._incidents.claim(key, first.id)):
            return
        if await self._telling.is_outside(_place(first, me)):
            await self._ask_privately(first, code, choices, me)
            return
        if choices:
            message = incidents_view.offer(title, code, first.id, choices)
        elif fleet.problem:
            message = replies.only(said.no_fleet(fleet.problem.what, fleet.problem.why, fleet.problem.do))
        else:
            seen_by = [member for member in offered if await self._may_see(first, member.name, me)]
            checked = code in checked_codes()
            message = incidents_view.which(title, code, first.id, seen_by, checked=checked)
        await self._telling.once_where_possible(_where(first, me), "which", message)

    async def _ask_privately(self, first: Utterance, code: str, choices: Sequence[str], me: str) -> None:
        """In a channel that guests or another company read, everybody reads what was recognised, and only whoever
        reported it, which clusters there are."""
        title, checked = incidents_view.title_of(self._library, code), code in checked_codes()
        line = incidents_view.which(title, code, first.id, (), checked=checked)
        await self._telling.once_where_possible(_where(first, me), "which", line)
        offered = self._can_be_checked(await self._places.fleet(), code)
        wanted = [member for member in offered if not choices or member.name in choices]
        seen_by = [member for member in wanted if await self._may_see(first, member.name, me)]
        if first.user and seen_by and checked:
            menu = incidents_view.which(title, code, first.id, seen_by, checked=True, thread_ts=first.spot.thread_ts)
            ask = Ask(f"sighting-{first.id}-which", What.REPLY, _place(first, me))
            await self._replier.privately(ask, AnswerMessages(menu, ()))

    def _can_be_checked(self, fleet: Fleet, code: str) -> list[FleetMember]:
        """Those of the kind that has this problem, of which the bot speaks, and whose name means one cluster."""
        runbook = self._library.get(code)
        named = Counter(member.name.lower() for member in fleet.members)
        return [
            member
            for member in fleet.members
            if named[member.name.lower()] == 1
            and self._policy.channels.speaks_of(member.name)
            and (runbook is None or kind_of(ResourceId.parse(member.id)) == runbook.kind)
        ]

    # -- people -----------------------------------------------------------------------------------------------

    async def _pressed(self, task: Task) -> None:
        """Somebody wants it checked."""
        place = task.place
        spot = Address(channel=place.channel, thread_ts=place.thread_ts or place.message_ts)
        why = incidents_view.title_of(self._library, task.code)
        now_ms = _now_ms()
        sighting = Sighting(
            task.id, task.cluster, (task.code,), why, spot, spot.thread_ts, now_ms, user=place.user, asked=True
        )
        joined = await self._incident_service.report(place.team, sighting, place.user)
        if joined.how is How.REPEAT or joined.incident.silenced:
            await self._incident_service.answer_again(task, joined.incident, spot)

    async def _silence_pressed(self, task: Task) -> None:
        team = task.place.team
        incident = (await self._incidents.book(team, task.cluster)).get(task.incident)
        if incident is None:
            where = Reply(task.id, task.place, datetime.now(UTC))
            await self._telling.once_where_possible(where, "gone", replies.only(said.GONE))
        else:
            spot = task.place.thread
            others = [incident for incident in await self._incidents.told_in(team, spot) if incident.home == spot]
            await self._incident_service.silence(
                team, [incident, *(other for other in others if other.id != incident.id)], spot
            )


def readable(texts: Sequence[str]) -> list[Utterance]:
    """The messages of a turn, without those that this version cannot read: the others are answered all the same."""
    return [said for text in texts if (said := decode_or_none(Utterance, text, "a message of a channel"))]


def _sighting(first: Utterance, cluster: str, seen: Recognition, ids: tuple[str, ...]) -> Sighting:
    signs = tuple((suspect.code, suspect.why[0]) for suspect in seen.suspects if suspect.why)
    why = (seen.suspects[0].why or ("",))[0]
    return Sighting(
        first.id, cluster, seen.codes, why, first.spot, first.ts, _now_ms(), signs, user=first.user, ids=ids
    )


def _place(first: Utterance, me: str) -> Address:
    return Address(first.team, first.channel, first.user or me, thread_ts=first.spot.thread_ts)


def _where(first: Utterance, me: str) -> Reply:
    return Reply(f"sighting-{first.id}", _place(first, me), datetime.now(UTC))


def _now_ms() -> int:
    return int(time.time() * 1000)
