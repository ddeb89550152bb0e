"""Workers of one bot below their queue: they share a Redis and a Slack, and each remembers what it has said itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.incidents.model import How, Incident, Sighting
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.metrics import Metrics
from bot.policy.model import Look
from bot.slack.api.calls import Calls
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.api.readers import ChannelReaders
from bot.slack.inbound.outside import Outside
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.places import Places
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.service import IncidentService
from bot.slack.incidents.tasks import Task
from bot.store.connect import Connection
from bot.store.state import State
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.checking import LIBRARY

ELSEWHERE: Any = None
"""What these tests do not need."""


@dataclass
class Submitted:
    """What was put into the queue, and is done where a test says so."""

    tasks: list[Task] = field(default_factory=list)
    checks: list[CheckRequest] = field(default_factory=list)

    async def submit(self, task: Task, *, after_s: float = 0.0) -> None:
        self.tasks.append(task)

    async def check(self, request: CheckRequest) -> None:
        self.checks.append(request)


@dataclass
class Worker:
    """One of them."""

    service: IncidentService
    incidents: Incidents
    queue: Submitted
    slack: SlackServer

    @property
    def team(self) -> str:
        return self.slack.control.team.id

    async def report(self, said: Message, cluster: str, code: str = "quota-exceeded") -> tuple[Incident, How]:
        """What triage makes of a message."""
        spot = Address(channel=said.channel, thread_ts=said.thread_ts or said.ts)
        at_ms = int(float(said.ts) * 1000)
        sighting = Sighting(said.ts, cluster, (code,), "its words", spot, said.ts, at_ms, user=said.user)
        joined = await self.service.report(self.team, sighting, said.user)
        return joined.incident, joined.how

    async def do(self, task: Task) -> None:
        await self.service.work[task.do](task)


@asynccontextmanager
async def worker(
    slack: SlackServer, connection: Connection, *, look: Look | None = None, timeout_s: int = 10
) -> AsyncIterator[Worker]:
    """`timeout_s`: how long it waits for an answer of Slack."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session:
        client = AsyncWebClient(
            slack.bot_token, base_url=slack.url, session=session, timeout=timeout_s, retry_handlers=[]
        )
        calls, state, queue = Calls(client, session, Metrics()), State(connection.redis), Submitted()
        incidents, people = Incidents(connection.redis), People(calls)
        message_poster, places = Poster(SlackMessages(calls), state), Places(calls, state, ELSEWHERE)
        rules = look or Look()
        outside = Outside(rules, ChannelReaders(calls, state))
        service = IncidentService(
            queue=cast("IncidentQueue", queue),
            incidents=incidents,
            telling=IncidentMessages(message_poster, places, people, outside, LIBRARY, incidents, rules),
            run=ELSEWHERE,
            spans=Spans(looks_again=(), together=timedelta(seconds=1)),
            looked=ELSEWHERE,
        )
        yield Worker(service, incidents, queue, slack)
