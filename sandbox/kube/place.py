"""Parses a request into verb, group, version, resource, namespace and name, as the API server does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "GET": "get", "HEAD": "get", "DELETE": "delete"}
_OF_THE_NAMESPACE = ("status", "finalize")
READS = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed request. `resource` is empty for paths such as `/version` and for discovery."""

    path: str
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    route: str = ""

    @property
    def full_resource(self) -> str:
        """`pods` or `pods/log`: the name used in RBAC rules and error messages."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def in_group(self) -> str:
        """The resource with its group, such as `deployments.apps` or `pods.metrics.k8s.io`."""
        return f"{self.resource}.{self.group}" if self.group and not self.subresource else self.full_resource

    @property
    def is_resource(self) -> bool:
        return bool(self.resource)


def parse(method: str, raw_path: str, query: Mapping[str, str]) -> Place:
    """Parse a request."""
    path = "/" + "/".join(part for part in raw_path.split("/") if part)
    parts = [unquote(part) for part in path.split("/") if part]
    verb = _VERBS.get(method, method.lower())
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return Place(path, verb, route=path)
    above = "/".join(path.split("/")[: -len(rest)])
    return _resource_place(path, verb, group, version, rest, above, query)


def _resource_place(
    path: str, verb: str, group: str, version: str, rest: list[str], above: str, query: Mapping[str, str]
) -> Place:
    namespace, route = "", above
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_THE_NAMESPACE:
            rest, route = rest[2:], f"{above}/namespaces/{{}}"
    resource, name, subresource = (*rest, "", "", "")[:3]
    if len(rest) > 3:  # what follows `proxy` is a path of the pod's own
        subresource = "proxy" if rest[2] == "proxy" else "/".join(rest[2:])
    route += f"/{resource}" + ("/{}" if name else "") + (f"/{subresource}" if subresource else "")
    if not name:
        verb = _collection_verb(verb, query)
    elif verb == "get" and _wants_watch(query):
        verb = "watch"
    if verb in ("list", "watch", "deletecollection") and not name:
        name = _named_by_field(query.get("fieldSelector", ""))
    return Place(path, verb, group, version, resource, namespace, name, subresource, route)


def _collection_verb(verb: str, query: Mapping[str, str]) -> str:
    if verb == "get":
        return "watch" if _wants_watch(query) else "list"
    return "deletecollection" if verb == "delete" else verb


def _wants_watch(query: Mapping[str, str]) -> bool:
    return query.get("watch", "").lower() in ("1", "true", "t")


def _named_by_field(selector: str) -> str:
    """A list with a `metadata.name` field selector is authorized as access to that name."""
    for term in selector.split(","):
        field, equals, value = term.partition("=")
        if field.strip() == "metadata.name" and equals:
            return value.lstrip("=").strip()
    return ""
