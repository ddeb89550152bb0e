"""What fixes act with: open for as long as a process works, as the writer, and with nothing kept that was read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.doors import KubeSessions
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.writer import KubeWriter
from handlers.model import Target
from handlers.remedy.acts.act import WriterClients


@dataclass(frozen=True, slots=True)
class WriterClientFactory:
    """Opened by `writer_client_factory`."""

    writer: ArmWriter
    reader: ArmReader
    writer_reads: ArmReader
    doors: KubeSessions
    writer_doors: KubeSessions

    @asynccontextmanager
    async def write_clients(self, target: Target) -> AsyncIterator[WriterClients]:
        """For one piece of work on one cluster."""
        async with (
            KubeReader(target, self.reader, self.doors.access, doors=self.doors) as nodes,
            self.kube(target) as kube,
        ):
            yield WriterClients(self.writer, self.reader, nodes, kube)

    @asynccontextmanager
    async def kube(self, target: Target) -> AsyncIterator[KubeWriter]:
        """The writer inside one cluster."""
        async with KubeWriter(target, self.writer_reads, self.writer_doors.access, doors=self.writer_doors) as kube:
            yield kube


@asynccontextmanager
async def writer_client_factory(azure: AzureAccess, kube: KubeAccess) -> AsyncIterator[WriterClientFactory]:
    """Cheap to open: nothing is asked before the first fix."""
    as_writer = azure.as_writer()
    async with (
        ArmWriter(as_writer) as writer,
        ArmReader(azure, fresh_for_s=0) as reader,
        ArmReader(as_writer, fresh_for_s=0) as writer_reads,
        KubeSessions(reader, kube) as doors,
        # Run-command leaves no proof of what it did: nothing is written through it.
        KubeSessions(writer_reads, replace(kube, run_command=())) as writer_doors,
    ):
        yield WriterClientFactory(writer, reader, writer_reads, doors, writer_doors)
