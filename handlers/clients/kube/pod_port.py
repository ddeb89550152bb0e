"""What the API server's proxy says of a port of a pod. Only "connection refused" proves that nobody listens there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import orjson

from handlers.clients.errors import ArmError, Garbled, ServerFault
from handlers.clients.kube.door.caller import Caller
from handlers.clients.kube.paths import ApiPath
from handlers.clients.kube.refusals import refusal
from handlers.clients.kube.reply import Reply
from handlers.clients.redact import redact_text
from runbooks.linear import compile_linear

_REFUSED = compile_linear(r"dial tcp (?P<address>[0-9a-fA-F.:\[\]]{3,50}): connect: connection refused")
_UNREACHED = ("error trying to reach service", "Trying to reach: ")
"""How the API server's proxy begins, and, before Kubernetes 1.10, ends, what it says of a pod that it did not reach."""
_GATEWAYS = frozenset({502, 503, 504})
"""Any proxy on the way may answer so: such an answer is not the pod's."""
LONGEST = 500


class _Any:
    """Every status is an answer."""

    def __contains__(self, _: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class PodPort:
    """What is at a port of a pod."""

    refused_at: str
    """The address that refused the connection, as the API server names it; empty where something answered."""
    told: str
    """The words that prove it."""


async def read_pod_port(caller: Caller, target: str) -> PodPort:
    """Something answers, or the connection is refused; anything else is raised."""
    try:
        reply = await caller.reply("GET", target, also=_Any(), into_pod=True)
    except Garbled as error:
        if "a redirect" in error.detail:
            return PodPort("", "it answers with a redirect")
        raise
    kept = reply if _is_the_servers(reply) else replace(reply, content=b"")
    caller.record(lambda recorder: recorder.text(target, kept))
    return _read(target, kept)


def _is_the_servers(reply: Reply) -> bool:
    return _status_of(reply) is not None or any(sign.encode() in reply.content for sign in _UNREACHED)


def _read(target: str, reply: Reply) -> PodPort:
    status = _status_of(reply)
    text = str(status.get("message") or "") if status else reply.content.decode("utf-8", errors="replace")
    told = redact_text(text[:LONGEST])
    unreached = any(sign in text for sign in _UNREACHED)
    found = _REFUSED.search(text) if unreached and reply.status in _GATEWAYS else None
    if found:
        return PodPort(found["address"], told)
    if unreached:
        raise ServerFault(ApiPath.at(target).wanted, f"{reply.status}: {told}")
    if status is not None or reply.status in _GATEWAYS:
        raise _refusal(target, reply)
    return PodPort("", f"it answers {reply.status}")


def _status_of(reply: Reply) -> dict[str, Any] | None:
    """A `Status` of Kubernetes. A pod that serves one itself is taken for the API server: that leaves it open."""
    try:
        body = orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) and body.get("kind") == "Status" else None


def _refusal(target: str, reply: Reply) -> ArmError:
    return refusal("GET", target, reply)
