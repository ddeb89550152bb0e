"""Fault injection as in the ARM server, with Kubernetes' error responses."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.arm import faults as arm
from sandbox.kube import statuses
from sandbox.kube.answers import Answer
from sandbox.kube.place import Place

Kind = arm.Kind
INSTEAD = arm.INSTEAD
spoiled = arm.spoiled
html_answer = arm.html_answer


@dataclass
class Fault(arm.Fault):
    """Like the ARM server's Fault, plus a filter by resource (`pods`, `pods/log`) and verb (`list`)."""

    resource: str | None = None
    verb: str | None = None


def first(faults: list[arm.Fault], method: str, place: Place, user: str) -> arm.Fault | None:
    """The first fault that applies to this request. A fault's `action` is matched against `verb resource`."""
    for fault in faults:
        if isinstance(fault, Fault):
            if fault.resource is not None and fault.resource != place.full_resource:
                continue
            if fault.verb is not None and fault.verb != place.verb:
                continue
        if fault.takes(method, place.route, f"{place.verb} {place.full_resource}".strip(), user):
            return fault
    return None


def instead_of_answer(fault: arm.Fault, place: Place, user: str) -> Answer:
    """The error sent instead of the real response."""
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    match fault.kind:
        case "429":
            # API Priority and Fairness responds in plain text, and always sends Retry-After.
            wait = {"Retry-After": "1"} | headers
            return statuses.plain(429, "Too many requests, please try again later.", wait).answer
        case "403":
            return statuses.forbidden(user, place).answer
        case "404":
            return statuses.no_such_resource().answer
        case "500":
            return statuses.internal("etcdserver: request timed out").answer
        case "502":
            return statuses.plain(502, "Bad Gateway", headers).answer
        case "503":
            text = "the server is currently unable to handle the request"
            return statuses.refusal(503, "ServiceUnavailable", text, headers=headers).answer
        case _:
            return statuses.gateway_timeout("request did not complete within the allotted timeout").answer
