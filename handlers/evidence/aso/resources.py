"""The custom resources of Azure Service Operator: of each its Ready condition, its owner and its annotations.

Everything else of them is dropped page by page: a spec may be large, and no check reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from sys import intern
from typing import Any

from handlers.clients.kube.listing import KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.aso.groups import EVERY_KIND
from handlers.evidence.aso.kinds import AsoKind, AsoKinds
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, moment, need_text, number, rows, text
from handlers.model import Evidence

_ANNOTATION = "serviceoperator.azure.com/"
RESOURCE_ID, CREDENTIAL_FROM = f"{_ANNOTATION}resource-id", f"{_ANNOTATION}credential-from"
PAGE = 100
"""The status of a resource repeats its spec: a page of 500 of them may weigh 10 MB."""
MOST_SOURCES = 12
"""The operator can define two hundred kinds."""
LONGEST_MESSAGE = 6_000
"""ARM's whole answer stands in it; some wrap three errors in each other."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The Ready condition: it has no history."""

    status: str
    severity: str
    """Info: it works on it. Warning: it tries again. Error: it has given up. Empty where it is Ready."""
    reason: str
    message: str
    since: datetime | None
    generation: int
    """The generation of the resource that it speaks of."""


@dataclass(frozen=True, slots=True)
class AsoOwner:
    """What a resource belongs to, as its spec names it: a resource in its namespace, or one in Azure."""

    name: str
    kind: str = ""
    group: str = ""
    arm_id: str = ""


@dataclass(frozen=True, slots=True)
class AsoResource:
    """One custom resource, and what it stands for in Azure."""

    kind: AsoKind
    namespace: str
    name: str
    arm_id: str
    credential: str
    """The secret that its annotation names; empty where ASO takes the namespace's or the global one."""
    owner: AsoOwner | None
    ready: Ready | None
    generation: int
    created: datetime | None

    @property
    def subject(self) -> str:
        return f"{self.namespace}/{self.kind.kind}/{self.name}"

    @property
    def is_ready(self) -> bool:
        return self.ready is not None and self.ready.status == "True"


@dataclass(frozen=True, kw_only=True)
class AsoResources(Evidence):
    """Every custom resource of ASO."""

    resources: tuple[AsoResource, ...]
    unread: frozenset[str] = frozenset()
    """The kinds (`Redis`) of which not every resource could be read."""

    def owner_of(self, resource: AsoResource) -> AsoResource | None:
        """The resource that its spec names as its owner, if there is one."""
        owner = resource.owner
        if owner is None or not owner.name:
            return None
        named = self.called(resource.namespace, owner.name)
        return next((one for one in named if one is not resource and _may_be(one, owner)), None)

    def called(self, namespace: str, name: str) -> tuple[AsoResource, ...]:
        """Those with this name, of whatever kind."""
        return self._by_name.get((namespace, name), ())

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], tuple[AsoResource, ...]]:
        found: dict[tuple[str, str], tuple[AsoResource, ...]] = {}
        for one in self.resources:
            key = one.namespace, one.name
            found[key] = (*found.get(key, ()), one)
        return found


@collector(reads=(), sees=EVERY_KIND, deadline_s=25)
async def aso_resources(kinds: AsoKinds, kube: KubeReader) -> AsoResources:
    """the resources of Azure Service Operator"""

    whole: set[AsoKind] = set()

    async def of(kind: AsoKind) -> KubeListing[AsoResource]:
        listing = await kube.list(kind.path, partial(read_resource, kind), page=PAGE)
        if not listing.truncated:
            whole.add(kind)
        return listing

    found, gaps = await each(kinds.kinds, of)
    return AsoResources(
        source=_sources([listing.source for listing in found]) or kinds.source,
        taken_at=min((listing.taken_at for listing in found), default=kinds.taken_at),
        truncated=kinds.truncated or any(listing.truncated for listing in found),
        gaps=(*kinds.gaps, *(replace(gap, wanted=aso_resources.title) for gap in gaps)),
        resources=tuple(resource for listing in found for resource in listing.items),
        unread=frozenset(kind.kind for kind in kinds.kinds if kind not in whole),
    )


def _sources(asked: list[str]) -> str:
    more = f"; {len(asked) - MOST_SOURCES} more kinds" if len(asked) > MOST_SOURCES else ""
    return "; ".join(asked[:MOST_SOURCES]) + more


def read_resource(kind: AsoKind, body: Mapping[str, Any]) -> AsoResource:
    """A resource from its wire body."""
    notes = dig(body, "metadata", "annotations") or {}
    ready = next((row for row in rows(body, "status", "conditions") if text(row, "type") == "Ready"), None)
    return AsoResource(
        kind=kind,
        namespace=intern(text(body, "metadata", "namespace")),
        name=need_text(body, "metadata", "name"),
        arm_id=text(notes, RESOURCE_ID),
        credential=text(notes, CREDENTIAL_FROM),
        owner=_owner(body),
        ready=_ready(ready) if ready else None,
        generation=number(body, "metadata", "generation"),
        created=moment(text(body, "metadata", "creationTimestamp")),
    )


def _owner(body: Mapping[str, Any]) -> AsoOwner | None:
    """Its spec has the name; which kind that is, many specs leave open, and the owner reference says once it is set."""
    named = dig(body, "spec", "owner")
    if not named:
        return None
    above = next(
        (row for row in rows(body, "metadata", "ownerReferences") if text(row, "name") == text(named, "name")), {}
    )
    return AsoOwner(
        name=text(named, "name"),
        kind=text(named, "kind") or text(above, "kind"),
        group=text(named, "group") or text(above, "apiVersion").partition("/")[0],
        arm_id=text(named, "armId"),
    )


def _ready(row: Mapping[str, Any]) -> Ready:
    return Ready(
        status=text(row, "status"),
        severity=text(row, "severity"),
        reason=text(row, "reason"),
        message=text(row, "message")[:LONGEST_MESSAGE],
        since=moment(text(row, "lastTransitionTime")),
        generation=number(row, "observedGeneration"),
    )


def _may_be(resource: AsoResource, owner: AsoOwner) -> bool:
    return owner.kind in ("", resource.kind.kind) and owner.group in ("", resource.kind.group)
