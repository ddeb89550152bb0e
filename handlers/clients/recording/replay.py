"""Answers from a recording, offline."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import orjson
from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import wanted_at
from handlers.clients.errors import NotRecorded, ServerFault, TimedOut
from handlers.clients.recording.case import FAILURES, Question, RecordedCall, Recording
from handlers.clients.response import SeenResponse

API_VERSION = "api-version"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?")


class ReplayTransport(AsyncHttpTransport[HttpRequest, AsyncHttpResponse]):
    """An equal request gets the recorded answer or failure; an unknown one is an error, never an empty answer.

    The same request in another api-version counts as equal: a collector may have moved on since.
    """

    def __init__(self, recording: Recording) -> None:
        self._recorded_at = recording.recorded_at
        self._calls = {call.question: call for call in recording.calls}
        self._unversioned: dict[Question, list[RecordedCall]] = {}
        for call in recording.calls:
            self._unversioned.setdefault(_unversioned(call.question), []).append(call)
        # Old recordings do not name their questions. If the check ran out of time, a missing answer may not be a new
        # question.
        self._ran_out_of_time = not recording.questions and any(call.failed == "timeout" for call in recording.calls)

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, request: HttpRequest, **_: Any) -> AsyncHttpResponse:
        wanted = wanted_at(request.url)
        call = self._find(request)
        if call is None and self._ran_out_of_time:
            raise TimedOut(wanted, "no answer before the deadline")
        if call is None:
            raise NotRecorded(wanted, "not asked when this was recorded")
        if call.failed is not None:
            raise FAILURES.get(call.failed, ServerFault)(wanted, call.detail or call.failed)
        taken_at = call.taken_at or self._recorded_at
        return SeenResponse(request, call.status or 200, call.headers, _content(call), taken_at=taken_at)

    def _find(self, request: HttpRequest) -> RecordedCall | None:
        body = orjson.loads(request.content) if request.content else None
        asked = Question.of(request.method, request.url, body)
        if asked in self._calls:
            return self._calls[asked]
        # "The last two hours" have passed since the recording: take the most similar time span.
        alike = self._unversioned.get(_unversioned(asked), [])
        return min(alike, key=lambda call: abs(_span_s(call.question) - _span_s(asked)), default=None)


def _unversioned(question: Question) -> Question:
    params = tuple((name, _TIME.sub("<time>", value)) for name, value in question.params if name.lower() != API_VERSION)
    return Question(question.method, question.path, params, _TIME.sub("<time>", question.body))


def _span_s(question: Question) -> float:
    text = question.body + "".join(value for _, value in question.params)
    moments = [datetime.fromisoformat(found.removesuffix("Z")[:19]) for found in _TIME.findall(text)]
    return (max(moments) - min(moments)).total_seconds() if moments else 0.0


def _content(call: RecordedCall) -> bytes:
    if call.answer is None:
        return b""
    if isinstance(call.answer, str) and (call.status or 200) >= 300:
        return call.answer.encode()
    return orjson.dumps(call.answer)
