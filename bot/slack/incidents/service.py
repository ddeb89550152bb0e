"""Keeps incidents: joins reports to them, has their clusters checked, and sees what checks mean for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.runner import Runner, unwatched
from bot.incidents.joining import Joined, join
from bot.incidents.model import Book, How, Incident, Sighting, State, silenced
from bot.incidents.named import names_in
from bot.incidents.observing import Observation, nothing_seen, observation, observe
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.report.events import Report
from bot.slack.api.pace import Pace
from bot.slack.inbound import replies
from bot.slack.incidents import text as said
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit import limits
from bot.triage.recognise import Recognition
from handlers.fleet.cluster_text import ClusterRef
from handlers.model import Diagnosis
from handlers.problem import Problem

Looked = Callable[[str, Report], Awaitable[None]]
"""What else follows from a check of which no answer is told."""
JOB = "incident-"
"""How the requests begin that nobody but an incident asks for."""
EDITS_PER_MINUTE = limits.CALLS_PER_MINUTE[3] * 0.3
"""For counts and places; the rest of Slack's limit is for answers and what is proved."""
_EDITS_AT_ONCE = 8
_LINKS_AT_ONCE, _LINKS_PER_MINUTE = 5, 15
"""In a channel, where Slack takes one message a second: verdicts go first."""
_LATER = 4
"""Times as long, where there were too many."""
_COURSE_WITHIN_MS = 10 * 60 * 1000
"""Each check of the cluster shows its closed incidents again; the picture stands by then."""
_MOST_NAMED = 500
_LOUD_COUNTS = frozenset({2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000})
"""A card need not be changed for the 137th report; so no two bots can keep each other awake."""


class IncidentService:
    """Raises CallFailed and StoreAway, after which it is done again."""

    def __init__(
        self,
        *,
        queue: IncidentQueue,
        incidents: Incidents,
        telling: IncidentMessages,
        run: Runner,
        spans: Spans,
        looked: Looked,
        notify: Sequence[str] = (),
    ) -> None:
        self._notify = tuple(notify)
        self._queue, self._incidents, self._telling = queue, incidents, telling
        self._run, self._spans, self._looked = run, spans, looked
        self._edits = Pace(_EDITS_AT_ONCE, EDITS_PER_MINUTE)
        self._links = Pace(_LINKS_AT_ONCE, _LINKS_PER_MINUTE)

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {Do.SHOW: self._show, Do.LOOK_AGAIN: self._look_again}

    async def known(self, team: str, seen: Recognition) -> Incident | None:
        """The open incident that it is about."""
        if seen.cluster is None:
            return None
        book = await self._incidents.book(team, seen.cluster)
        return next(
            (incident for incident in book.incidents if not incident.is_closed and incident.speaks_of(seen.codes)), None
        )

    async def open_of(self, team: str, cluster: str) -> Incident | None:
        """The latest incident of a cluster that is not over."""
        book = await self._incidents.book(team, cluster)
        return next((incident for incident in reversed(book.incidents) if not incident.is_closed), None)

    async def report(self, team: str, sighting: Sighting, user: str) -> Joined:
        """Join it to its incident; where that is new, or back, check the cluster."""
        joined, more = await self._join(team, sighting)
        book = await self._incidents.book(team, sighting.cluster)
        incident = _home(book, joined.incident)
        if joined.how in (How.NEW, How.REOPENED):
            # Side by side: neither the first sign nor the check waits for the other.
            incident, _ = await asyncio.gather(self._begin(team, incident, sighting, user), self._sign(team, incident))
        else:
            incident = await self._add(team, incident, joined.how, sighting)
        await self._link(team, incident, joined.how, sighting)
        if more and incident.state is State.OPEN:
            await self.look_soon(team, incident)
        return Joined(incident, joined.how)

    async def _sign(self, team: str, incident: Incident) -> None:
        """The first sign. Its check may have ended meanwhile, in another process, which had no sign to take away."""
        if incident.state is State.CHECKING:
            await self._telling.react(incident)
            latest = (await self._incidents.book(team, incident.cluster)).get(incident.id)
            await self._telling.react(latest or incident)

    async def _add(self, team: str, incident: Incident, how: How, sighting: Sighting) -> Incident:
        """What is known already was reported once more."""
        incident = await self._with_thread(team, incident)
        await self._keep_thread(team, incident)
        if sighting.spot in incident.elsewhere:
            await self._incidents.speaks_in(team, sighting.spot, incident.cluster)
        if how is How.ELSEWHERE and not incident.silenced:
            await self._telling.point_from(team, incident, sighting.spot)
        if how is How.ELSEWHERE or incident.count in _LOUD_COUNTS:
            await self._show_soon(team, incident)
        return incident

    async def _keep_thread(self, team: str, incident: Incident) -> None:
        """Its thread stays its own, and known, for as long as the incident itself."""
        await self._incidents.owns(team, incident.home, incident.cluster)
        await self._incidents.speaks_in(team, incident.home, incident.cluster)

    async def _join(self, team: str, sighting: Sighting) -> tuple[Joined, bool]:
        """Whose thread it is must be known before it opens an incident; whether it opens one, the book says."""
        joined = None
        while joined is None:
            apart = await self._is_apart(team, sighting)
            change = partial(_joined, sighting=sighting, apart=apart)
            joined = await self._incidents.change(team, sighting.cluster, change)
        return joined

    async def _is_apart(self, team: str, sighting: Sighting) -> bool | None:
        """Whether it was said in the thread of another cluster; None where it opens nothing, and nobody need know."""
        _, joined = join(await self._incidents.book(team, sighting.cluster), sighting)
        if joined.how is not How.NEW:
            return None
        return not await self._incidents.owns(team, sighting.spot, sighting.cluster)

    async def _with_thread(self, team: str, incident: Incident) -> Incident:
        """What was reported in the thread of another cluster gets a thread of its own: its card is the head, and
        whoever comes first posts it."""
        if incident.has_no_thread:
            head = await self._telling.head(team, incident)
            home = Address(channel=head.channel, thread_ts=head.message_ts) if head else incident.began.thread
            await self._incidents.owns(team, home, incident.cluster)
            change = partial(_at_home, name=incident.id, home=home)
            kept = await self._incidents.change(team, incident.cluster, change)
            incident = kept or replace(incident, home=home)
        if incident.rounds == 1 and incident.began.thread_ts and incident.began.thread != incident.home:
            await self._telling.point_from(team, incident, incident.began.thread, apart=True)
        return incident

    async def _begin(self, team: str, incident: Incident, sighting: Sighting, user: str) -> Incident:
        """The check at once; its card once the check has ended, or takes longer than a moment."""
        incident = await self._with_thread(team, incident)
        await self._keep_thread(team, incident)
        if sighting.spot in incident.elsewhere:
            await self._incidents.speaks_in(team, sighting.spot, incident.cluster)
        checking = incident.state is State.CHECKING
        if checking:
            await self._check(team, incident, user, sighting.user)
        if not checking or incident.rounds > 1:
            await self._tell(team, incident)
        else:
            await self._show_unless_it_ends_soon(team, incident)
        return incident

    async def _show_unless_it_ends_soon(self, team: str, incident: Incident) -> None:
        task = self._show_task(f"{JOB}{incident.id}-{incident.rounds}-begun", team, incident)
        await self._queue.submit(task, after_s=self._spans.unannounced.total_seconds())

    async def _link(self, team: str, incident: Incident, how: How, sighting: Sighting) -> None:
        """Whoever reports it again gets one link to its thread; over Slack's limit a line there names them. An alert
        gets one where it opens it again: its post stands by itself."""
        if how is How.NEW or sighting.spot == incident.home or incident.silenced:
            return
        if not sighting.user and how is not How.REOPENED:
            return
        if sighting.asked and how is How.REPEAT:
            return  # answered where it was asked
        what = f"link {team} {incident.cluster} {incident.id} {incident.rounds} {sighting.user}"
        first = await self._incidents.claim(what, sighting.id)
        # Where it was reported from elsewhere a pointer stands already, but for a report that opens it again.
        if not first or (sighting.spot in incident.elsewhere and how is not How.REOPENED):
            return
        if not sighting.user or self._links.of(sighting.spot.channel).take_now():
            await self._telling.point_from(team, incident, sighting.spot)
            return
        await self._incidents.change(team, incident.cluster, partial(_named, name=incident.id, user=sighting.user))
        await self._show_soon(team, incident)

    async def answer_again(self, task: Task, incident: Incident, spot: Address) -> None:
        """Somebody asked for a check of what is known already: its thread is shown, or there it is checked anew."""
        if incident.has_posted_in(spot) and incident.state is State.CHECKING and not incident.silenced:
            return  # its answer comes there
        if incident.has_posted_in(spot):
            # A job of this task's own name runs already: it is this one.
            request = CheckRequest(f"{task.id}-check", ClusterRef.of(incident.cluster), task.place, fresh=True)
            await self._queue.check(request)
        else:
            await self._telling.point_from(task.place.team, incident, spot)

    async def _check(self, team: str, incident: Incident, user: str, reporter: str) -> None:
        home = incident.home
        place = Address(team, home.channel, user, thread_ts=home.thread_ts)
        request = CheckRequest(
            f"{JOB}{incident.id}-{incident.rounds}",
            ClusterRef.of(incident.cluster),
            place,
            fresh=incident.rounds > 1,
            reported_by=reporter,
            notify=() if reporter else self._notify,
        )
        await self._submit_look(team, incident, 0)
        await self._queue.check(request)

    async def _show_soon(self, team: str, incident: Incident, *, patience: int = 1) -> None:
        """Several changes within seconds are one edit."""
        name, after_s = self._soon(f"{JOB}{incident.id}-show", self._spans.together * patience)
        await self._queue.submit(self._show_task(name, team, incident), after_s=after_s)

    def _show_task(self, name: str, team: str, incident: Incident) -> Task:
        place = Address(team, incident.home.channel)
        return Task(name, Do.SHOW, place, cluster=incident.cluster, incident=incident.id)

    async def _show(self, task: Task) -> None:
        book = await self._incidents.book(task.place.team, task.cluster)
        incident = book.get(task.incident)
        if incident is None:
            return
        if not self._edits.of(task.place.team).take_now():
            # Slack lets us edit so often in a minute, and answers go first.
            await self._show_soon(task.place.team, incident, patience=_LATER)
            return
        await self._tell(task.place.team, incident)

    async def _tell(self, team: str, incident: Incident, *, sign: bool = True) -> None:
        """Say what is known of it now, which may be more than when it was read: another worker may have its verdict."""
        async with self._incidents.alone(team, incident.id):
            book = await self._incidents.book(team, incident.cluster)
            latest = await self._with_thread(team, book.get(incident.id) or incident)
            await self._telling.show(team, book.put(latest), latest)
        if sign:
            await self._telling.react(latest)

    async def note_named(self, team: str, diagnosis: Diagnosis) -> None:
        """Who writes a node, pod or namespace that this check has named means its cluster."""
        await self._incidents.note_named(team, diagnosis.target.name, names_in(diagnosis))

    async def observed(self, team: str, diagnosis: Diagnosis, by: str = "", *, only_changed: bool = False) -> None:
        """A check of a whole cluster has ended, for which somebody asked, or nobody. `only_changed`: its answer waits,
        so that nothing is said but what this check has changed."""
        await self.note_named(team, diagnosis)
        seen = observation(diagnosis, _now_ms(), by, self._telling.library)
        await self._observed(team, diagnosis.target.name, seen, only_changed=only_changed)

    async def not_observed(self, team: str, cluster: str) -> None:
        """The check itself failed, so nothing is known of what was suspected."""
        book = await self._incidents.book(team, cluster)
        codes = {
            code
            for incident in book.incidents
            for code in (*incident.codes, *(cause.code for cause in incident.causes))
        }
        await self._observed(team, cluster, nothing_seen(_now_ms(), codes))

    async def _observed(self, team: str, cluster: str, seen: Observation, *, only_changed: bool = False) -> None:
        def change(book: Book) -> tuple[Book, tuple[Book, set[str]]]:
            after, changes = observe(book, seen)
            return after, (after, {change.incident.id for change in changes})

        if not (await self._incidents.book(team, cluster)).incidents:
            return
        book, changed = await self._incidents.change(team, cluster, change)
        # All of them: one whose last change was lost with its worker is made good here. What is new comes first.
        for incident in sorted(book.incidents, key=lambda incident: (incident.id not in changed, incident.is_closed)):
            if only_changed and incident.id not in changed:
                return
            await self._tell(team, incident, sign=not only_changed)
            if not (incident.is_closed or incident.has_no_thread):
                await self._keep_thread(team, incident)
            await self._course_soon(team, incident)

    async def _course_soon(self, team: str, incident: Incident) -> None:
        """Once it is over. The check that found it so may still be noted meanwhile."""
        if incident.is_closed and _now_ms() - incident.closed_ms < _COURSE_WITHIN_MS:
            name = f"{JOB}{incident.id}-{incident.rounds}-course"
            task = Task(
                name, Do.COURSE, Address(team, incident.home.channel), cluster=incident.cluster, incident=incident.id
            )
            await self._queue.submit(task, after_s=self._spans.together.total_seconds())

    async def _submit_look(self, team: str, incident: Incident, number: int) -> None:
        if number < len(self._spans.looks_again):
            name = f"{JOB}{incident.id}-{incident.rounds}-look-{number}"
            place = Address(team, incident.home.channel)
            task = Task(name, Do.LOOK_AGAIN, place, cluster=incident.cluster, incident=incident.id, number=number)
            await self._queue.submit(task, after_s=self._spans.looks_again[number].total_seconds())

    async def look_soon(self, team: str, incident: Incident) -> None:
        """Somebody says that it is over. However many alerts end within seconds, that is one look."""
        name, after_s = self._soon(f"{JOB}{incident.id}-look", self._spans.together * _LATER)
        place, last = Address(team, incident.home.channel), len(self._spans.looks_again)
        task = Task(name, Do.LOOK_AGAIN, place, cluster=incident.cluster, incident=incident.id, number=last)
        await self._queue.submit(task, after_s=after_s)

    def _soon(self, name: str, together: timedelta) -> tuple[str, float]:
        """The job for all that comes until then, and how long that is."""
        now, together_s = time.time(), together.total_seconds()
        then = (now // together_s + 1) * together_s
        return f"{name}-{int(then * 1000)}", then - now

    async def _look_again(self, task: Task) -> None:
        """Whether it is over. Nobody hears of it unless something has changed."""
        team = task.place.team
        book = await self._incidents.book(team, task.cluster)
        incident = book.get(task.incident)
        if incident is None or incident.is_closed:
            return
        await self._submit_look(team, incident, task.number + 1)
        request = CheckRequest(task.id, ClusterRef.of(task.cluster), task.place, fresh=True)
        outcome = await unwatched(request, self._run)
        if isinstance(outcome, Problem):
            await self.not_observed(team, task.cluster)
        else:
            await self._looked(team, outcome)
            await self.observed(team, outcome.diagnosis)

    async def silence(self, team: str, those: Sequence[Incident], spot: Address) -> None:
        """All that is told in this thread, whoever wants it. Said once, there."""
        for incident in those:
            async with self._incidents.alone(team, incident.id):
                await self._incidents.change(team, incident.cluster, partial(_silenced, name=incident.id))
                book = await self._incidents.book(team, incident.cluster)
                await self._telling.hush(team, book, book.get(incident.id) or incident)
        where = self._telling.where(team, those[0], spot)
        part = f"silenced-{those[0].rounds}"
        await self._telling.once_where_possible(where, part, replies.only(said.SILENCED))

    async def is_silenced(self, request: CheckRequest) -> bool:
        """Whether nobody wants to hear the answer that an incident asked for."""
        if not request.id.startswith(JOB):
            return False
        book = await self._incidents.book(request.place.team, request.cluster.text)
        place = request.place
        incident = book.told_in(place.thread)
        return incident is not None and incident.silenced


def _joined(book: Book, *, sighting: Sighting, apart: bool | None) -> tuple[Book, tuple[Joined, bool] | None]:
    """Also whether it suspects more of an incident than was suspected there. Nothing where it opens one after all, and
    nobody has looked whose thread it is."""
    after, joined = join(book, sighting, apart=bool(apart))
    if apart is None and joined.how is How.NEW:
        return book, None
    before = book.get(joined.incident.id)
    more = bool(before and not before.speaks_of_all(sighting.codes))
    return after, (joined, more)


def _named(book: Book, *, name: str, user: str) -> tuple[Book, None]:
    found = book.get(name)
    if found is None:
        return book, None
    joined = tuple(dict.fromkeys((*found.joined, user)))[:_MOST_NAMED]
    return book.put(replace(found, joined=joined)), None


def _at_home(book: Book, *, name: str, home: Address) -> tuple[Book, Incident | None]:
    """With a thread of its own; the first one counts."""
    found = book.get(name)
    if found and found.has_no_thread:
        found = replace(found, home=home)
        book = book.put(found)
    return book, found


def _silenced(book: Book, *, name: str) -> tuple[Book, None]:
    return silenced(book, name), None


def _home(book: Book, incident: Incident) -> Incident:
    """The one in whose thread it goes on."""
    while incident.merged_into and (home := book.get(incident.merged_into)):
        incident = home
    return book.get(incident.id) or incident


def _now_ms() -> int:
    return int(time.time() * 1000)
