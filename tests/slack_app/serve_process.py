"""Runs `aksbot serve` as a separate process to be killed, and reads the final state of Slack."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from sandbox.world import World
from tests.slack_app.reading import heads, is_answer, seen
from tests.store.servers import python, until

SERVE = ("-c", "from bot.cli.main import main; main()", "serve")
PATIENCE_S = 60.0
"""A process starts in seconds, but takes much longer on a busy machine."""


@dataclass(frozen=True)
class Stage:
    """The environment of a bot process."""

    slack: SlackServer
    arm: ArmServer
    redis: Connection
    folder: Path

    @asynccontextmanager
    async def serving(self, role: str = "all") -> AsyncIterator[Process]:
        """A process that is connected to Slack, unless it is a worker."""
        opened = self.slack.sockets.opened
        async with python(*SERVE, **self._environment(role)) as process:
            if role != "worker":
                await self.slack.until(lambda: self.slack.sockets.opened > opened, PATIENCE_S)
            yield process

    def _environment(self, role: str) -> dict[str, str]:
        own = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(self.folder / "process"), "AKSBOT_ROLE": role}
        return {**self.arm.environment("reader"), **self.slack.environment, "REDIS_URL": self.redis.url, **own}


async def kill(process: Process) -> None:
    """SIGKILL."""
    process.kill()
    await asyncio.wait_for(process.wait(), PATIENCE_S)


async def hit(fault: Fault) -> None:
    """Wait until a call is blocked by this fault."""

    async def taken() -> bool:
        return fault.times == 0

    await until(taken, PATIENCE_S)


async def all_told(redis: Connection, number: int = 1) -> None:
    """Wait until this many requests are recorded as answered, after which nothing more is posted."""

    async def recorded() -> bool:
        return len([key async for key in redis.redis.scan_iter("aksbot:done:*")]) >= number

    await until(recorded, PATIENCE_S)


def said_once(control: Control, channel: str = "incidents") -> list[Message]:
    """Check that the answer, each part of its thread and the file were posted exactly once."""
    (head,) = heads(control, channel)
    assert is_answer(head), seen(head)
    thread = control.thread(channel, head.ts)
    parts = [one.metadata["event_payload"]["part"] for one in thread if one.metadata]
    assert parts[0].startswith("head")
    assert [part for part, times in Counter(parts).items() if times > 1] == []
    texts = Counter(seen(one) for one in thread if not one.files)
    assert [text for text, times in texts.items() if times > 1] == []
    assert max(Counter(one.name for one in control.files(channel, head.ts)).values(), default=0) <= 1
    return thread


def crowd(world: World, cluster: str, number: int) -> None:
    """Lock this many resources in a cluster's node resource group, each a separate cause."""
    body = next(one for key, one in world.resources.items() if key.endswith(f"/managedclusters/{cluster}"))
    group = f"{body['id'].split('/resource', 1)[0]}/resourceGroups/{body['properties']['nodeResourceGroup']}"
    for index in range(number):
        name = f"keep-{index:03}"
        world.put(
            {
                "id": f"{group}/providers/Microsoft.Authorization/locks/{name}",
                "name": name,
                "type": "Microsoft.Authorization/locks",
                "properties": {"level": "CanNotDelete", "notes": f"Ask the owners of address {index} first."},
            }
        )


def complain_at_length(world: World, cluster: str, length: int) -> None:
    """Make a cluster's node pool fail with an error message of this length."""
    pool = next(body for key, body in world.resources.items() if f"/managedclusters/{cluster}/agentpools/" in key)
    message = f"{'it could not be done because of something else, and ' * (length // 53)}that is the last word of it"
    error = {"code": "VMExtensionProvisioningError", "message": message}
    state = {"provisioningState": "Failed", "status": {"provisioningError": error}}
    world.put(pool | {"properties": pool["properties"] | state})
