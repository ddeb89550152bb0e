"""Keeps incidents: joins reports to them, has their clusters checked, and sees what checks mean for them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.runner import Runner, unwatched
from bot.incidents.joining import Joined, join
from bot.incidents.model import Book, How, Incident, Sighting, State, silenced
from bot.incidents.observing import Observation, nothing_seen, observation, observe
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
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

JOB = "incident-"
"""How the requests begin that nobody but an incident asks for."""
EDITS_PER_MINUTE = limits.CALLS_PER_MINUTE[3] * 0.3
"""For counts and places; the rest of Slack's limit is for answers and what is proved."""
_EDITS_AT_ONCE = 8
_LATER = 4
"""Times as long, where there were too many."""
_LOUD_COUNTS = frozenset({2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000})
"""A card need not be changed for the 137th report; so no two bots can keep each other awake."""


class IncidentService:
    """Raises CallFailed and StoreAway, after which it is done again."""

    def __init__(
        self, *, queue: IncidentQueue, incidents: Incidents, telling: IncidentMessages, run: Runner, spans: Spans
    ) -> None:
        self._queue, self._incidents, self._telling = queue, incidents, telling
        self._run, self._spans = run, spans
        self._edits = Pace(_EDITS_AT_ONCE, EDITS_PER_MINUTE)

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
        joined = await self._incidents.change(team, sighting.cluster, lambda book: join(book, sighting))
        book = await self._incidents.book(team, sighting.cluster)
        incident = _home(book, joined.incident)
        await self._incidents.speaks_in(team, incident.home, incident.cluster)
        for spot in incident.elsewhere:
            if spot == sighting.spot:
                await self._incidents.speaks_in(team, spot, incident.cluster)
        if joined.how in (How.NEW, How.REOPENED):
            await self._telling.show(team, book, incident)
            await self._check(team, incident, user)
        elif joined.how is How.ELSEWHERE:
            if not incident.silenced:
                await self._telling.point_from(team, incident, sighting.spot)
            await self._show_soon(team, incident)
        elif incident.count in _LOUD_COUNTS:
            await self._show_soon(team, incident)
        return Joined(incident, joined.how)

    async def answer_again(self, task: Task, incident: Incident, spot: Address) -> None:
        """Somebody asked for a check of what is known already: its thread is shown, or there it is checked anew."""
        if incident.has_posted_in(spot) and incident.state is State.CHECKING:
            return  # its answer comes there
        if incident.has_posted_in(spot):
            # A job of this task's own name runs already: it is this one.
            request = CheckRequest(f"{task.id}-check", ClusterRef.of(incident.cluster), task.place, fresh=True)
            await self._queue.check(request)
        else:
            await self._telling.point_from(task.place.team, incident, spot)

    async def _check(self, team: str, incident: Incident, user: str) -> None:
        home = incident.home
        place = Address(team, home.channel, user, thread_ts=home.thread_ts)
        request = CheckRequest(f"{JOB}{incident.id}-{incident.rounds}", ClusterRef.of(incident.cluster), place)
        await self._submit_look(team, incident, 0)
        await self._queue.check(request)

    async def _show_soon(self, team: str, incident: Incident, *, patience: int = 1) -> None:
        """Several changes within seconds are one edit."""
        name, after_s = self._soon(f"{JOB}{incident.id}-show", self._spans.together * patience)
        place = Address(team, incident.home.channel)
        task = Task(name, Do.SHOW, place, cluster=incident.cluster, incident=incident.id)
        await self._queue.submit(task, after_s=after_s)

    async def _show(self, task: Task) -> None:
        book = await self._incidents.book(task.place.team, task.cluster)
        incident = book.get(task.incident)
        if incident is None:
            return
        if not self._edits.of(task.place.team).take_now():
            # Slack lets us edit so often in a minute, and answers go first.
            await self._show_soon(task.place.team, incident, patience=_LATER)
            return
        await self._telling.show(task.place.team, book, incident)

    async def observed(self, team: str, diagnosis: Diagnosis) -> None:
        """Somebody's check of a whole cluster has ended."""
        await self._observed(team, diagnosis.target.name, observation(diagnosis, _now_ms()))

    async def not_observed(self, team: str, cluster: str) -> None:
        """The check itself failed, so nothing is known of what was suspected."""
        book = await self._incidents.book(team, cluster)
        codes = {
            code
            for incident in book.incidents
            for code in (*incident.codes, *(cause.code for cause in incident.causes))
        }
        await self._observed(team, cluster, nothing_seen(_now_ms(), codes))

    async def _observed(self, team: str, cluster: str, seen: Observation) -> None:
        def change(book: Book) -> tuple[Book, Book]:
            after, _ = observe(book, seen)
            return after, after

        if not (await self._incidents.book(team, cluster)).incidents:
            return
        book = await self._incidents.change(team, cluster, change)
        for incident in book.incidents:
            # All of them: one whose last change was lost with its worker is made good here.
            await self._telling.show(team, book, incident)

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
            await self.observed(team, outcome.diagnosis)

    async def silence(self, team: str, those: Sequence[Incident], spot: Address) -> None:
        """All that is told in this thread, whoever wants it. Said once, there."""
        for incident in those:
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


def _silenced(book: Book, *, name: str) -> tuple[Book, None]:
    return silenced(book, name), None


def _home(book: Book, incident: Incident) -> Incident:
    """The one in whose thread it goes on."""
    while incident.merged_into and (home := book.get(incident.merged_into)):
        incident = home
    return book.get(incident.id) or incident


def _now_ms() -> int:
    return int(time.time() * 1000)
