"""The response formats of objects: complete, as a Table, or metadata only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.kube import statuses
from sandbox.kube.answers import JSON
from sandbox.kube.kinds import Kind
from sandbox.kube.printing.registry import columns_of, row_of

Body = dict[str, Any]

_WHOLE, _TABLE, _PARTIAL = "", "Table", "PartialObjectMetadata"
_UNDERSTOOD = (JSON, "*/*", "application/*")


@dataclass(frozen=True, slots=True)
class Representation:
    """The format requested in the Accept header."""

    form: str = _WHOLE

    @property
    def whole(self) -> bool:
        return self.form == _WHOLE

    @property
    def table(self) -> bool:
        return self.form == _TABLE


def negotiate(accept: str) -> Representation:
    """The first accepted media type that the server supports; 406 if there is none."""
    if not accept:
        return Representation()
    for part in accept.split(","):
        name, *parameters = [piece.strip() for piece in part.split(";")]
        if name not in _UNDERSTOOD:
            continue
        form = dict(piece.partition("=")[::2] for piece in parameters).get("as", "")
        if form.endswith("List"):
            form = form.removesuffix("List")
        if form in (_WHOLE, _TABLE, _PARTIAL):
            return Representation(form)
    raise statuses.not_acceptable()


def one(representation: Representation, kind: Kind, body: Body, include: str, now: datetime) -> Body:
    """One object."""
    if representation.table:
        return table(kind, [body], {"resourceVersion": _version(body)}, include, now)
    return body if representation.whole else partial(body)


def many(
    representation: Representation, kind: Kind, items: Sequence[Body], metadata: Body, include: str, now: datetime
) -> Body:
    """A list."""
    if representation.table:
        return table(kind, items, metadata, include, now)
    if representation.whole:
        # Items of built-in lists have no kind and apiVersion: the list has them.
        shown = [_without_kind(body) for body in items] if kind.built_in else list(items)
        return {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": metadata, "items": shown}
    partials = [_without_kind(partial(body)) for body in items]
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "items": partials,
    }


def table(
    kind: Kind, items: Sequence[Body], metadata: Body, include: str, now: datetime, *, with_columns: bool = True
) -> Body:
    rows = []
    for body in items:
        row: Body = {"cells": row_of(kind, body, now)}
        if include != "None":
            row["object"] = body if include == "Object" else partial(body)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns_of(kind) if with_columns else [],
        "rows": rows,
    }


def partial(body: Body) -> Body:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def _without_kind(body: Body) -> Body:
    return {name: value for name, value in body.items() if name not in ("kind", "apiVersion")}


def _version(body: Body) -> str:
    return str(body["metadata"].get("resourceVersion", ""))
