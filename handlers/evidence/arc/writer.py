"""What the writer may do where the fixes of a resource bridge act."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.engine.declare import collector
from handlers.evidence.arc.bridge import ArcBridge
from handlers.evidence.permissions import WriterMay, may_at


@dataclass(frozen=True, kw_only=True)
class BridgeWriterMay(WriterMay):
    """What the writer may do in the subscription of the bridge."""


@collector(reads=("Microsoft.Authorization/permissions/read",))
async def bridge_writer_may(bridge: ArcBridge, writer_permissions: WriterPermissionReader) -> BridgeWriterMay:
    """what the writer may do in the bridge's subscription"""
    return await may_at(BridgeWriterMay, [f"/subscriptions/{bridge.subscription}"], writer_permissions)
