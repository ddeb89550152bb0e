"""Watches: streams changes as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson

from sandbox.kube import reads, representations, statuses
from sandbox.kube.answers import Call, Refusal, WatchRequest
from sandbox.kube.feed import Change
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]

_LONGEST_S = 1800.0
_INITIAL_END = {"k8s.io/initial-events-end": "true"}


def open_watch(world: KubeWorld, kind: Kind, call: Call) -> WatchRequest:
    """Validate a watch request, so that errors are sent as a normal response and not in the stream."""
    if "watch" not in kind.verbs:
        raise statuses.method_not_allowed()
    representations.negotiate(call.accept)
    reads.chooser(kind, call)
    asked = call.query.get("resourceVersion", "")
    if asked and not asked.isdigit():
        raise statuses.invalid_version(asked)
    if call.flag("sendInitialEvents") and call.query.get("resourceVersionMatch") != "NotOlderThan":
        raise statuses.bad_request("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    return WatchRequest(kind, call.place.namespace, call.place.name, call)


async def events(world: KubeWorld, request: WatchRequest, closing: asyncio.Event) -> AsyncIterator[bytes]:
    """The lines of a watch, until it times out, the server closes or the client disconnects."""
    shown = _Shown(world, request)
    call = request.call
    try:
        seconds = min(float(call.query.get("timeoutSeconds") or _LONGEST_S), _LONGEST_S)
    except ValueError:
        seconds = _LONGEST_S
    with world.feed.listening() as queue:
        # Earlier changes come from the history, later ones from the queue, so none are missed.
        start = world.revision
        try:
            first = shown.beginning(call.query.get("resourceVersion", ""))
        except Refusal as refusal:
            yield _line("ERROR", refusal.answer.body)
            return
        for line in first:
            yield line
        end = asyncio.get_running_loop().time() + seconds
        while not closing.is_set():
            change = await _next(queue, closing, end)
            if change is None:
                break
            if change.revision > start:
                for line in shown.lines(change):
                    yield line
    if call.flag("allowWatchBookmarks") and not closing.is_set():
        yield shown.bookmark()


async def _next(queue: asyncio.Queue[Change], closing: asyncio.Event, end: float) -> Change | None:
    """The next change; None at the end of the watch."""
    waiting = {asyncio.ensure_future(queue.get()), asyncio.ensure_future(closing.wait())}
    try:
        left = max(0.0, end - asyncio.get_running_loop().time())
        done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        return next((value for task in done if isinstance(value := task.result(), Change)), None)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


class _Shown:
    """Filters and formats the changes for one watch."""

    def __init__(self, world: KubeWorld, request: WatchRequest) -> None:
        self._world, self._kind, self._namespace = world, request.kind, request.namespace
        call = request.call
        self._call = call
        self._form = representations.negotiate(call.accept)
        self._include = call.query.get("includeObject", "")
        self._chosen: Callable[[Body], bool] = reads.chooser(request.kind, call) or (lambda _: True)
        # A watch of a single object by path is a list with its name as the filter.
        self._name = request.name
        self._columns_sent = False

    def beginning(self, asked: str) -> list[bytes]:
        """The initial events: all existing objects, or the changes since the requested version."""
        if asked in ("", "0") or self._call.flag("sendInitialEvents"):
            stored = [body for _, body in self._world.in_order(self._kind.storage_key)]
            lines = [self._event("ADDED", body) for body in stored if self._wanted(body)]
            if self._call.flag("sendInitialEvents") and self._call.flag("allowWatchBookmarks"):
                lines.append(self.bookmark(_INITIAL_END))
            return lines if self._call.query.get("sendInitialEvents", "").lower() != "false" else []
        if int(asked) < self._world.feed.compacted:
            raise statuses.expired(f"too old resource version: {asked} ({self._world.feed.compacted})")
        return [line for change in self._world.feed.since(int(asked)) for line in self.lines(change)]

    def lines(self, change: Change) -> list[bytes]:
        """A change as this watch sees it: DELETED if the object stops matching the selector, ADDED if it starts to."""
        if change.key != self._kind.storage_key:
            return []
        now = change.type != "DELETED" and self._wanted(change.body)
        before = change.before is not None and self._wanted(change.before)
        if now:
            return [self._event("MODIFIED" if before else "ADDED", change.body)]
        return [self._event("DELETED", change.body)] if before else []

    def bookmark(self, annotations: Body | None = None) -> bytes:
        metadata: Body = {"resourceVersion": str(self._world.revision), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        body: Body = {"kind": self._kind.kind, "apiVersion": self._kind.api_version, "metadata": metadata}
        if self._form.table:
            stored = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
            body = {
                "kind": "Table",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
                "columnDefinitions": [],
                "rows": [{"cells": [], "object": stored}],
            }
        return _line("BOOKMARK", body)

    def _wanted(self, body: Body) -> bool:
        metadata = body["metadata"]
        if self._kind.namespaced and self._namespace and metadata.get("namespace") != self._namespace:
            return False
        return (not self._name or metadata["name"] == self._name) and self._chosen(body)

    def _event(self, word: str, body: Body) -> bytes:
        served = reads.as_served(self._kind, body)
        now = self._world.clock()
        if not self._form.table:
            return _line(word, representations.one(self._form, self._kind, served, self._include, now))
        metadata = {"resourceVersion": body["metadata"]["resourceVersion"]}
        shown = representations.table(
            self._kind, [served], metadata, self._include, now, with_columns=not self._columns_sent
        )
        self._columns_sent = True
        return _line(word, shown)


def _line(word: str, body: Body) -> bytes:
    return orjson.dumps({"type": word, "object": body}) + b"\n"
