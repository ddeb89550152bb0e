"""Claims of the namespaces that are looked into, and the cluster's volumes, classes and attachments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.quantities import amount
from handlers.evidence.wire import dig, moment, need_text, rows, text, texts
from handlers.evidence.workloads.lists import in_namespaces
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence, NotApplicable

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True, slots=True)
class Claim:
    """One PersistentVolumeClaim."""

    namespace: str
    name: str
    phase: str
    storage_class: str | None
    """None: the default class. Empty: no class, a volume that somebody made."""
    modes: tuple[str, ...]
    size: Decimal
    size_text: str
    selector: Mapping[str, Any] | None
    volume: str
    volume_mode: str
    created: datetime | None
    deleting: datetime | None = None

    @property
    def subject(self) -> str:
        return f"{self.namespace}/PersistentVolumeClaim/{self.name}"


@dataclass(frozen=True, slots=True)
class Volume:
    """One PersistentVolume."""

    name: str
    phase: str
    storage_class: str
    modes: tuple[str, ...]
    size: Decimal
    size_text: str
    labels: Mapping[str, str]
    claim: str
    """`namespace/name` of the claim that it is bound to or kept for."""
    affinity: tuple[Mapping[str, Any], ...]
    """The terms of its node affinity: of a disk, its zone."""
    driver: str
    handle: str
    volume_mode: str

    @property
    def subject(self) -> str:
        return f"PersistentVolume/{self.name}"


@dataclass(frozen=True, slots=True)
class StorageClass:
    """One storage class."""

    name: str
    provisioner: str
    waits_for_pod: bool
    default: bool
    topologies: tuple[Mapping[str, Any], ...]

    @property
    def provisions(self) -> bool:
        return self.provisioner != "kubernetes.io/no-provisioner"


@dataclass(frozen=True, slots=True)
class Attachment:
    """One VolumeAttachment."""

    volume: str
    node: str
    attached: bool
    error: str
    detach_error: str
    since: datetime | None


@dataclass(frozen=True, kw_only=True)
class Claims(Evidence):
    """The claims of the namespaces that are looked into."""

    claims: tuple[Claim, ...]

    def named(self, namespace: str, name: str) -> Claim | None:
        return next((claim for claim in self.claims if (claim.namespace, claim.name) == (namespace, name)), None)

    @property
    def pending(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.phase != "Bound")


@dataclass(frozen=True, kw_only=True)
class Volumes(Evidence):
    """The cluster's volumes."""

    volumes: tuple[Volume, ...]

    def named(self, name: str) -> Volume | None:
        return next((volume for volume in self.volumes if volume.name == name), None)


@dataclass(frozen=True, kw_only=True)
class StorageClasses(Evidence):
    """The cluster's storage classes."""

    classes: tuple[StorageClass, ...]

    def named(self, name: str) -> StorageClass | None:
        return next((class_ for class_ in self.classes if class_.name == name), None)

    @property
    def default(self) -> StorageClass | None:
        return next((class_ for class_ in self.classes if class_.default), None)


@dataclass(frozen=True, kw_only=True)
class Attachments(Evidence):
    """Which volumes are attached to which nodes."""

    attachments: tuple[Attachment, ...]


@collector(reads=(), sees=("list persistentvolumeclaims",), deadline_s=15)
async def claims(unwell: UnwellNamespaces, kube: KubeReader) -> Claims:
    """the volume claims of the namespaces in which something is unwell"""
    path = "/api/v1/namespaces/{}/persistentvolumeclaims"
    listed = await in_namespaces(kube, unwell, path, read_claim, claims.title)
    return Claims(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        claims=listed.items,
    )


@collector(reads=(), sees=("list persistentvolumes",), deadline_s=15)
async def volumes(claims: Claims, kube: KubeReader) -> Volumes | NotApplicable:
    """the volumes"""
    if not claims.claims:
        return NotApplicable("no pod that is unwell has a claim")
    listing = await kube.list("/api/v1/persistentvolumes", read_volume)
    return Volumes(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, volumes=listing.items)


@collector(reads=(), sees=("list storageclasses.storage.k8s.io",), deadline_s=15)
async def storage_classes(claims: Claims, kube: KubeReader) -> StorageClasses | NotApplicable:
    """the storage classes"""
    if not claims.claims:
        return NotApplicable("no pod that is unwell has a claim")
    listing = await kube.list("/apis/storage.k8s.io/v1/storageclasses", read_storage_class)
    return StorageClasses(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, classes=listing.items
    )


@collector(reads=(), sees=("list volumeattachments.storage.k8s.io",), deadline_s=15)
async def attachments(claims: Claims, kube: KubeReader) -> Attachments | NotApplicable:
    """the volume attachments"""
    if not claims.claims:
        return NotApplicable("no pod that is unwell has a claim")
    listing = await kube.list("/apis/storage.k8s.io/v1/volumeattachments", read_attachment)
    return Attachments(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, attachments=listing.items
    )


def read_claim(body: Mapping[str, Any]) -> Claim:
    """A claim from its wire body."""
    metadata, spec = dig(body, "metadata"), dig(body, "spec")
    size = text(spec, "resources", "requests", "storage")
    class_name = dig(spec, "storageClassName")
    return Claim(
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        phase=text(body, "status", "phase"),
        storage_class=class_name if isinstance(class_name, str) else None,
        modes=texts(spec, "accessModes"),
        size=amount(size),
        size_text=size,
        selector=dig(spec, "selector"),
        volume=text(spec, "volumeName"),
        volume_mode=text(spec, "volumeMode") or "Filesystem",
        created=moment(text(metadata, "creationTimestamp")),
        deleting=moment(text(metadata, "deletionTimestamp")),
    )


def read_volume(body: Mapping[str, Any]) -> Volume:
    """A volume from its wire body."""
    metadata, spec = dig(body, "metadata"), dig(body, "spec")
    size, claim = text(spec, "capacity", "storage"), dig(spec, "claimRef")
    return Volume(
        name=need_text(metadata, "name"),
        phase=text(body, "status", "phase"),
        storage_class=text(spec, "storageClassName"),
        modes=texts(spec, "accessModes"),
        size=amount(size),
        size_text=size,
        labels=dict(dig(metadata, "labels") or {}),
        claim=f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim else "",
        affinity=tuple(dict(row) for row in rows(spec, "nodeAffinity", "required", "nodeSelectorTerms")),
        driver=text(spec, "csi", "driver"),
        handle=text(spec, "csi", "volumeHandle"),
        volume_mode=text(spec, "volumeMode") or "Filesystem",
    )


def read_storage_class(body: Mapping[str, Any]) -> StorageClass:
    """A storage class from its wire body."""
    return StorageClass(
        name=need_text(body, "metadata", "name"),
        provisioner=text(body, "provisioner"),
        waits_for_pod=text(body, "volumeBindingMode") == "WaitForFirstConsumer",
        default=text(body, "metadata", "annotations", DEFAULT_CLASS) == "true",
        topologies=tuple(dict(row) for row in rows(body, "allowedTopologies")),
    )


def read_attachment(body: Mapping[str, Any]) -> Attachment:
    """A volume attachment from its wire body."""
    status = dig(body, "status")
    return Attachment(
        volume=text(body, "spec", "source", "persistentVolumeName"),
        node=text(body, "spec", "nodeName"),
        attached=dig(status, "attached") is True,
        error=text(status, "attachError", "message"),
        detach_error=text(status, "detachError", "message"),
        since=moment(text(body, "metadata", "creationTimestamp")),
    )
