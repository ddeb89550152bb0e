"""What the writer may do on the network fabric of a site."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.engine.declare import collector
from handlers.evidence.nexus.fabric import IsolationDomains
from handlers.evidence.permissions import WriterMay, may_at
from handlers.model import NotApplicable


@dataclass(frozen=True, kw_only=True)
class FabricWriterMay(WriterMay):
    """What the writer may do on the isolation domains."""


@collector(reads=("Microsoft.Authorization/permissions/read",))
async def fabric_writer_may(
    domains: IsolationDomains, writer_permissions: WriterPermissionReader
) -> FabricWriterMay | NotApplicable:
    """what the writer may do on the isolation domains"""
    if not domains.domains:
        return NotApplicable("there is no isolation domain")
    return await may_at(FabricWriterMay, [domain.id for domain in domains.domains], writer_permissions)
