"""RBAC: evaluates the Roles and Bindings in the world, read again for every request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from sandbox.kube.answers import User
from sandbox.kube.place import Place
from sandbox.kube.world import ADMINISTRATORS, KubeWorld

Body = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"


@dataclass
class Access:
    """The access decisions of one server."""

    world: KubeWorld
    taken_away: list[tuple[str, str, str]] = field(default_factory=list)
    """(user, verb, resource) patterns denied with `KubeServer.deny`. `pods.metrics.k8s.io` matches only that
    group, `pods` every group that has it."""

    def may(self, user: User, place: Place) -> bool:
        if self._denied(user, place):
            return False
        if ADMINISTRATORS in user.groups:
            return True
        return any(_allows(rule, place) for rule in self.rules_for(user, place.namespace))

    def why(self, user: User, place: Place) -> str:
        """The rule that allows the request: the `reason` in an access review."""
        if ADMINISTRATORS in user.groups:
            return ""
        for kind, binding, rules in self._granted(user, place.namespace):
            if any(_allows(rule, place) for rule in rules):
                name, role = binding["metadata"]["name"], binding["roleRef"]
                where = f"{binding['metadata']['namespace']}/{name}" if kind == "RoleBinding" else name
                subject = next(subject for subject in binding["subjects"] if _is_subject(subject, binding, user))
                return f'RBAC: allowed by {kind} "{where}" of {role["kind"]} "{role["name"]}" to {_named(subject)}'
        return ""

    def rules_for(self, user: User, namespace: str) -> Iterator[Body]:
        """All rules that apply to a user, in a namespace or cluster-wide."""
        for _, _, rules in self._granted(user, namespace):
            yield from rules

    def _granted(self, user: User, namespace: str) -> Iterator[tuple[str, Body, Sequence[Body]]]:
        for binding in self.world.every("clusterrolebindings", group=_RBAC):
            if any(_is_subject(subject, binding, user) for subject in binding.get("subjects") or ()):
                yield "ClusterRoleBinding", binding, self._rules(binding, "")
        if not namespace:
            return
        for binding in self.world.every("rolebindings", namespace, group=_RBAC):
            if any(_is_subject(subject, binding, user) for subject in binding.get("subjects") or ()):
                yield "RoleBinding", binding, self._rules(binding, namespace)

    def _rules(self, binding: Body, namespace: str) -> Sequence[Body]:
        reference = binding["roleRef"]
        if reference["kind"] == "ClusterRole":
            role = self.world.find("clusterroles", reference["name"], group=_RBAC)
        else:
            role = self.world.find("roles", reference["name"], namespace, group=_RBAC)
        return (role or {}).get("rules") or ()

    def _denied(self, user: User, place: Place) -> bool:
        names = (place.full_resource or place.path, place.in_group)
        return any(
            (fnmatchcase(user.name, who) or fnmatchcase(user.alias, who))
            and fnmatchcase(place.verb, verb)
            and any(fnmatchcase(name, resource) for name in names)
            for who, verb, resource in self.taken_away
        )


def _is_subject(subject: Body, binding: Body, user: User) -> bool:
    match subject.get("kind"):
        case "User":
            return bool(subject["name"] == user.name)
        case "Group":
            return subject["name"] in user.groups
        case "ServiceAccount":
            namespace = subject.get("namespace") or binding["metadata"].get("namespace", "")
            return user.name == f"system:serviceaccount:{namespace}:{subject['name']}"
    return False


def _named(subject: Body) -> str:
    if subject["kind"] == "ServiceAccount":
        return f'ServiceAccount "{subject["name"]}/{subject.get("namespace", "")}"'
    return f'{subject["kind"]} "{subject["name"]}"'


def _allows(rule: Body, place: Place) -> bool:
    if not _has(rule.get("verbs"), place.verb):
        return False
    if not place.is_resource:
        return any(_covers_path(pattern, place.path) for pattern in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames") or ()
    return (
        _has(rule.get("apiGroups"), place.group)
        and _covers_resource(rule.get("resources") or (), place)
        and (not names or place.name in names)
    )


def _has(listed: Iterable[str] | None, wanted: str) -> bool:
    return any(value in ("*", wanted) for value in listed or ())


def _covers_resource(listed: Iterable[str], place: Place) -> bool:
    wanted = {"*", place.full_resource}
    if place.subresource:
        wanted.add(f"*/{place.subresource}")
    return any(value in wanted for value in listed)


def _covers_path(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))
