"""The query API of Log Analytics, POST /v1/workspaces/<customer id>/query: a port and an audience of its own."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any

import orjson
from aiohttp import web

from sandbox.arm import faults
from sandbox.arm.answers import Answer, Refusal, to_bytes
from sandbox.arm.faults import Fault
from sandbox.arm.rbac import Access
from sandbox.arm.request_log import LoggedRequest
from sandbox.arm.tokens import Tokens
from sandbox.local_server import LocalServer
from sandbox.logs.query import answer_query, refused
from sandbox.world import Principal, World

ROUTE = "/v1/workspaces/{}/query"
_LONGEST_BODY = 1024 * 1024


@dataclass
class LogDoor:
    """Handles one request: authentication, the path, the query."""

    world: World
    access: Access
    tokens: Tokens
    url: str = ""
    log: list[LoggedRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    latency_s: float = 0.0
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        entry = LoggedRequest(
            method=request.method,
            path=path,
            route=ROUTE,
            action="",
            principal=None,
            client_request_id=request.headers.get("x-ms-client-request-id"),
            is_write=False,
            started=time.monotonic(),
            query="",
        )
        self.log.append(entry)
        content = await request.content.read(_LONGEST_BODY)
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        try:
            principal = self._principal(request)
            entry.principal = principal.name
            answer = self._instead(entry) or self._answer(request.method, path, content, principal)
        except Refusal as refusal:
            answer = refusal.answer
        entry.status = answer.status
        entry.ended = time.monotonic()
        headers = {"Content-Type": "application/json; charset=utf-8", "request-id": str(uuid.uuid4())}
        return web.Response(status=answer.status, body=to_bytes(answer), headers=headers | answer.headers)

    def _principal(self, request: web.BaseRequest) -> Principal:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            missing = "Authentication failed. The 'Authorization' header is missing."
            raise Refusal(401, {"error": {"code": "AuthenticationFailed", "message": missing}})
        principal = self.tokens.principal_of(token.strip(), (self.url, f"{self.url}/"))
        if principal is None:
            raise refused(403, "InvalidTokenError", "The provided authentication is not valid for this resource")
        return principal

    def _instead(self, entry: LoggedRequest) -> Answer | None:
        """An injected fault in place of the answer: a status with an error of this API."""
        fault = faults.first(self.faults, entry.method, entry.route, entry.action, entry.principal)
        if fault is None:
            return None
        text = "The server encountered an internal error."
        return refused(500, "InternalServerError", text).answer

    def _answer(self, method: str, path: str, content: bytes, principal: Principal) -> Answer:
        parts = path.strip("/").split("/")
        if len(parts) != 4 or [parts[0], parts[1], parts[3]] != ["v1", "workspaces", "query"]:
            raise refused(404, "PathNotFoundError", "The requested path does not exist")
        if method != "POST":
            raise refused(405, "MethodNotAllowedError", "The requested method is not allowed")
        return Answer(200, answer_query(self.world, self.access, principal, parts[2], _body(content)))


class LogAnalyticsServer(LocalServer[LogDoor]):
    """A local Log Analytics, with the certificate of the ARM server that it belongs to."""

    def __init__(self, world: World, access: Access, tokens: Tokens, tls: SSLContext) -> None:
        super().__init__(LogDoor(world, access, tokens), 0)
        self._tls = tls

    async def _start(self, stack: AsyncExitStack, folder: Path) -> None:
        await self._listen(stack, self._tls)
        self._door.url = self.url

    @property
    def log(self) -> list[LoggedRequest]:
        """Every request."""
        return self._door.log


def _body(content: bytes) -> dict[str, Any]:
    try:
        sent = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise refused(400, "BadArgumentError", "The request had some invalid properties") from error
    if not isinstance(sent, dict) or not isinstance(sent.get("query"), str) or not sent["query"].strip():
        raise refused(400, "BadArgumentError", "Request is missing required 'query' property")
    return sent
