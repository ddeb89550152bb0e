"""Filling a runbook in: Jinja2 in its sandbox, strict about what is missing, and safe to copy into a shell.

Facts come from Azure, and a resource group may be called `a (b)`. So in a fenced block of shell
(```` ```sh ````) every value is quoted for the shell, as values are escaped for HTML elsewhere: a value that
needs no quotes gets none, and one that stands between quotes is escaped for those. A list is quoted one by
one with the filter: `{{ ids | sh }}`.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, UndefinedError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)")
_QUOTES = re.compile(r"""\\.|['"]|(?:^|(?<=\s))#""")
_SHELLS = frozenset({"sh", "bash", "shell", "console"})


class CannotRender(ValueError):
    """A wrong template, or a fact that it needs and was not given. `line` counts within the template."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def render(source: str, facts: Mapping[str, Any]) -> str:
    """The text with the facts filled in."""
    return _fill(_environment(StrictUndefined), source, facts)


def outline(source: str, facts: Mapping[str, Any] | None = None, labels: Mapping[str, str] | None = None) -> str:
    """The text with a placeholder such as `<cluster>` for every fact that is not given.

    `is defined` tells a fact from a placeholder. `labels` names placeholders otherwise than their facts are named.
    Where the template fails, the template itself is shown.
    """
    known = {name: Placeholder(name=label) for name, label in (labels or {}).items()} | dict(facts or {})
    try:
        return _fill(_environment(Placeholder, quotes=bool(facts)), source, known)
    except CannotRender:
        return source


def check(source: str) -> None:
    """Refuse what can never render: a syntax error, a filter or a test that does not exist."""
    environment = _environment(StrictUndefined)
    try:
        environment.compile(environment.parse(source))
    except TemplateSyntaxError as bad:
        raise CannotRender(bad.lineno, f"template: {bad.message}") from None


def _fill(environment: ImmutableSandboxedEnvironment, source: str, facts: Mapping[str, Any]) -> str:
    try:
        return environment.from_string(source).render(facts)
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


class Placeholder(Undefined):
    """An unknown fact that shows its name, whatever the template does with it."""

    # jinja2 types each of these as "never returns": its own kinds of Undefined all fail there.

    @property
    def _label(self) -> str:
        return self._undefined_name or "value"

    def __str__(self) -> str:
        return f"<{self._label}>"

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(name=f"{self._label}.{name}")

    def __getitem__(self, key: object) -> Placeholder:  # type: ignore[override]
        return Placeholder(name=f"{self._label}.{key}")

    def __call__(self, *_args: object, **_kwargs: object) -> Placeholder:  # type: ignore[override]
        return self

    def __iter__(self) -> Iterator[Placeholder]:
        yield self

    def __len__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return True

    def __round__(self, _digits: int = 0) -> Placeholder:
        return self

    def _with(self, _other: object) -> Placeholder:
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _with  # type: ignore[assignment]
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _with  # type: ignore[assignment]

    def _yes(self, _other: object) -> bool:
        return True

    __gt__ = __ge__ = __lt__ = __le__ = _yes  # type: ignore[assignment]


def _outline_format(text: str, *values: object) -> str:
    """`"%d" | format(x)` where x is only a name."""
    return re.sub(r"%[^%a-zA-Z]*[a-zA-Z]", "%s", text) % values


class Quoted(str):
    """Text that is already safe in a shell."""

    __slots__ = ()


def _sh(value: object) -> object:
    """One value, or several with spaces between, quoted for a shell."""
    if isinstance(value, Quoted | Undefined):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return Quoted(" ".join(str(_sh(item)) for item in value))
    return Quoted(shlex.quote(str(value)))


def _sh_in_double_quotes(value: object) -> object:
    return value if isinstance(value, Undefined) else Quoted(re.sub(r'([\\"$`])', r"\\\1", str(value)))


def _sh_in_single_quotes(value: object) -> object:
    return value if isinstance(value, Undefined) else Quoted(str(value).replace("'", "'\"'\"'"))


def _sh_outline(value: object) -> object:
    """A placeholder is for a person: it stays as it is."""
    return value if isinstance(value, str | Undefined) else " ".join(map(str, value))  # type: ignore[call-overload]


class _ShellBlocks:
    """Follows the text of a template: is this a block of shell, and are we between quotes?"""

    def __init__(self) -> None:
        self.fence, self.inside, self.quote = "", False, ""

    def read(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self.quote = ""
            mark = _FENCE.match(line)
            if mark:
                self._fence(mark[1], mark[2])
            elif self.inside:
                self._quotes(line)

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
        return {"'": "sh_in_single_quotes", '"': "sh_in_double_quotes"}.get(self.quote, "sh")


class _QuoteInShellBlocks(Extension):
    """Adds the right filter to every expression that stands inside a fenced block of shell."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        block = _ShellBlocks()
        for token in stream:
            if token.type == "data":
                block.read(token.value)
            if not block.inside or token.type not in ("variable_begin", "variable_end"):
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
    # Nothing is escaped for HTML: the text is Markdown, and what shows it cleans it for its own medium.
    environment = ImmutableSandboxedEnvironment(
        undefined=undefined, trim_blocks=True, lstrip_blocks=True, extensions=[_QuoteInShellBlocks]
    )
    environment.globals.clear()  # a fact may be called `namespace`, as Jinja's own class is
    environment.filters |= {
        "sh": _sh,
        "sh_in_double_quotes": _sh_in_double_quotes,
        "sh_in_single_quotes": _sh_in_single_quotes,
    }
    if undefined is Placeholder:
        environment.filters["format"] = _outline_format
    if not quotes:
        environment.filters["sh"] = _sh_outline
    return environment
