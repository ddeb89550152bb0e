"""Turns a refusal of Azure into an ArmError. Azure has two families of error bodies: wrapped and bare."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    NotFound,
    Refused,
    ServerFault,
    Throttled,
    TimedOut,
)
from handlers.clients.headers import safe_headers
from handlers.clients.redact import redact_text
from runbooks.linear import compile_linear

LONGEST_DETAIL = 400
_ACTION = compile_linear(r"perform (?:the )?action '([^']+)'", ignore_case=True)
_LINKED = compile_linear(r"does not have permission to perform action(?:\(s\))? '([^']+)'", ignore_case=True)
_SPACES = compile_linear(r"\s+")
_WAIT_TEXT = compile_linear(r"(?:again after|retried in|retry after) '?(\d+)'? ?second", ignore_case=True)
_CLAIMS = compile_linear(r'claims="([^"]+)"')
_ASK_AGAIN = frozenset({408, 500, 502, 503, 504})


def refusal(wanted: str, status: int, headers: Mapping[str, str], body: Any, text: str = "") -> ArmError:
    """The error for an answer that is not 2xx. Body and text are already redacted."""
    error = _refusal(wanted, status, headers, body, text)
    error.answer = text if body is None and text else body
    error.headers = safe_headers(headers)
    return error


def _refusal(wanted: str, status: int, headers: Mapping[str, str], body: Any, text: str) -> ArmError:
    code, message = code_and_message(body)
    detail = in_short(status, code, message or _page(text))
    if status == 401:
        return _unauthorized(wanted, detail, code, message, headers)
    if status == 403:
        return Denied(wanted, detail, status=status, code=code, grant=missing_action(message))
    if status in (404, 410):
        return NotFound(wanted, detail, status=status, code=code)
    if status == 429:
        return _throttled(wanted, detail, code, message, headers)
    if status == 408:
        return TimedOut(wanted, detail, status=status, code=code, again=True)
    if status >= 500:
        wait = retry_after_s(headers)
        return ServerFault(wanted, detail, status=status, code=code, retry_after_s=wait, again=status in _ASK_AGAIN)
    return Refused(wanted, detail, status=status, code=code)


def code_and_message(body: Any) -> tuple[str, str]:
    """`{"error": {"code", "message"}}`, AKS's bare `{"code", "message"}`, or PascalCase."""
    if not isinstance(body, dict):
        return "", ""
    inner = body.get("error", body.get("Error"))
    if isinstance(inner, str):
        return inner, str(body.get("error_description") or body.get("message") or "")
    found = inner if isinstance(inner, dict) else body
    code = found.get("code") or found.get("Code") or ""
    message = found.get("message") or found.get("Message") or ""
    return str(code), _SPACES.sub(" ", str(message)).strip()


def in_short(status: int, code: str, message: str) -> str:
    """Status, code and message of a refusal, shortened for people."""
    head = f"{status} {code}".strip()
    text = _SPACES.sub(" ", redact_text(message)).strip()
    whole = f"{head}: {text}" if text else head
    return whole if len(whole) <= LONGEST_DETAIL else whole[: LONGEST_DETAIL - 1] + "…"


def missing_action(message: str) -> str | None:
    """The action that a 403 names."""
    found = _LINKED.search(message) or _ACTION.search(message)
    return found[1] if found else None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long Azure asks us to wait: seconds, a date, or its own headers in milliseconds."""
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if headers.get(name, "").replace(".", "", 1).isdigit():
            return float(headers[name]) / 1000
    text = headers.get("retry-after", "").strip()
    if text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()) if text else None
    except (ValueError, TypeError):
        return None


def _unauthorized(wanted: str, detail: str, code: str, message: str, headers: Mapping[str, str]) -> CredentialRefused:
    error = CredentialRefused(wanted, detail, status=401, code=code)
    challenge = headers.get("www-authenticate", "")
    claims = _CLAIMS.search(challenge)
    error.claims = claims[1] if claims else None
    spoken = f"{code} {message} {challenge}".lower()
    error.stale = bool(claims) or "expired" in spoken
    return error


def _throttled(wanted: str, detail: str, code: str, message: str, headers: Mapping[str, str]) -> Throttled:
    wait = retry_after_s(headers)
    wait = _wait_in_text(message) if wait is None else wait
    error = Throttled(wanted, detail, status=429, code=code, retry_after_s=wait, again=True)
    error.by_front_door = headers.get("x-ms-failure-cause", "gateway").lower() == "gateway"
    return error


def _wait_in_text(message: str) -> float | None:
    found = _WAIT_TEXT.search(message)
    return float(found[1]) if found else None


def _page(text: str) -> str:
    start = text.lstrip()[:200]
    return "a web page, not an answer of Azure" if start.startswith("<") else start
