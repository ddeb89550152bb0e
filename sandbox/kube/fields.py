"""Field selectors: only the fields that the real server supports for a kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.kube.kinds import Kind

Body = dict[str, Any]


class BadFieldSelector(ValueError):
    """The selector does not parse, or uses a field the kind does not support; the message is the real server's."""


@dataclass(frozen=True, slots=True)
class Term:
    field: str
    equal: bool
    value: str


def parse(kind: Kind, text: str) -> tuple[Term, ...]:
    """Parse a field selector for a kind."""
    terms = [_term(part) for part in text.split(",") if part.strip()]
    for term in terms:
        _check(kind, term.field)
    return tuple(terms)


def matches(kind: Kind, terms: tuple[Term, ...], body: Body) -> bool:
    return all((_value(kind, term.field, body) == term.value) is term.equal for term in terms)


def _term(text: str) -> Term:
    for operator, equal in (("!=", False), ("==", True), ("=", True)):
        field, found, value = text.partition(operator)
        if found:
            return Term(field.strip(), equal, value.strip())
    raise BadFieldSelector(f"invalid selector: '{text}'; can't understand '{text}'")


def _check(kind: Kind, field: str) -> None:
    if field == "metadata.name" or field in kind.fields:
        return
    if field == "metadata.namespace" and (kind.namespaced or kind.refusal == "meta"):
        return
    if kind.refusal == "field":
        raise BadFieldSelector(f"field label not supported: {field}")
    raise BadFieldSelector(f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _value(kind: Kind, field: str, body: Body) -> str:
    special = _SPECIAL.get((kind.plural, field))
    if special:
        return special(body)
    value: Any = body
    for step in field.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _flag(section: str, name: str) -> Callable[[Body], str]:
    return lambda body: "true" if body.get(section, {}).get(name) else "false"


def _source(body: Body) -> str:
    return str(body.get("source", {}).get("component") or body.get("reportingComponent") or "")


_SPECIAL: dict[tuple[str, str], Callable[[Body], str]] = {
    ("nodes", "spec.unschedulable"): _flag("spec", "unschedulable"),
    ("pods", "spec.hostNetwork"): _flag("spec", "hostNetwork"),
    ("pods", "status.podIPs"): lambda body: ",".join(
        address["ip"] for address in body.get("status", {}).get("podIPs") or ()
    ),
    ("events", "source"): _source,
    ("jobs", "status.successful"): lambda body: str(body.get("status", {}).get("succeeded", 0)),
}
