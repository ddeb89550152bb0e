"""Faults on demand, as the ARM server has them, in Kubernetes' own words."""

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
    """As the ARM server's; it can also be aimed at a resource (`pods`, `pods/log`) and a verb (`list`)."""

    resource: str | None = None
    verb: str | None = None


def first(faults: list[arm.Fault], method: str, place: Place, user: str) -> arm.Fault | None:
    """The first fault that hits this request. `action`, if a fault has one, is `verb resource`."""
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
    """The error that takes the place of the real answer."""
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    match fault.kind:
        case "429":
            # Priority and fairness answers in plain text, and always says when to come back.
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
