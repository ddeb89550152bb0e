"""A worker as a separate process that tests stop or kill. It records its actions and messages in Redis lists."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from pathlib import Path

from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.service import Jobs, Options, Role
from bot.queue.stop_signal import stop_requested
from bot.report.events import Event, Report, Started
from bot.report.progress import Progress
from bot.store.connect import connected
from handlers.problem import Problem
from tests.bot.diagnoses import TARGET, found


async def main(url: str) -> None:
    async with connected(url, Path()) as connection:
        redis, me = connection.redis, str(os.getpid())

        class Writer:
            async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
                await redis.rpush("test:started", request.id)

            async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
                """Ignored."""

            async def done(self, request: CheckRequest, answer: Answer) -> None:
                await redis.rpush("test:told", f"done {request.id} {me}")

            async def failed(self, request: CheckRequest, problem: Problem) -> None:
                await redis.rpush("test:told", f"failed {request.id} {me}")

            async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
                await redis.rpush("test:told", f"gave-up {request.id} {me}")

        async def check(request: CheckRequest) -> AsyncGenerator[Event, None]:
            yield Started(TARGET, 1, 1)
            await redis.rpush("test:checking", me)
            while not await redis.blmove("test:go", "test:go", timeout=1):  # stays open for all
                pass
            yield Report(found(), 1.0, 1)

        jobs = Jobs(connection, check, role=Role.WORKER, options=Options(idle_timeout_s=1.0, most_tries=2))
        async with jobs.at_work(Writer()):
            await stop_requested()


asyncio.run(main(sys.argv[1]))
