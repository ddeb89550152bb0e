"""If a cloud does not offer an api-version, repeat the read in the newest one that it offers."""

from __future__ import annotations

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.arm.policies.refuse_writes import is_read
from handlers.clients.errors import ArmError
from handlers.clients.recording.case import Recorder
from handlers.clients.response import SeenResponse
from handlers.clients.versions import (
    OfferedVersions,
    is_signed,
    newest_not_above,
    not_offered,
    offered_by,
    version_of,
    with_version,
)

Response = PipelineResponse[HttpRequest, AsyncHttpResponse]


class AskInAnOfferedVersion(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Never uses a version newer than the requested one, and never changes a write: its body belongs to the version it
    was read in.

    It runs outside the recording, which then holds both the refusal and the answer. A remembered refusal is recorded
    too, so that a replay takes the same way. `any_method` is for reads that are POSTs.
    """

    def __init__(
        self, versions: OfferedVersions, recorder: Recorder | None = None, *, any_method: bool = False
    ) -> None:
        super().__init__()
        self._versions = versions
        self._recorder = recorder
        self._any_method = any_method

    async def send(self, request: PipelineRequest[HttpRequest]) -> Response:
        call, url = request.http_request, request.http_request.url
        wanted = version_of(url)
        if not wanted or is_signed(url) or not (self._any_method or is_read(call.method, url)):
            return await self.next.send(request)
        tried = [wanted.lower()]
        if (lag := self._versions.lag(url, wanted)) and (known := newest_not_above(wanted, lag.offered)):
            if self._recorder:
                self._recorder.failed(call.method, url, call.content, lag.refused)
            tried.append(known)
        while True:
            call.url = with_version(url, tried[-1]) if len(tried) > 1 else url
            try:
                return _marked(await self.next.send(request), wanted if len(tried) > 1 else "")
            except ArmError as refused:
                tried.append(self._instead(refused, url, wanted, tried))

    def _instead(self, refused: ArmError, url: str, wanted: str, tried: list[str]) -> str:
        """The version to try next. Raises the refusal if there is none."""
        offered = offered_by(refused)
        if not offered or tried[-1] in offered:
            raise refused
        self._versions.learn(url, refused)
        instead = newest_not_above(wanted, offered)
        if instead is None:
            raise not_offered(refused, url, wanted) from refused
        if instead in tried:
            raise refused
        return instead


def _marked(response: Response, instead_of: str) -> Response:
    seen = response.http_response
    if not instead_of or not isinstance(seen, SeenResponse):
        return response
    return PipelineResponse(response.http_request, seen.in_an_older_version(instead_of), response.context)
