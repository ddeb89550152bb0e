"""Access reviews: SelfSubjectAccessReview, SubjectAccessReview, SelfSubjectRulesReview, SelfSubjectReview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.kube import objects, statuses
from sandbox.kube.access import Access
from sandbox.kube.answers import Answer, Call, User
from sandbox.kube.place import Place

Body = dict[str, Any]


def _self_access(access: Access, call: Call) -> Answer:
    spec = _spec(call)
    return _answer(call, "SelfSubjectAccessReview", spec, _verdict(access, call.user, spec))


def _access(access: Access, call: Call) -> Answer:
    spec = _spec(call)
    if not spec.get("user") and not spec.get("groups"):
        raise statuses.bad_request("spec.user: Required value: at least one of user or group must be specified")
    user = User(str(spec.get("user", "")), tuple(spec.get("groups") or ()))
    kind = "LocalSubjectAccessReview" if call.place.namespace else "SubjectAccessReview"
    return _answer(call, kind, spec, _verdict(access, user, spec))


def _self_rules(access: Access, call: Call) -> Answer:
    spec = _spec(call)
    if not spec.get("namespace"):
        raise statuses.bad_request("no namespace on request")
    rules = list(access.rules_for(call.user, spec["namespace"]))
    if "system:masters" in call.user.groups and not any(rule.get("resources") == ["*"] for rule in rules):
        rules.append({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})
    status: Body = {
        "resourceRules": [rule for rule in rules if rule.get("resources")],
        "nonResourceRules": [
            {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
            for rule in rules
            if rule.get("nonResourceURLs")
        ],
        "incomplete": False,
    }
    return _answer(call, "SelfSubjectRulesReview", spec, status)


def _self(access: Access, call: Call) -> Answer:
    who: Body = {"username": call.user.name, "groups": list(call.user.groups)}
    if call.user.extra:
        who["extra"] = {name: list(values) for name, values in call.user.extra.items()}
    body = _body("SelfSubjectReview", "authentication.k8s.io/v1") | {"status": {"userInfo": who}}
    return Answer(201, body)


def _spec(call: Call) -> Body:
    sent = objects.decoded(call)
    spec = sent.get("spec") if isinstance(sent, dict) else None
    if not isinstance(spec, dict):
        raise statuses.bad_request("spec: Required value")
    return spec


def _verdict(access: Access, user: User, spec: Body) -> Body:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (path is None):
        raise statuses.bad_request(
            "spec.resourceAttributes: Invalid value: exactly one of nonResourceAttributes or resourceAttributes must "
            "be specified"
        )
    place = _asked_resource(resource) if resource is not None else _asked_path(path or {})
    if not access.may(user, place):
        return {"allowed": False}
    why = access.why(user, place)
    return {"allowed": True} | ({"reason": why} if why else {})


def _asked_resource(asked: Body) -> Place:
    return Place(
        path="",
        verb=asked.get("verb", ""),
        group=asked.get("group", ""),
        version=asked.get("version", ""),
        resource=asked.get("resource", ""),
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
        subresource=asked.get("subresource", ""),
    )


def _asked_path(asked: Body) -> Place:
    return Place(path=asked.get("path", ""), verb=asked.get("verb", ""))


def _body(kind: str, api_version: str) -> Body:
    return {"kind": kind, "apiVersion": api_version, "metadata": {"creationTimestamp": None}}


def _answer(call: Call, kind: str, spec: Body, status: Body) -> Answer:
    return Answer(201, _body(kind, "authorization.k8s.io/v1") | {"spec": spec, "status": status})


HANDLERS: dict[str, Callable[[Access, Call], Answer]] = {
    "SelfSubjectAccessReview": _self_access,
    "SubjectAccessReview": _access,
    "LocalSubjectAccessReview": _access,
    "SelfSubjectRulesReview": _self_rules,
    "SelfSubjectReview": _self,
}
