"""Handles one HTTP request: authentication, fault injection, response, logging."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from aiohttp import web

from sandbox.arm import entra, errors, faults, front_door, gateway
from sandbox.arm.answers import Answer, Refusal, content_type, to_bytes
from sandbox.arm.entra import Entra
from sandbox.arm.faults import Fault
from sandbox.arm.headers import KINDS, Budget, budget_headers, common_headers
from sandbox.arm.locks import READS_BY_POST, changes_something
from sandbox.arm.paths import Place, action_of, parse, scope_of
from sandbox.arm.providers import catalogue
from sandbox.arm.request_log import LoggedRequest
from sandbox.arm.site import Call, Site
from sandbox.arm.tokens import Tokens
from sandbox.world import Principal

_LONGEST_BODY = 32 * 1024 * 1024
_METADATA = "/metadata/endpoints"


@dataclass
class _Exchange:
    """The state of one request in progress."""

    method: str
    path: str
    place: Place
    query: dict[str, str]
    content: bytes
    entry: LoggedRequest
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    correlation_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    principal: Principal | None = None
    left: int = 0


@dataclass
class Door:
    """The HTTP handler of the ARM server."""

    site: Site
    entra: Entra
    tokens: Tokens
    budget: Budget
    log: list[LoggedRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    latency_s: float = 0.0
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        place = parse(path)
        entry = self._begin(request, path, place)
        try:
            content = await _read(request)
            wait_s = self.latency_s + self.site.world.latency_s
            if wait_s:
                await asyncio.sleep(wait_s)
            exchange = _Exchange(request.method, path, place, _query(request.raw_path), content, entry)
            return await self._respond(request, exchange)
        finally:
            entry.ended = time.monotonic()

    def _begin(self, request: web.BaseRequest, path: str, place: Place) -> LoggedRequest:
        open_door = _is_open(path)
        entry = LoggedRequest(
            method=request.method,
            path=path,
            route=entra.route(path) if entra.is_authority(path) else place.route,
            action="" if open_door else action_of(request.method, place),
            principal=None,
            client_request_id=request.headers.get("x-ms-client-request-id"),
            is_write=not open_door and changes_something(request.method, place),
            started=time.monotonic(),
            query=_unsigned(request.raw_path),
        )
        self.log.append(entry)
        return entry

    async def _respond(self, request: web.BaseRequest, exchange: _Exchange) -> web.StreamResponse:
        entry = exchange.entry
        refusal = self._sign_in(request, exchange)
        fault = faults.first(self.faults, entry.method, entry.route, entry.action, entry.principal)
        if fault and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        replaced = fault is not None and fault.kind in faults.INSTEAD
        if fault and replaced and not fault.executed:
            return await self._fault(fault, exchange)
        answer = refusal or self._answer(request, exchange)
        if fault and replaced:
            return await self._fault(fault, exchange)
        headers = self._headers(answer, exchange)
        body = b"" if entry.method == "HEAD" else to_bytes(answer)
        if fault and fault.kind != "slow":
            return await faults.spoiled(fault, request, answer.status, body, headers)
        entry.status = answer.status
        return web.Response(status=answer.status, body=body or None, headers=headers)

    def _sign_in(self, request: web.BaseRequest, exchange: _Exchange) -> Answer | None:
        """Authenticate the caller; returns the 401 if that fails."""
        if _is_open(exchange.path):
            return None
        try:
            exchange.principal = self.tokens.authenticate(request.headers.get("Authorization"))
        except Refusal as refusal:
            return refusal.answer
        exchange.entry.principal = exchange.principal.name
        return None

    def _answer(self, request: web.BaseRequest, exchange: _Exchange) -> Answer:
        if exchange.principal is None:
            return self._anonymous(exchange)
        try:
            self._spend(exchange)
            call = Call(
                method=exchange.method,
                place=exchange.place,
                query=exchange.query,
                headers=request.headers,
                content=exchange.content,
                principal=exchange.principal,
                action=exchange.entry.action,
                request_id=exchange.request_id,
                correlation_id=exchange.correlation_id,
            )
            return gateway.answer(self.site, call)
        except Refusal as refusal:
            return refusal.answer

    def _anonymous(self, exchange: _Exchange) -> Answer:
        if exchange.path.lower() == _METADATA:
            version = exchange.query.get("api-version", "")
            return front_door.metadata(self.site.url, self.site.world.tenant_id, version)
        form = dict(parse_qsl(exchange.content.decode(errors="replace"), keep_blank_values=True))
        answer = self.entra.answer(exchange.method, exchange.path, form)
        return answer or errors.gateway(404, "NotFound", f"The path '{exchange.path[:200]}' was not found.").answer

    def _spend(self, exchange: _Exchange) -> None:
        subscription, action = exchange.place.subscription, exchange.entry.action
        if exchange.place.kind in READS_BY_POST:
            # Resource Graph and policy queries have their own rate limits.
            return
        kind = KINDS.get(exchange.method, "writes")
        exchange.left = self.budget.take(subscription or "", exchange.entry.principal or "", kind)
        if exchange.left < 0 and self.budget.enforced:
            raise errors.subscription_throttled(subscription or "", action, self.budget.wait_s())

    def _headers(self, answer: Answer, exchange: _Exchange) -> dict[str, str]:
        headers = common_headers(exchange.request_id, exchange.correlation_id)
        if exchange.principal is not None and exchange.place.kind not in READS_BY_POST:
            kind = KINDS.get(exchange.method, "writes")
            namespace = exchange.place.kind.split("/", 1)[0]
            headers |= budget_headers(answer, kind, max(0, exchange.left), namespace, self.budget)
        headers |= answer.headers
        kind_of_content = content_type(answer)
        return headers | ({"Content-Type": kind_of_content} if kind_of_content else {})

    async def _fault(self, fault: Fault, exchange: _Exchange) -> web.StreamResponse:
        if fault.kind == "timeout":
            await self.closing.wait()
            raise asyncio.CancelledError
        if fault.kind == "html":
            exchange.entry.status = 503
            return faults.html_answer()
        namespace = catalogue().namespace(exchange.place.namespace or "") or "Microsoft.Resources"
        scope = scope_of(exchange.place)
        answer = faults.instead_of_answer(fault, namespace, exchange.entry.action, exchange.principal, scope)
        exchange.entry.status = answer.status
        headers = common_headers(exchange.request_id, exchange.correlation_id) | answer.headers
        headers["Content-Type"] = content_type(answer) or "application/json"
        return web.Response(status=answer.status, body=to_bytes(answer), headers=headers)


async def _read(request: web.BaseRequest) -> bytes:
    content = bytearray()
    async for chunk in request.content.iter_any():
        content += chunk
        if len(content) > _LONGEST_BODY:
            raise web.HTTPRequestEntityTooLarge(_LONGEST_BODY, len(content))
    return bytes(content)


_SIGNATURE = {"t", "c", "s", "h"}
"""The signature in a polling URL, which is a secret: anyone who has it can poll."""


def _unsigned(raw_path: str) -> str:
    """The query as sent, without the signature of a polling URL."""
    parts = raw_path.partition("?")[2].split("&")
    return "&".join(part for part in parts if part.partition("=")[0] not in _SIGNATURE)


def _query(raw_path: str) -> dict[str, str]:
    """Query parameters by lower-case name. If one is repeated, the first wins, as in ARM."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(raw_path.partition("?")[2], keep_blank_values=True):
        found.setdefault(name.lower(), value)
    return found


def _is_open(path: str) -> bool:
    """Paths that need no token: the Entra authority and the cloud's metadata."""
    return entra.is_authority(path) or path.lower() == _METADATA
