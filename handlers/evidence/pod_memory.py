"""What a pod asked for, may have and uses of memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handlers.evidence.quantity import in_bytes, memory_of
from handlers.evidence.wire import dig, rows, text


@dataclass(frozen=True, slots=True)
class PodMemory:
    """One pod."""

    namespace: str
    name: str
    node: str
    owner: str
    """`Deployment/api`."""
    requested: int
    limit: int | None
    """None where a container has none: then nothing but the node stops it."""
    used: int | None = None

    def using(self, used: Mapping[tuple[str, str], int]) -> PodMemory:
        return replace(self, used=used.get((self.namespace, self.name)))


@dataclass(frozen=True, slots=True)
class OwnerMemory:
    """What the pods of one owner have together."""

    owner: str
    """`namespace/Deployment/api`."""
    pods: int
    used: int | None
    requested: int
    limit: int | None

    @property
    def weight(self) -> int:
        return self.used if self.used is not None else self.requested


def pod_memory(body: Mapping[str, Any], owner: str) -> PodMemory:
    """From its wire body. What the scheduler counts: all containers, or the largest of those that run before them."""
    spec = body.get("spec") or {}
    own = dig(spec, "resources")
    return PodMemory(
        namespace=text(body, "metadata", "namespace"),
        name=text(body, "metadata", "name"),
        node=text(spec, "nodeName"),
        owner=owner,
        requested=_requested(spec) if memory_of(own, "requests") is None else memory_of(own, "requests") or 0,
        limit=memory_of(own, "limits") or _limit(spec),
    )


def by_owner(pods: Iterable[PodMemory]) -> list[OwnerMemory]:
    """The owners of these pods, those with most first."""
    groups: dict[str, list[PodMemory]] = {}
    for pod in pods:
        groups.setdefault(f"{pod.namespace}/{pod.owner}", []).append(pod)
    made = [_together(owner, those) for owner, those in groups.items()]
    return sorted(made, key=lambda memory: (-memory.weight, memory.owner))


def _together(owner: str, pods: list[PodMemory]) -> OwnerMemory:
    used = [pod.used for pod in pods if pod.used is not None]
    limits = [pod.limit for pod in pods if pod.limit is not None]
    return OwnerMemory(
        owner=owner,
        pods=len(pods),
        used=sum(used) if used else None,
        requested=sum(pod.requested for pod in pods),
        limit=sum(limits) if len(limits) == len(pods) else None,
    )


def _requested(spec: Mapping[str, Any]) -> int:
    main = sum(_request(row) for row in rows(spec, "containers"))
    first = rows(spec, "initContainers")
    beside = sum(_request(item) for item in first if item.get("restartPolicy") == "Always")
    before = max((_request(item) for item in first), default=0)
    return max(main + beside, before) + (in_bytes(dig(spec, "overhead", "memory")) or 0)


def _request(container: Mapping[str, Any]) -> int:
    """Where only a limit is given, Kubernetes requests as much."""
    resources = dig(container, "resources")
    asked = memory_of(resources, "requests")
    return (memory_of(resources, "limits") or 0) if asked is None else asked


def _limit(spec: Mapping[str, Any]) -> int | None:
    limits = [memory_of(dig(row, "resources"), "limits") for row in rows(spec, "containers")]
    return None if None in limits else sum(limit or 0 for limit in limits)
