"""Paging: each provider has its own link format, and a skip token is only valid for the list that issued it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sandbox.arm import errors

PAGE_SIZES = {
    "Microsoft.ContainerService": 100,
    "Microsoft.Compute": 200,
    "Microsoft.Network": 500,
    "Microsoft.NetworkCloud": 10,
    "Microsoft.Authorization": 1000,
    "Microsoft.Resources": 1000,
    "Microsoft.Insights": 200,
}
_USUAL = 100
AKS_EXTRA_LINK_SHARE = 40
"""The percentage of AKS lists with a nextLink to an empty page on their only page."""


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of the request that paging needs."""

    url: str
    path: str
    namespace: str
    query: Mapping[str, str]
    """Parameters as sent, by lower-case name."""
    size: int | None = None

    @property
    def page_size(self) -> int:
        return self.size or PAGE_SIZES.get(self.namespace, _USUAL)

    @property
    def token(self) -> str | None:
        return self.query.get("$skiptoken") or self.query.get("skiptoken")


def page(request: Request, items: Sequence[Any], *, empty_first: bool = False) -> dict[str, Any]:
    """One page of a list: `value`, and `nextLink` if there is (or may be) more."""
    marks = _Tokens(request)
    start = marks.read(request.token) if request.token else 0
    size = request.page_size
    if empty_first and not request.token:
        return {"value": [], "nextLink": _link(request, marks.write(0))}
    shown = list(items[start : start + size])
    body: dict[str, Any] = {"value": shown}
    more = start + size < len(items)
    if more or (start == 0 and items and not request.token and _has_needless_link(request)):
        body["nextLink"] = _link(request, marks.write(start + size))
    return body


def _has_needless_link(request: Request) -> bool:
    listed = zlib.crc32(request.path.lower().encode())
    return request.namespace == "Microsoft.ContainerService" and listed % 100 < AKS_EXTRA_LINK_SHARE


class _Tokens:
    """Skip tokens: a number for AKS, for the others a long string with characters that must stay URL-encoded."""

    def __init__(self, request: Request) -> None:
        self._aks = request.namespace == "Microsoft.ContainerService"
        listed = request.path.lower() + "?" + request.query.get("$filter", "")
        self._list = zlib.crc32(listed.encode())

    def write(self, start: int) -> str:
        if self._aks:
            return str(10_000_000 * (start + 1) + self._list % 10_000_000)
        text = f"start={start}&list={self._list}?>~"
        return base64.b64encode(text.encode()).decode()

    def read(self, token: str) -> int:
        try:
            start = self._read(token)
        except (ValueError, UnicodeDecodeError, IndexError):
            start = -1
        if start < 0 or self.write(start) != token:
            raise errors.wrapped(400, "InvalidSkipToken", f"The skip token '{token[:80]}' is not valid.")
        return start

    def _read(self, token: str) -> int:
        if self._aks:
            return int(token) // 10_000_000 - 1
        text = base64.b64decode(token, validate=True).decode()
        return int(text.split("&", 1)[0].split("=", 1)[1])


def _link(request: Request, token: str) -> str:
    writer = _LINKS.get(request.namespace, _plain)
    kept = [(k, v) for k, v in request.query.items() if k not in ("$skiptoken", "skiptoken", "api-version")]
    return request.url + request.path + "?" + writer(request.query.get("api-version", ""), kept, quote(token, safe=""))


def _rest(kept: Sequence[tuple[str, str]]) -> str:
    return "".join(f"&{quote(name, safe='$')}={quote(value, safe='')}" for name, value in kept)


def _aks(version: str, kept: Sequence[tuple[str, str]], token: str) -> str:
    return f"%24skipToken={token}&api-version={version}{_rest(kept)}&skipToken={token}"


def _nexus(version: str, kept: Sequence[tuple[str, str]], token: str) -> str:
    top = "" if any(name == "$top" for name, _ in kept) else "&%24top=10"
    return f"api-version={version}{top}{_rest(kept)}&%24skiptoken={token}"


def _insights(version: str, kept: Sequence[tuple[str, str]], token: str) -> str:
    return f"api-version={version}{_rest(kept)}&$skipToken={token}"


def _plain(version: str, kept: Sequence[tuple[str, str]], token: str) -> str:
    return f"api-version={version}{_rest(kept)}&%24skiptoken={token}"


_LINKS: dict[str, Callable[[str, Sequence[tuple[str, str]], str], str]] = {
    "Microsoft.ContainerService": _aks,
    "Microsoft.NetworkCloud": _nexus,
    "Microsoft.Insights": _insights,
}
