"""One list for each namespace that is looked into, asked for all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from handlers.clients.kube.listing import KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.evidence.gather import each
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Unavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """What was kept of several lists of one kind."""

    items: tuple[T, ...]
    source: str
    taken_at: datetime
    truncated: bool
    gaps: tuple[Unavailable, ...]


async def in_namespaces(
    kube: KubeReader,
    unwell: UnwellNamespaces,
    path: str,
    keep: Callable[[Mapping[str, Any]], T | None],
    wanted: str,
) -> Listed[T]:
    """`path` holds `{}` for the namespace. A namespace that may not be looked into is a gap; so is a sweep that did
    not see everything: what it missed may be where the trouble is."""

    async def of(namespace: str) -> KubeListing[T]:
        return await kube.list(path.format(namespace), keep)

    if not unwell.namespaces:
        return Listed((), unwell.source, unwell.taken_at, unwell.truncated, unwell.gaps)
    found, gaps = await each(unwell.namespaces, of)
    return Listed(
        items=tuple(item for listing in found for item in listing.items),
        source="; ".join(dict.fromkeys(listing.source for listing in found)),
        taken_at=min(listing.taken_at for listing in found),
        truncated=unwell.truncated or any(listing.truncated for listing in found),
        gaps=(*unwell.gaps, *dict.fromkeys(replace(gap, wanted=wanted) for gap in gaps)),
    )
