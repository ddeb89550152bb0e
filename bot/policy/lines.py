"""Finds the line of a value in a YAML file, and duplicate keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

Loc = Sequence[int | str]


def line_of(root: yaml.Node | None, loc: Loc) -> int:
    """The line of the value at `loc`, or of its nearest existing parent."""
    node, line = root, 1 if root is None else root.start_mark.line + 1
    for step in loc:
        node, line = _inside(node, step, line)
    return line


def duplicate_keys(root: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Duplicate keys in one mapping: YAML would silently take the last."""
    waiting, walked = [("", root)], set()
    while waiting:
        path, node = waiting.pop()
        if node is None or id(node) in walked:
            continue  # An alias can form a cycle.
        walked.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            yield from ((key.start_mark.line + 1, f"{path}{key.value}") for key in _again(node))
            waiting += [(f"{path}{name}.", value) for name, (_, value) in zip(names, node.value, strict=True)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(f"{path}{number}.", value) for number, value in enumerate(node.value, 1)]


def _again(node: yaml.MappingNode) -> Iterator[yaml.Node]:
    seen: set[str] = set()
    for key, _ in node.value:
        if str(key.value) in seen:
            yield key
        seen.add(str(key.value))


def _inside(node: yaml.Node | None, step: int | str, line: int) -> tuple[yaml.Node | None, int]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark.line + 1
    return None, line
