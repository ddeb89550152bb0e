from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from yarl import URL

from sandbox.kube.server import KubeServer
from sandbox.kube.world import KubeWorld
from tests.sandbox_calls import Answer, trusting
from tests.sandbox_kube.bodies import ADMIN_TOKEN, small_world

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class Reply(Answer):
    """A response from an API server."""

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]

    @property
    def rows(self) -> list[list[Any]]:
        return [row["cells"] for row in self.body["rows"]]

    @property
    def said(self) -> tuple[int, str, str]:
        """The status, reason and message of an error response."""
        return self.status, self.body.get("reason", ""), self.body["message"]


class Caller:
    """Sends requests to an API server with one token."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str | None) -> None:
        self.session, self._url, self._token = session, url, token

    async def __call__(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        sent_as: str = "application/json",
        accept: str = "application/json",
        **query: str | int,
    ) -> Reply:
        async with self.session.request(
            method, self.address(path, **query), data=_content(body), headers=self.headers(sent_as, accept)
        ) as response:
            return Reply(response.status, response.headers, await response.text())

    def address(self, path: str, **query: str | int) -> URL:
        mark = "&" if "?" in path else "?"
        return URL(self._url + path + (mark + urlencode(query) if query else ""), encoded=True)

    def headers(self, sent_as: str = "application/json", accept: str = "application/json") -> dict[str, str]:
        found = {"Content-Type": sent_as, "Accept": accept}
        return found | ({"Authorization": f"Bearer {self._token}"} if self._token else {})

    async def get(self, path: str, **query: str | int) -> Reply:
        return await self("GET", path, **query)

    async def table(self, path: str, **query: str | int) -> Reply:
        return await self("GET", path, accept="application/json;as=Table;v=v1;g=meta.k8s.io", **query)

    async def post(self, path: str, body: Any, **query: str | int) -> Reply:
        return await self("POST", path, body=body, **query)

    async def put(self, path: str, body: Any, **query: str | int) -> Reply:
        return await self("PUT", path, body=body, **query)

    async def patch(self, path: str, body: Any, sent_as: str = MERGE, **query: str | int) -> Reply:
        return await self("PATCH", path, body=body, sent_as=sent_as, **query)

    async def delete(self, path: str, body: Any = None, **query: str | int) -> Reply:
        return await self("DELETE", path, body=body, **query)


def _content(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body).encode()


@pytest.fixture
def world() -> KubeWorld:
    return small_world()


@pytest.fixture
async def kube(world: KubeWorld) -> AsyncIterator[KubeServer]:
    async with KubeServer(world, name="prod-weu", group="rg-prod") as server:
        yield server


@pytest.fixture
async def session(kube: KubeServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with trusting(kube.ca_file) as session:
        yield session


@pytest.fixture
def admin(session: aiohttp.ClientSession, kube: KubeServer) -> Caller:
    return Caller(session, kube.url, ADMIN_TOKEN)


@asynccontextmanager
async def session_for(kube: KubeServer, *, seconds: float = 5) -> AsyncIterator[Caller]:
    async with trusting(kube.ca_file, timeout=aiohttp.ClientTimeout(total=seconds)) as session:
        yield Caller(session, kube.url, ADMIN_TOKEN)


def caller(session: aiohttp.ClientSession, kube: KubeServer, token: str | None) -> Caller:
    return Caller(session, kube.url, token)
