"""One client session per cluster and process: connections and TLS contexts are shared by all checks."""

from __future__ import annotations

import asyncio
import importlib
import ssl
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
from yarl import URL

from handlers.clients.arm.write_sent_hook import trace_all_writes
from handlers.clients.closing import Closing
from handlers.clients.errors import Garbled
from handlers.clients.headers import safe_headers
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.kubeconfig import ENTRA_SCOPE, BadKubeconfig, KubeEndpoint
from handlers.clients.kube.door.sent_once import READS, refuse_redirect, refuse_second, sent_once
from handlers.clients.kube.door.unreachable import CAUGHT, READ_S, SERVER, as_error
from handlers.clients.kube.door.ways_in import way_in
from handlers.clients.kube.paths import POD_PORT, ApiPath
from handlers.clients.kube.reply import Reply
from handlers.lazy_import import imported
from handlers.model import Target

if TYPE_CHECKING:
    from handlers.clients.arm.reader import ArmReader
    from handlers.clients.tokens import Tokens

LIBRARY = "kubernetes.aio.client.api_client"
FRESH_FOR_S = 600.0
"""A credential is asked for again after this: it may have been rotated, and who may have it may have changed."""
POD_REFUSALS = frozenset({403, 404, 500, 502, 503, 504})
"""Statuses by which the API server may say that it did not reach a pod."""
LONGEST_REFUSAL = 8_000
CONNECTIONS = 20
"""A check lists about ten kinds at once."""


class KubeSession:
    """An open session to one cluster's API server."""

    def __init__(self, entrance: KubeEndpoint, tokens: Tokens | None, connect_s: float) -> None:
        self.entrance = entrance
        self.tokens = tokens
        self.opened_at = time.monotonic()
        self.guests = 0
        self._connect_s = connect_s
        self._client = _client(entrance)
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect_s, sock_read=READ_S)

    async def send(
        self, method: str, target: str, body: Mapping[str, Any] | None, also: Mapping[str, str] | None = None
    ) -> tuple[Reply, str]:
        """The answer, and the token that was used. `also`: more headers. A write is sent once."""
        wanted = ApiPath.at(target).wanted
        token = await self.tokens.current(wanted) if self.tokens else self.entrance.token
        headers = {"Accept": "application/json, */*", "User-Agent": "aksbot", **(also or {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        url = URL(self.entrance.server + target, encoded=True)
        try:
            with nullcontext() if method.upper() in READS else sent_once():
                answer = await self._client.call_api(
                    method, url, header_params=headers, body=body, _request_timeout=self._timeout
                )
                content = await _content(answer.response, target)
        except CAUGHT as error:
            raise as_error(error, wanted, self.entrance.host, self._connect_s) from error
        return Reply(answer.status, safe_headers(answer.headers), content), token

    async def close(self) -> None:
        await self._client.close()


async def _content(answer: aiohttp.ClientResponse, target: str) -> bytes:
    """The body. What a pod itself answers may have no end, and is nobody's business: of it nothing is read."""
    if not POD_PORT.match(target):
        return await answer.read()
    content = b""
    while answer.status in POD_REFUSALS and len(content) < LONGEST_REFUSAL:
        more = await answer.content.read(LONGEST_REFUSAL - len(content))
        if not more:
            break
        content += more
    answer.close()
    return content


@dataclass
class _Slot:
    """The slot of one cluster's session, open or not."""

    lock: asyncio.Lock
    door: KubeSession | None = None


class KubeSessions(Closing):
    """The open sessions of this process. Give one to every KubeReader, and close it last."""

    def __init__(self, arm: ArmReader, access: KubeAccess, *, fresh_for_s: float = FRESH_FOR_S) -> None:
        self.arm = arm
        self.access = access
        self._fresh_for_s = fresh_for_s
        self._places: dict[str, _Slot] = defaultdict(lambda: _Slot(asyncio.Lock()))
        self._tokens: Tokens | None = None

    async def close(self) -> None:
        for place in self._places.values():
            if place.door:
                await place.door.close()
        self._places.clear()
        if self._tokens:
            await self._tokens.close()

    async def enter(self, target: Target, *, instead_of: KubeSession | None = None) -> KubeSession:
        """The cluster's session. `instead_of`: one that no longer works. Call `leave` when done."""
        place = self._places[target.id.key]
        async with place.lock:
            if place.door is None or place.door is instead_of or self._is_old(place.door):
                await self._retire(place)
                place.door = await self._open(target)
                await self._close_unused()
            place.door.guests += 1
            return place.door

    async def leave(self, target: Target, door: KubeSession) -> None:
        door.guests -= 1
        if door.guests <= 0 and self._places[target.id.key].door is not door:
            await door.close()

    def forget(self, target: Target, door: KubeSession) -> None:
        """Drop a session that no longer works: the next check reads the kubeconfig again."""
        place = self._places[target.id.key]
        if place.door is door:
            place.door = None

    def cluster_tokens(self) -> Tokens:
        """Tokens for the API servers of Entra clusters, by the identity that reads Azure."""
        if self._tokens is None:
            self._tokens = self.arm.tokens(ENTRA_SCOPE)
        return self._tokens

    def _is_old(self, door: KubeSession) -> bool:
        return time.monotonic() - door.opened_at > self._fresh_for_s

    async def _retire(self, place: _Slot) -> None:
        """The last caller that leaves closes it."""
        old, place.door = place.door, None
        if old and old.guests <= 0:
            await old.close()

    async def _close_unused(self) -> None:
        """A fleet has hundreds of clusters; most are checked rarely, so idle sessions are closed."""
        for place in tuple(self._places.values()):
            if place.door and place.door.guests <= 0 and self._is_old(place.door) and not place.lock.locked():
                await self._retire(place)

    async def _open(self, target: Target) -> KubeSession:
        entrance = await way_in(target, self.arm, self.access)
        await imported(LIBRARY)
        try:
            return KubeSession(entrance, self.cluster_tokens() if entrance.entra else None, self.access.connect_s)
        except BadKubeconfig as bad:
            raise Garbled(SERVER, f"the cluster's kubeconfig cannot be used: {bad}") from bad


def _client(entrance: KubeEndpoint) -> Any:
    """The Kubernetes client without its thousand models: it sends requests and returns bytes."""
    library = importlib.import_module(LIBRARY)
    settings = library.Configuration(
        host=entrance.server,
        ca_cert_data=entrance.authority,
        verify_ssl=not entrance.unverified,
        tls_server_name=entrance.server_name,
        proxy=entrance.proxy,
        connection_pool_maxsize=CONNECTIONS,
        client_session_kwargs={
            "cookie_jar": aiohttp.DummyCookieJar(),
            "middlewares": (refuse_second, refuse_redirect),
            "trace_configs": [trace_all_writes()],
        },
    )
    # AKS's own certificate authorities lack the key identifiers that Python 3.13 requires.
    settings.disable_strict_ssl_verification = True
    try:
        with tempfile.TemporaryDirectory(prefix="aksbot-") as folder:
            # The TLS library reads keys from files only; the file is removed before the first request.
            settings.cert_file, settings.key_file = _files(entrance, Path(folder))
            return library.ApiClient(settings)
    except (ssl.SSLError, ValueError) as error:
        raise BadKubeconfig("its certificates cannot be read") from error


def _files(entrance: KubeEndpoint, folder: Path) -> tuple[str | None, str | None]:
    if entrance.certificate is None:
        return None, None
    names = folder / "certificate", folder / "key"
    for name, content in zip(names, entrance.certificate, strict=True):
        name.touch(mode=0o600)
        name.write_bytes(content)
    return str(names[0]), str(names[1])
