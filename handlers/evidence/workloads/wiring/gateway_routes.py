"""The routes of gateways that people run: which path leads to which service, as their mounted config maps say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.wire import dig
from handlers.evidence.workloads.owners import Owner, Owners
from handlers.model import Evidence
from runbooks.linear import compile_linear

GATEWAY = "gateway"
"""How people call a workload that forwards what comes in, and its image."""
MOST_MAPS = 4
_ITEM = compile_linear(r"^\s*- id: *['\"]?(?P<id>[A-Za-z0-9._-]{1,100})")
_URI = compile_linear(r"^\s*(?:- )?uri: *['\"]?(?:lb|https?|ws)://(?P<host>[^/'\"\s]{1,200})")
_PATH = compile_linear(r"Path=(?P<path>/[^\s'\"]{1,300})")
_DEFAULT = compile_linear(r"^\$\{(?P<variable>[A-Za-z0-9_.-]{1,100}):(?P<default>[^}]{1,100})\}")


@dataclass(frozen=True, slots=True)
class GatewayRoute:
    """One route: paths, and the service that they lead to."""

    owner: str
    config_map: str
    id: str
    host: str
    paths: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GatewayRoutes(Evidence):
    """The routes in the config maps of gateways (Spring Cloud Gateway's `routes`)."""

    routes: tuple[GatewayRoute, ...]


@collector(reads=(), sees=("get configmaps",), deadline_s=10)
async def gateway_routes(owners: Owners, kube: KubeReader) -> GatewayRoutes:
    """the routes of gateways"""
    wanted = [(owner, name) for owner in owners.workloads if _is_gateway(owner) for name in _mounted(owner)]

    async def of(item: tuple[Owner, str]) -> tuple[GatewayRoute, ...]:
        owner, name = item
        answer = await kube.get(f"/api/v1/namespaces/{owner.namespace}/configmaps/{name}")
        data = dig(answer.body, "data")
        texts = data.values() if isinstance(data, dict) else ()
        return tuple(
            route for text in texts if isinstance(text, str) for route in read_routes(owner.subject, name, text)
        )

    found, gaps = await each(wanted[:MOST_MAPS], of)
    return GatewayRoutes(
        source=", ".join(f"config map {name}" for _, name in wanted) or owners.source,
        taken_at=owners.taken_at,
        truncated=owners.truncated or len(wanted) > MOST_MAPS,
        gaps=(*owners.gaps, *dict.fromkeys(replace(gap, wanted=gateway_routes.title) for gap in gaps)),
        routes=tuple(route for routes in found for route in routes),
    )


def _is_gateway(owner: Owner) -> bool:
    names = (owner.name, *(box.image for box in owner.spec.containers))
    return any(GATEWAY in name for name in names)


def _mounted(owner: Owner) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(volume.source for volume in owner.spec.volumes if volume.kind == "configMap" and volume.source)
    )


def read_routes(owner: str, config_map: str, text: str) -> Iterator[GatewayRoute]:
    """A list of routes, line by line: each begins with its id. What is written in another way is no route."""
    name, host, paths = "", "", list[str]()
    for line in (*text.splitlines(), "- id: end"):
        item = _ITEM.search(line)
        if item:
            if name and host and paths:
                yield GatewayRoute(owner, config_map, name, host, tuple(paths))
            name, host, paths = item["id"], "", []
        found = _URI.search(line)
        if found:
            host = _host(found["host"])
        paths += [match["path"] for match in _PATH.finditer(line)]


def _host(text: str) -> str:
    """`${CART_HOST:cart}:8080` leads to `cart`, unless the environment says otherwise."""
    found = _DEFAULT.search(text)
    return (found["default"] if found else text).partition(":")[0]
