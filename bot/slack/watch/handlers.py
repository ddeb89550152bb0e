"""`/aks watch`: looks at a cluster from time to time, and tells whoever waits, once, when it is over.

A look is a job that lies in the queue until its time, so it outlives any process; the next one is put there before the
look itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from bot.address import Address
from bot.checks.check import find
from bot.checks.request import CheckRequest
from bot.checks.runner import LIMIT_S, Runner
from bot.incidents.spans import Spans
from bot.incidents.watches import Watches
from bot.incidents.watching import MOST, Look, Seen, Watch, pause, seen
from bot.report.events import Report
from bot.slack.api.calls import Refused
from bot.slack.api.poster import NO_PLACE, Poster, Reply
from bot.slack.inbound import commands, replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.replier import Replier
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.service import IncidentService
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit import sentences
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.watch import text as said
from bot.slack.watch import view as watch_view
from handlers.changes.estimate import estimate
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.fleet.cluster_text import ClusterRef
from handlers.model import State, Target
from handlers.problem import Problem
from handlers.resource_id import ResourceId
from runbooks.library import Library

WATCHING, ENDED = "watch", "watch-ended"
_FIND_S = 30.0
_ESTIMATE_S = 15.0


class WatchHandlers:
    """Raises CallFailed, CannotTell and StoreAway, after which it is done again."""

    def __init__(
        self,
        *,
        queue: IncidentQueue,
        incident_service: IncidentService,
        watches: Watches,
        message_poster: Poster,
        replier: Replier,
        gate: Gate,
        run: Runner,
        arm: ArmReader,
        library: Library,
        spans: Spans,
    ) -> None:
        self._queue, self._incident_service, self._watches = queue, incident_service, watches
        self._message_poster, self._replier, self._gate = message_poster, replier, gate
        self._run, self._arm, self._library, self._spans = run, arm, library, spans

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {Do.WATCH: self._wanted, Do.WATCH_LOOK: self._look, Do.UNWATCH: self._unwanted}

    # -- what people want -------------------------------------------------------------------------------------

    async def _wanted(self, task: Task) -> None:
        cluster = commands.read_command(task.text).rest.replace("`", "").strip()
        try:
            await (self._begin(task, cluster) if cluster else self._list(task))
        except Problem as problem:
            await self._reply(task, Message(sentences.problem(problem)))

    async def _list(self, task: Task) -> None:
        viewer = await self._gate.viewer(task.place)
        if isinstance(viewer, Message):
            await self._reply(task, viewer)
            return
        now = _now_ms()
        there = [watch for watch in await self._watches.all_of(task.place.team, now) if viewer.may_see(watch.name)]
        lasting = [(watch, timedelta(milliseconds=now - watch.began_ms)) for watch in there]
        await self._reply(task, watch_view.listed(lasting) if lasting else replies.only(said.NONE))

    async def _begin(self, task: Task, cluster: str) -> None:
        refused = await self._gate.refusal(task.place, cluster)
        if refused:
            await self._reply(task, refused)
            return
        target = await find(cluster, self._arm, timeout_s=_FIND_S)
        others = [watch for watch in await self._watches.all_of(task.place.team, _now_ms()) if watch.id != task.id]
        if any(_is_same(other, target, task.place) for other in others):
            await self._reply(task, replies.only(said.known(target.name)))
        elif len(others) >= MOST:
            await self._reply(task, replies.only(said.too_many(len(others))))
        else:
            await self._begin_with(task, target, await self._looked(target.id, task.id))

    async def _begin_with(self, task: Task, target: Target, look: Look) -> None:
        if not look.running and not look.causes:
            clear = look.diagnosis.state is State.CLEAR and (look.state is not None or not _has_state(target.id))
            line = said.nothing_to_wait_for(target.name) if clear else said.cannot_tell(target.name)
            await self._reply(task, replies.only(line))
            return
        place, began_ms = task.place, _now_ms()
        until_ms = began_ms + int(self._spans.watch_for.total_seconds() * 1000)
        watch = Watch(
            *(task.id, place.team, str(target.id), target.name, place.channel, place.thread_ts, place.user),
            began_ms=began_ms,
            until_ms=until_ms,
            state=look.running,
            causes=look.causes,
            estimate=await self._estimated(target) if look.running else "",
        )
        await self._submit(watch, 0)
        await self._watches.put(watch)
        await self._posted(watch)

    async def _estimated(self, target: Target) -> str:
        """An extra: where the log is slow or does not say what runs, the watch begins without it."""
        try:
            async with asyncio.timeout(_ESTIMATE_S):
                found = await estimate(target, self._arm)
        except TimeoutError:
            return ""
        return found.said(datetime.now(UTC)) if found else ""

    async def _unwanted(self, task: Task) -> None:
        """Anybody who may look at the cluster may stop it, and everybody sees who did."""
        watch = await self._watches.get(task.place.team, task.incident)
        if watch is None:
            await self._reply(task, replies.only(said.GONE))
            return
        # Said first: a worker that dies in between does both again, and what is said once is said once.
        await self._say_end(watch, watch_view.stopped(watch, task.place.user))
        await self._watches.remove(watch)

    # -- looks ------------------------------------------------------------------------------------------------

    async def _look(self, task: Task) -> None:
        watch = await self._watches.get(task.place.team, task.incident)
        if watch is None:
            return
        now_ms = _now_ms()
        last, lasted = now_ms >= watch.until_ms, timedelta(milliseconds=now_ms - watch.began_ms)
        if not last:
            await self._submit(watch, task.number + 1)
        try:
            look = await self._looked(ResourceId.parse(watch.cluster), task.id)
        except Problem as problem:
            if last:
                why = said.unseen(f"{problem.what}: {problem.why}", watch.name)
                await self._end(watch, watch_view.gave_up(watch, lasted, why))
            return
        await self._incident_service.observed(watch.team, look.diagnosis)
        match seen(watch, look):
            case Seen.OVER:
                await self._end(watch, watch_view.over(watch, lasted, look, self._library))
            case Seen.LASTS if last:
                now = watch_view.waits_for(look.running, look.causes, self._library)
                await self._end(watch, watch_view.gave_up(watch, lasted, said.still(now, watch.name)))
            case Seen.UNSURE if last:
                why = said.unseen(said.NOT_SEEN, watch.name)
                await self._end(watch, watch_view.gave_up(watch, lasted, why))

    async def _looked(self, cluster: ResourceId, job: str) -> Look:
        """Raises Problem."""
        request = CheckRequest(f"watch-check-{job}", ClusterRef.of(str(cluster)), Address(), fresh=True)
        try:
            async with asyncio.timeout(LIMIT_S), aclosing(self._run(request)) as events:
                async for event in events:
                    if isinstance(event, Report):
                        return Look(event.diagnosis, await self._state(cluster))
        except TimeoutError as late:
            why = f"the check took longer than {LIMIT_S:g} s"
            raise Problem(f"cannot check {cluster.name}", why, "try again in a minute") from late
        raise AssertionError("a check ends with a report")

    async def _state(self, cluster: ResourceId) -> str | None:
        """The check has read it just now, so this is kept."""
        if not _has_state(cluster):
            return None
        try:
            body = (await self._arm.managed_cluster(cluster)).body
        except ArmError:
            return None
        return str((body.get("properties") or {}).get("provisioningState") or "")

    async def _submit(self, watch: Watch, number: int) -> None:
        """Not later than it ends."""
        left_s = max(watch.until_ms - _now_ms(), 0) / 1000
        after_s = min(pause(self._spans.watch, number).total_seconds(), left_s)
        place = Address(watch.team, watch.channel, watch.user, thread_ts=watch.thread_ts)
        name = f"{watch.id}-look-{number}"
        task = Task(name, Do.WATCH_LOOK, place, cluster=watch.name, incident=watch.id, number=number)
        await self._queue.submit(task, after_s=after_s)

    # -- what is said -----------------------------------------------------------------------------------------

    async def _posted(self, watch: Watch) -> tuple[Reply, Address]:
        """The message about the watch; where nothing can be said, in a direct message."""
        message = watch_view.watching(watch, self._library, self._spans.watch_for)
        where = _where(watch)
        try:
            return where, (await self._message_poster.once(where, WATCHING, message))[0]
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
        direct = Reply(watch.id, Address(watch.team, watch.user, watch.user), where.asked_at)
        return direct, (await self._message_poster.once(direct, f"{WATCHING}-direct", message))[0]

    async def _end(self, watch: Watch, message: Message) -> None:
        await self._say_end(watch, message)
        await self._watches.remove(watch)

    async def _say_end(self, watch: Watch, message: Message) -> None:
        """Once, whoever ends it, in the thread of the message about it; that has nothing to press any more."""
        where, posted = await self._posted(watch)
        place = Address(watch.team, posted.channel, watch.user, thread_ts=watch.thread_ts or posted.message_ts)
        await self._message_poster.once(Reply(watch.id, place, where.asked_at), ENDED, message)
        await self._message_poster.change_or_repeat(where, posted, WATCHING, watch_view.after_its_end(watch))

    async def _reply(self, task: Task, message: Message) -> None:
        await self._replier.privately(Ask(task.id, What.REPLY, task.place), AnswerMessages(message, ()))


def _is_same(watch: Watch, target: Target, place: Address) -> bool:
    there = (watch.channel, watch.thread_ts, watch.user) == (place.channel, place.thread_ts, place.user)
    return there and ResourceId.parse(watch.cluster) == target.id


def _has_state(cluster: ResourceId) -> bool:
    return cluster.is_a(MANAGED_CLUSTER)


def _where(watch: Watch) -> Reply:
    place = Address(watch.team, watch.channel, watch.user, thread_ts=watch.thread_ts)
    return Reply(watch.id, place, datetime.fromtimestamp(watch.began_ms / 1000, UTC))


def _now_ms() -> int:
    return int(time.time() * 1000)
