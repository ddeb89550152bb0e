"""A reader sends nothing that may change Azure."""

from __future__ import annotations

import re

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.addresses import path_of
from handlers.clients.errors import NotARead

QUERIES = (
    re.compile(r"^/+providers/microsoft\.resourcegraph/resources/?$", re.IGNORECASE),
    re.compile(r"^/v1/workspaces/[0-9a-f-]{36}/query$", re.IGNORECASE),
    re.compile(r"/providers/microsoft\.policyinsights/policystates/\w+/queryresults/?$", re.IGNORECASE),
)
"""The POSTs that read. Any other (listKeys, runCommand, restart) counts as a write, as it does for a lock."""


class RefuseWrites(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """Lets GET and a closed list of queries pass; anything else is a bug in this program."""

    async def send(self, request: PipelineRequest[HttpRequest]) -> PipelineResponse[HttpRequest, AsyncHttpResponse]:
        if not is_read(request.http_request.method, request.http_request.url):
            raise NotARead(f"a reader may not {request.http_request.method} {path_of(request.http_request.url)}")
        return await self.next.send(request)


def is_read(method: str, url: str) -> bool:
    """Whether a request only reads."""
    if method.upper() == "GET":
        return True
    return method.upper() == "POST" and any(known.search(path_of(url)) for known in QUERIES)
