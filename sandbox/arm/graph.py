"""Azure Resource Graph: a copy of ARM's resources that lags by minutes, filtered by the caller's permissions."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import orjson

from sandbox.arm import kql
from sandbox.arm.answers import Answer, Refusal
from sandbox.arm.lists import tracked
from sandbox.arm.paths import parse, within
from sandbox.arm.protocols import stamp
from sandbox.arm.site import Call, Site

Body = dict[str, Any]

MOST_ROWS = 1000
QUOTA = 15
"""Queries in five seconds, per user."""

_TABLES = {"resources", "resourcecontainers"}
_COPIED = ("name", "kind", "location", "managedBy", "sku", "plan", "properties", "tags", "identity", "zones")


def query(site: Site, call: Call) -> Answer:
    """`POST /providers/Microsoft.ResourceGraph/resources`."""
    sent = call.json()
    if not isinstance(sent, dict) or not isinstance(sent.get("query"), str) or not sent["query"].strip():
        raise _refused(site, "InvalidQuery", "The query is missing.")
    options = sent.get("options") or {}
    if options.get("resultFormat", "objectArray") != "objectArray":
        raise _refused(site, "InvalidResultFormat", "Only the result format objectArray is known here.")
    try:
        parsed = kql.parse(sent["query"])
    except kql.BadQuery as error:
        raise _refused_query(site, error) from error
    if parsed.table.lower() not in _TABLES:
        raise _refused(site, "InvalidQuery", f"The table '{parsed.table}' is not known.", token=parsed.table)
    rows = parsed.run(_rows(site, call, parsed.table.lower(), sent.get("subscriptions")))
    start = _start(site, options.get("$skipToken")) + int(options.get("$skip", 0))
    top = min(int(options.get("$top", site.page_size or MOST_ROWS)), MOST_ROWS)
    data = rows[start : start + top]
    answer: Body = {
        "totalRecords": len(rows),
        "count": len(data),
        "data": data,
        "facets": [],
        "resultTruncated": "false",
    }
    if start + top < len(rows):
        answer["$skipToken"] = base64.b64encode(orjson.dumps({"$id": "1", "RowsToSkip": start + top})).decode()
    headers = {"x-ms-user-quota-remaining": str(QUOTA - 1), "x-ms-user-quota-resets-after": "00:00:05"}
    return Answer(200, answer, headers)


def _rows(site: Site, call: Call, table: str, subscriptions: list[str] | None) -> list[Body]:
    source = tracked(site.world) if table == "resources" else _containers(site)
    wanted = {name.lower() for name in subscriptions} if subscriptions else None
    return [
        _row(site, body)
        for body in source
        if body["id"].lower() not in site.world.unindexed
        and (wanted is None or (parse(body["id"]).subscription or "").lower() in wanted)
        and site.access.may(call.principal, f"{parse(body['id']).kind}/read", body["id"])
    ]


def _containers(site: Site) -> list[Body]:
    """Subscriptions and resource groups."""
    return [
        body
        for key, body in site.world.resources.items()
        if within("/subscriptions", key) and "/providers/" not in key and key.count("/") in (2, 4)
    ]


def _row(site: Site, body: Body) -> Body:
    """A resource as a Graph row: lower-case type, with columns for resource group and subscription."""
    place = parse(body["id"])
    return {
        "id": body["id"],
        "type": place.kind.lower(),
        "tenantId": site.world.tenant_id,
        "resourceGroup": (place.group or "").lower(),
        "subscriptionId": place.subscription or "",
        "name": body.get("name") or body.get("displayName", ""),
        "extendedLocation": body.get("extendedLocation"),
        **{name: body.get(name, "" if name in ("kind", "managedBy", "location") else None) for name in _COPIED[1:]},
    }


def _start(site: Site, token: str | None) -> int:
    if not token:
        return 0
    try:
        return int(orjson.loads(base64.b64decode(token, validate=True))["RowsToSkip"])
    except (ValueError, KeyError) as error:
        raise _refused(site, "InvalidSkipToken", "The skip token is not valid.") from error


def _refused_query(site: Site, error: kql.BadQuery) -> Refusal:
    where = {"line": 1, "characterPositionInLine": error.at, "token": error.token}
    if error.unresolved:
        return _refused(site, "UnresolvedName", f"Failed to resolve scalar expression named '{error.token}'", **where)
    return _refused(site, "ParserFailure", "ParserFailure", **where)


def _refused(site: Site, code: str, message: str, **more: Any) -> Refusal:
    first = {
        "code": "InvalidQuery",
        "message": "Query is invalid. Please refer to the documentation for the Azure Resource Graph service and "
        "fix the error before retrying.",
    }
    text = (
        f"Please provide below info when asking for support: timestamp = {stamp(site.clock())}, "
        f"correlationId = {uuid.uuid4()}."
    )
    details = [first, {"code": code, "message": message, **more}]
    return Refusal(400, {"error": {"code": "BadRequest", "message": text, "details": details}})
