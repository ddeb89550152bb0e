"""A complete answer in the form that azure-core's pipelines pass along."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.core.utils import case_insensitive_dict

UNREAD: Any = object()


class SeenResponse(AsyncHttpResponse):
    """Status, headers, bytes and (on demand) JSON. Nothing is left on the wire."""

    def __init__(
        self,
        request: HttpRequest,
        status: int,
        headers: Mapping[str, str],
        content: bytes,
        *,
        body: Any = UNREAD,
        reason: str = "",
        taken_at: datetime | None = None,
    ) -> None:
        self._request = request
        self._status = status
        self._headers = case_insensitive_dict(headers)
        self._content = content
        self._body = body
        self._reason = reason
        self._encoding: str | None = "utf-8"
        self.taken_at = taken_at or datetime.now(UTC)
        self.instead_of = ""
        """The api-version that was wanted, where the cloud does not offer it and an older one answered."""

    @property
    def request(self) -> HttpRequest:
        return self._request

    @property
    def status_code(self) -> int:
        return self._status

    @property
    def headers(self) -> Any:
        return self._headers

    @property
    def reason(self) -> str:
        return self._reason

    @property
    def content_type(self) -> str | None:
        found: str | None = self._headers.get("content-type")
        return found

    @property
    def is_closed(self) -> bool:
        return True

    @property
    def is_stream_consumed(self) -> bool:
        return True

    @property
    def encoding(self) -> str | None:
        return self._encoding

    @encoding.setter
    def encoding(self, value: str | None) -> None:
        self._encoding = value

    @property
    def url(self) -> str:
        return self._request.url

    @property
    def content(self) -> bytes:
        return self._content

    def text(self, encoding: str | None = None) -> str:
        return self._content.decode(encoding or self._encoding or "utf-8", errors="replace")

    def json(self) -> Any:
        if self._body is UNREAD:
            self._body = orjson.loads(self._content) if self._content.strip() else None
        return self._body

    def in_an_older_version(self, wanted: str) -> SeenResponse:
        """The same answer, marked with its older api-version. Others may share this one, so it is a copy."""
        told = SeenResponse(
            self._request,
            self._status,
            self._headers,
            self._content,
            body=self._body,
            reason=self._reason,
            taken_at=self.taken_at,
        )
        told.instead_of = wanted
        return told

    def raise_for_status(self) -> None:
        """Nothing to do: failures were raised long before."""

    async def read(self) -> bytes:
        return self._content

    async def iter_raw(self, **_: Any) -> AsyncIterator[bytes]:
        yield self._content

    async def iter_bytes(self, **_: Any) -> AsyncIterator[bytes]:
        yield self._content

    async def close(self) -> None:
        """Nothing to do: it was closed when it had been read."""

    async def __aexit__(self, *_: object) -> None:
        await self.close()
