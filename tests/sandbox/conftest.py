from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import pytest
from yarl import URL

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.worlds import small_world
from tests.sandbox_calls import Answer, trusting


class Reply(Answer):
    """A response from ARM."""

    @property
    def error(self) -> Any:
        return self.body["error"]

    @property
    def names(self) -> list[str]:
        return [item["name"] for item in self.body["value"]]


class Caller:
    """Sends requests to the server as one principal."""

    def __init__(self, session: aiohttp.ClientSession, arm: ArmServer, principal: str) -> None:
        self._session, self._arm, self._principal = session, arm, principal

    async def __call__(
        self,
        method: str,
        path: str,
        version: str | None = "2022-09-01",
        *,
        json: Any = None,
        headers: dict[str, str] | None = None,
        token: str | None = "",
        data: Any = None,
        query: Mapping[str, str] | None = None,
        **params: str,
    ) -> Reply:
        query = {name.replace("dollar_", "$"): value for name, value in {**(query or {}), **params}.items()}
        if version is not None:
            query = {"api-version": version, **query}
        url = path if path.startswith("https://") else self._arm.url + path
        if query:
            url += ("&" if "?" in url else "?") + urlencode(query, quote_via=quote)
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token or self._arm.token(self._principal)}")
        async with self._session.request(
            method, URL(url, encoded=True), json=json, data=data, headers=sent
        ) as response:
            return Reply(response.status, response.headers, await response.text())

    async def get(self, path: str, version: str | None = "2022-09-01", **params: str) -> Reply:
        return await self("GET", path, version, query=params)

    async def follow(self, url: str) -> Reply:
        return await self("GET", url, None)

    async def pages(self, path: str, version: str, **params: str) -> list[Reply]:
        """All pages, following each nextLink unmodified."""
        replies = [await self.get(path, version, **params)]
        while "nextLink" in replies[-1].body:
            replies.append(await self.follow(replies[-1].body["nextLink"]))
        return replies


@pytest.fixture
def world() -> World:
    return small_world()


@pytest.fixture
async def arm(world: World) -> AsyncIterator[ArmServer]:
    async with ArmServer(world) as server:
        yield server


@pytest.fixture
async def session(arm: ArmServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with trusting(arm.ca_file) as session:
        yield session


@pytest.fixture
def reader(session: aiohttp.ClientSession, arm: ArmServer) -> Caller:
    return Caller(session, arm, "reader")


@pytest.fixture
def writer(session: aiohttp.ClientSession, arm: ArmServer) -> Caller:
    return Caller(session, arm, "writer")


@pytest.fixture
def nobody(session: aiohttp.ClientSession, arm: ArmServer) -> Caller:
    return Caller(session, arm, "nobody")
