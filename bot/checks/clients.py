"""Everything a check asks with: one way to Azure, the open doors to the clusters, and perhaps a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.settings import Settings
from handlers.clients.access import AzureAccess
from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.clients.arm.reader import FRESH_FOR_S, ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.permission_reader import WriterKubePermissionReader
from handlers.clients.kube.reader import KubeReader
from handlers.clients.log_analytics import LogAnalytics
from handlers.engine.current import Lateness
from handlers.model import Target

if TYPE_CHECKING:
    from handlers.clients.kube.door.doors import KubeSessions
    from handlers.clients.recording.case import Recorder, Recording


@dataclass(frozen=True)
class Clients:
    """What is shared by all checks of this process."""

    arm: ArmReader
    doors: KubeSessions
    recorder: Recorder | None = None
    recording: Recording | None = None
    writer_permissions: WriterPermissionReader | None = None
    """What the writer may do is read as the writer; in a replay nobody is asked."""
    writer_doors: KubeSessions | None = None
    """The clusters' doors, with the writer's key: never through run-command."""

    @asynccontextmanager
    async def for_target(self, target: Target) -> AsyncIterator[Mapping[type, Any]]:
        """The clients of one check of one cluster."""
        transport = self.recording.transport() if self.recording else None
        async with (
            KubeReader(
                target, self.arm, self.doors.access, recorder=self.recorder, transport=transport, doors=self.doors
            ) as kube,
            LogAnalytics(self.arm) as logs,
        ):
            given: dict[type, Any] = {ArmReader: self.arm, KubeReader: kube, LogAnalytics: logs}
            recorded = self.recorder or self.recording
            if recorded:
                given[Lateness] = recorded.lateness
            if self.writer_permissions is None or self.writer_doors is None:
                yield given
                return
            async with WriterKubePermissionReader(
                target, self.writer_permissions, self.writer_doors.access, doors=self.writer_doors
            ) as inside:
                yield {**given, WriterPermissionReader: self.writer_permissions, WriterKubePermissionReader: inside}


def azure_access(settings: Settings) -> AzureAccess:
    """Where Azure is, as the settings say."""
    return AzureAccess(
        resource_manager=settings.azure_resource_manager,
        authority=settings.azure_authority,
        ca_bundle=settings.ca_bundle,
        log_analytics=settings.log_analytics or "",
    )


def kube_access(settings: Settings) -> KubeAccess:
    """How clusters may be reached, as the settings say."""
    return KubeAccess(
        kubeconfig=settings.kubeconfig,
        run_command=settings.run_command,
        probe_image=settings.probe_image,
        own_addresses=settings.own_addresses,
        pod_proxy=settings.pod_proxy,
    )


@asynccontextmanager
async def clients(
    azure: AzureAccess,
    kube: KubeAccess,
    *,
    recorder: Recorder | None = None,
    recording: Recording | None = None,
    fresh_for_s: float = FRESH_FOR_S,
) -> AsyncIterator[Clients]:
    """Open for as long as somebody asks."""
    from handlers.clients.kube.door.doors import KubeSessions

    transport = recording.transport() if recording else None
    async with (
        ArmReader(azure, recorder=recorder, transport=transport, fresh_for_s=fresh_for_s) as arm,
        KubeSessions(arm, kube) as doors,
        WriterPermissionReader(azure.as_writer(), fresh_for_s=fresh_for_s) as writer_permissions,
        KubeSessions(writer_permissions, replace(kube, run_command=())) as writer_doors,
    ):
        writer_permissions.calls = arm.calls  # a check counts what it asks of Azure, whoever asks
        yield Clients(arm, doors, recorder, recording, None if recording else writer_permissions, writer_doors)
