"""Captures all output of the running bot: every Slack call, Redis command and log record."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from bot.store.connect import Connection
from sandbox.slack.server import SlackServer

LASTING = {
    "aksbot:epoch",
    "aksbot:audit",
    "aksbot:audit:tip",
    "aksbot:recorded",
    "aksbot:fence",
    "aksbot:executing",
    "aksbot:proposals",
    "aksbot:fixes:untold",
}
"""Permanent keys: the audit log, counters, and sets from which ids are removed when done."""
SETTINGS = ("aksbot:channel:", "aksbot:alert-apps:")
"""Settings of a channel or workspace, kept until changed."""
OF_THE_QUEUE = "streaq:aksbot:"
"""The queue's own keys. A job's arguments are under `task:` and are deleted when it is done."""


@dataclass
class Sinks:
    """The bot's output so far."""

    slack: SlackServer
    redis: Redis
    caplog: pytest.LogCaptureFixture
    commands: list[str] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)

    async def holding(self, secret: str) -> list[str]:
        """The sinks that contain a secret."""
        await self._seen_by_redis()
        places = {
            "Slack": [f"{one.method} {one.args}" for one in self.slack.log],
            "Redis was told": self.commands,
            "Redis holds": [f"{name} {value}" async for name, value in self._held()],
            "the log": self.caplog.text.splitlines(),
        }
        return [f"{place}: {_around(one, secret)}" for place, all_ in places.items() for one in all_ if secret in one]

    async def without_an_end(self) -> set[str]:
        """Keys that never expire, except those intended to be permanent."""
        names = [str(one) async for one in self.redis.scan_iter(count=1000)]
        lasting = [one for one in names if await self.redis.ttl(one) == -1]
        meant = (*SETTINGS, OF_THE_QUEUE)
        return {one for one in lasting if one not in LASTING and not one.startswith(meant)}

    async def _seen_by_redis(self) -> None:
        """Wait until the Redis monitor has reported everything."""
        last = uuid4().hex
        await self.redis.echo(last)
        async with asyncio.timeout(30):
            while not any(last in one for one in self.commands[-200:]):
                await self.told.wait()
                self.told.clear()

    async def _held(self) -> AsyncIterator[tuple[str, Any]]:
        async for name in self.redis.scan_iter(count=1000):
            match await self.redis.type(name):
                case "string":
                    yield name, await self.redis.get(name)
                case "hash":
                    yield name, await self.redis.hgetall(name)
                case "list":
                    yield name, await self.redis.lrange(name, 0, -1)
                case "set":
                    yield name, await self.redis.smembers(name)
                case "zset":
                    yield name, await self.redis.zrange(name, 0, -1)
                case "stream":
                    yield name, await self.redis.xrange(name)


@asynccontextmanager
async def watched(slack: SlackServer, server: Connection, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Sinks]:
    """Captures library loggers at debug level too, including request and response bodies."""
    sinks = Sinks(slack, server.redis, caplog)
    with caplog.at_level(logging.DEBUG):
        reader, writer = await asyncio.open_unix_connection(urlsplit(server.url).path, limit=2**26)
        writer.write(b"MONITOR\r\n")
        assert await reader.readline() == b"+OK\r\n"

        async def listen() -> None:
            async for line in reader:
                sinks.commands.append(line.decode(errors="replace"))
                sinks.told.set()

        listening = asyncio.create_task(listen())
        try:
            yield sinks
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            writer.close()
            await writer.wait_closed()


def _around(text: str, secret: str) -> str:
    at = text.index(secret)
    return text[max(at - 120, 0) : at + 80]
