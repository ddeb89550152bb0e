"""Injected faults: what goes wrong, for which requests, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from sandbox.arm import errors
from sandbox.arm.answers import Answer
from sandbox.world import Principal

Kind = Literal[
    "500",
    "429",
    "403",
    "404",
    "timeout",
    "reset",
    "empty",
    "malformed",
    "half",
    "html",
    "shape",
    "slow",
    "502",
    "503",
    "504",
]

INSTEAD = {"500", "502", "503", "504", "429", "403", "404", "html", "timeout"}
"""Faults that replace the response (or send none) and skip the request, unless `executed`."""

_HTML = (
    "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Transitional//EN' "
    "'http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd'><html xmlns='http://www.w3.org/1999/xhtml'>"
    "<head><title>AzureResourceManager</title></head><body><div id='content'><div id='message'>"
    "<h2>Our services aren't available right now</h2><p>We're working to restore all services as soon as "
    "possible. Please check back soon.</p></div></div></body></html>"
)


@dataclass
class Fault:
    """One injected fault. Without `route`, `action`, `method` and `principal` it applies to every request.

    `route` is a template as shown in the log, case-insensitive; `times` is how often (default: always);
    `skip` is how many matching requests pass first; `executed` performs the write even though its response is lost.
    A `shape` fault is a 200 with an unexpected JSON `body`.
    """

    kind: Kind
    route: str | None = None
    action: str | None = None
    times: int | None = None
    method: str | None = None
    principal: str | None = None
    skip: int = 0
    retry_after_s: int | None = None
    delay_s: float = 0.0
    executed: bool = False
    body: str = "{}"

    def takes(self, method: str, route: str, action: str, principal: str | None) -> bool:
        """Whether the fault applies to this request; counts the match."""
        wanted = (self.method, self.route, self.action, self.principal)
        sent = (method, route, action, principal or "")
        if any(w is not None and w.lower() != s.lower() for w, s in zip(wanted, sent, strict=True)):
            return False
        if self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


def first(faults: list[Fault], method: str, route: str, action: str, principal: str | None) -> Fault | None:
    return next((fault for fault in faults if fault.takes(method, route, action, principal)), None)


def instead_of_answer(fault: Fault, namespace: str, action: str, principal: Principal | None, scope: str) -> Answer:
    """The error sent instead of the real response."""
    if fault.kind == "429":
        return throttled(namespace, action, scope, fault.retry_after_s)
    if fault.kind == "403":
        client, object_id = (principal.client_id, principal.object_id) if principal else ("", "")
        return errors.not_authorized(client, object_id, action, scope).answer
    if fault.kind == "404":
        return errors.resource_not_found(scope.rsplit("/providers/", 1)[-1], None).answer
    texts = {
        "500": ("InternalServerError", "Encountered internal server error. Diagnostic information: timestamp."),
        "502": (
            "BadGatewayConnection",
            f"The network connectivity issue encountered for '{namespace}'; cannot fulfill the request.",
        ),
        "503": ("ServerTimeout", "The request timed out. Diagnostic information: timestamp."),
        "504": (
            "GatewayTimeout",
            f"The gateway did not receive a response from '{namespace}' within the specified time period.",
        ),
    }
    code, message = texts[fault.kind]
    answer = errors.wrapped(int(fault.kind), code, message, cause="service").answer
    return _with_retry_after(answer, fault.retry_after_s)


def throttled(namespace: str, action: str, scope: str, retry_after_s: int | None) -> Answer:
    """A 429 with the body of the service that throttles: ARM, Compute, Network or AKS."""
    wait = retry_after_s if retry_after_s is not None else 5
    if namespace == "Microsoft.Compute":
        group = "HighCostGetVMScaleSet3Min"
        detail = {
            "code": "TooManyRequests",
            "target": group,
            "message": f'{{"operationGroup":"{group}","startTime":"2026-01-01T00:00:00.0000000+00:00",'
            '"endTime":"2026-01-01T00:03:00+00:00","allowedRequestCount":190,"measuredRequestCount":214}',
        }
        answer = errors.wrapped(
            429,
            "OperationNotAllowed",
            "The server rejected the request because too many requests have been received for this subscription.",
            details=[detail],
            innerError={"internalErrorCode": "TooManyRequestsReceived"},
        ).answer
        answer.headers["x-ms-ratelimit-remaining-resource"] = f"Microsoft.Compute/{group};0"
    elif namespace == "Microsoft.Network":
        detail = {
            "code": "RetryableErrorDueToAnotherOperation",
            "message": f"The call can be retried in {wait} seconds.",
        }
        answer = errors.wrapped(
            429, "RetryableError", "A retryable error occurred.", cause="service", details=[detail]
        ).answer
    elif namespace == "Microsoft.ContainerService" and not action.endswith("/read"):
        answer = errors.aks(
            429,
            "TooManyRequests",
            f"The request limit has been exceeded for {scope}, please retry again in {wait} seconds",
        ).answer
    else:
        answer = errors.gateway(
            429,
            "ResourceRequestsThrottled",
            f"Number of requests for action '{action}' exceeded the limit of '150' for time interval "
            f"'00:05:00'. Please try again after '{wait}' seconds.",
        ).answer
    return _with_retry_after(answer, retry_after_s)


def _with_retry_after(answer: Answer, seconds: int | None) -> Answer:
    if seconds is not None:
        answer.headers["Retry-After"] = str(seconds)
    return answer


def html_answer() -> web.Response:
    return web.Response(status=503, text=_HTML, content_type="text/html")


async def spoiled(
    fault: Fault, request: web.BaseRequest, status: int, body: bytes, headers: dict[str, str]
) -> web.StreamResponse:
    """The real response, corrupted in transit."""
    if fault.kind == "empty":
        return web.Response(status=200, headers=_without_length(headers))
    if fault.kind == "shape":
        return web.Response(status=200, body=fault.body.encode(), headers=_without_length(headers))
    if fault.kind == "malformed":
        broken = body[: max(1, len(body) // 2)] + b'"\x01,,}' if body else b'{"value": ['
        return web.Response(status=status, body=broken, headers=_without_length(headers))
    response = web.StreamResponse(status=status, headers=_without_length(headers))
    response.content_length = len(body) + 512
    await response.prepare(request)
    await response.write(body if fault.kind == "half" else body[: len(body) // 2] or b"{")
    transport = request.transport
    if transport is not None:
        if fault.kind == "reset":
            transport.abort()
        else:
            transport.close()
    return response


def _without_length(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "content-length"}
