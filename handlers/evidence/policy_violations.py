"""What Azure Policy says about a request that it denied: which assignment, which definition, which field.

The details stand in `additionalInfo` of the error, as JSON or inside the text of another provider's error; in older
messages behind "Policy identifiers:"; and in the properties of the activity log's own event, policies/deny/action.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from runbooks.linear import compile_linear

MOST_EXPRESSIONS = 3
"""A rule may compare a dozen fields; the first that differ tell what to change."""
_DEEPEST = 8
_MOST_STARTS = 12
"""Places in one text at which JSON may begin: an error holds two, its message and its additionalInfo."""
_LONGEST = 60_000
_ASSIGNMENT = compile_linear(
    r"/(?:subscriptions|providers/microsoft\.management)/[^\s\"'\\]{1,200}/policyassignments/[^\s\"'\\/]{1,130}",
    ignore_case=True,
)
_START = compile_linear(r"\[\s*\{|\{\s*\"")


@dataclass(frozen=True, slots=True)
class Expression:
    """One comparison of the policy's rule, as it was evaluated for the denied request."""

    field: str
    operator: str
    value: str
    target: tuple[str, ...]
    held: bool
    """Whether the comparison was true. Below a `not` it is a false one that denies."""

    @property
    def telling(self) -> bool:
        """That the resource is of a type is why the policy looks at it, not why it denies."""
        return self.field.lower() != "type"

    def __str__(self) -> str:
        target = " or ".join(self.target[:4]) + (f" or {len(self.target) - 4} more" if len(self.target) > 4 else "")
        operator, wanted = self.operator.lower(), self.held
        if operator == "exists":
            there = (target.lower() == "true") is wanted
            return f"{self.field} is {'set' if there else 'not set'}"
        shown = f"{self.field} is {self.value or 'not set'}"
        if operator in ("notequals", "notin", "notlike", "notmatch", "notcontains"):
            operator, wanted = operator.removeprefix("not"), not wanted
        if operator in ("equals", "in", "like", "match", "contains"):
            return shown if wanted else f"{shown}, and not {target}"
        return f"{shown} ({self.operator} {target})"


@dataclass(frozen=True, slots=True)
class Violation:
    """One policy that denied a request."""

    assignment_id: str
    assignment: str = ""
    definition_id: str = ""
    definition: str = ""
    reference: str = ""
    """The rule's name inside an initiative; empty where a single definition is assigned."""
    effect: str = ""
    expressions: tuple[Expression, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.assignment_id.lower(), self.definition_id.lower()

    @property
    def title(self) -> str:
        return self.assignment or self.definition or self.assignment_id.rsplit("/", 1)[-1]

    @property
    def scope(self) -> str:
        """What it is assigned to: the part of its id before the provider."""
        at = self.assignment_id.lower().rfind("/providers/microsoft.authorization/policyassignments/")
        return self.assignment_id[:at] if at > 0 else ""

    @property
    def differs(self) -> tuple[Expression, ...]:
        return tuple(expression for expression in self.expressions if expression.telling)[:MOST_EXPRESSIONS]


def violations(said: Any) -> tuple[Violation, ...]:
    """Every policy that an error names, wherever it does; the fullest account of each."""
    found: dict[tuple[str, str], Violation] = {}
    for violation in _walk(said, 0):
        found[violation.key] = _merged(violation, found[violation.key]) if violation.key in found else violation
    if not found and isinstance(said, str):
        # The text was cut in the middle of its JSON: the id alone tells whose policy it is.
        ids = dict.fromkeys(match[0] for match in _ASSIGNMENT.finditer(said[:_LONGEST]))
        return tuple(Violation(item) for item in ids)
    return tuple(found.values())


def _merged(violation: Violation, other: Violation) -> Violation:
    """The message has the names, additionalInfo the comparisons."""
    return Violation(*(getattr(violation, field.name) or getattr(other, field.name) for field in fields(Violation)))


def _walk(said: Any, depth: int) -> Iterator[Violation]:
    if depth > _DEEPEST:
        return
    if isinstance(said, Mapping):
        lower = {key.lower(): value for key, value in said.items() if isinstance(key, str)}
        violation = _of_details(lower) or _of_identifiers(lower)
        if violation:
            yield violation
            return
        for value in lower.values():
            yield from _walk(value, depth + 1)
    elif isinstance(said, list):
        for value in said:
            yield from _walk(value, depth + 1)
    elif isinstance(said, str) and "policyassignment" in said[:_LONGEST].lower():
        for value in _json_in(said[:_LONGEST]):
            yield from _walk(value, depth + 1)


def _json_in(text: str) -> Iterator[Any]:
    """The JSON values inside a text, also where its quotes are escaped once more."""
    decoder = json.JSONDecoder(strict=False)
    plain = text.replace("\\\\", "\\")
    for candidate in dict.fromkeys((text, text.replace('\\"', '"'), plain.replace('\\"', '"'))):
        end, tried, found = 0, 0, False
        for start in _START.finditer(candidate):
            if start.start() < end or tried >= _MOST_STARTS:
                continue
            tried += 1
            try:
                value, end = decoder.raw_decode(candidate, start.start())
            except ValueError:
                continue
            found = True
            yield value
        if found:
            return


def _of_details(info: Mapping[str, Any]) -> Violation | None:
    """The `info` of a PolicyViolation, or a row of the policy event."""
    assignment = _text(info.get("policyassignmentid")).rstrip("/")
    if not assignment:
        return None
    evaluated = info.get("evaluationdetails")
    expressions = evaluated.get("evaluatedExpressions") if isinstance(evaluated, Mapping) else None
    return Violation(
        assignment_id=assignment,
        assignment=_text(info.get("policyassignmentdisplayname")),
        definition_id=_text(info.get("policydefinitionid")).rstrip("/"),
        definition=_text(info.get("policydefinitiondisplayname")),
        reference=_text(info.get("policydefinitionreferenceid")),
        effect=_text(info.get("policydefinitioneffect")),
        expressions=tuple(_expression(row) for row in _rows(expressions)),
    )


def _of_identifiers(named: Mapping[str, Any]) -> Violation | None:
    """One of the older messages' "Policy identifiers"."""
    assignment, definition = named.get("policyassignment"), named.get("policydefinition")
    if not isinstance(assignment, Mapping) or not _text(assignment.get("id")):
        return None
    definition = definition if isinstance(definition, Mapping) else {}
    return Violation(
        assignment_id=_text(assignment.get("id")).rstrip("/"),
        assignment=_text(assignment.get("name")),
        definition_id=_text(definition.get("id")).rstrip("/"),
        definition=_text(definition.get("name")),
    )


def _expression(row: Mapping[str, Any]) -> Expression:
    target = row.get("targetValue")
    return Expression(
        field=_text(row.get("expression")) or _text(row.get("path")),
        operator=_text(row.get("operator")),
        value=_shown(row.get("expressionValue")),
        target=tuple(_shown(item) for item in (target if isinstance(target, list) else [target])),
        held=_text(row.get("result")).lower() != "false",
    )


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
