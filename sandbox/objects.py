"""Finds Kubernetes objects by the ids that findings use: `shop/Pod/web-0`, `Node/aks-apps-…`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld
from sandbox.merge import merged, merged_by_name

Body = dict[str, Any]


class NoSuchObject(LookupError):
    """No object has that id, or the id is malformed."""


def kind_of(kube: KubeWorld, object_id: str) -> tuple[Kind, str, str]:
    """The kind, namespace and name in an id."""
    *namespace, word, name = object_id.split("/")
    kind = next((kind for kind in kube.kinds if kind.kind == word), None)
    if kind is None or len(namespace) != int(kind.namespaced):
        raise NoSuchObject(f"{object_id!r} is not Kind/name or namespace/Kind/name of a kind that is served")
    return kind, "".join(namespace), name


def find_object(kube: KubeWorld, object_id: str) -> Body | None:
    kind, namespace, name = kind_of(kube, object_id)
    return kube.get(kind, name, namespace)


def matching(kube: KubeWorld, object_id: str, where: dict[str, Any]) -> Iterator[str]:
    """The ids of all objects that match an id with `*` wildcards and whose fields have these values."""
    *space, word, name = object_id.split("/")
    for kind in [kind for kind in kube.kinds if kind.kind == word and len(space) == int(kind.namespaced)]:
        for body in list(kube.objects.get(kind.storage_key, {}).values()):
            metadata = body["metadata"]
            own = [metadata["namespace"]] if kind.namespaced else []
            fits = [want in ("*", has) for want, has in zip([*space, name], [*own, metadata["name"]], strict=True)]
            if all(fits) and all(field_of(body, path) == value for path, value in where.items()):
                yield "/".join([*own, word, metadata["name"]])


def field_of(body: Body | None, path: str) -> Any:
    """The value at a dotted path, or None if any part is missing."""
    value: Any = body
    for step in filter(None, path.split(".")):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def patch_object(kube: KubeWorld, object_id: str, patch: Body) -> None:
    """Apply a patch to an object. The old body is not modified, so references to it stay valid."""
    stored = find_object(kube, object_id)
    if stored is None:
        raise NoSuchObject(f"there is no {object_id}")
    changed = merged_by_name(stored, patch)
    kube.put({**changed, "metadata": dict(changed["metadata"])})


def replace_object(kube: KubeWorld, object_id: str, body: Body) -> None:
    """Create or replace an object; its kind, namespace and name are filled in from the id."""
    kind, namespace, name = kind_of(kube, object_id)
    own = {"name": name, **({"namespace": namespace} if namespace else {})}
    head = {"apiVersion": kind.api_version, "kind": kind.kind}
    whole = merged({}, {**head, **body})
    kube.put({**whole, "metadata": {**whole.get("metadata", {}), **own}})


def remove_object(kube: KubeWorld, object_id: str) -> None:
    kind, namespace, name = kind_of(kube, object_id)
    kube.remove(kind, name, namespace)
