"""Kubernetes objects by the names that findings give them: `shop/Pod/web-0`, `Node/aks-apps-…`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld
from sandbox.merge import merged, merged_by_name

Body = dict[str, Any]


class NoSuchObject(LookupError):
    """Nothing of that name is there, or it is no name."""


def kind_of(kube: KubeWorld, object_id: str) -> tuple[Kind, str, str]:
    """The kind, namespace and name that an id means."""
    *namespace, word, name = object_id.split("/")
    kind = next((kind for kind in kube.kinds if kind.kind == word), None)
    if kind is None or len(namespace) != int(kind.namespaced):
        raise NoSuchObject(f"{object_id!r} is not Kind/name or namespace/Kind/name of a kind that is served")
    return kind, "".join(namespace), name


def find_object(kube: KubeWorld, object_id: str) -> Body | None:
    kind, namespace, name = kind_of(kube, object_id)
    return kube.get(kind, name, namespace)


def matching(kube: KubeWorld, object_id: str, where: dict[str, Any]) -> Iterator[str]:
    """The ids of all objects that an id with stars means, and whose fields have these values."""
    *space, word, name = object_id.split("/")
    for kind in [kind for kind in kube.kinds if kind.kind == word and len(space) == int(kind.namespaced)]:
        for body in list(kube.objects.get(kind.storage_key, {}).values()):
            metadata = body["metadata"]
            own = [metadata["namespace"]] if kind.namespaced else []
            fits = [want in ("*", has) for want, has in zip([*space, name], [*own, metadata["name"]], strict=True)]
            if all(fits) and all(field_of(body, path) == value for path, value in where.items()):
                yield "/".join([*own, word, metadata["name"]])


def field_of(body: Body | None, path: str) -> Any:
    """The value at a dotted path; None where it ends."""
    value: Any = body
    for step in filter(None, path.split(".")):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def patch_object(kube: KubeWorld, object_id: str, patch: Body) -> None:
    """Lay a patch over an object. Who holds the old body still holds it as it was."""
    stored = find_object(kube, object_id)
    if stored is None:
        raise NoSuchObject(f"there is no {object_id}")
    changed = merged_by_name(stored, patch)
    kube.put({**changed, "metadata": dict(changed["metadata"])})


def replace_object(kube: KubeWorld, object_id: str, body: Body) -> None:
    """Put a whole object; what its id already says need not be written again."""
    kind, namespace, name = kind_of(kube, object_id)
    own = {"name": name, **({"namespace": namespace} if namespace else {})}
    head = {"apiVersion": kind.api_version, "kind": kind.kind}
    whole = merged({}, {**head, **body})
    kube.put({**whole, "metadata": {**whole.get("metadata", {}), **own}})


def remove_object(kube: KubeWorld, object_id: str) -> None:
    kind, namespace, name = kind_of(kube, object_id)
    kube.remove(kind, name, namespace)
