"""Azure in a process of its own, so that its work is not the check's."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from handlers.clients.access import AzureAccess
from sandbox.arm.request_log import LoggedRequest
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario


@dataclass(frozen=True, slots=True)
class AzureProcess:
    """The other end: where it listens, and what it was asked."""

    access: AzureAccess
    pipe: Connection

    def log(self) -> list[LoggedRequest]:
        """What was asked since the last call of this."""
        self.pipe.send("log")
        logged: list[LoggedRequest] = self.pipe.recv()
        return logged


@contextmanager
def azure_process(scenario: str, latency_s: float) -> Iterator[AzureProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, scenario, latency_s), daemon=True)
    process.start()
    environment = here.recv()
    access = AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
    )
    try:
        yield AzureProcess(access, here)
    finally:
        here.send("end")
        process.join(10)


def _serve(pipe: Connection, scenario: str, latency_s: float) -> None:
    asyncio.run(_serving(pipe, Scenario.load(scenario), latency_s))


async def _serving(pipe: Connection, scenario: Scenario, latency_s: float) -> None:
    async with ArmServer(scenario.world, latency_s=latency_s) as server:
        pipe.send(server.environment("reader"))
        seen = 0
        while await asyncio.to_thread(pipe.recv) == "log":
            log = server.log[seen:]
            seen += len(log)
            pipe.send(log)
