"""What Azure says about itself: the service issues that it has announced to the subscription and that are not over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import moment, need_text, rows, text, whole
from handlers.model import Evidence, Unavailable

EVENTS_API = "2024-02-01"
STANDS_ON = (
    "azure kubernetes service",
    "virtual machine",
    "virtual network",
    "load balancer",
    "network infrastructure",
    "azure private link",
    "azure dns",
    "azure resource manager",
)
"""The beginnings of what Service Health calls AKS and the services that it stands on."""
EVERYWHERE = "global"
_NOT_A_LETTER = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class ServiceIssue:
    """One issue, as far as it touches this cluster."""

    tracking_id: str
    title: str
    services: tuple[str, ...]
    region: str
    began: datetime | None

    def __str__(self) -> str:
        since = f" since {self.began:%Y-%m-%d %H:%M} UTC" if self.began else ""
        title = f": {self.title}" if self.title else ""
        return (
            f"Azure has announced a service issue of {', '.join(self.services)} in {self.region}{since} "
            f"({self.tracking_id}){title}"
        )


@dataclass(frozen=True, kw_only=True)
class ServiceIssues(Evidence):
    """The active ones of AKS, or of what it stands on, in the cluster's region."""

    issues: tuple[ServiceIssue, ...]

    def of_aks(self) -> bool:
        return any(name.lower().startswith(STANDS_ON[0]) for issue in self.issues for name in issue.services)

    def before(self, moment: datetime | None) -> tuple[ServiceIssue, ...]:
        """Those that had begun by then: what began later is not what stopped it."""
        return tuple(issue for issue in self.issues if moment is None or issue.began is None or issue.began <= moment)


@collector(reads=("Microsoft.ResourceHealth/events/read",))
async def service_issues(cluster: ManagedCluster, arm: ArmReader) -> ServiceIssues:
    """Azure's own service issues"""
    path = f"/subscriptions/{cluster.subscription}/providers/Microsoft.ResourceHealth/events"
    listing = await arm.list(path, EVENTS_API)
    found = [_issue(body, cluster.location, listing.taken_at) for body in whole(listing.items)]
    return ServiceIssues(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        issues=tuple(issue for issue in found if issue),
    )


def announced(service: ServiceIssues | Unavailable, by: datetime | None = None) -> tuple[str, ...]:
    """The lines with which a proof begins where Azure blames itself. That it could not be asked proves nothing."""
    return tuple(str(issue) for issue in service.before(by)) if isinstance(service, ServiceIssues) else ()


def _issue(body: Mapping[str, Any], location: str, now: datetime) -> ServiceIssue | None:
    properties = body.get("properties")
    kind, status = text(properties, "eventType").lower(), text(properties, "status").lower()
    if kind != "serviceissue" or status != "active" or _over(properties, now):
        return None
    touched = list(_touched(properties, location))
    if not touched:
        return None
    return ServiceIssue(
        tracking_id=need_text(body, "name"),
        title=text(properties, "title").removeprefix("ACTIVE: "),
        services=tuple(dict.fromkeys(service for service, _ in touched)),
        region=touched[0][1],
        began=moment(text(properties, "impactStartTime")),
    )


def _over(properties: Any, now: datetime) -> bool:
    """It stays Active for a while after it was mitigated. A time before it began stands for none."""
    began, mitigated = moment(text(properties, "impactStartTime")), moment(text(properties, "impactMitigationTime"))
    return mitigated is not None and mitigated <= now and (began is None or mitigated > began)


def _touched(properties: Any, location: str) -> Iterator[tuple[str, str]]:
    """The services and regions of an issue that are ours."""
    for impact in rows(properties, "impact"):
        service = text(impact, "impactedService")
        if not service.lower().startswith(STANDS_ON):
            continue
        for region in rows(impact, "impactedRegions"):
            name = text(region, "impactedRegion")
            ours = _NOT_A_LETTER.sub("", name.lower()) in (location.lower(), EVERYWHERE)
            if ours and text(region, "status").lower() != "resolved":
                yield service, name
