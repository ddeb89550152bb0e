"""The load generator: 100 slash commands per second, in a separate process that also receives response URL calls.

Each request is sent to the bot and to the empty handler at the same time, so a busy machine
slows both equally.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
import orjson
from aiohttp import web

from sandbox.slack.http_road import signed_headers
from tests.bench.slack_world import FLEET, PEOPLE, person_id, team_id

PER_SECOND, FOR_S = 100, 20
CHANNELS = 100
WARM, AT_ONCE = PEOPLE, 10
"""Warm-up commands, one per person: for imports, connections, checks and user lookups."""
ANSWERED_WITHIN_S = 60
QUIET_S = 2.0
"""How long it must be quiet before a run ends, as an answer may be several messages."""
FORM = "application/x-www-form-urlencoded"


@dataclass
class Heard:
    """The responses to each command: immediate and delayed."""

    acked_s: dict[int, float] = field(default_factory=dict)
    empty_s: dict[int, float] = field(default_factory=dict)
    said: dict[int, str] = field(default_factory=dict)
    """The text of the acknowledgement."""
    refused: list[str] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.Response:
        await request.read()
        self.answered.add(int(request.match_info["number"]))
        self.changed.set()
        return web.Response(text="ok")

    async def all_answered(self, wanted: set[int]) -> None:
        """Wait for all answers, with a timeout; commands still unanswered are counted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                while not wanted <= self.answered:
                    self.changed.clear()
                    await self.changed.wait()

    async def quiet(self) -> None:
        """Wait until nothing has arrived for a while."""
        with suppress(TimeoutError):
            while True:
                self.changed.clear()
                async with asyncio.timeout(QUIET_S):
                    await self.changed.wait()


def command(number: int, port: int) -> bytes:
    """One command as Slack sends it, from one of the channels of one of the workspaces."""
    return urlencode(
        {
            "team_id": team_id(number),
            "channel_id": f"C{number % CHANNELS:08d}",
            "user_id": person_id(number),
            "command": "/aks",
            "text": f"check {FLEET[number % len(FLEET)]}",
            "response_url": f"http://127.0.0.1:{port}/answers/{number}",
            "trigger_id": f"{number}.1.{time.time_ns()}",
            "api_app_id": "A00000001",
        }
    ).encode()


async def load(bot: str, empty: str, secret: str) -> dict[str, object]:
    heard = Heard()
    app = web.Application()
    app.router.add_post("/answers/{number}", heard.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number: int) -> None:
            body = command(number, port)
            headers = signed_headers(secret, body, content_type=FORM)
            order = ((bot, heard.acked_s), (empty, heard.empty_s))
            for url, took in order if number % 2 else reversed(order):
                began = time.perf_counter()
                async with session.post(url, data=body, headers=headers) as reply:
                    said = await reply.read()
                took[number] = time.perf_counter() - began
                if reply.status != 200:
                    heard.refused.append(f"{reply.status}: {said[:100]!r}")
                elif url == bot:
                    heard.said[number] = str(orjson.loads(said).get("text", "")) if said else ""

        for first in range(1, WARM, AT_ONCE):
            await asyncio.gather(*(ask(-number) for number in range(first, first + AT_ONCE)))
        await heard.all_answered({-number for number in range(1, WARM + 1)})
        heard.acked_s.clear()
        heard.empty_s.clear()
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for number in range(PER_SECOND * FOR_S):
                await asyncio.sleep(max(0.0, began + number / PER_SECOND - asyncio.get_running_loop().time()))
                group.create_task(ask(number))
        ended = asyncio.get_running_loop().time()
        await heard.all_answered(set(range(PER_SECOND * FOR_S)))
        drained_s = asyncio.get_running_loop().time() - ended
        await heard.quiet()
    await runner.cleanup()
    without = [f"{number}: {said}" for number, said in heard.said.items() if number not in heard.answered]
    return {
        "acked_s": sorted(heard.acked_s.values()),
        "empty_s": sorted(heard.empty_s.values()),
        "wordless": sum(not said for said in heard.said.values()),
        "refused": heard.refused,
        "unanswered": without,
        "drained_s": drained_s,
    }


if __name__ == "__main__":
    sys.stdout.write(orjson.dumps(asyncio.run(load(*sys.argv[1:4]))).decode())
