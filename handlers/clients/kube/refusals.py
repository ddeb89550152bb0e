"""Turns a Kubernetes `Status` with a failure into an ArmError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from handlers.clients import refusals
from handlers.clients.errors import ArmError, Denied, Refused
from handlers.clients.headers import safe_headers
from handlers.clients.kube.paths import ApiPath, permission
from handlers.clients.kube.reply import Reply
from handlers.clients.redact import redact_json, redact_text
from runbooks.linear import compile_linear

_FORBIDDEN = compile_linear(
    r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
LONGEST_TEXT = 2000
CREDENTIAL = "the cluster's user credential"
LOCKED = (
    "a ReadOnly lock keeps Azure from handing out the cluster's credential, as such a lock is meant to (asking for it "
    "counts as a write); give aksbot a kubeconfig for this cluster (AKSBOT_KUBECONFIG), or make it a CanNotDelete lock"
)


def refusal(method: str, target: str, reply: Reply) -> ArmError:
    """The error for an answer that is not 2xx, with its texts redacted."""
    answer, code, message = _understood(reply)
    asked = ApiPath.at(target)
    if reply.status == 403:
        error = _denied(method, asked, code, message)
    else:
        headers = _with_wait(safe_headers(reply.headers), answer)
        error = refusals.refusal(asked.wanted, reply.status, headers, {"code": code, "message": message})
    error.answer = answer
    error.headers = safe_headers(reply.headers)
    return explained(error)


def explained(error: ArmError) -> ArmError:
    """A refusal of Azure because of a lock, explained; any other unchanged."""
    if error.code != "ScopeLocked":
        return error
    locked = Refused(CREDENTIAL, f"409 ScopeLocked: {LOCKED}", status=error.status, code=error.code)
    locked.answer, locked.headers = error.answer, error.headers
    return locked


def _denied(method: str, asked: ApiPath, code: str, message: str) -> ArmError:
    found = _FORBIDDEN.search(message)
    grant = refusals.missing_action(message)
    if found:
        grant = permission(found["verb"], found["resource"], found["group"], found["namespace"] or "")
    detail = refusals.in_short(403, code, message)
    return Denied(asked.wanted, detail, status=403, code=code, grant=grant or asked.grant(method))


def _understood(reply: Reply) -> tuple[Any, str, str]:
    """The redacted answer, its code (Kubernetes: reason) and its message."""
    try:
        body, _ = redact_json(reply.content) if reply.content.strip() else (None, b"")
    except orjson.JSONDecodeError:
        text = redact_text(reply.content[:LONGEST_TEXT].decode("utf-8", errors="replace"))
        page = text.lstrip().startswith("<")
        return text, "", "a web page, not an answer of the API server" if page else text[:200]
    if isinstance(body, dict) and body.get("kind") == "Status":
        return body, str(body.get("reason") or ""), str(body.get("message") or "")
    return body, *refusals.code_and_message(body)


def _with_wait(headers: dict[str, str], answer: Any) -> dict[str, str]:
    details = answer.get("details") if isinstance(answer, dict) else None
    wait = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
    return {"retry-after": str(wait), **headers} if isinstance(wait, int) and wait > 0 else headers
