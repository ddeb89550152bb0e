"""Writes inside a cluster. A write is sent exactly once, and only the writes that fixes use are allowed.

Objects read here are raw: never record, cache or log them. Texts and errors go to people and are redacted. A cluster
that cannot be reached directly is not written to: run-command leaves no proof of what it did.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.call_log import Call, CallLog
from handlers.clients.closing import Closing
from handlers.clients.errors import ArmError, Garbled, WriteFateUnknown
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.paths import ApiPath, target_of
from handlers.clients.kube.refusals import refusal
from handlers.clients.kube.reply import Reply
from handlers.clients.kube.writes import MARK, may_be_written, refuse_secrets
from handlers.engine.current import collecting
from handlers.model import Target

if TYPE_CHECKING:
    from handlers.clients.kube.door.doors import KubeSession, KubeSessions

LONGEST_TEXT = 20_000
FATE_UNKNOWN = frozenset({408, 500, 502, 504})
"""A gateway that gave up waiting, and an API server whose etcd did: the object may be written."""
MERGE = "application/merge-patch+json"
JSON = "application/json"
AUDIT_ID = "Audit-ID"
"""An API server keeps the id that it is given, in its audit log and in its answer."""


class KubeWriter(Closing):
    """Reads and writes of one cluster, with the identity of `arm`: the writer's."""

    def __init__(
        self, target: Target, arm: ArmReader, access: KubeAccess, *, doors: KubeSessions | None = None
    ) -> None:
        self.target = target
        self.access = access
        self.calls = CallLog()
        self._arm = arm
        self._shared_doors = doors
        self._entered: list[KubeSession] = []

    async def close(self) -> None:
        for door in self._entered:
            await self._doors.leave(self.target, door)
        self._entered.clear()
        if "_doors" in self.__dict__ and self._shared_doors is None:
            await self._doors.close()

    async def get(self, path: str) -> Any:
        """The raw object: keep it out of logs, caches and chats."""
        target = target_of(path)
        return _parsed(target, await self._read(target))

    async def text(self, path: str) -> str:
        """A text such as a pod's log, redacted."""
        from handlers.clients.redact import redact_text

        reply = await self._read(target_of(path))
        return redact_text(reply.content[: 4 * LONGEST_TEXT].decode("utf-8", errors="replace"))[:LONGEST_TEXT]

    async def merge_patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change one object. The patch must name the `resourceVersion` that was read."""
        return await self._write("PATCH", path, body, MERGE)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create one object."""
        return await self._write("POST", path, body, JSON)

    async def delete(self, path: str, body: Mapping[str, Any]) -> Any:
        """Delete one object. The options must name its uid."""
        return await self._write("DELETE", path, body, JSON)

    async def _read(self, target: str) -> Reply:
        refuse_secrets(target)
        reply, token = await self._send("GET", target, None, {})
        if reply.status == 401 and await self._renewed(token):
            reply, _ = await self._send("GET", target, None, {})
        return _accepted("GET", target, reply)

    async def _write(self, method: str, path: str, body: Mapping[str, Any], kind: str) -> Any:
        target, audit_id = target_of(path), str(uuid.uuid4())
        may_be_written(method, target, body)
        if MARK in json.dumps(body):
            raise ValueError("a redacted body must never be written back")
        reply = await self._sent_once(method, target, body, {"Content-Type": kind, AUDIT_ID: audit_id})
        if reply.status in FATE_UNKNOWN:
            raise _lost(target, audit_id, refusal(method, target, reply))
        try:
            return _parsed(target, _accepted(method, target, reply))
        except Garbled as garbled:
            raise _lost(target, audit_id, garbled) from garbled

    async def _sent_once(self, method: str, target: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        from handlers.clients.kube.door.sent_once import found_no_connection, sent_once

        with sent_once() as sending:
            try:
                reply, _ = await self._send(method, target, body, headers)
            except ArmError as error:
                if not sending.begun or found_no_connection(error):
                    raise
                raise _lost(target, headers[AUDIT_ID], error) from error
        return reply

    async def _send(
        self, method: str, target: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> tuple[Reply, str]:
        door, started, status = await self._enter(), time.monotonic(), None
        try:
            reply, token = await door.send(method, target, body, headers)
            status = reply.status
        finally:
            path, audit_id = target.partition("?")[0], headers.get(AUDIT_ID, "")
            self.calls.add(Call(collecting.get(), method, path, status, audit_id, started, time.monotonic()))
        return reply, token

    async def _enter(self) -> KubeSession:
        if not self._entered:
            self._entered.append(await self._doors.enter(self.target))
        return self._entered[-1]

    async def _renewed(self, token: str) -> bool:
        """Whether there is another credential to try: the cached one may be outdated."""
        door = self._entered[-1]
        if door.tokens and token:
            await door.tokens.renew(token, None, "the API server's token")
            return True
        self._entered.append(await self._doors.enter(self.target, instead_of=door))
        return True

    @cached_property
    def _doors(self) -> KubeSessions:
        from handlers.clients.kube.door.doors import KubeSessions

        return self._shared_doors or KubeSessions(self._arm, self.access)


def _lost(target: str, audit_id: str, error: ArmError) -> WriteFateUnknown:
    return WriteFateUnknown(ApiPath.at(target).wanted, error.detail, request_id=audit_id, status=error.status)


def _accepted(method: str, target: str, reply: Reply) -> Reply:
    if not reply.ok:
        raise refusal(method, target, reply)
    return reply


def _parsed(target: str, reply: Reply) -> Any:
    from handlers.clients.kube.listing import parsed

    return parsed(reply.content, ApiPath.at(target).wanted)
