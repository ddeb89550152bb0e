"""HTTPRoutes of Gateway API, read as what they have in common with ingresses: hosts and paths that lead to services."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, need_text, rows, text, texts
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.evidence.workloads.wiring.routes import Backend, Ingress
from handlers.model import Evidence, NotApplicable

PATH = "/apis/gateway.networking.k8s.io/v1/httproutes"
KIND = "HTTPRoute"


@dataclass(frozen=True, kw_only=True)
class HttpRoutes(Evidence):
    """The HTTPRoutes of the namespaces that are looked into."""

    routes: tuple[Ingress, ...]


@collector(reads=(), sees=("list httproutes.gateway.networking.k8s.io",), deadline_s=15)
async def http_routes(unwell: UnwellNamespaces, kube: KubeReader) -> HttpRoutes | NotApplicable:
    """the HTTPRoutes"""
    if not unwell.namespaces:
        return NotApplicable("nothing is unwell")
    try:
        listing = await kube.list(PATH, read_http_route)
    except NotFound:
        return NotApplicable("the cluster does not serve Gateway API")
    return HttpRoutes(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated or unwell.truncated,
        gaps=unwell.gaps,
        routes=tuple(route for route in listing.items if route.namespace in unwell.namespaces),
    )


def read_http_route(body: Mapping[str, Any]) -> Ingress:
    """An HTTPRoute from its wire body."""
    namespace = need_text(body, "metadata", "namespace")
    backends = tuple(_backends(body, namespace))
    return Ingress(namespace, need_text(body, "metadata", "name"), "", backends, KIND, _unresolved(body))


def _backends(body: Mapping[str, Any], namespace: str) -> Iterator[Backend]:
    """Those that are services of its own namespace: of another namespace not every service was read."""
    host = next(iter(texts(body, "spec", "hostnames")), "")
    for rule in rows(body, "spec", "rules"):
        path = next((text(match, "path", "value") for match in rows(rule, "matches")), "") or "/"
        for ref in rows(rule, "backendRefs"):
            of_service = text(ref, "kind") in ("", "Service") and not text(ref, "group")
            if of_service and text(ref, "namespace") in ("", namespace):
                number = dig(ref, "port")
                yield Backend(host, path, text(ref, "name"), "" if number is None else str(number))


def _unresolved(body: Mapping[str, Any]) -> str:
    for parent in rows(body, "status", "parents"):
        for row in rows(parent, "conditions"):
            if text(row, "type") == "ResolvedRefs" and text(row, "status") == "False":
                return f"{text(row, 'reason')}: {text(row, 'message')}"
    return ""
