"""Writes to Azure. A write is sent exactly once; its operation is polled until it ends.

Nothing is redacted, recorded or cached, and bodies are not logged: a PUT must send what the GET returned. Only the
texts of errors are redacted, because people read them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handlers.clients.access import AzureAccess
from handlers.clients.addresses import address, follow, wanted_at
from handlers.clients.arm.client import ArmClient
from handlers.clients.arm.operation import Progress, State, Via, begun, polled
from handlers.clients.call_log import CallLog
from handlers.clients.clock import Clock, LoopClock
from handlers.clients.errors import Garbled, ServerFault, Throttled, TimedOut, Unreachable, WriteFateUnknown
from handlers.clients.versions import version_of

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

    from handlers.clients.arm.pipe import Pipe
    from handlers.clients.response import SeenResponse

REQUEST_ID = "x-ms-client-request-id"
CORRELATION_ID = "x-ms-correlation-request-id"
MARK = "[redacted:"
INTERVAL_S = 10.0
"""AKS never says how long to wait between two polls; its operations take minutes."""
LONGEST_WAIT_S = 60.0
BAD_POLLS = 20
"""Gateways answer polls with 502, 503 and 504 now and then while the operation goes on; not twenty times in a row."""
GATEWAY_LOST_IT = frozenset({408, 502, 504})
"""A gateway gave up waiting: whoever stands behind it may have acted."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw body. It may only be sent back in the api-version it was read in."""

    body: Any = field(repr=False)
    api_version: str


class ArmWriter(ArmClient):
    """Sends writes, and follows the operations they start."""

    def __init__(
        self,
        access: AzureAccess,
        *,
        credential: AsyncTokenCredential | None = None,
        interval_s: float = INTERVAL_S,
        clock: Clock | None = None,
        calls: CallLog | None = None,
    ) -> None:
        self.access = access
        self.calls = CallLog() if calls is None else calls
        self.interval_s = interval_s
        self.clock = clock or LoopClock()
        self._credential = credential

    async def read(self, path: str, api_version: str) -> Raw:
        """The raw body to send back, and the api-version it was read in: a cloud may not offer the requested one."""
        url = self._address(path, api_version)
        seen = await self._send("GET", url)
        if seen.json() is None:
            raise Garbled(wanted_at(url), "200, but the answer is empty", status=200)
        return Raw(seen.json(), version_of(seen.request.url))

    async def get(self, path: str, api_version: str) -> Any:
        """The raw body, only to look at: keep it out of logs, caches and chats."""
        return (await self.read(path, api_version)).body

    def to_ask_in(self, path: str, api_version: str) -> str:
        """The api-version to send an action in, if the offered ones are known. A write is not tried twice."""
        return self.access.versions.to_ask_in(self._address(path, api_version), api_version)

    async def put(
        self, path: str, api_version: str, body: Any, *, if_match: str | None = None, request_id: str = ""
    ) -> Operation:
        return await self._write("PUT", path, api_version, body, if_match, request_id)

    async def patch(
        self, path: str, api_version: str, body: Any, *, if_match: str | None = None, request_id: str = ""
    ) -> Operation:
        return await self._write("PATCH", path, api_version, body, if_match, request_id)

    async def post(
        self, path: str, api_version: str, body: Any = None, *, if_match: str | None = None, request_id: str = ""
    ) -> Operation:
        return await self._write("POST", path, api_version, body, if_match, request_id)

    async def delete(self, path: str, api_version: str, *, if_match: str | None = None) -> Operation:
        return await self._write("DELETE", path, api_version, None, if_match)

    def resume(self, url: str, via: Via, request_id: str = "") -> Operation:
        """Continue an operation that another process started."""
        return Operation(self, Progress(State.RUNNING, url, via, request_id))

    async def poll(self, url: str) -> SeenResponse:
        """Poll an operation once, at exactly this URL."""
        return await self._send("GET", follow(self.access.endpoint, url, "the operation's progress"))

    async def _write(
        self, method: str, path: str, api_version: str, body: Any, if_match: str | None, given: str = ""
    ) -> Operation:
        """`given`: the request id that the caller has already stored, so that Azure can be asked about it."""
        url, request_id = self._address(path, api_version), given or str(uuid.uuid4())
        headers = {REQUEST_ID: request_id, **({"If-Match": if_match} if if_match else {})}
        try:
            seen = await self._send(method, url, body, headers)
        except (TimedOut, Garbled, ServerFault) as lost:
            if isinstance(lost, ServerFault) and lost.status not in GATEWAY_LOST_IT:
                raise
            wanted, detail = wanted_at(url), lost.detail
            raise WriteFateUnknown(wanted, detail, request_id=request_id, status=lost.status) from lost
        progress = begun(url, seen.status_code, seen.headers, seen.json(), request_id)
        return Operation(self, progress, seen.status_code, seen.headers.get(CORRELATION_ID, ""))

    def _address(self, path: str, api_version: str) -> str:
        return address(self.access.endpoint, path, api_version)

    async def _send(
        self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> SeenResponse:
        from azure.core.rest import HttpRequest

        content = None if body is None else json.dumps(body)
        if content and MARK in content:
            raise ValueError("a redacted body must never be written back")
        typed = {} if body is None else {"Content-Type": "application/json"}
        return await self._pipe.send(HttpRequest(method, url, headers={**typed, **(headers or {})}, content=content))

    def _new_pipe(self) -> Pipe:
        from handlers.clients.arm.pipe import writing

        return writing(self.access, self.calls, given=self._credential)


class Operation:
    """An operation that a write started. `progress` is the last known one.

    `status` and `correlation_id` belong to the answer to the write; a resumed operation has neither.
    """

    def __init__(self, writer: ArmWriter, progress: Progress, status: int = 0, correlation_id: str = "") -> None:
        self._writer = writer
        self.progress = progress
        self.status = status
        self.correlation_id = correlation_id

    @property
    def ended(self) -> bool:
        return self.progress.ended

    async def poll(self) -> Progress:
        """Poll once. Errors on the way to Azure are raised; they do not affect the operation."""
        if not self.ended:
            seen = await self._writer.poll(self.progress.url)
            self.progress = polled(self.progress, seen.status_code, seen.headers, seen.json())
        return self.progress

    async def wait(self) -> Progress:
        """Poll until it ends, at the interval that Azure asks for, or our own. Put a timeout around it."""
        bad = 0
        while not self.ended:
            asked = self.progress.retry_after_s
            pause = self._writer.interval_s if asked is None else min(asked, LONGEST_WAIT_S)
            await self._writer.clock.sleep(pause)
            try:
                await self.poll()
                bad = 0
            except (ServerFault, Garbled, Unreachable, TimedOut, Throttled):
                bad += 1
                if bad >= BAD_POLLS:
                    raise
        return self.progress
