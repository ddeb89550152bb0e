"""Fake transports: everything above them is the production client."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.kube.door.unreachable import unreachable
from handlers.clients.response import SeenResponse

Answering = Callable[[str], tuple[int, Any]]
"""Maps a path to a status and a body: an object, a text, or (with status 0) a connection error.

`#group` is the suffix of an activity log path, `/kube:` the prefix of paths on the cluster's API server.
"""


class Answers(AsyncHttpTransport[HttpRequest, AsyncHttpResponse]):
    """Answers every request from a function, at a fixed time."""

    def __init__(self, answering: Answering, taken_at: datetime) -> None:
        self._answering = answering
        self._taken_at = taken_at

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""

    async def send(self, request: HttpRequest, **_: Any) -> AsyncHttpResponse:
        parts = urlsplit(request.url)
        group = re.search(r"resourceGroupName eq '([^']+)'", unquote(parts.query.replace("+", " ")))
        status, body = self._answering(parts.path.rstrip("/") + (f"#{group[1]}" if group else ""))
        if not status:
            raise unreachable(body)
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return SeenResponse(request, status, {}, content, taken_at=self._taken_at)
