"""What a namespace allows: its quotas, limit ranges and service accounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, need_text, rows, text, texts
from handlers.evidence.workloads.lists import in_namespaces
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence


@dataclass(frozen=True, slots=True)
class Quota:
    """One ResourceQuota: amounts as Kubernetes writes them."""

    namespace: str
    name: str
    hard: Mapping[str, str]
    used: Mapping[str, str]
    scopes: tuple[str, ...]

    @property
    def subject(self) -> str:
        return f"{self.namespace}/ResourceQuota/{self.name}"


@dataclass(frozen=True, slots=True)
class Limit:
    """One row of a LimitRange."""

    kind: str
    """Container, Pod or PersistentVolumeClaim."""
    least: Mapping[str, str]
    most: Mapping[str, str]
    default: Mapping[str, str]
    default_request: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LimitRange:
    """One LimitRange."""

    namespace: str
    name: str
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """One service account. Its secrets are not read."""

    namespace: str
    name: str
    pull_secrets: tuple[str, ...]
    client_id: str
    """The identity of Microsoft Entra Workload ID that it stands for."""


@dataclass(frozen=True, kw_only=True)
class ResourceQuotas(Evidence):
    """The quotas of the namespaces that are looked into."""

    quotas: tuple[Quota, ...]


@dataclass(frozen=True, kw_only=True)
class LimitRanges(Evidence):
    """The limit ranges of the namespaces that are looked into."""

    ranges: tuple[LimitRange, ...]


@dataclass(frozen=True, kw_only=True)
class ServiceAccounts(Evidence):
    """The service accounts of the namespaces that are looked into."""

    accounts: tuple[ServiceAccount, ...]


@collector(reads=(), sees=("list resourcequotas",), deadline_s=15)
async def resource_quotas(unwell: UnwellNamespaces, kube: KubeReader) -> ResourceQuotas:
    """the resource quotas of the namespaces in which something is unwell"""
    path = "/api/v1/namespaces/{}/resourcequotas"
    listed = await in_namespaces(kube, unwell, path, read_quota, resource_quotas.title)
    return ResourceQuotas(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        quotas=listed.items,
    )


@collector(reads=(), sees=("list limitranges",), deadline_s=15)
async def limit_ranges(unwell: UnwellNamespaces, kube: KubeReader) -> LimitRanges:
    """the limit ranges of the namespaces in which something is unwell"""
    path = "/api/v1/namespaces/{}/limitranges"
    listed = await in_namespaces(kube, unwell, path, read_limit_range, limit_ranges.title)
    return LimitRanges(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        ranges=listed.items,
    )


@collector(reads=(), sees=("list serviceaccounts",), deadline_s=15)
async def service_accounts(unwell: UnwellNamespaces, kube: KubeReader) -> ServiceAccounts:
    """the service accounts of the namespaces in which something is unwell"""
    path = "/api/v1/namespaces/{}/serviceaccounts"
    listed = await in_namespaces(kube, unwell, path, read_service_account, service_accounts.title)
    return ServiceAccounts(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        accounts=listed.items,
    )


def read_quota(body: Mapping[str, Any]) -> Quota:
    """A quota from its wire body. The status is what is enforced; the spec may be newer."""
    return Quota(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        hard=_amounts(dig(body, "status", "hard") or dig(body, "spec", "hard")),
        used=_amounts(dig(body, "status", "used")),
        scopes=texts(body, "spec", "scopes"),
    )


def read_limit_range(body: Mapping[str, Any]) -> LimitRange:
    """A limit range from its wire body."""
    return LimitRange(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        limits=tuple(_limit(row) for row in rows(body, "spec", "limits")),
    )


def read_service_account(body: Mapping[str, Any]) -> ServiceAccount:
    """A service account from its wire body."""
    return ServiceAccount(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        pull_secrets=tuple(text(row, "name") for row in rows(body, "imagePullSecrets")),
        client_id=text(body, "metadata", "annotations", "azure.workload.identity/client-id"),
    )


def _limit(row: Mapping[str, Any]) -> Limit:
    least, most, default, request = (_amounts(dig(row, key)) for key in ("min", "max", "default", "defaultRequest"))
    return Limit(text(row, "type"), least, most, default, request)


def _amounts(body: Any) -> dict[str, str]:
    return {name: str(value) for name, value in body.items()} if isinstance(body, Mapping) else {}
