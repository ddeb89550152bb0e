"""Reading inside a cluster as the writer: only to learn what it may do there. It writes nothing; `KubeWriter` does."""

from __future__ import annotations

from handlers.clients.kube.reader import KubeReader


class WriterKubeEyes(KubeReader):
    """A KubeReader that signs in as whoever carries out fixes. A type of its own: no collector mixes them up."""
