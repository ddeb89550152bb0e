"""GET requests for one object or a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.kube import fields, labels, representations, statuses
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.pages import Page, Pages
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]


def get(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    representation = representations.negotiate(call.accept)
    body = existing(world, kind, call)
    include = call.query.get("includeObject", "")
    shown = representations.one(representation, kind, as_served(kind, body), include, world.clock())
    return Answer(200, shown)


def existing(world: KubeWorld, kind: Kind, call: Call) -> Body:
    """The object that the request names; 404 if there is none."""
    body = world.get(kind, call.place.name, call.place.namespace if kind.namespaced else "")
    if body is None:
        raise statuses.not_found(kind, call.place.name)
    return body


def listed(world: KubeWorld, pages: Pages, kind: Kind, call: Call) -> Answer:
    representation = representations.negotiate(call.accept)
    page = _page(world, pages, kind, call)
    metadata: Body = {"resourceVersion": str(page.revision)}
    if page.token:
        metadata["continue"] = page.token
        if page.remaining is not None:
            metadata["remainingItemCount"] = page.remaining
    items = page.items if kind.built_in else [as_served(kind, body) for body in page.items]
    include = call.query.get("includeObject", "")
    return Answer(200, representations.many(representation, kind, items, metadata, include, world.clock()))


def as_served(kind: Kind, body: Body) -> Body:
    """A custom object in the requested version: it is stored in one and served in several."""
    return body if body["apiVersion"] == kind.api_version else {**body, "apiVersion": kind.api_version}


def chooser(kind: Kind, call: Call) -> Callable[[Body], bool] | None:
    """A predicate for the request's selectors, or None if it has none; 400 if a selector is invalid."""
    try:
        wanted = labels.parse(call.query.get("labelSelector", ""))
        terms = fields.parse(kind, call.query.get("fieldSelector", ""))
    except (labels.BadSelector, fields.BadFieldSelector) as bad:
        raise statuses.bad_request(str(bad)) from bad
    if not wanted and not terms:
        return None
    return lambda body: wanted.matches(body["metadata"].get("labels")) and fields.matches(kind, terms, body)


def _page(world: KubeWorld, pages: Pages, kind: Kind, call: Call) -> Page:
    limit = _number(call.query.get("limit", ""))
    token = call.query.get("continue", "")
    asked = call.query.get("resourceVersion", "")
    above = f"{call.place.namespace}/" if kind.namespaced and call.place.namespace else ""
    chosen = chooser(kind, call)
    if token:
        if asked not in ("", "0"):
            raise statuses.bad_request("specifying resource version is not allowed when using continue")
        return pages.following(kind.storage_key, above, token, limit, chosen)
    check_version(world, kind, call)
    return pages.first(kind.storage_key, above, limit, chosen)


def check_version(world: KubeWorld, kind: Kind, call: Call) -> int | None:
    """The requested resourceVersion; an error if it is invalid or in the future."""
    asked = call.query.get("resourceVersion", "")
    if not asked:
        return None
    if not asked.isdigit():
        raise statuses.invalid_version(asked)
    if int(asked) > world.revision:
        raise statuses.too_large_version(int(asked), world.revision)
    if call.query.get("resourceVersionMatch") == "Exact" and int(asked) != world.revision:
        raise statuses.expired("The resourceVersion for the provided list is too old.")
    return int(asked)


def _number(text: str) -> int:
    if not text:
        return 0
    if not text.lstrip("-").isdigit():
        raise statuses.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return max(0, int(text))
