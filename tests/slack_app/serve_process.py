"""`aksbot serve` as a process of its own, to be killed, and what stands in Slack once everything has been said."""

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
"""A process starts in seconds, and in many of them on a machine that is busy."""


@dataclass(frozen=True)
class Stage:
    """Where a process of the bot is put."""

    slack: SlackServer
    arm: ArmServer
    redis: Connection
    folder: Path

    @asynccontextmanager
    async def serving(self, role: str = "all") -> AsyncIterator[Process]:
        """A process that has its connection to Slack; a worker has none."""
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
    """Wait until a call hangs in this fault."""

    async def taken() -> bool:
        return fault.times == 0

    await until(taken, PATIENCE_S)


async def all_told(redis: Connection, number: int = 1) -> None:
    """Wait until so many requests are recorded as answered: nothing is said after that."""

    async def recorded() -> bool:
        return len([key async for key in redis.redis.scan_iter("aksbot:done:*")]) >= number

    await until(recorded, PATIENCE_S)


def said_once(control: Control, channel: str = "incidents") -> list[Message]:
    """The one answer and its thread; each part of it stands there once, and the file too."""
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
    """Lock so many things in the node resource group of a cluster, each a cause of its own."""
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
    """Let a node pool of a cluster have failed for a reason that takes so many characters."""
    pool = next(body for key, body in world.resources.items() if f"/managedclusters/{cluster}/agentpools/" in key)
    message = f"{'it could not be done because of something else, and ' * (length // 53)}that is the last word of it"
    error = {"code": "VMExtensionProvisioningError", "message": message}
    state = {"provisioningState": "Failed", "status": {"provisioningError": error}}
    world.put(pool | {"properties": pool["properties"] | state})
