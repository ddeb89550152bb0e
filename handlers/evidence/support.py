"""What support asks for and no check needs: the tenant, the fabric of a Nexus site, the templates that were deployed.

Only on request: `bot.checks.support.packets` gathers it for a support packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import Need, collector
from handlers.evidence.control_plane_logs import ControlPlaneLogs
from handlers.evidence.nexus.fabric import FABRIC_API
from handlers.evidence.nexus.sites import NexusSite
from handlers.evidence.subscriptions import SUBSCRIPTIONS_API
from handlers.evidence.wire import dig, moment, need_text, rows, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Target, Unavailable

DEPLOYMENTS_API = "2025-04-01"
MOST_DEPLOYMENTS = 800
"""A resource group keeps no more."""


@dataclass(frozen=True, kw_only=True)
class Tenancy(Evidence):
    """The tenant and the subscription."""

    tenant: str
    subscription: str
    name: str
    state: str


@dataclass(frozen=True, kw_only=True)
class NexusFabrics(Evidence):
    """The network fabric of a Nexus site, its controller, and all fabrics of that controller."""

    fabric: str
    state: str
    version: str
    controller: str
    controller_state: str
    fabrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deployment:
    """One deployment of a template."""

    id: str
    name: str
    at: datetime | None
    state: str
    correlation: str
    template: str
    """Where it came from, or its hash."""
    made: tuple[str, ...]
    """The ids of what it made or changed."""
    error: Mapping[str, Any] | None

    def touches(self, cluster: str) -> bool:
        """Whether the cluster or something of it is among that."""
        above = cluster.lower()
        return any(made.lower() == above or made.lower().startswith(f"{above}/") for made in self.made)


@dataclass(frozen=True, kw_only=True)
class Deployments(Evidence):
    """The templates that were deployed to the cluster's resource group, newest first."""

    deployments: tuple[Deployment, ...]


@collector(reads=("Microsoft.Resources/subscriptions/read",))
async def tenancy(target: Target, arm: ArmReader) -> Tenancy:
    """the tenant and the subscription"""
    answer = await arm.get(f"/subscriptions/{target.id.subscription}", SUBSCRIPTIONS_API)
    return Tenancy(
        source=answer.source,
        taken_at=answer.taken_at,
        tenant=need_text(answer.body, "tenantId"),
        subscription=text(answer.body, "subscriptionId") or target.id.subscription,
        name=text(answer.body, "displayName"),
        state=text(answer.body, "state"),
    )


@collector(
    reads=(
        "Microsoft.ManagedNetworkFabric/networkFabrics/read",
        "Microsoft.ManagedNetworkFabric/networkFabricControllers/read",
    )
)
async def nexus_fabrics(site: NexusSite, arm: ArmReader) -> NexusFabrics | NotApplicable:
    """the network fabric of the site and its controller"""
    if not site.fabric:
        return NotApplicable(f"Nexus cluster {site.name} names no network fabric")
    answer = await arm.get(site.fabric, FABRIC_API)
    properties = dig(answer.body, "properties")
    controller = text(properties, "networkFabricControllerId")
    above, gaps = await _controller(controller, arm)
    return NexusFabrics(
        source=answer.source,
        taken_at=answer.taken_at,
        gaps=gaps,
        fabric=need_text(answer.body, "id"),
        state=text(properties, "provisioningState"),
        version=text(properties, "fabricVersion"),
        controller=controller,
        controller_state=text(above, "provisioningState"),
        fabrics=texts(above, "networkFabricIds") or (need_text(answer.body, "id"),),
    )


async def _controller(controller: str, arm: ArmReader) -> tuple[Any, tuple[Unavailable, ...]]:
    """Its properties; its id is known without them."""
    if not controller:
        return None, ()
    try:
        return dig((await arm.get(controller, FABRIC_API)).body, "properties"), ()
    except CannotSee as blind:
        return None, (blind.unavailable,)


@collector(reads=("Microsoft.Resources/deployments/read",))
async def deployments(target: Target, arm: ArmReader) -> Deployments:
    """the templates that were deployed to the cluster's group"""
    path = f"{target.id.group_id}/providers/Microsoft.Resources/deployments"
    listing = await arm.list(path, DEPLOYMENTS_API, most=MOST_DEPLOYMENTS)
    known = [_deployment(body) for body in whole(listing.items)]
    return Deployments(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        deployments=tuple(sorted(known, key=lambda known: known.at.timestamp() if known.at else 0.0, reverse=True)),
    )


def _deployment(body: Mapping[str, Any]) -> Deployment:
    properties = dig(body, "properties")
    error = dig(properties, "error")
    return Deployment(
        id=need_text(body, "id"),
        name=text(body, "name"),
        at=moment(text(properties, "timestamp")),
        state=text(properties, "provisioningState"),
        correlation=text(properties, "correlationId"),
        template=text(properties, "templateLink", "uri") or text(properties, "templateHash"),
        made=tuple(text(row, "id") for row in rows(properties, "outputResources")),
        error=error if isinstance(error, Mapping) else None,
    )


ON_REQUEST = (
    Need("tenancy", Tenancy),
    Need("fabrics", NexusFabrics),
    Need("deployments", Deployments),
    Need("logs", ControlPlaneLogs),
)
"""No diagnostic needs them: who asks for them, and the reader's role, name them so."""
