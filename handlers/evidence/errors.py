"""Azure wraps errors in errors: JSON in strings, Go text, semicolon lists. Take them apart, outermost first.

The forms, all seen on the wire: `{"error": {...}}` (ARM), bare `{"code", "message", "subcode"}` (the AKS provider),
PascalCase, `details[]` whose message is JSON text again, `Category: …; SubCode: …; OrginalError: …` (AKS about another
provider, misspelt like that), `Status=409 Code="X" Message="…"` (Go), `(X) …` (the command line's).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handlers.evidence.policy_violations import Violation, violations
from handlers.evidence.signs import DENIED_BY_POLICY, named_cause
from runbooks.linear import compile_linear

WRAPPERS = frozenset(
    {
        "badrequest",
        "conflict",
        "createvmssagentpoolfailed",
        "deploymentfailed",
        "internaloperationerror",
        "invalidtemplatedeployment",
        "reconcilevmssagentpoolfailed",
        "resourcedeploymentfailure",
        "resourceoperationfailure",
        "unspecified",
        "upgradefailed",
    }
)
"""Codes that say only that something below failed."""

GENERIC = frozenset(
    {
        "operationnotallowed",
        "resourcenotfound",
        "vmextensionhandlernontransienterror",
        "vmextensionprovisioningerror",
        "vmextensionprovisioningtimeout",
    }
)
"""Codes that Compute and Resource Manager use for many things: what AKS made of them, one layer up, says more."""

_INTERNAL = compile_linear(r"internal(?:operation|server|execution)?error$", ignore_case=True)
"""ControlPlaneProvisioningInternalError, InternalServerError, InternalOperationError…: Azure blames itself."""

_CUT_OFF = frozenset(
    {
        *("canceled", "contextdeadlineexceeded", "etagmismatch", "gatewaytimeout", "notlatestoperation"),
        *("operationpreempted", "retryableerror", "serviceunavailable", "toomanyrequests", "429"),
        *("provisioningtimeout", "timeout", "anotheroperationinprogress", "operationcanceled"),
    }
)
"""An operation that another one or the clock ended: nothing was in its way that could still be there."""

_MOST_LAYERS = 200
"""A pasted log may hold thousands of errors, and each is looked at for what it names."""
_DEEPEST = 12
"""Errors nest four or five deep on the wire; a text made to nest further is cut here."""
_GO_ERROR = compile_linear(
    r'Code=\\*"(?P<code>[^"\\]+)\\*"\s+Message=\\*"(?P<message>.*?)\\*"(?:[;\s]|$)',
    dot_all=True,
)
_AKS_FIELD = compile_linear(r"(?P<key>Category|SubCode|Dependency|OrginalError|OriginalError|AKSTeam|Retriable):\s*")
_CLI_ERROR = compile_linear(r"\((?P<code>[A-Z][A-Za-z0-9_]+)\)\s+(?P<message>[^\n]+)")
_CODE_LINE = compile_linear(r"(?m)^\s*Code:\s*(?P<code>[A-Za-z0-9_]+)\s*$\s*Message:\s*(?P<message>[^\n]+)")


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """One layer of an error."""

    code: str
    message: str
    target: str = ""
    policies: tuple[Violation, ...] = ()
    """The policies that denied the request, where that is the cause."""

    @property
    def wraps(self) -> bool:
        return self.code.lower() in WRAPPERS or not self.code

    @property
    def internal(self) -> bool:
        """Azure blames itself."""
        return _INTERNAL.search(self.code) is not None

    @property
    def names(self) -> str:
        """The finding code of the cause that it names; empty where it names none that is known."""
        return "" if self.code.lower() in _CUT_OFF else named_cause(self.code, self.message)

    @property
    def specific(self) -> bool:
        """Whether it names a cause, be it one that nobody here knows. A text that was cut in the middle names none."""
        if self.names:
            return True
        unclear = self.wraps or self.internal or self.code.lower() in _CUT_OFF
        return not unclear and not self.message.startswith("{")

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message


def layers(value: Any) -> tuple[ErrorDetail, ...]:
    """All layers of an error body or text, outermost first; a layer said twice is kept once."""
    found: dict[ErrorDetail, None] = {}
    for layer in _walk(value, 0):
        found[layer] = None
        if len(found) == _MOST_LAYERS:
            break
    return tuple(found)


def innermost(value: Any) -> ErrorDetail | None:
    """The layer that says what really happened: the deepest that names a cause in words of its own.

    A generic code of Compute's below the one that AKS made of it (OutboundConnFail…) says less, and counts only alone.
    """
    found = layers(value)
    telling = [layer for layer in found if layer.specific or not layer.wraps]
    own = [layer for layer in telling if layer.code.lower() not in GENERIC]
    named = [layer for layer in own if layer.names] or [layer for layer in telling if layer.names]
    best = named or own or telling or list(found)
    # Compute counts its throttling in JSON, one layer below the sentence that says so.
    spoken = [layer for layer in best if not layer.message.startswith("{")]
    return with_policies((spoken or best)[-1], value) if best else None


def with_policies(error: ErrorDetail, value: Any) -> ErrorDetail:
    """Which policy it was stands beside the message, or in another layer."""
    return replace(error, policies=violations(value)) if error.names == DENIED_BY_POLICY else error


def _walk(value: Any, depth: int) -> Iterator[ErrorDetail]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        yield from _of_object(value, depth)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth + 1)
    elif isinstance(value, str):
        yield from _of_text(value, depth)


def _of_object(body: Mapping[str, Any], depth: int) -> Iterator[ErrorDetail]:
    lower = {key.lower(): value for key, value in body.items() if isinstance(key, str)}
    code, message = _as_text(lower.get("code")), _as_text(lower.get("message"))
    if code or message:
        yield ErrorDetail(code, _plain(message), _as_text(lower.get("target")))
        yield from _of_text(message, depth + 1)
    for key in ("error", "innererror", "details", "provisioningerror", "statusmessage", "properties", "status"):
        if isinstance(lower.get(key), Mapping | list | str) and not _is_word(lower[key]):
            yield from _walk(lower[key], depth + 1)


def _of_text(text: str, depth: int) -> Iterator[ErrorDetail]:
    if depth > _DEEPEST:
        return
    inner = _json_inside(text)
    about_another = "SubCode:" in text and "Dependency:" in text
    if inner is not None and not about_another:
        yield from _walk(inner, depth + 1)
        return
    if about_another:
        yield from _of_aks_text(text, depth)
    for found in _GO_ERROR.finditer(text):
        yield ErrorDetail(found["code"], found["message"].replace('\\"', '"'))
        yield from _of_text(found["message"], depth + 1)
    if inner is not None:  # the other provider's details
        yield from _walk(inner, depth + 1)
    if depth == 0:
        for pattern in (_CLI_ERROR, _CODE_LINE):
            for found in pattern.finditer(text):
                yield ErrorDetail(found["code"], found["message"].strip())
                yield from _of_text(found["message"], depth + 1)


def _of_aks_text(text: str, depth: int) -> Iterator[ErrorDetail]:
    parts = _AKS_FIELD.split(text)
    fields = dict(zip(parts[1::2], (part.strip().rstrip(";") for part in parts[2::2]), strict=False))
    original = fields.get("OrginalError") or fields.get("OriginalError") or ""
    yield ErrorDetail(fields.get("SubCode", ""), original or text, fields.get("Dependency", ""))


def _json_inside(text: str) -> Any:
    """The JSON object that a text is, or holds; None where there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start or '"' not in text[start:end]:
        return None
    candidates = [text[start : end + 1]]
    if '\\"' in candidates[0]:
        candidates.append(candidates[0].replace('\\"', '"').replace("\\\\", "\\"))
    for candidate in candidates:
        try:
            value = json.loads(candidate, strict=False)
        except ValueError:
            continue
        if isinstance(value, Mapping) and _looks_like_error(value):
            return value
    return None


def _looks_like_error(body: Mapping[str, Any]) -> bool:
    keys = {key.lower() for key in body if isinstance(key, str)}
    return bool(keys & {"error", "code", "details", "statusmessage", "provisioningerror", "properties", "status"})


def _plain(message: str) -> str:
    """A message for people: where it is JSON itself the inner layer says it better."""
    return "" if _json_inside(message) is not None and message.lstrip().startswith("{") else message.strip()


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and not any(mark in value for mark in '{"=:')


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
