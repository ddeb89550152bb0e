"""The resource providers of this sandbox, read from providers.yaml."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

RESOURCES = "Microsoft.Resources"


@dataclass(frozen=True, slots=True)
class ResourceType:
    """One resource type, in its canonical case."""

    namespace: str
    name: str
    versions: tuple[str, ...]
    actions: tuple[str, ...] = ()
    extension: bool = False
    untracked: bool = False
    until: str = ""
    """From when on no api-version has it any more; a cloud that lags behind that day still offers it."""

    @property
    def full(self) -> str:
        return f"{self.namespace}/{self.name}"

    def offered(self, as_of: str = "") -> tuple[str, ...]:
        """The api-versions of a cloud that lags behind, as of a day; newer types get their oldest version."""
        if self.until and not "" < as_of < self.until:
            return ()
        old = tuple(version for version in self.versions if not as_of or version[:10] <= as_of)
        return old or (min(self.versions),)

    @property
    def top_level(self) -> bool:
        return "/" not in self.name


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All namespaces and types; lookups are case-insensitive."""

    locations: dict[str, str]
    namespaces: dict[str, str]
    types: dict[str, ResourceType]

    def namespace(self, name: str) -> str | None:
        return self.namespaces.get(name.lower())

    def type(self, full: str) -> ResourceType | None:
        return self.types.get(full.lower())

    def types_of(self, namespace: str) -> list[ResourceType]:
        wanted = namespace.lower()
        return [known for known in self.types.values() if known.namespace.lower() == wanted]

    def versions_of(self, namespace: str, as_of: str = "") -> tuple[str, ...]:
        """The api-versions that ARM itself accepts for requests without a resource type."""
        known = self.types_of(namespace)
        return tuple(sorted({version for kind in known for version in kind.offered(as_of)}, reverse=True))


@cache
def catalogue() -> Catalogue:
    """The catalogue, loaded once and cached."""
    text = Path(__file__).with_name("providers.yaml").read_text(encoding="utf-8")
    # api-versions must be strings, but YAML parses them as dates. This loader yields only strings.
    table = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    namespaces = {name.lower(): name for name in table["namespaces"]}
    kinds = [kind for name, rows in table["namespaces"].items() for kind in _types(name, rows)]
    return Catalogue(dict(table["locations"]), namespaces, {kind.full.lower(): kind for kind in kinds})


def _types(namespace: str, rows: dict[str, Any]) -> Iterable[ResourceType]:
    for name, row in rows["types"].items():
        yield ResourceType(
            namespace=namespace,
            name=name,
            versions=tuple(row.get("versions", rows["versions"])),
            actions=tuple(row.get("actions", ())),
            extension=row.get("extension") == "true",
            untracked=row.get("untracked") == "true",
            until=row.get("until", ""),
        )


def provider_body(namespace: str, subscription: str | None, state: str, as_of: str = "") -> dict[str, Any]:
    """One provider in ARM's list format."""
    places = list(catalogue().locations.values())
    kinds = [
        {
            "resourceType": kind.name,
            "locations": [] if kind.extension else places,
            "apiVersions": list(kind.offered(as_of)),
            "capabilities": "SupportsExtension" if kind.extension else "SupportsTags, SupportsLocation",
        }
        for kind in catalogue().types_of(namespace)
        if kind.offered(as_of)
    ]
    under = f"/subscriptions/{subscription}" if subscription else ""
    body: dict[str, Any] = {
        "id": f"{under}/providers/{namespace}",
        "namespace": namespace,
        "resourceTypes": kinds,
    }
    if subscription:
        body |= {"registrationState": state, "registrationPolicy": "RegistrationRequired"}
    return body
