"""Asks Log Analytics: a service beside Azure Resource Manager, with an address and an audience of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.closing import Closing
from handlers.clients.errors import Garbled, Refused, Unreachable

if TYPE_CHECKING:
    from handlers.clients.arm.pipe import Pipe

_NO_TABLE = "SEM0100"
"""Kusto: a table or a column of that name does not exist."""
_DEEPEST = 4


class NoSuchTable(Refused):
    """The workspace has no table of that name: nothing was ever sent to it."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, by column."""

    rows: tuple[Mapping[str, Any], ...]
    source: str
    taken_at: datetime
    partial: str = ""
    """Why it is not whole, where Log Analytics says so inside its answer."""


class LogAnalytics(Closing):
    """All queries of one check, with the reader's identity. Failures are raised as an ArmError."""

    def __init__(self, arm: ArmReader) -> None:
        self._arm = arm

    async def query(self, workspace: str, query: str, since: datetime, until: datetime) -> QueryResult:
        """`workspace` is its customer id, not its name."""
        from azure.core.rest import HttpRequest

        endpoint = self._arm.access.log_analytics_endpoint
        if not endpoint:
            why = "this cloud's address of Log Analytics is not known; set AKSBOT_LOG_ANALYTICS to it"
            raise Unreachable("Log Analytics", why)
        url = f"{endpoint}/v1/workspaces/{workspace}/query"
        body = {"query": query, "timespan": f"{since:%Y-%m-%dT%H:%M:%SZ}/{until:%Y-%m-%dT%H:%M:%SZ}"}
        headers = {"Content-Type": "application/json"}
        try:
            answer = await self._pipe.send(HttpRequest("POST", url, headers=headers, content=json.dumps(body)))
        except Refused as refused:
            if _NO_TABLE in _codes(refused.answer):
                raise NoSuchTable(refused.unavailable.wanted, refused.detail, status=refused.status) from refused
            raise
        return _result(answer.json(), query, answer.taken_at)

    async def close(self) -> None:
        """The wire belongs to the reader."""
        if "_pipe" in self.__dict__ and self._pipe.tokens:
            await self._pipe.tokens.close()

    @cached_property
    def _pipe(self) -> Pipe:
        return self._arm.other_service(self._arm.access.log_analytics_endpoint)


def _result(body: Any, query: str, taken_at: datetime) -> QueryResult:
    tables = body.get("tables") if isinstance(body, dict) else None
    if not isinstance(tables, list) or not tables:
        raise Garbled("a query of Log Analytics", "the answer holds no table")
    columns = [str(column.get("name")) for column in tables[0].get("columns") or ()]
    rows = tuple(dict(zip(columns, row, strict=False)) for row in tables[0].get("rows") or ())
    error = body.get("error") or {}
    partial = f"{error.get('code')}: {error.get('message')}" if error else ""
    return QueryResult(rows, " ".join(query.split()), taken_at, partial)


def _codes(answer: Any) -> set[str]:
    """The codes of an error: each reason is nested inside the one before."""
    found: set[str] = set()
    error = answer.get("error") if isinstance(answer, dict) else None
    for _ in range(_DEEPEST):
        if not isinstance(error, dict):
            break
        found.add(str(error.get("code")))
        error = error.get("innererror")
    return found
