"""The bearer token: one for all calls, fetched once, renewed once when Azure says that it has expired."""

from __future__ import annotations

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import is_resource_manager, wanted_at
from handlers.clients.arm.policies.refuse_writes import is_read
from handlers.clients.errors import CredentialRefused, NotFollowed
from handlers.clients.tokens import Tokens


class Bearer(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Sign a call. The token goes to Resource Manager only, wherever a link may point. A write is never repeated."""

    def __init__(self, tokens: Tokens, endpoint: str) -> None:
        super().__init__()
        self._tokens = tokens
        self._endpoint = endpoint

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        call = request.http_request
        if not is_resource_manager(self._endpoint, call.url):
            raise NotFollowed(wanted_at(call.url), "the link leads away from Azure Resource Manager; not followed")
        token = await self._tokens.current(wanted_at(call.url))
        call.headers["Authorization"] = f"Bearer {token}"
        try:
            return await self.next.send(request)
        except CredentialRefused as refused:
            if not (refused.stale and is_read(call.method, call.url)):
                raise
            fresh = await self._tokens.renew(token, refused.claims, wanted_at(call.url))
        call.headers["Authorization"] = f"Bearer {fresh}"
        return await self.next.send(request)
