"""Reads a cluster as the writer's identity, only to learn what it may do there. It never writes; `KubeWriter` does."""

from __future__ import annotations

from handlers.clients.kube.reader import KubeReader


class WriterKubePermissionReader(KubeReader):
    """A KubeReader that signs in as the writer. A type of its own, so that no collector confuses the two."""
