"""Redact answers and raise errors for failures. Policies further out never see a raw answer."""

from __future__ import annotations

from typing import Any

import orjson
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import wanted_at
from handlers.clients.arm.activity_log import VALUES, named_callers
from handlers.clients.errors import Garbled
from handlers.clients.headers import safe_headers
from handlers.clients.redact import redact_json, redact_text
from handlers.clients.refusals import refusal
from handlers.clients.response import SeenResponse


class Understand(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """2xx with JSON (or an empty body, where that is valid) passes; everything else is raised as an ArmError.

    `callers`: whether the activity log says who called, by name.
    """

    def __init__(self, *, callers: bool = False) -> None:
        super().__init__()
        self._callers = callers

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        response = await self.next.send(request)
        answer = response.http_response
        taken_at = answer.taken_at if isinstance(answer, SeenResponse) else None
        body, content = _parsed(request.http_request.url, answer, callers=self._callers)
        seen = SeenResponse(
            request.http_request,
            answer.status_code,
            safe_headers(answer.headers),
            content,
            body=body,
            reason=answer.reason,
            taken_at=taken_at,
        )
        return PipelineResponse(request.http_request, seen, response.context)


class UnderstandRaw(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """The same for the writer: bodies and headers stay unredacted, only the texts of errors are redacted."""

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        response = await self.next.send(request)
        answer = response.http_response
        if not _ok(answer.status_code):
            _parsed(request.http_request.url, answer)
        try:
            answer.json()
        except orjson.JSONDecodeError:
            _parsed(request.http_request.url, answer)
        return response


def _parsed(url: str, answer: AsyncHttpResponse, *, callers: bool = False) -> tuple[Any, bytes]:
    wanted, status, raw = wanted_at(url), answer.status_code, answer.content
    try:
        if callers and VALUES in url.lower() and raw.strip():
            raw = orjson.dumps(named_callers(orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))))
        body, content = redact_json(raw) if raw.strip() else (None, b"")
    except orjson.JSONDecodeError:
        text = redact_text(raw[:2000].decode("utf-8", errors="replace"))
        if not _ok(status):
            raise refusal(wanted, status, answer.headers, None, text) from None
        raise Garbled(wanted, f"{status}, but {_what_it_is(text)}", status=status) from None
    if not _ok(status):
        raise refusal(wanted, status, answer.headers, body)
    if status == 200 and body is None:
        raise Garbled(wanted, "200, but the answer is empty", status=status)
    return body, content


def _ok(status: int) -> bool:
    return 200 <= status < 300


def _what_it_is(text: str) -> str:
    start = text.lstrip()
    return "a web page came instead of JSON" if start.startswith("<") else f"no JSON came: {start[:100]}"
