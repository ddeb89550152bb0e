"""The way to the state: the embedded server or the one at REDIS_URL, looked at before it is trusted."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from bot.store.away import why_lost
from bot.store.embedded import EmbeddedServer
from handlers.problem import Exit, Problem

log = logging.getLogger(__name__)

OLDEST = 7
"""The queue keeps its steps as functions in the server, which Redis 7 brought."""
CONNECT_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 5.0
_SCHEMES = ("redis", "rediss", "unix")


@dataclass(frozen=True, slots=True)
class Connection:
    """An open way to the state."""

    url: str
    redis: Redis
    embedded: EmbeddedServer | None = None

    @property
    def why_no_writes(self) -> str | None:
        """Why nothing can be kept now, where that is known without asking the server."""
        return self.embedded.why_no_writes if self.embedded else None


@asynccontextmanager
async def connected(redis_url: str | None, data_dir: Path) -> AsyncIterator[Connection]:
    """Open for as long as the process serves."""
    if redis_url is None:
        async with EmbeddedServer(data_dir) as server, _client(server.url) as redis:
            yield Connection(server.url, redis, server)
        return
    _must_be_a_url(redis_url)
    async with _client(redis_url) as redis:
        await _look_at(redis, redis_url)
        yield Connection(redis_url, redis)


@asynccontextmanager
async def beside(redis_url: str | None, data_dir: Path) -> AsyncIterator[Connection]:
    """For a command: the bot's own server while it runs; else the same files, opened for this."""
    socket = _socket_of(data_dir)
    if redis_url is None and socket.exists():
        async with Redis(unix_socket_path=str(socket), decode_responses=True) as redis:
            with suppress(RedisError, OSError):
                await redis.ping()
                yield Connection(f"unix://{socket}", redis)
                return
    async with connected(redis_url, data_dir) as connection:
        yield connection


def _socket_of(data_dir: Path) -> Path:
    return data_dir.expanduser() / "valkey" / "valkey.sock"


def place(redis_url: str) -> str:
    """The URL as it may be shown: without its password."""
    parts = urlsplit(redis_url)
    if parts.scheme == "unix":
        return f"unix://{parts.path}"
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


@asynccontextmanager
async def _client(url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=ANSWER_TIMEOUT_S,
        # A pooled connection of a server that was restarted fails once; then a new one is made.
        retry=Retry(ConstantBackoff(0.05), 1),
    )
    try:
        yield redis
    finally:
        await redis.aclose()


async def _look_at(redis: Redis, url: str) -> None:
    what = f"cannot use the Redis server at {place(url)}"
    try:
        info = await redis.info("server")
        policy = await _eviction(redis)
    except AuthenticationError as refused:
        raise Problem(what, str(refused), "correct the user and the password in REDIS_URL") from refused
    except (RedisError, OSError) as lost:
        why = why_lost(lost)
        raise Problem(what, why, "start it, correct REDIS_URL, or unset it to keep the state on this machine") from lost
    version = str(info.get("valkey_version") or info.get("redis_version") or "0")
    if int(version.split(".")[0]) < OLDEST:
        raise Problem(what, f"its version is {version}", f"use Redis or Valkey {OLDEST} or newer")
    if policy is None:
        log.warning("%s does not show its maxmemory-policy; it must be noeviction, or approvals can vanish", place(url))
    elif policy != "noeviction":
        why = f"its maxmemory-policy is {policy}, so it may drop approvals and jobs when memory is short"
        raise Problem(what, why, "set maxmemory-policy to noeviction there")
    log.info("state is kept by the server at %s, version %s", place(url), version)


async def _eviction(redis: Redis) -> str | None:
    """Managed services often hide CONFIG; INFO says it too."""
    memory = await redis.info("memory")
    if "maxmemory_policy" in memory:
        return str(memory["maxmemory_policy"])
    try:
        return str((await redis.config_get("maxmemory-policy"))["maxmemory-policy"])
    except (NoPermissionError, RedisError, KeyError):
        return None


def _must_be_a_url(url: str) -> None:
    if urlsplit(url).scheme not in _SCHEMES:
        why = f"it must begin with one of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}"
        raise Problem("cannot use REDIS_URL", why, "correct it, or unset it to keep the state here", code=Exit.USAGE)
