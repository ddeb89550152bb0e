"""The API groups that the API server serves: custom resources are asked for only where their kinds are installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import rows, text
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence, NotApplicable

GROUPS = "/apis"
"""Discovery, which Kubernetes allows every user (system:discovery). A list of a kind that is not installed is no
substitute: the API server denies it before it looks whether there is such a kind."""


@dataclass(frozen=True, kw_only=True)
class ServedGroups(Evidence):
    """The API groups, each with its versions, the preferred first."""

    versions: Mapping[str, tuple[str, ...]]

    def root(self, group: str, *known: str) -> str:
        """`/apis/keda.sh/v1alpha1`: the first of the versions that we can read; empty where none is served."""
        served = self.versions.get(group, ())
        return next((f"{GROUPS}/{group}/{version}" for version in known if version in served), "")


@collector(reads=(), sees=("get /apis",), deadline_s=10)
async def served_groups(unwell: UnwellNamespaces, kube: KubeReader) -> ServedGroups | NotApplicable:
    """the API groups that the cluster serves"""
    if not unwell.namespaces:
        return NotApplicable("nothing is unwell")
    try:
        answer = await kube.get(GROUPS)
    except NotFound:
        return NotApplicable("the API server tells no groups")
    versions = {
        text(group, "name"): tuple(text(row, "version") for row in rows(group, "versions"))
        for group in rows(answer.body, "groups")
    }
    return ServedGroups(source=answer.source, taken_at=answer.taken_at, versions=versions)
