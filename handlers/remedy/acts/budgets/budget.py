"""A relaxed PodDisruptionBudget keeps its original in its own annotation, so that restoring it needs nothing else.

Only two fields of the spec are ours: `minAvailable` and `maxUnavailable`. Changes of other fields are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from handlers.evidence.budgets import RELAXED_FROM

OURS = ("minAvailable", "maxUnavailable")


def path_of(namespace: str, name: str) -> str:
    return f"/apis/policy/v1/namespaces/{quote(namespace, safe='')}/poddisruptionbudgets/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What the annotation says."""

    execution: str
    at: str
    spec: Mapping[str, Any]
    relaxed: Mapping[str, Any]
    """What was written in place of the original."""

    def as_text(self) -> str:
        whole = {"execution": self.execution, "at": self.at, "spec": self.spec, "relaxed": self.relaxed}
        return json.dumps(whole, separators=(",", ":"), sort_keys=True)


def relaxed_from(body: Mapping[str, Any]) -> Relaxed | None:
    """The original of a relaxed budget; None if it is not relaxed, or the annotation is not ours."""
    text = annotations_of(body).get(RELAXED_FROM)
    if text is None:
        return None
    try:
        known = json.loads(text)
        return Relaxed(str(known["execution"]), str(known["at"]), dict(known["spec"]), dict(known["relaxed"]))
    except (ValueError, KeyError, TypeError):
        return None


def annotations_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body["metadata"].get("annotations") or {}


def ours_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {field: spec[field] for field in OURS if field in spec}


def relaxing_patch(body: Mapping[str, Any], note: Relaxed) -> dict[str, Any]:
    metadata = {"resourceVersion": body["metadata"]["resourceVersion"], "annotations": {RELAXED_FROM: note.as_text()}}
    return {"metadata": metadata, "spec": _in_full(note.relaxed)}


def restoring_patch(body: Mapping[str, Any], was: Relaxed) -> dict[str, Any]:
    """The patch back to the original. If these fields were changed meanwhile, only the annotation is removed."""
    left = {name for name in annotations_of(body) if name != RELAXED_FROM}
    # An object that had no annotations gets none back.
    annotations = {RELAXED_FROM: None} if left else None
    metadata = {"resourceVersion": body["metadata"]["resourceVersion"], "annotations": annotations}
    spec = _in_full(ours_of(was.spec)) if is_as_we_left_it(body, was) else {}
    return {"metadata": metadata, **({"spec": spec} if spec else {})}


def was_changed_by_others(body: Mapping[str, Any], was: Relaxed) -> bool:
    """Neither as relaxed nor as it was: somebody changed it meanwhile and should be told the original."""
    return not is_as_we_left_it(body, was) and ours_of(body["spec"]) != ours_of(was.spec)


def is_as_we_left_it(body: Mapping[str, Any], was: Relaxed) -> bool:
    return ours_of(body["spec"]) == dict(was.relaxed)


def _in_full(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {field: fields.get(field) for field in OURS}
