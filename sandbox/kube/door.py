"""Handles one HTTP request: fault injection, authentication, response, logging."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from sandbox.arm.faults import Fault
from sandbox.kube import faults, statuses, watching
from sandbox.kube.answers import ANONYMOUS, Answer, Call, Refusal, User, WatchRequest
from sandbox.kube.api import Api
from sandbox.kube.identity import Identity
from sandbox.kube.place import READS, Place, parse
from sandbox.kube.prerendered import Prerendered
from sandbox.kube.request_log import LoggedRequest

_LONGEST_BODY = 3 * 1024 * 1024
_REVIEWS = {
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
}
"""Access reviews: POST requests that write nothing."""


@dataclass
class _Exchange:
    """The state of one request in progress."""

    method: str
    place: Place
    query: dict[str, str]
    content: bytes
    entry: LoggedRequest


@dataclass
class Door:
    """The HTTP handler of the Kubernetes API server."""

    api: Api
    identity: Identity
    prerendered: Prerendered
    latency_s: float = 0.0
    log: list[LoggedRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        raw_path, _, raw_query = request.raw_path.partition("?")
        query = _query(raw_query)
        place = parse(request.method, raw_path, query)
        entry = LoggedRequest(
            method=request.method,
            path=raw_path,
            query=raw_query,
            route=place.route,
            verb=place.verb,
            resource=place.full_resource,
            namespace=place.namespace,
            name=place.name,
            user="",
            is_write=place.verb not in READS and place.resource not in _REVIEWS,
            started=time.monotonic(),
        )
        self.log.append(entry)
        try:
            content = await _read(request)
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            if not self.api.world.reachable:
                await self._be_silent()
            return await self._respond(request, _Exchange(request.method, place, query, content, entry))
        finally:
            entry.ended = time.monotonic()

    async def _respond(self, request: web.BaseRequest, exchange: _Exchange) -> web.StreamResponse:
        entry = exchange.entry
        user, refusal = self._sign_in(request, exchange.place)
        entry.user = user.name
        fault = faults.first(self.faults, entry.method, exchange.place, entry.user)
        if fault and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        replaced = fault is not None and fault.kind in faults.INSTEAD
        if fault and replaced and not fault.executed:
            return await self._fault(fault, exchange)
        answer = refusal or self._answer(request, exchange, user)
        if fault and replaced:
            return await self._fault(fault, exchange)
        if fault and fault.kind != "slow":
            return await self._spoil(fault, request, answer)
        return await self._send(request, exchange, answer)

    def _sign_in(self, request: web.BaseRequest, place: Place) -> tuple[User, Answer | None]:
        certificate: Mapping[str, Any] | None = None
        if request.transport is not None:
            certificate = request.transport.get_extra_info("peercert")
        try:
            user = self.identity.who(request.headers, certificate, place)
            return self._as_somebody_else(user, request), None
        except Refusal as refusal:
            return ANONYMOUS, refusal.answer

    def _as_somebody_else(self, user: User, request: web.BaseRequest) -> User:
        """Switch to the impersonated user (`kubectl --as`), if allowed."""
        name = request.headers.get("Impersonate-User", "")
        if not name:
            return user
        place = Place(request.path, "impersonate", resource="users", name=name)
        if not self.api.access.may(user, place):
            raise statuses.forbidden(user.name, place)
        return User(name, (*request.headers.getall("Impersonate-Group", []), "system:authenticated"))

    def _answer(self, request: web.BaseRequest, exchange: _Exchange, user: User) -> Answer:
        call = Call(
            method=exchange.method,
            place=exchange.place,
            query=exchange.query,
            accept=request.headers.get("Accept", ""),
            content_type=request.headers.get("Content-Type", ""),
            content=exchange.content,
            user=user,
        )
        return self.answer(call)

    def answer(self, call: Call) -> Answer:
        """Answer a request, whether it came over a socket or not."""
        try:
            ready = self.prerendered.page(call)
            return ready if ready and self.api.access.may(call.user, call.place) else self.api.answer(call)
        except Refusal as refusal:
            return refusal.answer

    async def _send(self, request: web.BaseRequest, exchange: _Exchange, answer: Answer) -> web.StreamResponse:
        exchange.entry.status = answer.status
        if isinstance(answer.body, WatchRequest):
            return await self._stream(request, answer.body)
        body = b"" if exchange.method == "HEAD" else answer.to_bytes()
        return web.Response(status=answer.status, body=body, headers=_headers(answer))

    async def _stream(self, request: web.BaseRequest, watch: WatchRequest) -> web.StreamResponse:
        headers = _headers(Answer(200, b""))
        headers["Content-Type"] = (
            "application/json;stream=watch" if "stream" in watch.call.accept else "application/json"
        )
        response = web.StreamResponse(headers=headers)
        response.enable_chunked_encoding()
        await response.prepare(request)
        async for line in watching.events(self.api.world, watch, self.closing):
            await response.write(line)
        await response.write_eof()
        return response

    async def _spoil(self, fault: Fault, request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        body = b"" if isinstance(answer.body, WatchRequest) else answer.to_bytes()
        return await faults.spoiled(fault, request, answer.status, body, _headers(answer))

    async def _fault(self, fault: Fault, exchange: _Exchange) -> web.StreamResponse:
        if fault.kind == "timeout":
            await self._be_silent()
        if fault.kind == "html":
            exchange.entry.status = 503
            return faults.html_answer()
        answer = faults.instead_of_answer(fault, exchange.place, exchange.entry.user)
        exchange.entry.status = answer.status
        return web.Response(status=answer.status, body=answer.to_bytes(), headers=_headers(answer))

    async def _be_silent(self) -> None:
        """Send nothing until the client disconnects or the server closes."""
        await self.closing.wait()
        raise asyncio.CancelledError


def _headers(answer: Answer) -> dict[str, str]:
    return {
        "Audit-Id": str(uuid.uuid4()),
        "Cache-Control": "no-cache, private",
        "Content-Type": answer.content_type,
        "X-Kubernetes-Pf-Flowschema-Uid": "2f6c4e0e-0000-4000-8000-000000000001",
        "X-Kubernetes-Pf-Prioritylevel-Uid": "2f6c4e0e-0000-4000-8000-000000000002",
        **answer.headers,
    }


async def _read(request: web.BaseRequest) -> bytes:
    content = bytearray()
    async for chunk in request.content.iter_any():
        content += chunk
        if len(content) > _LONGEST_BODY:
            limit = statuses.refusal(
                413, "RequestEntityTooLarge", f"Request entity too large: limit is {_LONGEST_BODY}"
            ).answer
            raise web.HTTPRequestEntityTooLarge(_LONGEST_BODY, len(content), text=limit.to_bytes().decode())
    return bytes(content)


def _query(raw_query: str) -> dict[str, str]:
    """Query parameters. If one is repeated, the first wins."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(raw_query, keep_blank_values=True):
        found.setdefault(name, value)
    return found
