"""Which workload a selector meant that matches none: the labels that come nearest, and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from handlers.evidence.workloads.owners import Owner
from handlers.evidence.workloads.services import WorkloadService

ALIKE = 0.7
"""Of two values, by difflib: `redis_cart` and `redis-cart` are, `stable` and `canary` are not."""
ENOUGH = 0.5
"""Half of the selector must fit: one label of two that all of a team's workloads share is not enough."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The workload that a service seems to mean, and how its selector differs."""

    owner: Owner
    patch: Mapping[str, str | None]
    """What to merge into the selector: None takes a label out."""
    differences: tuple[str, ...]


def nearest(service: WorkloadService, owners: Iterable[Owner]) -> Nearest | None:
    """The workload of the service's namespace whose labels come nearest; None where none is near."""
    scored = [(_score(service, owner), owner) for owner in owners if owner.namespace == service.namespace]
    best = max(scored, key=lambda item: (item[0], item[1].name), default=None)
    if best is None or best[0] < ENOUGH:
        return None
    return Nearest(best[1], _patch(service, best[1]), tuple(_differences(service, best[1])))


def _score(service: WorkloadService, owner: Owner) -> float:
    same_name = owner.name == service.name
    parts = [_part(key, value, owner.labels) for key, value in service.selector.items()]
    if not parts or any(part is None for part in parts):  # a value that says something else on purpose
        return 1.0 if same_name else 0.0
    return sum(part for part in parts if part is not None) / len(parts) + (1.0 if same_name else 0.0)


def _part(key: str, value: str, labels: Mapping[str, str]) -> float | None:
    """How near one label of the selector is: 1 equal, 0 missing, None another value."""
    if labels.get(key) == value:
        return 1.0
    if value in labels.values():
        return 0.9
    if key not in labels:
        return 0.0
    alike = SequenceMatcher(None, value, labels[key]).ratio()
    return alike if alike >= ALIKE else None


def _patch(service: WorkloadService, owner: Owner) -> dict[str, str | None]:
    patch: dict[str, str | None] = {}
    for key, value in service.selector.items():
        if owner.labels.get(key) == value:
            continue
        patch[key] = owner.labels.get(key)
        if key not in owner.labels:
            patch |= {other: value for other, said in owner.labels.items() if said == value}
    return patch


def _differences(service: WorkloadService, owner: Owner) -> Iterator[str]:
    for key, value in sorted(service.selector.items()):
        if owner.labels.get(key) == value:
            continue
        elsewhere = next((other for other, said in owner.labels.items() if said == value), "")
        has = (
            f"{key}={owner.labels[key]}"
            if key in owner.labels
            else f"{elsewhere}={value}"
            if elsewhere
            else "no such label"
        )
        yield f"the selector wants {key}={value}; the pods of {owner.kind}/{owner.name} have {has}"
