"""The head of a runbook: YAML between two `---` lines, read strictly, refused by file and line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import yaml

from runbooks.yaml_text import NotPlain, compose_yaml

T = TypeVar("T")

SEVERITIES = ("error", "warning", "info")
AKS, HYBRID, ARC_BRIDGE, GUIDE = "aks", "hybrid", "arc-bridge", "guide"
KINDS = (AKS, HYBRID, ARC_BRIDGE, GUIDE)
"""The kind of cluster that has the problem. A guide is no problem: how to collect logs, what support asks for."""
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
FENCE = "---"
_URL = re.compile(r"https://[A-Za-z0-9.-]+(?:/[^\s()<>\[\]|]*)?")
"""No brackets and no bar: they would end the link in Markdown or in Slack."""


class BadRunbook(ValueError):
    """An invalid runbook: which file, which line, and what is wrong with it."""

    def __init__(self, file: Path, line: int, what: str) -> None:
        super().__init__(f"{file}:{line}: {what}")
        self.file, self.line, self.what = file, line, what


@dataclass(frozen=True, slots=True)
class SymptomPattern:
    """A regular expression over a pasted error, and where such an error was seen."""

    pattern: str
    source: str
    line: int = 0
    unless: str = ""
    """Where this matches too, the pattern's match does not count."""


@dataclass(frozen=True, slots=True)
class Symptoms:
    """What people paste or write when they have this problem."""

    codes: tuple[str, ...] = ()
    patterns: tuple[SymptomPattern, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """How to read one of the page's facts from a pasted text; see `runbooks/values.py`."""

    pattern: str
    example: str
    placeholder: str = ""
    many: bool = False
    line: int = 0
    unless: str = ""
    """Where this matches too, the value does not count."""


@dataclass(frozen=True, slots=True)
class Link:
    """A public page to read on at."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a runbook. `lines` is the line of each key in the file."""

    code: str
    title: str
    severity: str
    explains: tuple[str, ...]
    symptoms: Symptoms
    remedies: tuple[str, ...]
    sources: tuple[str, ...]
    reviewed: date
    lines: Mapping[str, int]
    values: Mapping[str, Value] = field(default_factory=dict)
    kind: str = AKS
    links: tuple[Link, ...] = ()
    effect: str = ""
    do: str = ""


@dataclass(frozen=True)
class _Reader:
    """Turns YAML nodes into typed values; a node knows its line, a plain value would not."""

    file: Path
    first_line: int

    def line(self, node: yaml.Node) -> int:
        return int(node.start_mark.line) + self.first_line

    def refuse(self, node: yaml.Node, what: str) -> BadRunbook:
        return BadRunbook(self.file, self.line(node), what)

    def text(self, node: yaml.Node, key: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
            raise self.refuse(node, f"`{key}` must be text")
        if not node.value.strip():
            raise self.refuse(node, f"`{key}` is empty")
        return str(node.value)

    def day(self, node: yaml.Node, key: str) -> date:
        try:
            return date.fromisoformat(node.value if isinstance(node, yaml.ScalarNode) else "")
        except ValueError:
            raise self.refuse(node, f"`{key}` must be a date such as 2026-11-18") from None

    def one_of(self, *known: str) -> Callable[[yaml.Node, str], str]:
        def read(node: yaml.Node, key: str) -> str:
            value = self.text(node, key)
            if value not in known:
                raise self.refuse(node, f"`{key}` must be one of {', '.join(known)}, not {value!r}")
            return value

        return read

    def code(self, node: yaml.Node, key: str) -> str:
        value = self.text(node, key)
        if not CODE.fullmatch(value):
            raise self.refuse(node, f"`{key}` must be lower-case words joined by hyphens, not {value!r}")
        return value

    def several(self, read: Callable[[yaml.Node, str], T]) -> Callable[[yaml.Node, str], tuple[T, ...]]:
        def read_all(node: yaml.Node, key: str) -> tuple[T, ...]:
            if not isinstance(node, yaml.SequenceNode):
                raise self.refuse(node, f"`{key}` must be a list")
            return tuple(read(item, key) for item in node.value)

        return read_all

    def keys(
        self, node: yaml.Node, key: str, read: Mapping[str, Callable[[yaml.Node, str], Any]], *optional: str
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """A mapping with exactly these keys; each is read by its own function."""
        if not isinstance(node, yaml.MappingNode):
            raise self.refuse(node, f"`{key}` must be a mapping")
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            if name not in read:
                raise self.refuse(name_node, f"unknown key `{name}`; known are {', '.join(read)}")
            if name in values:
                raise self.refuse(name_node, f"`{name}` stands twice")
            values[name] = read[name](value_node, name)
            lines[name] = self.line(name_node)
        missing = [name for name in read if name not in values and name not in optional]
        if missing:
            raise self.refuse(node, f"`{key}` lacks {', '.join(f'`{name}`' for name in missing)}")
        return values, lines

    def pattern(self, node: yaml.Node, key: str) -> SymptomPattern:
        read = {"pattern": self.text, "source": self.text, "unless": self.text}
        values, lines = self.keys(node, key, read, "unless")
        return SymptomPattern(**values, line=lines["pattern"])

    def symptoms(self, node: yaml.Node, key: str) -> Symptoms:
        texts = self.several(self.text)
        read = {"codes": texts, "patterns": self.several(self.pattern), "words": texts}
        return Symptoms(**self.keys(node, key, read, *read)[0])

    def url(self, node: yaml.Node, key: str) -> str:
        value = self.text(node, key)
        if not _URL.fullmatch(value):
            raise self.refuse(node, f"`{key}` must be an address that begins with https://, not {value!r}")
        return value

    def link(self, node: yaml.Node, key: str) -> Link:
        return Link(**self.keys(node, key, {"title": self.text, "url": self.url})[0])

    def yes(self, node: yaml.Node, key: str) -> bool:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
            raise self.refuse(node, f"`{key}` must be yes or no")
        return node.value.lower() in ("yes", "true", "on")

    def values(self, node: yaml.Node, key: str) -> dict[str, Value]:
        if not isinstance(node, yaml.MappingNode):
            raise self.refuse(node, f"`{key}` must be a mapping")
        read = {
            "pattern": self.text,
            "example": self.text,
            "placeholder": self.text,
            "many": self.yes,
            "unless": self.text,
        }
        found: dict[str, Value] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            if not NAME.fullmatch(name):
                raise self.refuse(name_node, f"a value's name is lower-case words joined by `_`, not {name!r}")
            if name in found:
                raise self.refuse(name_node, f"`{name}` stands twice")
            fields, lines = self.keys(value_node, name, read, "placeholder", "many", "unless")
            found[name] = Value(**fields, line=lines["pattern"])
        return found


def read_head(text: str, file: Path, *, first_line: int) -> Head:
    """Read the head from the YAML between the fences, which begins on `first_line` of the file."""
    reader = _Reader(file, first_line)
    try:
        node = compose_yaml(text)
    except NotPlain as refused:
        line = refused.problem_mark.line if refused.problem_mark else 0
        raise BadRunbook(file, line + first_line, f"the head: {refused.problem}") from None
    except yaml.MarkedYAMLError as bad:
        line = bad.problem_mark.line if bad.problem_mark else 0
        raise BadRunbook(file, line + first_line, f"the head is not YAML: {bad.problem}") from None
    except yaml.YAMLError as bad:
        raise BadRunbook(file, first_line, f"the head is not YAML: {bad}") from None
    if node is None:
        raise BadRunbook(file, first_line, "the head is empty")
    values, lines = reader.keys(
        node,
        "the head",
        {
            "code": reader.code,
            "title": reader.text,
            "severity": reader.one_of(*SEVERITIES),
            "explains": reader.several(reader.code),
            "symptoms": reader.symptoms,
            "remedies": reader.several(reader.code),
            "sources": reader.several(reader.text),
            "reviewed": reader.day,
            "values": reader.values,
            "kind": reader.one_of(*KINDS),
            "links": reader.several(reader.link),
            "effect": reader.text,
            "do": reader.text,
        },
        "values",
        "kind",
        "links",
        "effect",
        "do",
    )
    return Head(**values, lines=lines)
