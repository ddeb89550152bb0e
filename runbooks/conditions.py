"""Conditions on unknown facts: an outline must not take sides.

    {% if reason == 'vm-stopped' %}{% when "its machine was stopped" %}Start its machine: …
    {% elif reason == 'vm-gone' %}{% when "its machine is gone" %}Delete the node: …
    {% else %}{% when "it has a machine that runs" %}Restart it: …
    {% endif %}

If the reason is known, `when` shows nothing and one branch is shown. If not, each branch is shown under its own words;
an `else` without words is under *Otherwise*. In a shell block the words become a comment. A conditional without any
words is left out: right for an addition, wrong where one of several branches always applies. There, `{% if reason is
not known %}` gives the sentence that holds in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

WHEN, WHEN_IN_SHELL = "when", "when_in_shell"
_PARAGRAPH, _SHELL_LINE, _THEN = "\ue000", "\ue001", "\ue002"
"""Private characters: they become line breaks once it is known what stands before them."""
_BETWEEN = re.compile(rf"(?:\s*{_PARAGRAPH}\s*)+")
_ON_A_LINE = re.compile(rf"{_THEN}\s*(?=`{{3}}|~{{3}}|[-*] |\d+[.)] )")
_ON_THIS_LINE = re.compile(rf"{_THEN}\s*")
_BEFORE_LINE = re.compile(f"\n*{_SHELL_LINE}\n*")
_TELLS_WHAT_IS_KNOWN = frozenset({"defined", "undefined", "known"})


class When(Extension):
    """`{% when "its machine is gone" %}` at the start of a branch: the condition in plain words."""

    tags = {WHEN, WHEN_IN_SHELL}  # noqa: RUF012 (jinja2's own declaration)

    def parse(self, parser: Parser) -> nodes.Node:
        tag = next(parser.stream)
        words = parser.stream.expect("string").value
        shown = f"{_SHELL_LINE}# if {words}:\n" if tag.value == WHEN_IN_SHELL else f"{_PARAGRAPH}**If {words}:**{_THEN}"
        # An expression whose value is unused: rendering shows nothing, an outline finds the words.
        return nodes.ExprStmt(nodes.Const(shown), lineno=tag.lineno)


class _Verdict(Enum):
    """What is known about a condition before anything is filled in."""

    YES, NO, UNKNOWN, COMPUTED = range(4)
    """COMPUTED: all its facts are given, filling in decides."""


@dataclass
class Outliner:
    """Rewrites a template so that nothing in it depends on an unknown fact."""

    known: frozenset[str]
    strict: bool = False
    """Whether an expression must show that it is not known; see `shows_a_placeholder`."""
    gaps: list[tuple[int, str]] = field(default_factory=list)
    """Where the outline has a hole, by line."""

    def rewrite(self, template: nodes.Template) -> nodes.Template:
        led = {id(leader) for chain in template.find_all(nodes.If) for leader in _leaders(chain)}
        for statement in template.find_all(nodes.ExprStmt):
            if id(statement) not in led:
                self.gaps.append((statement.lineno, "`when` must be the first thing in a branch of an `if`"))
        return nodes.Template(self._all(template.body), lineno=1)

    def _all(self, body: list[nodes.Node]) -> list[nodes.Node]:
        written: list[nodes.Node] = []
        for node in body:
            if isinstance(node, nodes.If):
                written += self._chain(_branches(node), node.else_, node.lineno)
            elif isinstance(node, nodes.For):
                written += self._loop(node)
            elif isinstance(node, nodes.Output):
                written.append(nodes.Output([self._shown(expr) for expr in node.nodes], lineno=node.lineno))
            else:
                if isinstance(node, nodes.Assign) and not self._missing(node.node):
                    self.known |= _named(node.target)
                written.append(node)
        return written

    def _loop(self, loop: nodes.For) -> list[nodes.Node]:
        """A loop over an unknown list runs once, with a placeholder."""
        given = not self._missing(loop.iter)
        targets = _named(loop.target)
        inside = replace(self, known=(self.known | targets if given else self.known - targets) | {"loop"})
        if loop.test and inside._verdict(loop.test) is _Verdict.UNKNOWN:
            return []
        body = inside._all(loop.body)
        again = nodes.For(loop.target, loop.iter, body, self._all(loop.else_), loop.test, loop.recursive)
        return [again.set_lineno(loop.lineno)]

    def _chain(self, branches: list[nodes.If], otherwise: list[nodes.Node], line: int) -> list[nodes.Node]:
        """An `if` with its `elif`s: decided conditions stay; from the first undecided one on, each branch gets its
        words.
        """
        if not branches:
            return self._all(otherwise)
        first, rest = branches[0], branches[1:]
        verdict = self._verdict(first.test)
        if verdict is _Verdict.UNKNOWN:
            return self._each_under_its_words(branches, otherwise, line)
        if verdict is _Verdict.YES:
            return self._all(first.body)
        after = self._chain(rest, otherwise, line)
        if verdict is _Verdict.NO:
            return after
        return [nodes.If(first.test, self._all(first.body), [], after, lineno=first.lineno)]

    def _each_under_its_words(
        self, branches: list[nodes.If], otherwise: list[nodes.Node], line: int
    ) -> list[nodes.Node]:
        written: list[nodes.Node] = []
        possible = [branch for branch in branches if self._verdict(branch.test) is not _Verdict.NO]
        text = [words for branch in possible if (words := _words(branch.body))]
        if len(text) < len(possible) and (text or otherwise or len(possible) > 1):
            self.gaps.append((line, _HOLE))
        for branch_ in possible:
            if words := _words(branch_.body):
                shown = [_text(words, branch_.lineno), *self._all(branch_.body)]
                sure = self._verdict(branch_.test) is _Verdict.COMPUTED
                written += [nodes.If(branch_.test, shown, [], [], lineno=branch_.lineno)] if sure else shown
        if otherwise and text:
            words = _words(otherwise) or _otherwise(text[0])
            written += [_text(words, line), *self._all(otherwise)]
        # The text after it starts a paragraph again: add the same break at the end.
        return [*written, _text(text[0][0], line)] if text else []

    def _shown(self, expression: nodes.Expr) -> nodes.Expr:
        if isinstance(expression, nodes.TemplateData):
            return expression
        plain = self._without_choice(expression)
        missing = self._missing(plain) if self.strict else frozenset()
        if not missing:
            return plain
        return nodes.Filter(plain, "shows_a_placeholder", [], [], None, None, lineno=expression.lineno)

    def _without_choice(self, expression: nodes.Expr) -> nodes.Expr:
        """`a if x else b`, with x unknown: the one that shows a placeholder, or both by name."""
        for choice in (expression, *expression.find_all(nodes.CondExpr)):
            if isinstance(choice, nodes.CondExpr) and self._verdict(choice.test) is _Verdict.UNKNOWN:
                choice.test = nodes.Const(bool(self._missing(choice.expr1)), lineno=choice.lineno)
                if choice.expr2 is None or not self._missing(choice.expr1) | self._missing(choice.expr2):
                    either = " or ".join(
                        str(part.value) for part in (choice.expr1, choice.expr2) if isinstance(part, nodes.Const)
                    )
                    choice.expr2 = nodes.Const(f"<{either or 'value'}>", lineno=choice.lineno)
        return expression

    def _verdict(self, test: nodes.Node) -> _Verdict:
        if isinstance(test, nodes.Not):
            return _OPPOSITE[self._verdict(test.node)]
        if isinstance(test, nodes.And):
            return _together(self._verdict(test.left), self._verdict(test.right), decides=_Verdict.NO)
        if isinstance(test, nodes.Or):
            return _together(self._verdict(test.left), self._verdict(test.right), decides=_Verdict.YES)
        if _asks_what_is_known(test) and self._names(test) - self.known:
            return _Verdict.YES if test.name == "undefined" else _Verdict.NO  # type: ignore[attr-defined]
        return _Verdict.UNKNOWN if self._missing(test) else _Verdict.COMPUTED

    def _missing(self, node: nodes.Node) -> frozenset[str]:
        """The unknown facts that this needs; to ask whether a fact is known needs none."""
        if _asks_what_is_known(node):
            return frozenset()
        own = self._names(node) if isinstance(node, nodes.Name) else frozenset()
        return (own - self.known).union(*map(self._missing, node.iter_child_nodes()))

    def _names(self, node: nodes.Node) -> frozenset[str]:
        found = [node] if isinstance(node, nodes.Name) else node.find_all(nodes.Name)
        return frozenset(name.name for name in found if name.ctx == "load")


_OPPOSITE = {
    _Verdict.YES: _Verdict.NO,
    _Verdict.NO: _Verdict.YES,
    _Verdict.UNKNOWN: _Verdict.UNKNOWN,
    _Verdict.COMPUTED: _Verdict.COMPUTED,
}
_HOLE = (
    "an outline cannot know which of these branches holds, and leaves all of them out: begin each with "
    '`{% when "…" %}`, or say first what holds in any case: `{% if … is not known %}…{% elif …`'
)


def _together(left: _Verdict, right: _Verdict, *, decides: _Verdict) -> _Verdict:
    """`and`, which a NO decides, or `or`, which a YES decides."""
    if decides in (left, right):
        return decides
    for verdict in (_Verdict.UNKNOWN, _Verdict.COMPUTED):
        if verdict in (left, right):
            return verdict
    return left


def _asks_what_is_known(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Test) and node.name in _TELLS_WHAT_IS_KNOWN


def _branches(chain: nodes.If) -> list[nodes.If]:
    return [chain, *chain.elif_]


def _leaders(chain: nodes.If) -> Iterator[nodes.Node]:
    for body in (chain.body, chain.else_):
        yield from body[:1]


def _named(target: nodes.Node) -> frozenset[str]:
    found = [target] if isinstance(target, nodes.Name) else target.find_all(nodes.Name)
    return frozenset(name.name for name in found)


def _words(body: list[nodes.Node]) -> str:
    first = body[0] if body else None
    if isinstance(first, nodes.ExprStmt) and isinstance(first.node, nodes.Const):
        return str(first.node.value)
    return ""


def _otherwise(sibling: str) -> str:
    return f"{_SHELL_LINE}# otherwise:\n" if sibling.startswith(_SHELL_LINE) else f"{_PARAGRAPH}**Otherwise:**{_THEN}"


def _text(words: str, line: int) -> nodes.Node:
    return nodes.Output([nodes.TemplateData(words, lineno=line)], lineno=line)


def laid_out(text: str) -> str:
    """The text with its paragraphs separated."""
    text = _ON_THIS_LINE.sub(" ", _ON_A_LINE.sub("\n", text))
    return _BEFORE_LINE.sub("\n", _BETWEEN.sub("\n\n", text))
