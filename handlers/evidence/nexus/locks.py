"""The management locks over the network fabric of a site."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.governance import Locks, locks_over
from handlers.evidence.nexus.fabric import IsolationDomains
from handlers.model import NotApplicable


@dataclass(frozen=True, kw_only=True)
class FabricLocks(Locks):
    """Every management lock that reaches the isolation domains."""


@collector(reads=("Microsoft.Authorization/locks/read",))
async def fabric_locks(domains: IsolationDomains, arm: ArmReader) -> FabricLocks | NotApplicable:
    """the locks over the isolation domains"""
    if not domains.domains:
        return NotApplicable("there is no isolation domain")
    return await locks_over(FabricLocks, [domain.id for domain in domains.domains], arm)
