"""Non-resource paths: version, health checks, and the minimum of OpenAPI that `kubectl create` needs."""

from __future__ import annotations

from typing import Any

from sandbox.kube import statuses
from sandbox.kube.answers import TEXT, Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]

_CHECKS = (
    "ping",
    "log",
    "etcd",
    "informer-sync",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "shutdown",
)
_HEALTH = ("healthz", "livez", "readyz")


def answer(world: KubeWorld, call: Call) -> Answer:
    """The response to a path that is neither a resource nor discovery."""
    if call.method not in ("GET", "HEAD"):
        raise statuses.method_not_allowed()
    parts = call.place.path.strip("/").split("/")
    if parts[0] in _HEALTH:
        return _health(world, parts[0], "/".join(parts[1:]), call)
    match parts:
        case ["version"]:
            return Answer(200, _version(world.version))
        case [""]:
            return Answer(200, {"paths": ["/api", "/api/v1", "/apis", *(f"/{name}" for name in _HEALTH), "/version"]})
        case ["openapi", "v2"]:
            return Answer(
                200, {"swagger": "2.0", "info": {"title": "Kubernetes", "version": world.version}, "paths": {}}
            )
        case ["openapi", "v3"]:
            return Answer(200, _openapi_root(world))
        case ["openapi", "v3", *rest]:
            return Answer(200, _openapi(world, rest))
    raise statuses.no_such_path()


def _version(version: str) -> Body:
    major, minor, *_ = version.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": version,
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "go1.24.9",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def _health(world: KubeWorld, which: str, check: str, call: Call) -> Answer:
    left_out = call.query.get("exclude", "")
    names = [name for name in _CHECKS if name != left_out and not (which == "livez" and name == "shutdown")]
    if check:
        if check not in names:
            raise statuses.no_such_path()
        names = [check]
    failing = [name for name in names if name in world.not_ready]
    if not failing and "verbose" not in call.query:
        return Answer(200, "ok", TEXT)
    lines = [f"[-]{name} failed: {world.not_ready[name]}" if name in failing else f"[+]{name} ok" for name in names]
    lines.append(f"{which} check {'failed' if failing else 'passed'}")
    return Answer(500 if failing else 200, "\n".join(lines) + "\n", TEXT)


def _openapi_root(world: KubeWorld) -> Body:
    paths = [f"apis/{group}/{version}" if group else f"api/{version}" for group, version in _served(world)]
    return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}?hash=0"} for path in paths}}


def _served(world: KubeWorld) -> list[tuple[str, str]]:
    return [(group, version) for group, versions in world.kinds.groups().items() for version in versions]


def _openapi(world: KubeWorld, rest: list[str]) -> Body:
    group, version = ("", rest[1]) if rest[:1] == ["api"] and len(rest) == 2 else (rest[1], rest[-1])
    kinds = [kind for kind in world.kinds if (kind.group, kind.version) == (group, version)]
    if not kinds or len(rest) > 3:
        raise statuses.no_such_path()
    above = f"/{'/'.join(rest)}"
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": world.version},
        "paths": {_item_path(above, kind): {"patch": _patch(kind)} for kind in kinds},
    }


def _item_path(above: str, kind: Kind) -> str:
    return (
        f"{above}/namespaces/{{namespace}}/{kind.plural}/{{name}}"
        if kind.namespaced
        else f"{above}/{kind.plural}/{{name}}"
    )


def _patch(kind: Kind) -> Body:
    """Tells clients that the server supports server-side validation and dry run."""
    return {
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("dryRun", "fieldValidation")
        ],
    }
