"""The namespaces of the cluster by name: for questions that name one which does not exist."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import text
from handlers.model import Evidence, NotApplicable


@dataclass(frozen=True, kw_only=True)
class AskedNamespaces(Evidence):
    """The names of all namespaces."""

    names: tuple[str, ...]


@collector(reads=(), sees=("list namespaces",))
async def asked_namespaces(cluster: ManagedCluster, kube: KubeReader) -> AskedNamespaces | NotApplicable:
    """the namespaces"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    listed = await kube.list("/api/v1/namespaces", lambda body: text(body, "metadata", "name"))
    return AskedNamespaces(
        source=listed.source, taken_at=listed.taken_at, truncated=listed.truncated, names=listed.items
    )
