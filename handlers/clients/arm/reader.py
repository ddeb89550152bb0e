"""Reads Azure Resource Manager. Cheap to create: the Azure libraries are loaded with the first call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from handlers.clients.access import AzureAccess
from handlers.clients.addresses import address
from handlers.clients.answers import Answer, Listing
from handlers.clients.arm.client import ArmClient
from handlers.clients.arm.pages import answer_of, listing_of, next_of, rows_of
from handlers.clients.call_log import CallLog
from handlers.clients.clock import Clock, LoopClock
from handlers.clients.errors import ServerFault
from handlers.lazy_import import imported
from handlers.resource_id import ResourceId

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

    from handlers.clients.arm.pipe import Pipe, Transport
    from handlers.clients.arm.typed import TypedClients
    from handlers.clients.recording.case import Recorder
    from handlers.clients.response import SeenResponse
    from handlers.clients.tokens import Tokens

    Pages = list[SeenResponse]

CREDENTIAL_API = "2026-08-01"
FRESH_FOR_S = 15.0
MOST_PAGES = 500
"""An end for a list whose links lead in a circle."""


class ArmReader(ArmClient):
    """All reads of Azure through one pipeline: shared, cached for `fresh_for_s`, paced, retried, redacted and counted.

    With a `transport` (a recording's) it calls nothing else. Failures are raised as an ArmError.
    """

    def __init__(
        self,
        access: AzureAccess,
        *,
        recorder: Recorder | None = None,
        transport: Transport | None = None,
        credential: AsyncTokenCredential | None = None,
        fresh_for_s: float = FRESH_FOR_S,
        clock: Clock | None = None,
    ) -> None:
        self.access = access
        self.calls = CallLog()
        self._recorder = recorder
        self._transport = transport
        self.credential = credential
        self._fresh_for_s = fresh_for_s
        self.clock = clock or LoopClock()
        self._clients: TypedClients | None = None

    async def get(self, path: str, api_version: str, params: Mapping[str, str] | None = None) -> Answer:
        """One resource, or whatever a GET of this path returns."""
        return answer_of(await self._send("GET", self._address(path, api_version, params)))

    async def list(
        self, path: str, api_version: str, *, most: int = 5000, params: Mapping[str, str] | None = None
    ) -> Listing:
        """All pages of a list. Each nextLink is followed unchanged, also after an empty page."""
        link: str | None = self._address(path, api_version, params)
        pages: Pages = []
        links: set[str] = set()
        items: list[Any] = []
        while link and link not in links and len(pages) < MOST_PAGES and len(items) < most:
            links.add(link)
            page = await self._send("GET", link)
            pages.append(page)
            items += rows_of(page)
            link = next_of(self.access.endpoint, page)
        return listing_of(pages, items, most, cut=link is not None)

    async def query(
        self, path: str, api_version: str, body: Mapping[str, Any], params: Mapping[str, str] | None = None
    ) -> Answer:
        """One of the POSTs that read: Resource Graph, policy states."""
        return answer_of(await self._send("POST", self._address(path, api_version, params), body))

    async def managed_cluster(self, cluster: ResourceId) -> Answer:
        answers: Pages = []
        client = (await self._typed()).clusters(cluster.subscription)
        await client.managed_clusters.get(_group(cluster), cluster.name, answers=answers)
        return answer_of(answers[0])

    async def user_credential(self, cluster: ResourceId) -> Any:
        """The kubeconfig that Azure returns. It holds keys: never redacted, cached, recorded or logged."""
        from azure.core.rest import HttpRequest

        from handlers.clients.arm.pipe import confidential

        if self._transport is not None:
            raise ServerFault("the cluster's user credential", "a recording holds no credentials")
        url = self._address(f"{cluster}/listClusterUserCredential", CREDENTIAL_API, None)
        pipe = confidential(self._pipe, self.access, self.calls, self.clock)
        return (await pipe.send(HttpRequest("POST", url))).json()

    def tokens(self, scope: str) -> Tokens:
        """Tokens of the same identity for another audience. Close them before the reader."""
        from handlers.clients.arm.pipe import tokens_for
        from handlers.clients.arm.transport import Wire

        wire = self._pipe.transport
        if not isinstance(wire, Wire):
            raise TypeError("a recording signs nothing")
        return tokens_for(self.access, wire, self.credential, scope)

    def other_service(self, endpoint: str) -> Pipe:
        """A way to another service of Azure, recorded and replayed like this one. Close its tokens first."""
        from handlers.clients.arm.pipe import beside

        if self._transport is not None:
            return self._pipe
        tokens = self.tokens(f"{endpoint}/.default")
        return beside(self._pipe, endpoint, tokens, self.calls, self.clock, self._recorder)

    async def managed_clusters(self, subscription: str, *, most: int = 5000) -> Listing:
        answers: Pages = []
        paged = (await self._typed()).clusters(subscription).managed_clusters.list(pages=answers)
        return await self._all_pages(paged.by_page(), answers, most)

    async def agent_pools(self, cluster: ResourceId, *, most: int = 5000) -> Listing:
        answers: Pages = []
        client = (await self._typed()).clusters(cluster.subscription)
        paged = client.agent_pools.list(_group(cluster), cluster.name, pages=answers)
        return await self._all_pages(paged.by_page(), answers, most)

    async def activity(
        self, subscription: str, *, group: str, since: datetime, until: datetime, most: int = 1000
    ) -> Listing:
        """The events of a resource group, newest first. The claims (exact identity and address) are not requested."""
        from handlers.clients.arm.activity_log import SELECT, in_order, span

        answers: Pages = []
        client = (await self._typed()).monitor(subscription)
        paged = client.activity_logs.list(filter=span(group, since, until), select=SELECT, pages=answers)
        listing = await self._all_pages(paged.by_page(), answers, most)
        return Listing(in_order(listing.items), listing.source, listing.taken_at, listing.truncated)

    async def _all_pages(self, pages: Any, answers: Pages, most: int) -> Listing:
        """Let the typed client follow the pages, and keep the raw rows."""
        items: list[Any] = []
        links: set[str] = set()
        async for _ in pages:
            items += rows_of(answers[-1])
            link = next_of(self.access.endpoint, answers[-1])
            if link is None:
                return listing_of(answers, items, most, cut=False)
            if link in links or len(links) >= MOST_PAGES or len(items) >= most:
                break
            links.add(link)
        return listing_of(answers, items, most, cut=True)

    def _address(self, path: str, api_version: str, params: Mapping[str, str] | None) -> str:
        return address(self.access.endpoint, path, api_version, params)

    async def _send(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> SeenResponse:
        from azure.core.rest import HttpRequest

        content = json.dumps(body) if body is not None else None
        headers = {"Content-Type": "application/json"} if body is not None else {}
        return await self._pipe.send(HttpRequest(method, url, headers=headers, content=content))

    def _new_pipe(self) -> Pipe:
        from handlers.clients.arm.pipe import reading, replaying

        if self._transport is not None:
            return replaying(self._transport, self.calls, recorder=self._recorder)
        return reading(
            self.access,
            self.calls,
            self.clock,
            fresh_for_s=self._fresh_for_s,
            recorder=self._recorder,
            given=self.credential,
        )

    async def _typed(self) -> TypedClients:
        module = await imported("handlers.clients.arm.typed")
        if self._clients is None:
            self._clients = module.TypedClients(self._pipe, self.access.endpoint)
        return self._clients


def _group(cluster: ResourceId) -> str:
    if not cluster.resource_group:
        raise ValueError(f"a cluster lives in a resource group: {cluster}")
    return cluster.resource_group
