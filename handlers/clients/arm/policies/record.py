"""Record requests and their answers."""

from __future__ import annotations

import asyncio

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.errors import ArmError
from handlers.clients.recording.case import Recorder
from handlers.clients.response import SeenResponse


class Record(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Outside the cache, so that a recording is complete even when answers come from the cache."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        call = request.http_request
        try:
            response = await self.next.send(request)
        except ArmError as error:
            self._recorder.failed(call.method, call.url, call.content, error)
            raise
        except asyncio.CancelledError:
            self._recorder.cut_off(call.method, call.url, call.content)
            raise
        seen = response.http_response
        if isinstance(seen, SeenResponse):
            self._recorder.answered(
                call.method, call.url, call.content, seen.status_code, seen.headers, seen.json(), seen.taken_at
            )
        return response
