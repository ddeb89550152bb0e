"""All error bodies: `kind: Status` with the real server's reasons and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.kube.answers import TEXT, Answer, Refusal
from sandbox.kube.kinds import Kind
from sandbox.kube.place import Place

Body = dict[str, Any]

TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def status_body(
    code: int, reason: str, message: str, details: Body | None = None, metadata: Body | None = None
) -> Body:
    """A failure Status; keys in the real server's order."""
    body: Body = {"kind": "Status", "apiVersion": "v1", "metadata": metadata or {}, "status": "Failure"}
    body["message"] = message
    if reason:
        body["reason"] = reason
    if details is not None:
        body["details"] = details
    body["code"] = code
    return body


def success(details: Body | None = None) -> Body:
    body: Body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return body | ({"details": details} if details else {})


def refusal(
    code: int,
    reason: str,
    message: str,
    details: Body | None = None,
    *,
    metadata: Body | None = None,
    headers: dict[str, str] | None = None,
) -> Refusal:
    return Refusal(Answer(code, status_body(code, reason, message, details, metadata), headers=headers or {}))


def plain(code: int, text: str, headers: dict[str, str] | None = None) -> Refusal:
    """A plain-text error, as for non-resource paths."""
    return Refusal(Answer(code, f"{text}\n", TEXT, headers or {}))


def _of(kind: Kind, name: str) -> Body:
    return ({"name": name} if name else {}) | ({"group": kind.group} if kind.group else {}) | {"kind": kind.plural}


# -- authentication and authorization -------------------------------------------------------------------------------


def unauthorized() -> Refusal:
    return refusal(401, "Unauthorized", "Unauthorized")


def forbidden(user: str, place: Place, why: str = "") -> Refusal:
    tail = f": {why}" if why else ""
    if not place.is_resource:
        path = f'forbidden: User "{user}" cannot {place.verb} path "{place.path}"{tail}'
        return refusal(403, "Forbidden", path, {})
    group = f".{place.group}" if place.group else ""
    subject = f'{place.resource}{group} "{place.name}"' if place.name else f"{place.resource}{group}"
    where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
    message = (
        f'{subject} is forbidden: User "{user}" cannot {place.verb} resource "{place.full_resource}" in API group '
        f'"{place.group}" {where}{tail}'
    )
    details: Body = {"name": place.name} if place.name else {}
    details |= {"group": place.group} if place.group else {}
    return refusal(403, "Forbidden", message, details | {"kind": place.resource})


# -- not found ------------------------------------------------------------------------------------------------------


def no_such_path() -> Refusal:
    """404 for an unknown group or version, as the router words it."""
    return plain(404, "404 page not found")


def no_such_resource() -> Refusal:
    return refusal(404, "NotFound", "the server could not find the requested resource", {})


def not_found(kind: Kind, name: str) -> Refusal:
    return refusal(404, "NotFound", f'{kind.qualified} "{name}" not found', _of(kind, name))


def expired(message: str, token: str = "") -> Refusal:
    return refusal(410, "Expired", message, metadata={"continue": token} if token else None)


# -- bad requests ---------------------------------------------------------------------------------------------------


def bad_request(message: str) -> Refusal:
    return refusal(400, "BadRequest", message)


def invalid_version(text: str) -> Refusal:
    return bad_request(f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')


def method_not_allowed() -> Refusal:
    message = "the server does not allow this method on the requested resource"
    return refusal(405, "MethodNotAllowed", message, {})


def not_acceptable() -> Refusal:
    message = (
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )
    return refusal(406, "NotAcceptable", message)


def unsupported_media_type(accepted: Sequence[str]) -> Refusal:
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return refusal(415, "UnsupportedMediaType", message)


def invalid(kind: Kind, name: str, causes: Sequence[tuple[str, str, str]]) -> Refusal:
    """422; a cause is (reason, message, field)."""
    texts = [f"{field}: {message}" for _, message, field in causes]
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    rows = [{"reason": reason, "message": message, "field": field} for reason, message, field in causes]
    details: Body = ({"name": name} if name else {}) | ({"group": kind.group} if kind.group else {})
    details |= {"kind": kind.kind, "causes": rows}
    group = f".{kind.group}" if kind.group else ""
    return refusal(422, "Invalid", f'{kind.kind}{group} "{name}" is invalid: {told}', details)


# -- conflicts ------------------------------------------------------------------------------------------------------


def already_exists(kind: Kind, name: str) -> Refusal:
    return refusal(409, "AlreadyExists", f'{kind.qualified} "{name}" already exists', _of(kind, name))


def conflict(resource: str, kind: Kind, name: str, why: str) -> Refusal:
    """409. `resource` is the name in the message: the plural, or the kind for a failed delete precondition."""
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return refusal(409, "Conflict", message, _of(kind, name) | ({"kind": resource} if resource == kind.kind else {}))


def modified_meanwhile(kind: Kind, name: str) -> Refusal:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(kind.qualified, kind, name, why)


def too_many_requests(message: str, causes: Sequence[Body] = (), retry_after_s: int = 0) -> Refusal:
    details: Body = {"causes": list(causes)} if causes else {}
    if retry_after_s:
        details["retryAfterSeconds"] = retry_after_s
    headers = {"Retry-After": str(retry_after_s)} if retry_after_s else {}
    return refusal(429, "TooManyRequests", message, details, headers=headers)


def internal(message: str) -> Refusal:
    text = f"Internal error occurred: {message}"
    return refusal(500, "InternalError", text, {"causes": [{"message": message}]})


def gateway_timeout(message: str) -> Refusal:
    return refusal(504, "Timeout", f"Timeout: {message}", {})


def too_large_version(asked: int, stored: int) -> Refusal:
    details = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    message = f"Timeout: Too large resource version: {asked}, current: {stored}"
    return refusal(504, "Timeout", message, details, headers={"Retry-After": "1"})
