"""Clear sentences never mention missing evidence. The scenario tests check this for actual output."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import handlers.diagnose
from handlers.engine.declare import Diagnostic
from tests.checking import GRAPH

BLIND = ("not looked at", "was not seen", "were not seen", "could not", "cannot be seen", "not read", "unknown")
SOURCES = sorted(Path(handlers.diagnose.__file__).parent.glob("*.py"))


def sentences(source: str) -> Iterator[str]:
    """The fixed texts in every `Clear(…)`, those of constants and functions of the module that it names among them."""
    tree = ast.parse(source)
    named: dict[str, ast.AST] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            named |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Clear":
            yield from _texts(node, named, frozenset())


def _texts(node: ast.AST, named: dict[str, ast.AST], seen: frozenset[str]) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in named and part.id not in seen:
            yield from _texts(named[part.id], named, seen | {part.id})


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_no_clear_sentence_holds_what_was_not_looked_at(source: Path) -> None:
    said = list(sentences(source.read_text()))
    assert not [text for text in said if any(words in text for words in BLIND)]


def test_a_constant_is_read_too() -> None:
    code = 'NOT = "policies were not looked at"\ndef f():\n    yield Clear(f"it leads to {x}; {NOT}")\n'
    assert "policies were not looked at" in list(sentences(code))


def test_whoever_is_clear_by_silence_says_so_in_a_sentence_and_not_in_requests() -> None:
    unsaid = [one.id for one in GRAPH.diagnostics if not one.clear_says and not _may_say_clear(one)]
    assert unsaid == []


def _may_say_clear(one: Diagnostic) -> bool:
    source = Path(inspect.getfile(one.judge)).read_text()
    return "Clear(" in source or ".judged(" in source
