"""Parses a request path into subscription, resource group, type, permission and route template."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from sandbox.arm.providers import RESOURCES, catalogue

_LITERAL = {"eventtypes": "management", "policystates": "latest"}
"""Types with a single, fixed name that is part of the API: it is kept as is in the route."""

_FRONT_DOOR = {
    "subscriptions": f"{RESOURCES}/subscriptions",
    "resourcegroups": f"{RESOURCES}/subscriptions/resourceGroups",
    "resources": f"{RESOURCES}/subscriptions/resources",
    "locations": f"{RESOURCES}/subscriptions/locations",
    "providers": f"{RESOURCES}/subscriptions/providers",
    "tagnames": f"{RESOURCES}/subscriptions/tagNames",
    "operationresults": f"{RESOURCES}/subscriptions/operationresults",
    "tenants": f"{RESOURCES}/tenants",
}
_CASED = {
    "subscriptions": "subscriptions",
    "resourcegroups": "resourceGroups",
    "providers": "providers",
    "resources": "resources",
    "locations": "locations",
    "tenants": "tenants",
    "tagnames": "tagNames",
    "operationresults": "operationresults",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed path. `kind` is the full resource type, in its canonical case if ARM knows it."""

    path: str
    subscription: str | None
    group: str | None
    namespace: str | None
    types: tuple[str, ...]
    names: tuple[str, ...]
    scope: str
    """The scope before the last provider section: a group, a subscription, a resource, or "" for the tenant."""
    route: str
    kind: str

    @property
    def key(self) -> str:
        return self.path.lower()

    @property
    def collection(self) -> bool:
        """The path ends with a type, not with a name."""
        return len(self.types) == len(self.names) + 1

    @property
    def name(self) -> str:
        return self.names[-1] if self.names else ""

    @property
    def parent(self) -> str:
        """The id of the parent resource; "" for a top-level resource."""
        steps = 1 if self.collection else 2
        return self.path.rsplit("/", steps)[0] if len(self.types) > 1 else ""

    @property
    def parent_kind(self) -> str:
        return self.kind.rsplit("/", 1)[0] if len(self.types) > 1 else ""

    @property
    def display(self) -> str:
        """The name used in error messages: `Microsoft.Network/virtualNetworks/x/subnets/y`."""
        namespace, *words = self.kind.split("/")
        pairs = (f"{word}/{name}" for word, name in zip(words, self.names, strict=False))
        return "/".join((namespace, *pairs))


@lru_cache(maxsize=65_536)
def parse(path: str) -> Place:
    """Parse a path. Double slashes count as one; case is preserved."""
    parts = tuple(part for part in unquote(path).split("/") if part)
    lower = [part.lower() for part in parts]
    subscription = parts[1] if len(parts) > 1 and lower[0] == "subscriptions" else None
    group = parts[3] if subscription and len(parts) > 3 and lower[2] == "resourcegroups" else None
    clean = "/" + "/".join(parts)
    at = _last_provider(lower)
    if at is None or at + 1 >= len(parts):
        kind = _front_door_kind(lower)
        return Place(clean, subscription, group, None, (), (), "", _front_door_route(parts), kind)
    namespace = parts[at + 1]
    tail = parts[at + 2 :]
    types, names = tail[0::2], tail[1::2]
    cased = catalogue().namespace(namespace) or namespace
    kind = _kind(cased, types)
    scope = "/" + "/".join(parts[:at]) if at else ""
    route = _front_door_route(parts[:at], scoped=True) + _provider_route(cased, kind, names)
    return Place(clean, subscription, group, namespace, types, names, scope, route, kind)


def _last_provider(lower: list[str]) -> int | None:
    """The index of the last `/providers/{namespace}`. The dot matters: a resource may also be named `providers`."""
    for at in range(len(lower) - 1, -1, -1):
        if lower[at] == "providers" and (at + 1 == len(lower) or "." in lower[at + 1]):
            return at
    return None


def _kind(namespace: str, types: tuple[str, ...]) -> str:
    full = "/".join((namespace, *types))
    known = catalogue().type(full)
    if known:
        return known.full
    parent = catalogue().type("/".join((namespace, *types[:-1])))
    if parent:
        action = next((a for a in parent.actions if a.lower() == types[-1].lower()), types[-1])
        return f"{parent.full}/{action}"
    return full


def _front_door_kind(lower: list[str]) -> str:
    words = lower[0::2]
    return _FRONT_DOOR.get(words[-1], "/".join(words)) if words else ""


def _front_door_route(parts: tuple[str, ...], *, scoped: bool = False) -> str:
    if scoped and "providers" in (part.lower() for part in parts):
        return parse("/".join(parts)).route
    if not parts:
        return "" if scoped else "/"
    return "".join(
        f"/{_CASED.get(part.lower(), part)}" if index % 2 == 0 else "/{}" for index, part in enumerate(parts)
    )


def _provider_route(namespace: str, kind: str, names: tuple[str, ...]) -> str:
    words = kind.split("/")[1:]
    route = f"/providers/{namespace}"
    for index, word in enumerate(words):
        route += f"/{word}"
        if index < len(names):
            name = names[index]
            route += f"/{name.lower()}" if _LITERAL.get(word.lower()) == name.lower() else "/{}"
    return route


def action_of(method: str, place: Place) -> str:
    """The action (permission name) that a request needs."""
    if place.kind == "Microsoft.ResourceGraph/resources":
        return "Microsoft.ResourceGraph/resources/read"
    if place.namespace and not place.types:
        return f"{RESOURCES}/subscriptions/providers/read"
    if method == "POST":
        return f"{place.kind}/action"
    verb = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete"}.get(method, "action")
    return f"{place.kind}/{verb}"


def scope_of(place: Place) -> str:
    """The scope shown in a 403: for a list, it is the parent, or the provider in the resource group."""
    if not place.namespace:
        ends_with_type = len(place.path.strip("/").split("/")) % 2 == 1
        return place.path.rsplit("/", 1)[0] or "/" if ends_with_type else place.path
    if not place.collection:
        return place.path
    if place.kind.startswith("Microsoft.Insights/eventtypes"):
        return place.scope
    if place.parent:
        return place.parent
    return f"{place.scope}/providers/{catalogue().namespace(place.namespace) or place.namespace}"


def within(scope: str, resource: str) -> bool:
    """Whether `resource` is `scope` or below it; case-insensitive."""
    above, below = scope.strip("/").lower(), resource.strip("/").lower()
    return not above or below == above or below.startswith(above + "/")
