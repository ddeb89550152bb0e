"""A strict subset of Kusto: where, project, order by, take. Anything else is rejected as a syntax error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Test = Callable[[Row], bool]
Value = Callable[[Row], Any]
Step = Callable[[list[Row]], list[Row]]

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)"""
    r"""|(?P<word>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|(?P<sign>==|=~|!=|!~|in~|[|(),=~<>\[\]\.\-+*/]))"""
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: left == right,
    "=~": lambda left, right: _low(left) == _low(right),
    "!=": lambda left, right: left != right,
    "!~": lambda left, right: _low(left) != _low(right),
    "contains": lambda left, right: _low(right) in _low(left),
    "startswith": lambda left, right: _low(left).startswith(_low(right)),
    "endswith": lambda left, right: _low(left).endswith(_low(right)),
}
COLUMNS = {
    "id",
    "name",
    "type",
    "tenantId",
    "kind",
    "location",
    "resourceGroup",
    "subscriptionId",
    "managedBy",
    "sku",
    "plan",
    "properties",
    "tags",
    "identity",
    "zones",
    "extendedLocation",
}


class BadQuery(Exception):
    """The query is not in the supported subset. `token` is where parsing stopped."""

    def __init__(self, token: str, at: int, *, unresolved: bool = False) -> None:
        super().__init__(token)
        self.token, self.at, self.unresolved = token, at, unresolved


@dataclass
class Query:
    """A parsed query: the table and the operators applied to its rows."""

    table: str
    steps: list[Step]

    def run(self, rows: list[Row]) -> list[Row]:
        for step in self.steps:
            rows = step(rows)
        return rows


def parse(text: str, *, columns: Iterable[str] = COLUMNS) -> Query:
    """Parse the whole query, or raise BadQuery."""
    return _Parser(text, columns).query()


class _Parser:
    def __init__(self, text: str, columns: Iterable[str]) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._columns = set(columns)

    # -- reading tokens ---------------------------------------------------------------------------------------

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _refuse(self) -> BadQuery:
        last = len(self._tokens)
        at = self._tokens[self._at][1] if self._at < last else 0
        return BadQuery(self._peek() or "<EOF>", at)

    def _take(self, *wanted: str) -> str:
        if self._peek().lower() not in wanted:
            raise self._refuse()
        return self._next().lower()

    def _word(self) -> str:
        if not re.fullmatch(r"[A-Za-z_][\w.]*", self._peek()):
            raise self._refuse()
        return self._next()

    # -- the language -----------------------------------------------------------------------------------------

    def query(self) -> Query:
        table = "Resources"
        steps = []
        if self._peek().lower() not in _STEPS:
            table = self._word()
        else:
            # A query without a table name runs over Resources.
            steps.append(self._step())
        while self._peek():
            self._take("|")
            steps.append(self._step())
        return Query(table, steps)

    def _step(self) -> Step:
        kind = self._take(*_STEPS)
        return {
            "where": self._where,
            "project": self._project,
            "order": self._order,
            "sort": self._order,
            "limit": self._limit,
            "take": self._limit,
        }[kind]()

    def _where(self) -> Step:
        test = self._any()
        return lambda rows: [row for row in rows if test(row)]

    def _any(self) -> Test:
        tests = [self._all()]
        while self._peek().lower() == "or":
            self._next()
            tests.append(self._all())
        return lambda row: any(test(row) for test in tests)

    def _all(self) -> Test:
        tests = [self._term()]
        while self._peek().lower() == "and":
            self._next()
            tests.append(self._term())
        return lambda row: all(test(row) for test in tests)

    def _term(self) -> Test:
        if self._peek() == "(":
            self._next()
            test = self._any()
            self._take(")")
            return test
        left = self._value()
        operator = self._next().lower()
        if operator in ("in", "in~"):
            return self._membership(left, any_case=operator == "in~")
        if operator not in _COMPARE:
            self._at -= 1
            raise self._refuse()
        right, compare = self._value(), _COMPARE[operator]
        return lambda row: compare(left(row), right(row))

    def _membership(self, left: Value, *, any_case: bool) -> Test:
        self._take("(")
        values = [self._value()]
        while self._peek() == ",":
            self._next()
            values.append(self._value())
        self._take(")")
        read = _low if any_case else lambda value: value
        return lambda row: read(left(row)) in {read(value(row)) for value in values}

    def _value(self) -> Value:
        token = self._peek()
        if token[:1] in ("'", '"'):
            self._next()
            text = re.sub(r"\\(.)", r"\1", token[1:-1])
            return lambda _: text
        if re.fullmatch(r"-?\d+(\.\d+)?", token):
            self._next()
            number = float(token)
            return lambda _: number
        name = self._word()
        if self._peek() == "(":
            return self._call(name)
        if name.lower() in ("true", "false"):
            flag = name.lower() == "true"
            return lambda _: flag
        if name.split(".", 1)[0] not in self._columns:
            self._at -= 1
            raise BadQuery(name, self._tokens[self._at][1], unresolved=True)
        return _column(name)

    def _call(self, name: str) -> Value:
        functions: dict[str, Callable[[Any], Any]] = {
            "tolower": _low,
            "toupper": lambda v: str(v).upper(),
            "tostring": _text,
        }
        if name.lower() not in functions:
            self._at -= 1
            raise self._refuse()
        self._take("(")
        inner, function = self._value(), functions[name.lower()]
        self._take(")")
        return lambda row: function(inner(row))

    def _project(self) -> Step:
        columns = [self._projected()]
        while self._peek() == ",":
            self._next()
            columns.append(self._projected())
        self._columns = {name for name, _ in columns}
        return lambda rows: [{name: value(row) for name, value in columns} for row in rows]

    def _projected(self) -> tuple[str, Value]:
        start = self._at
        name = self._word()
        if self._peek() == "=":
            self._next()
            return name, self._value()
        self._at = start
        # A projected path without an alias is named by joining its segments, as in Kusto.
        return name.replace(".", "_"), self._value()

    def _order(self) -> Step:
        self._take("by")
        keys = [self._order_key()]
        while self._peek() == ",":
            self._next()
            keys.append(self._order_key())

        def ordered(rows: list[Row]) -> list[Row]:
            for value, descending in reversed(keys):
                rows = sorted(rows, key=lambda row: _sortable(value(row)), reverse=descending)
            return rows

        return ordered

    def _order_key(self) -> tuple[Value, bool]:
        value = self._value()
        # Kusto sorts descending unless told otherwise.
        word = self._next().lower() if self._peek().lower() in ("asc", "desc") else "desc"
        return value, word == "desc"

    def _limit(self) -> Step:
        if not self._peek().isdigit():
            raise self._refuse()
        count = int(self._next())
        return lambda rows: rows[:count]


_STEPS = ("where", "project", "order", "sort", "limit", "take")


def _tokens(text: str) -> list[tuple[str, int]]:
    found, at = [], 0
    clean = text.rstrip()
    while at < len(clean):
        match = _TOKEN.match(clean, at)
        if not match:
            raise BadQuery(clean[at : at + 20], at)
        token = match[0].strip()
        end = match.end()
        if token.lower() == "in" and clean[end : end + 1] == "~":
            token, end = "in~", end + 1
        found.append((token, match.start()))
        at = end
    return found


def _column(path: str) -> Value:
    """A column or a path into one. Column names keep their case; inside `properties` a wrong case finds nothing."""
    words = path.split(".")

    def read(row: Row) -> Any:
        value: Any = row
        for word in words:
            value = value.get(word) if isinstance(value, dict) else None
        return value

    return read


def _low(value: Any) -> str:
    return _text(value).lower()


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _sortable(value: Any) -> tuple[int, Any]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, value
    return 1, _text(value)
