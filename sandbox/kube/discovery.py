"""API discovery, per group and aggregated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.kube import measured, statuses
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]

_AGGREGATED = "apidiscovery.k8s.io"


def answer(world: KubeWorld, call: Call) -> Answer | None:
    """The response to a discovery path; None for any other path."""
    parts = call.place.path.strip("/").split("/")
    match parts:
        case ["api"] | ["apis"]:
            core = parts[0] == "api"
            version = _aggregated_version(call.accept)
            if version:
                kind = f"application/json;g={_AGGREGATED};v={version};as=APIGroupDiscoveryList"
                return Answer(200, _aggregated(world, version, core=core), kind)
            return Answer(200, _versions() if core else _groups(world))
        case ["api", version]:
            return Answer(200, _resources(world, "", version))
        case ["apis", group]:
            return Answer(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(group, _served(world, group))})
        case ["apis", group, version]:
            return Answer(200, _resources(world, group, version))
    return None


def _aggregated_version(accept: str) -> str:
    for part in accept.split(","):
        parameters = dict(piece.strip().partition("=")[::2] for piece in part.split(";")[1:])
        if parameters.get("g") == _AGGREGATED and parameters.get("v") in ("v2", "v2beta1"):
            return parameters["v"]
    return ""


def _versions() -> Body:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "10.0.0.1:443"}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _groups(world: KubeWorld) -> Body:
    found = [_group(group, versions) for group, versions in _all_groups(world) if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def _all_groups(world: KubeWorld) -> Iterator[tuple[str, list[str]]]:
    yield from world.kinds.groups().items()
    if world.usage is not None:
        yield measured.GROUP, [measured.VERSION]


def _served(world: KubeWorld, group: str) -> list[str]:
    for name, versions in _all_groups(world):
        if group and name == group:
            return versions
    raise statuses.no_such_path()


def _group(group: str, versions: list[str]) -> Body:
    rows = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": rows, "preferredVersion": rows[0]}


def _kinds(world: KubeWorld, group: str, version: str) -> list[Kind]:
    if group == measured.GROUP and world.usage is not None:
        return list(measured.KINDS.values())
    return [kind for kind in world.kinds if (kind.group, kind.version) == (group, version)]


def _resources(world: KubeWorld, group: str, version: str) -> Body:
    kinds = _kinds(world, group, version)
    if not kinds:
        raise statuses.no_such_path()
    if group == measured.GROUP and not (world.usage and world.usage.answering):
        raise statuses.plain(503, "service unavailable")
    rows: list[Body] = []
    for kind in kinds:
        rows.append(_row(kind))
        for name, of_kind, in_group, in_version, verbs in kind.subresource_rows():
            row: Body = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced}
            if in_group:
                row |= {"group": in_group, "version": in_version}
            rows.append(row | {"kind": of_kind, "verbs": list(verbs)})
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": rows}


def _row(kind: Kind) -> Body:
    row: Body = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short:
        row["shortNames"] = list(kind.short)
    if kind.categories:
        row["categories"] = list(kind.categories)
    return row


def _aggregated(world: KubeWorld, version: str, *, core: bool) -> Body:
    items = [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [_version(world, group, v) for v in served],
        }
        for group, served in _all_groups(world)
        if (not group) is core
    ]
    for item in items if core else ():
        item["metadata"] = {"creationTimestamp": None}
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"{_AGGREGATED}/{version}",
        "metadata": {},
        "items": items,
    }


def _version(world: KubeWorld, group: str, version: str) -> Body:
    stale = group == measured.GROUP and not (world.usage and world.usage.answering)
    rows = [] if stale else [_discovered(kind) for kind in _kinds(world, group, version)]
    return {"version": version, "resources": rows, "freshness": "Stale" if stale else "Current"}


def _discovered(kind: Kind) -> Body:
    row: Body = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short:
        row["shortNames"] = list(kind.short)
    if kind.categories:
        row["categories"] = list(kind.categories)
    below = [
        {
            "subresource": name,
            "responseKind": {"group": group or kind.group, "version": version or kind.version, "kind": of_kind},
            "verbs": list(verbs),
        }
        for name, of_kind, group, version, verbs in kind.subresource_rows()
    ]
    return row | ({"subresources": below} if below else {})
