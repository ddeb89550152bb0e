"""Which kinds of custom resources Azure Service Operator serves in this cluster, and at which version to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import DISCOVERY, METADATA_ONLY, KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import DIRECTLY, ApiServer
from handlers.evidence.wire import need_text, rows, text
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why
from runbooks.linear import compile_linear

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LABEL = "app.kubernetes.io/name=azure-service-operator"
"""What ASO labels its CustomResourceDefinitions with."""
STORAGE = "storage"
"""How the versions end that ASO stores its resources in: reading them needs no answer of its conversion webhook."""

_DATE = compile_linear(r"\d{6,8}")
"""`v1api20230801`, `v20250401storage`: Azure's api-version, without dashes."""


@dataclass(frozen=True, slots=True)
class AsoKind:
    """One kind, such as redis.cache.azure.com."""

    group: str
    version: str
    plural: str
    kind: str

    @property
    def qualified(self) -> str:
        """As kubectl takes it, whatever else has the same plural."""
        return f"{self.plural}.{self.group}"

    @property
    def path(self) -> str:
        return f"/apis/{self.group}/{self.version}/{self.plural}"


@dataclass(frozen=True, kw_only=True)
class AsoKinds(Evidence):
    """The kinds that ASO defines in this cluster."""

    kinds: tuple[AsoKind, ...]


@collector(reads=(), sees=("list customresourcedefinitions.apiextensions.k8s.io",), deadline_s=15)
async def aso_kinds(cluster: ManagedCluster, api: ApiServer, kube: KubeReader) -> AsoKinds | NotApplicable:
    """the kinds of Azure Service Operator"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    if api.reached and api.reached != DIRECTLY:
        raise CannotSee(Unavailable(aso_kinds.title, Why.FAILED, f"custom resources are not read {api.reached}"))
    defined = await kube.list(DEFINITIONS, _name, labels=LABEL, accept=METADATA_ONLY)
    if not defined.items and not defined.truncated:
        return NotApplicable(f"Azure Service Operator is not installed in {cluster.name}")
    served = await kube.list("/apis", read_group, accept=DISCOVERY)
    known = {kind.qualified: kind for group in served.items for kind in group}
    unserved = [name for name in defined.items if name not in known]
    return AsoKinds(
        source=f"{defined.source}; {served.source}",
        taken_at=defined.taken_at,
        truncated=defined.truncated or served.truncated,
        gaps=tuple(
            Unavailable(name, Why.ABSENT, "it is defined, and the API server does not serve it") for name in unserved
        ),
        kinds=tuple(known[name] for name in defined.items if name in known),
    )


def _name(body: Mapping[str, Any]) -> str:
    return need_text(body, "metadata", "name")


def read_group(body: Mapping[str, Any]) -> tuple[AsoKind, ...]:
    """The kinds of one API group of Azure, from its row in the API server's discovery; each at its best version."""
    group = text(body, "metadata", "name")
    if not group.endswith(".azure.com"):
        return ()
    served: dict[tuple[str, str], list[str]] = {}
    for version in rows(body, "versions"):
        for row in rows(version, "resources"):
            name = text(row, "resource"), text(row, "responseKind", "kind")
            served.setdefault(name, []).append(text(version, "version"))
    return tuple(AsoKind(group, max(found, key=_worth), plural, kind) for (plural, kind), found in served.items())


def _worth(version: str) -> tuple[bool, bool, str, str]:
    """ASO stores a kind in the newest version that is no preview, else in its newest preview."""
    date = _DATE.search(version)
    return version.endswith(STORAGE), "preview" not in version, date[0] if date else "", version
