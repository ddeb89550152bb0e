"""In-process access to the sandbox's Azure and API servers, without sockets but equally strict."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.kube.door.unreachable import unreachable
from handlers.clients.kube.inside.run_command_fallback import ANSWERS, LABELS, OBJECTS, ONLY_A_PART, THROUGH
from handlers.clients.kube.inside.selectors import requires
from handlers.clients.kube.recorded import PREFIX
from handlers.clients.kube.reply import CUT
from handlers.clients.response import SeenResponse
from sandbox.arm import gateway
from sandbox.arm.answers import Refusal
from sandbox.arm.answers import to_bytes as arm_bytes
from sandbox.arm.paths import action_of, parse
from sandbox.arm.rbac import Access
from sandbox.arm.site import Call, Site
from sandbox.kube import answers as kube
from sandbox.kube import place as kube_place
from sandbox.kube.access import Access as KubeAccess
from sandbox.kube.api import Api
from sandbox.kube.pages import Pages
from sandbox.kube.world import ADMINISTRATORS
from tests.worlds.build import READER, Cluster
from tests.worlds.ids import NOW

URL = "https://management.azure.com"
_ADMIN = kube.User("reader", (ADMINISTRATORS, "system:authenticated"))
_JSON = {"content-type": "application/json"}


class InProcess(AsyncHttpTransport[HttpRequest, AsyncHttpResponse]):
    """Answers every request of one check, at a fixed time.

    `refused` has the requests denied for lack of permission, with and without the name of what was asked for.
    """

    def __init__(self, cluster: Cluster) -> None:
        small = 2 if "small-pages" in cluster.shape.oddities else None
        self.access = Access(cluster.azure)
        self.kube_access = KubeAccess(cluster.kube)
        self.refused: set[str] = set()
        self._reach = cluster.shape.reach
        self._site = Site(cluster.azure, self.access, URL, page_size=small, clock=lambda: NOW)
        self._api = Api(cluster.kube, self.kube_access, Pages(cluster.kube))
        private = f"no such host: {cluster.ids.name}.privatelink.westeurope.azmk8s.io"
        self._trouble = "no connection within 3 s: the API server" if cluster.shape.access == "ranges" else private

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""

    async def send(self, request: HttpRequest, **_: Any) -> AsyncHttpResponse:
        if request.url.startswith(PREFIX):
            target = request.url.removeprefix(PREFIX)
            status, content, headers = self._inside(request, target)
        else:
            status, content, headers = self._azure(request)
        return SeenResponse(request, status, headers, content, taken_at=NOW)

    def deny(self, action: str) -> None:
        """Deny an Azure action."""
        self.access.taken_away.append((READER.name, action, "/"))

    def deny_inside(self, verb: str, resource: str) -> None:
        self.kube_access.taken_away.append(("*", verb, resource))

    def _azure(self, request: HttpRequest) -> tuple[int, bytes, Mapping[str, str]]:
        parts = urlsplit(request.url)
        place = parse(parts.path)
        query: dict[str, str] = {}
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            query.setdefault(name.lower(), value)
        call = Call(
            method=request.method,
            place=place,
            query=query,
            headers={},
            content=_content(request),
            principal=READER,
            action=action_of(request.method, place),
            request_id=str(uuid.UUID(int=1)),
            correlation_id=str(uuid.UUID(int=2)),
        )
        try:
            answer = gateway.answer(self._site, call)
        except Refusal as refusal:
            answer = refusal.answer
        if answer.status == HTTPStatus.FORBIDDEN:
            self.refused.add(call.action)
        return answer.status, arm_bytes(answer), {**answer.headers, **_JSON}

    # -- Kubernetes ------------

    def _inside(self, request: HttpRequest, target: str) -> tuple[int, bytes, Mapping[str, str]]:
        path, _, text = target.partition("?")
        query = dict(parse_qsl(text, keep_blank_values=True))
        if not path:
            return 200, self._how().encode(), _JSON
        headers = dict(_JSON)
        if self._reach == "run-command" and not self._by_command(request.method, path, query, headers):
            raise unreachable(f"{self._trouble}; run-command does not ask for this")
        if self._reach == "out":
            raise unreachable(self._trouble)
        call = kube.Call(
            method=request.method,
            place=kube_place.parse(request.method, path, query),
            query=query,
            accept=request.headers.get("Accept", "application/json"),
            content_type="application/json",
            content=_content(request),
            user=_ADMIN,
        )
        try:
            answer = self._api.answer(call)
        except kube.Refusal as refusal:
            answer = refusal.answer
        if answer.status == HTTPStatus.FORBIDDEN:
            asked = f"{call.place.verb} {call.place.resource or call.place.path}"
            self.refused |= {asked, f"{asked}:{call.place.name} in {call.place.namespace}"}
        return answer.status, answer.to_bytes(), {**answer.headers, **headers, "content-type": answer.content_type}

    def _how(self) -> str:
        reached = {"directly": "directly", "run-command": THROUGH}.get(self._reach, "")
        trouble = "" if self._reach == "directly" else self._trouble
        return f'{{"reached": "{reached}", "trouble": "{trouble}"}}'

    def _by_command(self, method: str, path: str, query: Mapping[str, str], headers: dict[str, str]) -> bool:
        """Whether one of the fixed run-commands fetches this, and whether only in part."""
        known = path in OBJECTS or (path in ANSWERS and query.get("labelSelector", "") == LABELS.get(path, ""))
        if method != "GET" or not known:
            return False
        if path in ONLY_A_PART and not requires(query.get("fieldSelector", ""), ONLY_A_PART[path]):
            headers[CUT] = "true"
        return True


def _content(request: HttpRequest) -> bytes:
    content = request.content
    return content.encode() if isinstance(content, str) else content or b""
