"""Microsoft's typed clients on top of our pipeline.

Their own pipelines register resource providers after a 409, and repeat a PUT or POST that was answered 503 up to ten
times. `HandOver` is their only policy: it hands each request to our pipeline.
"""

from __future__ import annotations

from typing import Any

from azure.core.credentials import AccessToken
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy, ContentDecodePolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.monitor.aio import MonitorManagementClient

from handlers.clients.arm.pages import NEXT, next_of, rows_of
from handlers.clients.arm.pipe import Pipe
from handlers.clients.response import SeenResponse


class HandOver(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Sends through our pipeline. A caller passes `answers=[]` with an operation to get the raw answers.

    With `pages=[]` the typed client sees the frame of a page only: it follows the links without building a model per
    row (half a millisecond each, and one event with an unexpected field would fail the whole log). A page without a
    list, or with a link that cannot be followed, raises here: the typed clients handle neither.
    """

    def __init__(self, pipe: Pipe, endpoint: str) -> None:
        super().__init__()
        self._pipe = pipe
        self._endpoint = endpoint

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        answers: list[SeenResponse] | None = request.context.options.pop("answers", None)
        pages: list[SeenResponse] | None = request.context.options.pop("pages", None)
        seen = await self._pipe.send(request.http_request)
        if answers is not None:
            answers.append(seen)
        if pages is not None:
            rows_of(seen)
            pages.append(seen)
            seen = _frame(seen, next_of(self._endpoint, seen))
        # The monitor client looks for the parsed body here, the container service client on the response.
        request.context[ContentDecodePolicy.CONTEXT_NAME] = seen.json()
        return PipelineResponse(request.http_request, seen, request.context)


def _frame(seen: SeenResponse, following: str | None) -> SeenResponse:
    # The typed clients treat text in braces in a link as a placeholder to fill in.
    link = following and following.replace("{", "%7B").replace("}", "%7D")
    empty = {**seen.json(), "value": [], **dict.fromkeys(NEXT, link)}
    return SeenResponse(seen.request, seen.status_code, seen.headers, b"", body=empty, taken_at=seen.taken_at)


class _SignedElsewhere:
    """The typed clients require a credential; our pipeline signs, so this one is never used."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        raise AssertionError("the pipe signs the calls")

    async def close(self) -> None:
        """Nothing to close."""

    async def __aenter__(self) -> _SignedElsewhere:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class TypedClients:
    """One client per subscription, created on first use."""

    def __init__(self, pipe: Pipe, endpoint: str) -> None:
        self._pipe = pipe
        self._endpoint = endpoint
        self._clusters: dict[str, ContainerServiceClient] = {}
        self._monitors: dict[str, MonitorManagementClient] = {}

    def clusters(self, subscription: str) -> ContainerServiceClient:
        if subscription not in self._clusters:
            self._clusters[subscription] = ContainerServiceClient(
                _SignedElsewhere(), subscription, self._endpoint, **self._through_our_pipe()
            )
        return self._clusters[subscription]

    def monitor(self, subscription: str) -> MonitorManagementClient:
        if subscription not in self._monitors:
            self._monitors[subscription] = MonitorManagementClient(
                _SignedElsewhere(), subscription, self._endpoint, **self._through_our_pipe()
            )
        return self._monitors[subscription]

    def _through_our_pipe(self) -> dict[str, Any]:
        return {"policies": [HandOver(self._pipe, self._endpoint)], "transport": self._pipe.transport}
