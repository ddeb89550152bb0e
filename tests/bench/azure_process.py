"""Runs the sandbox's Azure in a separate process, so that its CPU time does not count toward the check."""

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
from sandbox.kube.request_log import LoggedRequest as KubeRequest
from sandbox.scenario import Scenario


@dataclass(frozen=True, slots=True)
class AzureProcess:
    """Handle of the process: its address and request log."""

    access: AzureAccess
    pipe: Connection

    def log(self) -> tuple[list[LoggedRequest], list[KubeRequest]]:
        """The requests to Azure and to the clusters since the last call."""
        self.pipe.send("log")
        logged: tuple[list[LoggedRequest], list[KubeRequest]] = self.pipe.recv()
        return logged


@contextmanager
def azure_process(scenario: str, latency_s: float, kube_latency_s: float) -> Iterator[AzureProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, scenario, latency_s, kube_latency_s), daemon=True)
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


def _serve(pipe: Connection, scenario: str, latency_s: float, kube_latency_s: float) -> None:
    asyncio.run(_serving(pipe, Scenario.load(scenario), latency_s, kube_latency_s))


async def _serving(pipe: Connection, scenario: Scenario, latency_s: float, kube_latency_s: float) -> None:
    async with ArmServer(scenario.world, latency_s=latency_s) as server:
        for kube in server.kube.values():
            kube.latency_s = kube_latency_s
        pipe.send(server.environment("reader"))
        while await asyncio.to_thread(pipe.recv) == "log":
            pipe.send((server.log[:], [request for kube in server.kube.values() for request in kube.log]))
            server.log.clear()
            for kube in server.kube.values():
                kube.log.clear()
