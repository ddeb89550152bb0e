"""Paging with `limit` and `continue`: all pages show the list as of the first page."""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.kube import statuses
from sandbox.kube.kinds import StorageKey
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]
Items = list[tuple[str, Body]]

_REMEMBERED = 256
_INCONSISTENT = -1


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    items: list[Body]
    revision: int
    token: str = ""
    remaining: int | None = None


@dataclass
class Pages:
    """Makes pages, and keeps list snapshots for later pages."""

    world: KubeWorld
    _held: OrderedDict[tuple[StorageKey, int], Items] = field(default_factory=OrderedDict)

    def first(self, key: StorageKey, above: str, limit: int, chosen: Callable[[Body], bool] | None) -> Page:
        return self._cut(key, self.world.in_order(key), self.world.revision, above, "", limit, chosen)

    def following(
        self, key: StorageKey, above: str, token: str, limit: int, chosen: Callable[[Body], bool] | None
    ) -> Page:
        revision, start = _read(token)
        if not start.startswith(above):
            raise statuses.bad_request("continue key is not valid: key does not belong to this list")
        if revision == _INCONSISTENT:
            return self._cut(key, self.world.in_order(key), self.world.revision, above, start, limit, chosen)
        stored = self._held.get((key, revision))
        if stored is None or revision < self.world.feed.compacted:
            raise statuses.expired(statuses.TOO_OLD, _write(_INCONSISTENT, start))
        return self._cut(key, stored, revision, above, start, limit, chosen)

    def forget(self) -> None:
        """Expire all continue tokens issued so far."""
        self._held.clear()

    def _cut(
        self,
        key: StorageKey,
        items: Items,
        revision: int,
        above: str,
        start: str,
        limit: int,
        chosen: Callable[[Body], bool] | None,
    ) -> Page:
        at = bisect_left(items, start or above, key=lambda item: item[0])
        end = bisect_left(items, _after(above), key=lambda item: item[0]) if above else len(items)
        if chosen is None:
            stop = min(end, at + limit) if limit else end
            found = [body for _, body in items[at:stop]]
        else:
            found, stop = _choose(items, at, end, limit, chosen)
        if stop >= end:
            return Page(found, revision)
        self._remember(key, revision, items)
        # With a selector, the server does not report the remaining item count.
        remaining = end - stop if chosen is None else None
        return Page(found, revision, _write(revision, items[stop][0]), remaining)

    def _remember(self, key: StorageKey, revision: int, items: Items) -> None:
        self._held[key, revision] = items
        self._held.move_to_end((key, revision))
        while len(self._held) > _REMEMBERED:
            self._held.popitem(last=False)


def _choose(items: Items, at: int, end: int, limit: int, chosen: Callable[[Body], bool]) -> tuple[list[Body], int]:
    """The matching objects up to the limit, and where the next page starts."""
    found: list[Body] = []
    for index in range(at, end):
        body = items[index][1]
        if chosen(body):
            if limit and len(found) == limit:
                return found, index
            found.append(body)
    return found, end


def _after(above: str) -> str:
    """A key that sorts right after all keys starting with `namespace/`."""
    return above[:-1] + chr(ord(above[-1]) + 1)


def _write(revision: int, start: str) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(token: str) -> tuple[int, str]:
    try:
        stored = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(stored["rv"]), str(stored["start"])
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise statuses.bad_request(f"continue key is not valid: {error}") from error
