"""The kinds that an API server serves: built-in ones from kinds.yaml, custom ones from their CRDs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Body = dict[str, Any]
StorageKey = tuple[str, str, str]
"""The (group, version, plural) under which objects are stored; all served versions of a custom kind share one."""

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
DEFINITIONS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")

# A subresource such as `scale` may have a different kind than its parent.
_SUBRESOURCE_KINDS = {
    "eviction": ("Eviction", "policy", "v1", ("create",)),
    "scale": ("Scale", "autoscaling", "v1", ("get", "patch", "update")),
    "log": ("Pod", "", "", ("get",)),
    "proxy": ("PodProxyOptions", "", "", ("create", "delete", "get", "patch", "update")),
}


class UnknownKind(LookupError):
    """The kind is neither built in nor defined by a CustomResourceDefinition in the world."""


@dataclass(frozen=True, slots=True)
class Column:
    """One printer column of a custom kind."""

    name: str
    type: str
    path: str
    priority: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One served kind."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    refusal: str = "meta"
    stored_as: str = ""
    built_in: bool = True
    columns: tuple[Column, ...] | None = None

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def storage_key(self) -> StorageKey:
        return (self.group, self.stored_as or self.version, self.plural)

    @property
    def qualified(self) -> str:
        """The resource's name in error messages: `deployments.apps`, `pods`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    def subresource_rows(self) -> Iterator[tuple[str, str, str, str, tuple[str, ...]]]:
        """(name, kind, group, version, verbs) of each subresource; the group is empty if it is the parent's."""
        for name in self.subresources:
            kind, group, version, verbs = _SUBRESOURCE_KINDS.get(name, (self.kind, "", "", ("get", "patch", "update")))
            yield name, kind, group, version, verbs


@dataclass
class KindRegistry:
    """The kinds currently served, including those of CRDs added to the world."""

    _served: dict[StorageKey, Kind] = field(default_factory=lambda: _built_in_registry())
    _by_name: dict[tuple[str, str], Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index()

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._served.values())

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        return self._served.get((group, version, plural))

    def of_body(self, body: Mapping[str, Any]) -> Kind:
        """The kind of an object; raises UnknownKind if it is not defined."""
        api_version, name = str(body.get("apiVersion", "")), str(body.get("kind", ""))
        found = self.by_name(api_version, name)
        if found is None:
            raise UnknownKind(f"no kind {name!r} in {api_version!r}: add its CustomResourceDefinition first")
        return found

    def by_name(self, api_version: str, name: str) -> Kind | None:
        return self._by_name.get((api_version, name))

    def by_word(self, word: str) -> Kind | None:
        """Look up a kind as kubectl does: by plural, singular, short name or kind, optionally with `.group`."""
        wanted, _, group = word.lower().partition(".")
        for kind in self._served.values():
            names = (kind.plural, kind.singular, kind.kind.lower(), *kind.short)
            if wanted in names and (not group or kind.group == group):
                return kind
        return None

    def groups(self) -> dict[str, list[str]]:
        """Served versions by group, with the core group first."""
        found: dict[str, list[str]] = {}
        for kind in self._served.values():
            versions = found.setdefault(kind.group, [])
            if kind.version not in versions:
                versions.append(kind.version)
        return found

    def define(self, definition: Body) -> None:
        """Serve the kind of a CustomResourceDefinition, replacing its previous definition."""
        self.forget(definition)
        for kind in _custom_kinds(definition):
            self._served[_name(kind)] = kind
        self._index()

    def forget(self, definition: Body) -> None:
        spec = definition["spec"]
        for key in [key for key in self._served if (key[0], key[2]) == (spec["group"], spec["names"]["plural"])]:
            del self._served[key]
        self._index()

    def _index(self) -> None:
        self._by_name = {(kind.api_version, kind.kind): kind for kind in self._served.values()}


def _built_in_registry() -> dict[StorageKey, Kind]:
    return {_name(kind): kind for kind in built_in_kinds()}


def _name(kind: Kind) -> StorageKey:
    return (kind.group, kind.version, kind.plural)


@cache
def built_in_kinds() -> tuple[Kind, ...]:
    """The built-in kinds, loaded once and cached."""
    table = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text(encoding="utf-8"))
    return tuple(kind for api, rows in table["kinds"].items() for kind in _built_in(api, rows))


def _built_in(api_version: str, rows: Iterable[Body]) -> Iterator[Kind]:
    group, _, version = api_version.rpartition("/")
    for row in rows:
        verbs = tuple(row.get("verbs", ALL_VERBS))
        if row.get("no_collection_delete"):
            verbs = tuple(verb for verb in verbs if verb != "deletecollection")
        yield Kind(
            group=group,
            version=version,
            plural=row["plural"],
            kind=row["kind"],
            singular=row.get("singular", row["kind"].lower()),
            namespaced=not row.get("cluster", False),
            short=tuple(row.get("short", ())),
            categories=tuple(row.get("categories", ())),
            subresources=tuple(row.get("subresources", ())),
            fields=tuple(row.get("fields", ())),
            verbs=verbs,
            refusal=row.get("refusal", "meta"),
        )


def _custom_kinds(definition: Body) -> Iterator[Kind]:
    spec = definition["spec"]
    names = spec["names"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    for version in spec["versions"]:
        if not version.get("served", True):
            continue
        columns = version.get("additionalPrinterColumns")
        yield Kind(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            singular=names.get("singular") or names["kind"].lower(),
            namespaced=spec["scope"] == "Namespaced",
            short=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            subresources=tuple(version.get("subresources") or ()),
            fields=tuple(field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or ()),
            refusal="field",
            stored_as=storage,
            built_in=False,
            columns=tuple(_column(column) for column in columns) if columns else None,
        )


def _column(row: Body) -> Column:
    return Column(
        row["name"], row["type"], row["jsonPath"], int(row.get("priority", 0)), str(row.get("description", ""))
    )
