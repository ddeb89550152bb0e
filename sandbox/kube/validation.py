"""Validation of the kinds that clients write in the sandbox: 422 with the field and the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from sandbox.kube import statuses
from sandbox.kube.kinds import Kind

Body = dict[str, Any]
Cause = tuple[str, str, str]
"""Reason, message, field."""

_INVALID, _FORBIDDEN, _REQUIRED = "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"
_PERCENT = re.compile(r"[0-9]+%")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def check(kind: Kind, body: Body, before: Body | None = None) -> None:
    """Reject a body that the real server would reject."""
    rules = _RULES.get(kind.kind) if kind.built_in else None
    causes = list(rules(body, before)) if rules else []
    if causes:
        raise statuses.invalid(kind, str(body["metadata"].get("name", "")), causes)


def _budget(body: Body, before: Body | None) -> Iterator[Cause]:
    spec = body.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        # The real server prints the whole spec as a Go value here.
        message = "Invalid value: minAvailable and maxUnavailable cannot be both set"
        yield _INVALID, message, "spec"
    for field in ("minAvailable", "maxUnavailable"):
        yield from _share(spec.get(field), f"spec.{field}")
    for expression in (spec.get("selector") or {}).get("matchExpressions") or ():
        if expression.get("operator") not in _OPERATORS:
            message = f'Invalid value: "{expression.get("operator")}": not a valid selector operator'
            yield _INVALID, message, "spec.selector.matchExpressions[0].operator"


def _share(value: Any, field: str) -> Iterator[Cause]:
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        message = (
            f"Invalid value: \"{value}\": a valid percent string must be a numeric followed by an ending '%' (e.g. "
            "'1%',  or '93%', regex used for validation is '[0-9]+%')"
        )
        yield _INVALID, message, field
    elif isinstance(value, int) and value < 0:
        yield _INVALID, f"Invalid value: {value}: must be greater than or equal to 0", field


_POD_MAY_CHANGE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)


def _pod(body: Body, before: Body | None) -> Iterator[Cause]:
    if before is None:
        if not (body.get("spec") or {}).get("containers"):
            yield _REQUIRED, "Required value", "spec.containers"
    elif _fixed(body) != _fixed(before):
        yield _FORBIDDEN, f"Forbidden: pod updates may not change fields other than {_POD_MAY_CHANGE}", "spec"


def _fixed(pod: Body) -> Body:
    """The immutable part of a pod's spec."""
    spec: Body = deepcopy(pod.get("spec") or {})
    for field in ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"):
        spec.pop(field, None)
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        container.pop("image", None)
    return spec


def _node(body: Body, before: Body | None) -> Iterator[Cause]:
    was = ((before or {}).get("spec") or {}).get("providerID")
    if was and (body.get("spec") or {}).get("providerID") != was:
        message = 'Forbidden: node updates may not change providerID except from "" to valid'
        yield _FORBIDDEN, message, "spec.providerID"


def _definition(body: Body, before: Body | None) -> Iterator[Cause]:
    spec = body.get("spec") or {}
    for field in ("group", "scope", "versions", "names"):
        if not spec.get(field):
            yield _REQUIRED, "Required value", f"spec.{field}"
    stored = [version for version in spec.get("versions") or () if version.get("storage")]
    if spec.get("versions") and len(stored) != 1:
        message = "Invalid value: must have exactly one version marked as storage version"
        yield _INVALID, message, "spec.versions"


_RULES: dict[str, Callable[[Body, Body | None], Iterator[Cause]]] = {
    "PodDisruptionBudget": _budget,
    "Pod": _pod,
    "Node": _node,
    "CustomResourceDefinition": _definition,
}
