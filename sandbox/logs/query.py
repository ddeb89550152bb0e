"""Answers a query over the rows of a workspace: a table exists once something has been sent to it."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.arm import kql
from sandbox.arm.answers import Refusal
from sandbox.arm.rbac import Access
from sandbox.world import Principal, World

Body = dict[str, Any]

WORKSPACE = "microsoft.operationalinsights/workspaces"
RUN = "Microsoft.OperationalInsights/workspaces/query/read"
COLUMNS: dict[str, dict[str, str]] = {
    "AKSControlPlane": {
        "TimeGenerated": "datetime",
        "Category": "string",
        "Level": "string",
        "PodName": "string",
        "Message": "string",
        "Stream": "string",
        "_ResourceId": "string",
    },
    "AzureDiagnostics": {
        "TimeGenerated": "datetime",
        "Category": "string",
        "log_s": "string",
        "pod_s": "string",
        "stream_s": "string",
        "ResourceId": "string",
        "_ResourceId": "string",
    },
    "AKSAudit": {"TimeGenerated": "datetime", "Verb": "string", "_ResourceId": "string"},
    "AKSAuditAdmin": {"TimeGenerated": "datetime", "Verb": "string", "_ResourceId": "string"},
}
_SPAN = re.compile(r"^PT(\d+)H$|^([^/]+)/([^/]+)$")
PARTIAL = "PartialError"


def answer_query(world: World, access: Access, principal: Principal, customer_id: str, sent: Body) -> Body:
    """The result of a query, or a Refusal with this API's error."""
    workspace = _workspace(world, customer_id)
    scope = workspace["id"]
    if not access.may(principal, RUN, scope):
        raise _insufficient()
    table = sent["query"].strip().split("|")[0].strip()
    parsed = _parsed(sent["query"], table)
    rows = [row for row in world.logs.get(scope.lower(), []) if row["Table"] == table]
    if not rows and table not in _tables(world, scope):
        raise _semantic(f"'where' operator: Failed to resolve table or column expression named '{table}'")
    if not access.may(principal, f"{RUN.removesuffix('/read')}/{table}/read", scope):
        raise _insufficient()
    since, until = _span(sent.get("timespan"))
    shown = parsed.run([row for row in rows if since <= str(row["TimeGenerated"]) <= until])
    columns = list(shown[0]) if shown else list(COLUMNS[table])
    body: Body = {
        "tables": [
            {
                "name": "PrimaryResult",
                "columns": [{"name": name, "type": COLUMNS[table].get(name, "string")} for name in columns],
                "rows": [[row.get(name) for name in columns] for row in shown],
            }
        ]
    }
    if world.logs_in_part:
        body["error"] = {
            "code": PARTIAL,
            "message": "There were some errors when processing your query.",
            "details": [{"code": "EngineError", "message": "Something went wrong processing your query."}],
        }
    return body


def refused(status: int, code: str, message: str, inner: Body | None = None) -> Refusal:
    """An error of this API: it has a correlation id, and the reason is nested inside it."""
    error: Body = {"message": message, "code": code, "correlationId": str(uuid.uuid4())}
    return Refusal(status, {"error": error | ({"innererror": inner} if inner else {})})


def _workspace(world: World, customer_id: str) -> Body:
    for body in world.resources.values():
        if str(body.get("type", "")).lower() == WORKSPACE and body["properties"].get("customerId") == customer_id:
            return body
    raise refused(404, "WorkspaceNotFoundError", "The workspace could not be found")


def _parsed(query: str, table: str) -> kql.Query:
    try:
        return kql.parse(query, columns=COLUMNS.get(table, {}).keys())
    except kql.BadQuery as bad:
        if bad.unresolved and table in COLUMNS:
            text = f"'where' operator: Failed to resolve column or scalar expression named '{bad.token}'"
            raise _semantic(text) from bad
        if bad.unresolved:
            raise _semantic(f"'where' operator: Failed to resolve table or column expression named '{table}'") from bad
        inner = {"code": "SyntaxError", "message": f"Syntax Error: query could not be parsed at '{bad.token}'"}
        raise refused(400, "BadArgumentError", "The request had some invalid properties", inner) from bad


def _tables(world: World, workspace: str) -> set[str]:
    """Those that a diagnostic setting has written to: Azure makes a table with its first row."""
    dedicated = {
        bool(body["properties"].get("logAnalyticsDestinationType") == "Dedicated")
        for body in world.resources.values()
        if str(body.get("type", "")).lower() == "microsoft.insights/diagnosticsettings"
        and str(body["properties"].get("workspaceId") or "").lower() == workspace.lower()
        and workspace.lower() not in world.logs_empty
    }
    return {"AKSControlPlane" if kind else "AzureDiagnostics" for kind in dedicated}


def _semantic(text: str) -> Refusal:
    inner = {"code": "SemanticError", "message": "A semantic error occurred."}
    inner |= {"innererror": {"code": "SEM0100", "message": text}}  # type: ignore[dict-item]
    return refused(400, "BadArgumentError", "The request had some invalid properties", inner)


def _insufficient() -> Refusal:
    text = "The provided credentials have insufficient access to perform the requested operation"
    return refused(403, "InsufficientAccessError", text)


def _span(timespan: Any) -> tuple[str, str]:
    """The start and the end, as rows write their times; without a timespan all rows count."""
    if timespan is None:
        return "", "9"
    found = _SPAN.match(str(timespan))
    if found is None:
        raise refused(400, "BadArgumentError", "The request had some invalid properties")
    if found[1]:
        until = datetime.now(UTC)
        return _wire(until - timedelta(hours=int(found[1]))), _wire(until)
    return _wire(datetime.fromisoformat(found[2])), _wire(datetime.fromisoformat(found[3]))


def _wire(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
