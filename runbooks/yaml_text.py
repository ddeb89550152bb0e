"""Parses YAML from files and clusters with limits on memory and time.

An alias can expand a few lines into gigabytes, deep nesting exhausts the parser's recursion, and a number of a hundred
thousand digits takes minutes. Nobody writes such YAML by hand: all are refused, by line, with a `NotPlain`, which is a
`yaml.YAMLError` like any other mistake in YAML.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.error import MarkedYAMLError

LONGEST = 1_000_000
"""Characters."""
MOST_VALUES = 20_000
"""A policy has hundreds. As many take the parser half a second, and some 20 MB."""
DEEPEST = 50
LONGEST_NUMBER = 100
"""Characters of a number, a date or a truth value. Texts may be as long as they like."""
_TEXT = "tag:yaml.org,2002:str"


class NotPlain(MarkedYAMLError):
    """YAML that may be valid but is refused; `problem` says why."""

    def __init__(self, why: str, mark: Any = None) -> None:
        super().__init__(problem=why, problem_mark=mark)


class PlainLoader(yaml.CSafeLoader):
    """YAML without aliases, of limited depth and size. A pass over its events refuses what is not, before anything is
    composed; libyaml reads both times, in a fraction of the time that Python takes."""

    longest, most_values = LONGEST, MOST_VALUES

    def __init__(self, text: str) -> None:
        if len(text) > self.longest:
            raise NotPlain(f"it has more than {self.longest} characters")
        _refuse_bombs(text, self.most_values)
        super().__init__(text)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # Such as the 30th of February: PyYAML lets Python's exceptions through.
            kind = node.tag.rpartition(":")[2]
            raise NotPlain(f"it looks like a value of type {kind} and is none", node.start_mark) from None


class ManyValues(PlainLoader):
    """For files that people let grow: a kubeconfig with the certificates of hundreds of clusters."""

    longest, most_values = 8 * LONGEST, 10 * MOST_VALUES


def _refuse_bombs(text: str, most_values: int) -> None:
    depth = values = 0
    resolver = yaml.resolver.Resolver()
    for event in yaml.parse(text, yaml.CSafeLoader):
        mark = event.start_mark
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.AliasEvent):
            raise NotPlain("an alias (`*name`) is not read here: write out what it stands for", mark)
        if not isinstance(event, yaml.NodeEvent):
            continue
        values += 1
        if values > most_values:
            raise NotPlain(f"it holds more than {most_values} values", mark)
        if depth >= DEEPEST:
            raise NotPlain(f"it is nested more than {DEEPEST} levels deep", mark)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.ScalarEvent) and len(event.value) > LONGEST_NUMBER:
            tag = event.tag or resolver.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
            if tag != _TEXT:
                raise NotPlain(f"no number or date has {len(event.value)} characters", mark)


def load_yaml(text: str, loader: type[PlainLoader] = PlainLoader) -> Any:
    """The value of one document."""
    return yaml.load(text, loader)  # noqa: S506 (a SafeLoader that refuses more)


def compose_yaml(text: str) -> yaml.Node | None:
    """The nodes of one document, which know their line numbers."""
    node: yaml.Node | None = yaml.compose(text, PlainLoader)
    return node


def read_text(file: Path, loader: type[PlainLoader] = PlainLoader) -> str:
    """The text of a YAML file; of one that is too long, just enough that it is refused."""
    most = 4 * loader.longest  # bytes of a character
    with file.open("rb") as opened:
        content = opened.read(most + 1)
    return content.decode("utf-8", errors="strict" if len(content) <= most else "replace")
