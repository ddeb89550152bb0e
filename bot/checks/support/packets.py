"""Makes support packets: a whole check that is recorded, what only support asks for, and what aksbot itself did.

For `/aks support` and `aksbot support`. Nothing in Azure or the cluster is changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

from bot.audit.store import Audit, AuditUnreadable
from bot.checks.recording import recorded_check
from bot.checks.remedies import facts_for_support
from bot.checks.support.done import done_of
from bot.render.packet import pages
from bot.render.packet.archive import Archive
from bot.render.packet.material import Happened, Material
from bot.render.packet.picture import picture
from bot.render.pictures.process import Drawing
from bot.report.events import Report
from bot.store.away import StoreAway
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.engine.run import Finished
from handlers.evidence.support import ON_REQUEST
from handlers.fleet.cluster_text import ClusterRef
from handlers.model import Target, Unavailable, Why
from handlers.problem import Problem
from runbooks.library import Library

DONE_SINCE = timedelta(days=14)
"""As far back as the activity log is read."""
WANTED = "what aksbot itself did"
NO_STORE = Unavailable(WANTED, Why.ABSENT, "this machine keeps no audit; set REDIS_URL to the server that the bot uses")


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet, and what is said about it."""

    archive: Archive
    report: Report
    unseen: int
    """How much that belongs into it could not be read."""

    @property
    def target(self) -> Target:
        return self.report.diagnosis.target


Done = Callable[[str, datetime], Awaitable[tuple[Happened, ...]]]
"""What aksbot did to the cluster of this id since then. Raises StoreAway or AuditUnreadable."""


@dataclass
class _Gathered:
    """What is read beside the check, with the check's own clients."""

    facts: Mapping[type, Any] = field(default_factory=dict)

    async def __call__(self, finished: Finished, target: Target, clients: Mapping[type, Any]) -> None:
        self.facts = await facts_for_support(finished, target, clients)


@dataclass(frozen=True)
class SupportPackets:
    """Makes one packet at a time for each that asks; shares nothing with the checks of others."""

    azure: AzureAccess
    kube: KubeAccess
    library: Library
    timeout_s: float
    drawing: Drawing = field(default_factory=Drawing)

    async def made(self, cluster: str | ClusterRef, made_at: datetime, done: Done | None) -> Packet:
        """The packet of a cluster, or a Problem. `done`: where the bot keeps what it did; None where nowhere."""
        gathered = _Gathered()
        report, recorder = await recorded_check(
            cluster, self.azure, self.kube, self.library, self.timeout_s, beside=gathered
        )
        target = report.diagnosis.target
        own, why = await _done(done, str(target.id), made_at - DONE_SINCE)
        unseen = [fact for need in ON_REQUEST if isinstance(fact := gathered.facts.get(need.kind), Unavailable)]
        material = Material(
            report=report,
            recording=recorder.recording,
            facts=gathered.facts,
            version=version("aksbot"),
            made_at=made_at.astimezone(UTC),
            done=own,
            unseen=(*unseen, *why),
        )
        archive = await asyncio.to_thread(pages.archive, material, self.library, await self._drawn(material))
        return Packet(archive, report, len(pages.unseen(material)))

    async def _drawn(self, material: Material) -> bytes | None:
        """Without it the packet is still whole: it shows what the table says."""
        drawn = await asyncio.to_thread(picture, material)
        return await self.drawing.png(drawn.chart) if drawn else None


def done_in(audit: Audit) -> Done:
    """What the audit says."""

    async def done(cluster: str, since: datetime) -> tuple[Happened, ...]:
        records = [record async for record in audit.records(int(since.timestamp() * 1000))]
        return done_of(records, cluster)

    return done


async def _done(
    done: Done | None, cluster: str, since: datetime
) -> tuple[tuple[Happened, ...], tuple[Unavailable, ...]]:
    if done is None:
        return (), (NO_STORE,)
    try:
        return await done(cluster, since), ()
    except (StoreAway, AuditUnreadable, Problem) as away:
        return (), (Unavailable(WANTED, Why.FAILED, str(away)),)
