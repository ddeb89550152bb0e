"""Renders runbooks: Jinja2 in its sandbox, strict about missing facts, and safe to copy into a shell.

Facts come from Azure, and a resource group may be called `a (b)`. So in a fenced shell block (```` ```sh ````) every
value is quoted for the shell, as HTML templates escape values: a value that needs no quotes gets none, and one
between quotes is escaped for those. A list is quoted item by item with the filter: `{{ ids | sh }}`. Everywhere else a
value is inserted so that it cannot break out of its place: see `runbooks/put_in.py`.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import (
    StrictUndefined,
    TemplateError,
    TemplateRuntimeError,
    TemplateSyntaxError,
    Undefined,
    UndefinedError,
)
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

from runbooks import cse_exit_codes
from runbooks.conditions import WHEN, WHEN_IN_SHELL, Outliner, When, laid_out
from runbooks.placeholder import Placeholder, formatted, is_known, number_of
from runbooks.put_in import in_code, in_code_first, in_prose, in_prose_first, on_one_line

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)")
_QUOTES = re.compile(r"""\\.|['"]|(?:^|(?<=\s))#""")
_SHELLS = frozenset({"sh", "bash", "shell", "console"})


_TABLES: Mapping[str, Any] = {"cse_exit_codes": cse_exit_codes.families()}
"""What every runbook may look up, whatever is known of a finding."""


class CannotRender(ValueError):
    """An invalid template, or a missing fact. `line` counts within the template."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def render(source: str, facts: Mapping[str, Any]) -> str:
    """The text with the facts filled in."""
    return _fill(_environment(StrictUndefined), source, facts)


def outline(source: str, facts: Mapping[str, Any] | None = None, labels: Mapping[str, str] | None = None) -> str:
    """The text with a placeholder such as `<cluster>` for every unknown fact.

    Nothing that depends on an unknown fact is claimed; see `runbooks/conditions.py`. `labels` renames placeholders. If
    the template fails, the template itself is shown.
    """
    known = dict(facts or {})
    shown = {name: Placeholder(name=label) for name, label in (labels or {}).items()} | known
    environment = _environment(Placeholder, quotes=bool(facts))
    try:
        return laid_out(_fill(environment, source, shown, Outliner(frozenset(known) | _TABLES.keys())))
    except CannotRender:
        return source


def gaps(source: str) -> list[tuple[int, str]]:
    """Where the outline of a right template has a hole, or states what is not known: the line, and what is wrong."""
    outliner = Outliner(frozenset(_TABLES), strict=True)
    try:
        _fill(_environment(Placeholder, quotes=False), source, {}, outliner)
    except CannotRender as cannot:
        return [*outliner.gaps, (cannot.line, f"its outline fails: {cannot.what}")]
    return outliner.gaps


def check(source: str) -> None:
    """Refuse what can never render: a syntax error, an unknown filter or test."""
    environment = _environment(StrictUndefined)
    try:
        environment.compile(environment.parse(source))
    except TemplateSyntaxError as bad:
        raise CannotRender(bad.lineno, f"template: {bad.message}") from None


def _fill(
    environment: ImmutableSandboxedEnvironment,
    source: str,
    facts: Mapping[str, Any],
    outliner: Outliner | None = None,
) -> str:
    try:
        if outliner is None:
            return environment.from_string(source).render(facts)
        rewritten = outliner.rewrite(environment.parse(source))
        rewritten.set_environment(environment)
        return environment.from_string(rewritten).render(facts)
    except TemplateSyntaxError as bad:
        raise CannotRender(bad.lineno, f"template: {bad.message}") from None
    except UndefinedError as missing:
        raise CannotRender(_line_of_failure(), f"a fact is missing: {missing.message}") from None
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as failed:
        raise CannotRender(_line_of_failure(), f"template: {failed}") from None


def _line_of_failure() -> int:
    """Jinja rewrites the traceback so that it passes through the lines of the template."""
    line, trace = 1, sys.exc_info()[2]
    while trace:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Quoted(str):
    """Text that is already quoted for a shell."""

    __slots__ = ()


def _sh(value: object) -> object:
    """One value, or several separated by spaces, quoted for a shell."""
    if isinstance(value, Quoted | Undefined):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return Quoted(" ".join(str(_sh(item)) for item in value))
    return Quoted(shlex.quote(on_one_line(str(value))))


def _sh_in_double_quotes(value: object) -> object:
    return value if isinstance(value, Undefined) else Quoted(re.sub(r'([\\"$`])', r"\\\1", on_one_line(str(value))))


def _sh_in_single_quotes(value: object) -> object:
    return value if isinstance(value, Undefined) else Quoted(on_one_line(str(value)).replace("'", "'\"'\"'"))


def _sh_outline(value: object) -> object:
    """A placeholder is for people: it is not quoted."""
    if isinstance(value, str):
        return on_one_line(value)
    return value if isinstance(value, Undefined) else " ".join(map(str, value))  # type: ignore[call-overload]


def _shows_a_placeholder(value: object) -> object:
    if "<" not in str(value):
        raise TemplateRuntimeError(f"this shows {str(value)!r}, although nothing is known")
    return value


class _Blocks:
    """Tracks the position in a template: inside a shell block? between quotes? at the start of a line?"""

    def __init__(self) -> None:
        self.fence, self.inside, self.quote, self.first = "", False, "", True

    def read(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self.quote = ""
            mark = _FENCE.match(line)
            if mark:
                self._fence(mark[1], mark[2])
            elif self.inside:
                self._quotes(line)
        self.first = (self.first or "\n" in text) and not text.rpartition("\n")[2].strip()

    def _fence(self, mark: str, language: str) -> None:
        if not self.fence:
            self.fence, self.inside = mark, language in _SHELLS
        elif mark.startswith(self.fence) and not language:
            self.fence, self.inside = "", False

    def _quotes(self, line: str) -> None:
        for part in _QUOTES.findall(line):
            if part.startswith("#") and not self.quote:
                return
            if part == self.quote:
                self.quote = ""
            elif not self.quote and part in "'\"":
                self.quote = part

    @property
    def filter(self) -> str:
        if self.inside:
            return {"'": "sh_in_single_quotes", '"': "sh_in_double_quotes"}.get(self.quote, "sh")
        return ("in_code" if self.fence else "in_prose") + ("_first" if self.first else "")


class _PutIn(Extension):
    """Adds the filter that fits its place to every expression."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        block, before = _Blocks(), ""
        for token in stream:
            if token.type == "data":
                block.read(token.value)
            if block.inside and token.type == "name" and token.value == WHEN and before == "block_begin":
                token = Token(token.lineno, "name", WHEN_IN_SHELL)
            before = token.type
            # The start of a branch or a loop body may be the start of a line.
            block.first = block.first or token.type == "block_begin"
            if token.type not in ("variable_begin", "variable_end"):
                yield token
            elif token.type == "variable_begin":
                yield token
                yield Token(token.lineno, "lparen", "(")
            else:
                for kind, value in (("rparen", ")"), ("pipe", "|"), ("name", block.filter)):
                    yield Token(token.lineno, kind, value)
                yield token


@cache
def _environment(undefined: type[Undefined], *, quotes: bool = True) -> ImmutableSandboxedEnvironment:
    # No HTML escaping: the text is Markdown, and each renderer escapes for its own medium.
    environment = ImmutableSandboxedEnvironment(
        undefined=undefined, trim_blocks=True, lstrip_blocks=True, extensions=[_PutIn, When]
    )
    environment.globals.clear()  # a fact may be called `namespace`, as Jinja's own class is
    environment.globals.update(_TABLES)
    environment.filters |= {
        "sh": _sh,
        "sh_in_double_quotes": _sh_in_double_quotes,
        "sh_in_single_quotes": _sh_in_single_quotes,
        "in_prose": in_prose,
        "in_prose_first": in_prose_first,
        "in_code": in_code,
        "in_code_first": in_code_first,
    }
    environment.tests["known"] = is_known
    if undefined is Placeholder:
        environment.filters |= {"format": formatted, "length": number_of, "count": number_of}
        environment.filters["shows_a_placeholder"] = _shows_a_placeholder
    if not quotes:
        environment.filters["sh"] = _sh_outline
    return environment
