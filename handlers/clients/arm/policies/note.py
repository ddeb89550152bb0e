"""Count every call over the wire, and send a request id that Azure support can look up."""

from __future__ import annotations

import logging
import time
import uuid

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import path_of
from handlers.clients.call_log import Call, CallLog
from handlers.clients.errors import ArmError
from handlers.engine.current import collecting

LOG = logging.getLogger("aksbot.arm")
USER_AGENT = "aksbot"
REQUEST_ID = "x-ms-client-request-id"


class NoteCall(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Names the call, times it, and logs how it ended. `new_id`: each attempt gets its own id."""

    def __init__(self, calls: CallLog, *, new_id: bool = True) -> None:
        super().__init__()
        self._calls = calls
        self._new_id = new_id

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        headers = request.http_request.headers
        if self._new_id or REQUEST_ID not in headers:
            headers[REQUEST_ID] = str(uuid.uuid4())
        headers["User-Agent"] = USER_AGENT
        headers["Accept"] = "application/json"
        started, status = time.monotonic(), None
        try:
            response = await self.next.send(request)
            status = response.http_response.status_code
        except ArmError as error:
            status = error.status
            raise
        else:
            return response
        finally:
            self._note(request.http_request, status, started)

    def _note(self, request: HttpRequest, status: int | None, started: float) -> None:
        ended = time.monotonic()
        path, sent_as = path_of(request.url), request.headers[REQUEST_ID]
        self._calls.add(Call(collecting.get(), request.method, path, status, sent_as, started, ended))
        LOG.debug("%s %s -> %s in %.0f ms (%s)", request.method, path, status, (ended - started) * 1e3, sent_as)
