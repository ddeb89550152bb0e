"""The ordered change history of objects, which watches read."""

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
"""How many changes are kept for watches to start from; etcd drops those older than five minutes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change to one object; `before` is the old version, for selectors that the new one no longer matches."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    key: StorageKey
    revision: int
    body: Body
    before: Body | None


@dataclass
class Feed:
    """The recent changes, and the watches waiting for the next one."""

    compacted: int = 0
    """Changes up to this revision have been dropped."""
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
        """Drop all changes up to a revision, like etcd's compaction."""
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
