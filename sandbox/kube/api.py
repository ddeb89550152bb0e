"""Handles one authenticated request: authorization, resource lookup, dispatch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.kube import (
    deletion,
    discovery,
    evictions,
    measured,
    plain_paths,
    pod_logs,
    pod_proxy,
    reads,
    reviews,
    scale,
    statuses,
    watching,
    writes,
)
from sandbox.kube.access import Access
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.pages import Pages
from sandbox.kube.place import Place
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]


@dataclass
class Api:
    """The API of one cluster, independent of sockets, so that run-command can use it too."""

    world: KubeWorld
    access: Access
    pages: Pages

    def answer(self, call: Call) -> Answer:
        """Answer a request, or raise a Refusal."""
        place = call.place
        if not self.access.may(call.user, place):
            raise statuses.forbidden(call.user.name, place)
        if not place.is_resource:
            return discovery.answer(self.world, call) or plain_paths.answer(self.world, call)
        if place.group == measured.GROUP:
            return measured.answer(self.world, call)
        kind = self._kind(place)
        _check_scope(kind, place, call.method)
        if place.subresource:
            return self._below(kind, call)
        if place.verb not in kind.verbs:
            raise statuses.method_not_allowed()
        return self._on(kind, call)

    def _kind(self, place: Place) -> Kind:
        if place.version not in self.world.kinds.groups().get(place.group, ()):
            raise statuses.no_such_path()
        kind = self.world.kinds.find(place.group, place.version, place.resource)
        if kind is None:
            raise statuses.no_such_resource()
        return kind

    def _on(self, kind: Kind, call: Call) -> Answer:
        review = reviews.HANDLERS.get(kind.kind)
        if review and call.place.verb == "create":
            return review(self.access, call)
        match call.place.verb:
            case "get":
                return reads.get(self.world, kind, call)
            case "list":
                return reads.listed(self.world, self.pages, kind, call)
            case "watch":
                return Answer(200, watching.open_watch(self.world, kind, call))
            case "create":
                return writes.create(self.world, kind, call)
            case "update":
                return writes.update(self.world, kind, call)
            case "patch":
                return writes.patch(self.world, kind, call)
            case "delete":
                return deletion.delete(self.world, kind, call)
            case "deletecollection":
                return deletion.delete_collection(self.world, self.pages, kind, call)
        raise statuses.method_not_allowed()

    def _below(self, kind: Kind, call: Call) -> Answer:
        if call.place.subresource not in kind.subresources:
            raise statuses.no_such_resource()
        handler = _BELOW.get((call.place.subresource, call.place.verb))
        if handler is None:
            raise statuses.method_not_allowed()
        return handler(self.world, kind, call)


def _check_scope(kind: Kind, place: Place, method: str) -> None:
    """404 for a namespaced path to a cluster-scoped kind, or the other way round."""
    if not kind.namespaced and place.namespace and kind.plural != "namespaces":
        raise statuses.no_such_resource()
    if kind.namespaced and not place.namespace:
        if place.verb in ("list", "watch") or (method == "POST" and kind.kind == "Binding"):
            return
        raise statuses.method_not_allowed() if place.verb == "create" else statuses.no_such_resource()


_BELOW: dict[tuple[str, str], Callable[[KubeWorld, Kind, Call], Answer]] = {
    ("status", "get"): reads.get,
    ("status", "update"): writes.update,
    ("status", "patch"): writes.patch,
    ("scale", "get"): scale.get,
    ("scale", "update"): scale.update,
    ("scale", "patch"): scale.patch,
    ("log", "get"): pod_logs.get,
    ("proxy", "get"): pod_proxy.get,
    ("eviction", "create"): evictions.create,
}
