"""What of a fleet runs out soon, as far as Azure says: the certificates of clusters that are connected through Arc.

Called by the digest. Azure renews them by itself while a cluster's agents are in touch, so one that is about to run out
says that they are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from handlers.clients.arm.reader import ArmReader
from handlers.evidence.wire import moment, text
from handlers.fleet.clusters import AT_ONCE, LISTED, FleetMember
from handlers.fleet.kinds import CONNECTED
from handlers.model import CannotSee
from handlers.resource_id import BadResourceId, ResourceId

SOON = timedelta(days=14)
"""A certificate lasts for 90 days, and is renewed long before its last two weeks."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """When a cluster's certificate ends; None where that could not be read."""

    cluster: str
    until: datetime | None


async def expiring(members: Sequence[FleetMember], arm: ArmReader, now: datetime) -> list[Expiry]:
    """Those that end within two weeks, or have ended, the next one first; then those that could not be read."""
    gate = asyncio.Semaphore(AT_ONCE)
    asked = [(member, path) for member in members if (path := _connected(member))]

    async def read(member: FleetMember, path: str) -> Expiry | None:
        async with gate:
            try:
                body = (await arm.get(path, LISTED[CONNECTED])).body
            except CannotSee:
                return Expiry(member.name, None)
        until = moment(text(body, "properties", "managedIdentityCertificateExpirationTime"))
        return Expiry(member.name, until) if until and until <= now + SOON else None

    found = [item for item in await asyncio.gather(*(read(*one) for one in asked)) if item]
    return sorted(found, key=lambda item: (item.until is None, item.until or now, item.cluster.lower()))


def _connected(member: FleetMember) -> str:
    """The id under which it is connected to Arc: its own, or the second resource of a Nexus cluster."""
    if member.type.lower() == CONNECTED.lower():
        return member.id
    try:
        return str(ResourceId.parse(member.connected)) if member.connected else ""
    except BadResourceId:
        return ""
