"""Why a pod gets no volume from its claim: no class makes one, none fits, it is gone, or its claim is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.diagnose.scheduling.topology import values_of
from handlers.diagnose.workload_findings import harmed, workload_facts
from handlers.evidence.budgets import matches
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.rooms import Room
from handlers.evidence.wire import rows, text, texts
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.storage import Claim, Claims, StorageClass, StorageClasses, Volume, Volumes
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, NotApplicable, Unavailable

CODE = "volume-unbound"
_FAILED = ("ProvisioningFailed", "FailedBinding")
NODE_COMES = timedelta(minutes=10)
"""An autoscaler may add a node in a zone that has none; most are there after five minutes."""
EPHEMERAL = "ephemeral"
"""A volume whose claim Kubernetes makes with the pod, as `<pod>-<volume>`."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why one volume is not the claim's: the less it lacks, the nearer it is."""

    volume: Volume
    lacks: tuple[str, ...]
    """Causes: storage-class, capacity, access-mode, selector, occupied."""


def unbound_claims(
    pods: WorkloadPods,
    claims: Claims,
    volumes: Volumes | Unavailable | NotApplicable,
    classes: StorageClasses | Unavailable | NotApplicable,
    symptoms: Symptoms,
    waits: Scheduling | Unavailable | NotApplicable,
    calls: Calls | Unavailable,
) -> Iterator[Finding]:
    """The claims that pods wait for and that nothing can fulfil."""
    for key, waiting in _waited_for(pods).items():
        claim = claims.named(*key.split("/", 1))
        if claim is None:
            if claims.complete and key.partition("/")[2] in waiting[0].spec.claims:
                yield _finding(key, None, "missing", _missing(key), waiting, calls)
            continue
        if claim.phase == "Lost":
            gone = f"claim {claim.name} is Lost: its volume {claim.volume} does not exist any more"
            yield _finding(key, claim, "lost", [gone], waiting, calls)
            continue
        if claim.deleting:
            yield _finding(key, claim, "deleting", [_leaving(claim, claim.deleting, pods)], waiting, calls)
            continue
        if claim.phase == "Bound":
            continue
        seen = volumes.volumes if isinstance(volumes, Volumes) else ()
        known = classes if isinstance(classes, StorageClasses) else None
        event = next(
            (
                warning.message
                for warning in symptoms.warnings
                if warning.subject == claim.subject and warning.reason in _FAILED
            ),
            "",
        )
        cause, because = _cause(claim, seen, known, event)
        rooms = _rooms(waiting, waits)
        wanted = _class_of(claim, known)
        if not cause and wanted and rooms and (told := _nowhere(wanted, rooms)):
            cause, because = "zone", [told]
        if cause:
            yield _finding(key, claim, cause, because, waiting, calls)


def _waited_for(pods: WorkloadPods) -> Mapping[str, list[WorkloadPod]]:
    """The claims (`namespace/name`) of pods without a node, each with its pods."""
    told: dict[str, list[WorkloadPod]] = {}
    for pod in pods.pods:
        if pod.unscheduled:
            for name in _claims_of(pod):
                told.setdefault(f"{pod.namespace}/{name}", []).append(pod)
    return told


def _claims_of(pod: WorkloadPod) -> tuple[str, ...]:
    made = (f"{pod.name}-{volume.name}" for volume in pod.spec.volumes if volume.kind == EPHEMERAL)
    return (*pod.spec.claims, *made)


def _leaving(claim: Claim, since: datetime, pods: WorkloadPods) -> str:
    """The scheduler gives no node to a pod whose claim is being deleted; who has the claim already keeps it."""
    users = [pod.name for pod in pods.pods if pod.namespace == claim.namespace and pod.node and not pod.done]
    mine = {pod.name for pod in pods.pods if pod.namespace == claim.namespace and claim.name in _claims_of(pod)}
    held = [name for name in users if name in mine]
    by = f", and pod {', '.join(held[:3])} still uses it" if held else ""
    return f"claim {claim.name} is being deleted since {since:%Y-%m-%d %H:%M} UTC{by}"


def _rooms(waiting: list[WorkloadPod], waits: Scheduling | Unavailable | NotApplicable) -> tuple[Room, ...]:
    """The nodes, once no new one is to be expected; none where not all were seen."""
    if not isinstance(waits, Scheduling) or waits.truncated:
        return ()
    conditions = (pod.condition("PodScheduled") for pod in waiting)
    since = [condition.since for condition in conditions if condition and condition.since]
    return waits.rooms if since and waits.taken_at - min(since) >= NODE_COMES else ()


def _nowhere(wanted: StorageClass, rooms: tuple[Room, ...]) -> str:
    """Why a class that makes a volume beside its pod can make none; empty where some node is in the right place."""
    terms = [rows(term, "matchLabelExpressions") for term in wanted.topologies]
    if not wanted.waits_for_pod or not terms or any(_is_there(term, room) for term in terms for room in rooms):
        return ""
    first = next((row for term in terms for row in term), {})
    key, values = text(first, "key"), ", ".join(texts(first, "values"))
    there = ", ".join(values_of(rooms, key)) or "no such label"
    return f"class {wanted.name} makes volumes only where {key} is {values}; the nodes have {there}"


def _is_there(term: list[Mapping[str, Any]], room: Room) -> bool:
    return bool(term) and all(room.labels.get(text(row, "key")) in texts(row, "values") for row in term)


def _missing(key: str) -> list[str]:
    namespace, _, name = key.partition("/")
    return [f"claim {name} does not exist in namespace {namespace}"]


def _cause(
    claim: Claim, volumes: tuple[Volume, ...], classes: StorageClasses | None, event: str
) -> tuple[str, list[str]]:
    """Which of the claim's wishes nothing fulfils, with both sides."""
    wanted = _class_of(claim, classes)
    if classes and claim.storage_class and wanted is None:
        there = ", ".join(class_.name for class_ in classes.classes) or "none"
        because = [
            f"claim {claim.name} wants storage class {claim.storage_class}, which does not exist; there are: {there}"
        ]
        return "storage-class", because + ([event] if event else [])
    near = nearest(claim, volumes, wanted) if _takes_what_is_there(claim, classes, wanted) else None
    if near:
        return near.lacks[0], [*_sides(claim, near), *([event] if event else [])]
    if wanted and wanted.provisions:
        # Its provisioner makes the volume; with WaitForFirstConsumer only once the scheduler has found a node.
        return (
            ("provisioning", [f"class {wanted.name} ({wanted.provisioner}) makes no volume for {claim.name}: {event}"])
            if event
            else ("", [])
        )
    if classes is None:
        return "", []
    name = claim.storage_class or "no class"
    return "storage-class", [
        f"claim {claim.name} asks for {claim.size_text} of {name}, and there is no volume that it could have"
    ]


def _takes_what_is_there(claim: Claim, classes: StorageClasses | None, wanted: StorageClass | None) -> bool:
    """Whether the claim is left with the volumes that exist: of a class that makes its own, they are others'."""
    if claim.volume or claim.storage_class == "":
        return True
    return classes is not None and not (wanted and wanted.provisions)


def _class_of(claim: Claim, classes: StorageClasses | None) -> StorageClass | None:
    if classes is None or claim.storage_class == "":
        return None
    return classes.default if claim.storage_class is None else classes.named(claim.storage_class)


def nearest(claim: Claim, volumes: tuple[Volume, ...], wanted: StorageClass | None) -> Miss | None:
    """The volume that lacks least. One that somebody else's claim holds counts only if it would fit else."""
    class_name = wanted.name if wanted else claim.storage_class or ""
    if claim.volume:
        volumes = tuple(volume for volume in volumes if volume.name == claim.volume)
    misses = [Miss(volume, tuple(_lacks(claim, volume, class_name))) for volume in volumes]
    candidates = [
        miss
        for miss in misses
        if miss.lacks and len(miss.lacks) <= 2 and ("occupied" not in miss.lacks or len(miss.lacks) == 1)
    ]
    return min(candidates, key=lambda miss: (len(miss.lacks), "occupied" in miss.lacks, miss.volume.name), default=None)


def _lacks(claim: Claim, volume: Volume, class_name: str) -> Iterator[str]:
    if volume.storage_class != class_name:
        yield "storage-class"
    if volume.size < claim.size:
        yield "capacity"
    if not set(claim.modes) <= set(volume.modes):
        yield "access-mode"
    if claim.selector and not matches(claim.selector, volume.labels):
        yield "selector"
    if volume.claim not in ("", f"{claim.namespace}/{claim.name}") or volume.phase in ("Released", "Failed"):
        yield "occupied"


def _sides(claim: Claim, miss: Miss) -> Iterator[str]:
    volume = miss.volume
    sides = {
        "storage-class": (claim.storage_class or "no class", volume.storage_class or "no class"),
        "capacity": (claim.size_text, volume.size_text),
        "access-mode": (", ".join(claim.modes), ", ".join(volume.modes)),
        "selector": (f"labels {dict(claim.selector or {})}", f"labels {dict(volume.labels)}"),
        "occupied": ("a free volume", f"{volume.phase}, held by claim {volume.claim}"),
    }
    for lack in miss.lacks:
        wanted, has = sides[lack]
        yield f"claim {claim.name} wants {wanted}; volume {volume.name} has {has} ({lack})"


def _finding(
    key: str,
    claim: Claim | None,
    cause: str,
    because: list[str],
    waiting: list[WorkloadPod],
    calls: Calls | Unavailable,
) -> Finding:
    namespace, _, name = key.partition("/")
    owner = waiting[0].owned_by
    subject = f"{namespace}/PersistentVolumeClaim/{name}"
    suffering = tuple(item for pod in waiting for item in harmed(pod.owned_by, (pod,), calls))
    return Finding(
        code=CODE,
        subject=subject,
        affects=tuple(dict.fromkeys(suffering)),
        because=(*because, f"{waiting[0].workload} waits for it: {waiting[0].name} is Pending"),
        facts=workload_facts(owner, waiting)
        | {
            "claim": name,
            "cause": cause,
            "class": (claim.storage_class or "") if claim else "",
            "size": claim.size_text if claim else "",
            "modes": list(claim.modes) if claim else [],
            "volume": claim.volume if claim else "",
            "why": because[0],
        },
        began=claim.created if claim else None,
    )
