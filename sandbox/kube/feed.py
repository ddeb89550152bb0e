"""What happened to objects, in order: what a watch shows."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox.kube.kinds import StorageKey

Body = dict[str, Any]

_KEPT = 2_000
"""How many changes a watch can start behind: etcd compacts what is older than five minutes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change to one object; `before` is how it was, for selectors that it now no longer meets."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    key: StorageKey
    revision: int
    body: Body
    before: Body | None


@dataclass
class Feed:
    """The latest changes and who waits for the next."""

    compacted: int = 0
    """Revisions up to this one are no longer told."""
    _history: deque[Change] = field(default_factory=deque)
    _waiting: list[asyncio.Queue[Change]] = field(default_factory=list)

    def tell(self, change: Change) -> None:
        self._history.append(change)
        if len(self._history) > _KEPT:
            self.compacted = self._history.popleft().revision
        for queue in self._waiting:
            queue.put_nowait(change)

    def since(self, revision: int) -> list[Change]:
        return [change for change in self._history if change.revision > revision]

    def compact(self, revision: int) -> None:
        """Forget everything up to a revision, as etcd's compaction does."""
        self.compacted = max(self.compacted, revision)
        while self._history and self._history[0].revision <= revision:
            self._history.popleft()

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[Change]]:
        queue: asyncio.Queue[Change] = asyncio.Queue()
        self._waiting.append(queue)
        try:
            yield queue
        finally:
            self._waiting.remove(queue)
