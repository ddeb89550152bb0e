"""Label selectors: as text in a query (`app=web,tier in (a,b),!old`) and as objects in a spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Body = Mapping[str, Any]

_TOKEN = re.compile(r"\s*(!=|==|[=!<>(),]|[^\s=!<>(),]+)")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


class BadSelector(ValueError):
    """The text is not a label selector; the message is the real server's."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def met_by(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case _:
                return _compares(value, self.operator, self.values[0])


def _compares(value: str | None, operator: str, bound: str) -> bool:
    if value is None or not value.lstrip("-").isdigit():
        return False
    return int(value) > int(bound) if operator == ">" else int(value) < int(bound)


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector: all terms must match. One without terms matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        stored = labels or {}
        return all(requirement.met_by(stored) for requirement in self.requirements)


@lru_cache(maxsize=1024)
def parse(text: str) -> Selector:
    """Parse a selector from a query parameter."""
    tokens = _tokens(text)
    found: list[Requirement] = []
    while tokens:
        found.append(_requirement(tokens))
        if not tokens:
            break
        separator = tokens.pop(0)
        if separator != ",":
            raise BadSelector(f"unable to parse requirement: found '{separator}', expected: ',' or 'end of string'")
        if not tokens:
            raise BadSelector("unable to parse requirement: found '', expected: identifier after ','")
    return Selector(tuple(found))


def of_spec(spec: Body | None) -> Selector | None:
    """The selector in an object's spec; None, which matches nothing, if it is missing."""
    if spec is None:
        return None
    found = [Requirement(key, "in", (value,)) for key, value in (spec.get("matchLabels") or {}).items()]
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    found += [
        Requirement(expression["key"], operators[expression["operator"]], tuple(expression.get("values") or ()))
        for expression in spec.get("matchExpressions") or ()
    ]
    return Selector(tuple(found))


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise BadSelector(f"unable to parse requirement: found '{stripped[at:]}', expected: identifier")
        found.append(match.group(1))
        at = match.end()
    return found


def _requirement(tokens: list[str]) -> Requirement:
    first = tokens.pop(0)
    if first == "!":
        return Requirement(_key(tokens.pop(0) if tokens else ""), "!")
    key = _key(first)
    if not tokens or tokens[0] == ",":
        return Requirement(key, "exists")
    operator = tokens.pop(0)
    if operator in ("=", "=="):
        return Requirement(key, "in", (_value(tokens),))
    if operator == "!=":
        return Requirement(key, "notin", (_value(tokens),))
    if operator in ("<", ">"):
        return Requirement(key, operator, (_number(key, tokens),))
    if operator in ("in", "notin"):
        return Requirement(key, operator, _values(tokens))
    raise BadSelector(
        f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=, gt, lt".replace(
            "gt, lt", "'>', '<'"
        )
    )


def _key(text: str) -> str:
    prefix, _, name = text.rpartition("/")
    if not _NAME.fullmatch(name) or len(name) > 63 or (prefix and not re.fullmatch(r"[a-z0-9]([-a-z0-9.]*)", prefix)):
        raise BadSelector(
            f'unable to parse requirement: <nil>: Invalid value: "{text}": name part must consist of alphanumeric '
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
            "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        )
    return text


def _value(tokens: list[str]) -> str:
    if not tokens or tokens[0] == ",":
        return ""
    value = tokens.pop(0)
    if not _NAME.fullmatch(value):
        raise BadSelector(f"unable to parse requirement: found '{value}', expected: identifier")
    return value


def _number(key: str, tokens: list[str]) -> str:
    value = _value(tokens)
    if not value.lstrip("-").isdigit():
        raise BadSelector(
            f"unable to parse requirement: values[0][{key}]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, "
            "the value must be an integer"
        )
    return value


def _values(tokens: list[str]) -> tuple[str, ...]:
    if not tokens or tokens.pop(0) != "(":
        raise BadSelector("unable to parse requirement: found '', expected: '('")
    found: list[str] = []
    while tokens:
        token = tokens.pop(0)
        if token == ")":
            return tuple(found) or ("",)
        if token != ",":
            found.append(token)
    raise BadSelector("unable to parse requirement: found '', expected: ',' or ')'")
