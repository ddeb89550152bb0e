"""Quota rows: what a subscription may have in a region and what it uses, the same for every resource provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.clients.arm.reader import ArmReader
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import from_subscription
from handlers.evidence.wire import need_number, need_text, text, whole
from handlers.model import Evidence


@dataclass(frozen=True, slots=True)
class Usage:
    """One quota row: how much of it is used."""

    name: str
    title: str
    used: int
    limit: int

    @property
    def room(self) -> str:
        """`4 free`. A limit that was lowered later, or what the surge of an upgrade took, leaves less than nothing."""
        return f"{self.free} free" if self.free >= 0 else f"{-self.free} over the limit"

    @property
    def free(self) -> int:
        return self.limit - self.used


@dataclass(frozen=True, kw_only=True)
class RegionUsages(Evidence):
    """The quota rows of one resource provider in the cluster's region and subscription."""

    location: str
    scope: str
    usages: tuple[Usage, ...]

    def row(self, name: str) -> Usage | None:
        return next((usage for usage in self.usages if usage.name.lower() == name.lower()), None)

    def id_of(self, usage: Usage) -> str:
        return f"{self.scope}/usages/{usage.name}"


Kind = TypeVar("Kind", bound=RegionUsages)


async def region_usages(kind: type[Kind], provider: str, api: str, cluster: ManagedCluster, arm: ArmReader) -> Kind:
    """The rows of `Microsoft.Compute`, `Microsoft.Network` or any provider that has `locations/usages`."""
    scope = f"/subscriptions/{cluster.subscription}/providers/{provider}/locations/{cluster.location}"
    listing = await from_subscription(cluster.subscription, arm.list(f"{scope}/usages", api))
    return kind(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        location=cluster.location,
        scope=scope,
        usages=tuple(map(_usage, whole(listing.items))),
    )


def _usage(row: Mapping[str, Any]) -> Usage:
    return Usage(
        name=need_text(row, "name", "value"),
        title=text(row, "name", "localizedValue"),
        used=need_number(row, "currentValue"),
        limit=need_number(row, "limit"),
    )
