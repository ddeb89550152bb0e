"""From raw responses to offered fixes, with real collectors, diagnostics and remedies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from handlers.clients.access import AzureAccess
from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.permission_reader import WriterKubePermissionReader
from handlers.clients.kube.reader import KubeReader
from handlers.engine.run import Engine
from handlers.model import Target
from handlers.remedy.offers import Remedies
from handlers.remedy.plan import Offer, Plan
from handlers.resource_id import ResourceId
from tests.handlers.diagnose.bodies import CLUSTER, NOW
from tests.handlers.diagnose.wire import GRAPH, Azure
from tests.transports import Answers

REMEDIES = Remedies.discover()


@dataclass(frozen=True)
class Reasons:
    """The reasons why there is no plan, searchable by text."""

    offer: Offer

    def __contains__(self, words: str) -> bool:
        return any(words in one.because for one in self.offer.forbidden)

    def __str__(self) -> str:
        return "; ".join(one.because for one in self.offer.forbidden)


@asynccontextmanager
async def clients_of(azure: Azure) -> AsyncIterator[tuple[Target, dict[type, Any]]]:
    """The clients for a check of this cluster."""
    target = Target(ResourceId.parse(CLUSTER), NOW)
    transport = Answers(azure.answer, NOW)
    async with (
        ArmReader(AzureAccess(), transport=transport) as arm,
        WriterPermissionReader(AzureAccess(), transport=transport) as writer_permissions,
        KubeReader(target, arm, KubeAccess(), transport=transport) as kube,
        WriterKubePermissionReader(target, writer_permissions, KubeAccess(), transport=transport) as inside,
    ):
        yield (
            target,
            {
                ArmReader: arm,
                KubeReader: kube,
                WriterPermissionReader: writer_permissions,
                WriterKubePermissionReader: inside,
            },
        )


async def offered(remedy: str, azure: Azure, subject: str = "") -> Offer:
    """One remedy's offer for a finding of its codes, as if the finding were a root."""
    known = REMEDIES.named(remedy)
    assert known is not None
    asking = GRAPH.only([one for one in GRAPH.diagnostics if set(one.codes) & set(known.codes)])
    async with clients_of(azure) as (target, clients):
        diagnosis = await Engine(asking, {}).diagnose(target, clients)
        facts = await Engine(GRAPH.facts(known.needs), {}).gather(target, clients)
    offers = [one for one in REMEDIES.offers(diagnosis, facts) if one.remedy == remedy]
    meant = [one for one in offers if not subject or one.subject.lower() == subject.lower()]
    assert meant, (remedy, diagnosis.findings, [(one.id, one.why) for one in diagnosis.checks])
    return meant[0]


async def planned(remedy: str, azure: Azure, subject: str = "") -> Plan:
    """The plan, asserting that there is one."""
    offer = await offered(remedy, azure, subject)
    assert offer.plan is not None, offer.forbidden
    return offer.plan


async def refused(remedy: str, azure: Azure, subject: str = "") -> Reasons:
    """The reasons, asserting that there is no plan. Each says what to do."""
    offer = await offered(remedy, azure, subject)
    assert offer.plan is None
    assert all(one.because and one.do for one in offer.forbidden)
    return Reasons(offer)
