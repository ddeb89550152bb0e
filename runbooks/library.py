"""The runbooks of one installation: the package's own, and a team's on top of them.

A runbook is `<code>.md`: a YAML head (see `runbooks/head.py`), then exactly four sections. Any other file is refused
by name and line; nothing is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from runbooks.head import AKS, FENCE, BadRunbook, Head, Link, Symptoms, Value, read_head
from runbooks.search import Index

MEANING, CHECK, FIX, NOT_THIS = "What it means", "Check it yourself", "Fix", "Not this, if"
SECTIONS = (MEANING, CHECK, FIX, NOT_THIS)
EFFECT, DO = "effect", "do"
"""The two lines of the head with which an answer begins: what does not work and why, and what to do next."""
FURTHER = "Further reading"
"""After the sections, where the head has `links`."""
OWN = Path(__file__).parent

_HEADING = re.compile(r"##\s+(.*\S)\s*")
_FENCE_MARK = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True)
class Runbook:
    """One finding code: what it means, how to see it, what to do, and when it is something else."""

    code: str
    title: str
    severity: str
    explains: tuple[str, ...]
    symptoms: Symptoms
    remedies: tuple[str, ...]
    sources: tuple[str, ...]
    reviewed: date
    sections: Mapping[str, str]
    path: Path
    lines: Mapping[str, int] = field(repr=False)
    """The line of each key of the head, and of the first line of each section."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """How a pasted text gives what the sections need."""
    kind: str = AKS
    """The kind of cluster that has this problem, or `guide`."""
    links: tuple[Link, ...] = ()
    effect: str = ""
    do: str = ""
    """Templates, each of one line; empty where no check finds this problem."""

    @property
    def further(self) -> str:
        """The links as Markdown, for whatever shows a page; empty if there are none."""
        return "\n".join(f"- [{link.title}]({link.url})" for link in self.links)

    @classmethod
    def read(cls, path: Path) -> Runbook:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as unreadable:
            raise BadRunbook(path, 1, f"cannot be read: {unreadable}") from unreadable
        head, body, first = _split(text, path)
        if head.code != path.stem:
            raise BadRunbook(path, head.lines["code"], f"`code` is {head.code!r}, the file is {path.name!r}")
        sections, lines = _sections(body, path, first)
        return cls(
            head.code,
            head.title,
            head.severity,
            head.explains,
            head.symptoms,
            head.remedies,
            head.sources,
            head.reviewed,
            sections,
            path,
            {**head.lines, **lines},
            head.values,
            head.kind,
            head.links,
            head.effect,
            head.do,
        )

    def render(self, section: str, facts: Mapping[str, Any]) -> str:
        """A section with a finding's facts filled in. A missing fact is an error, never a gap."""
        from runbooks import template

        return self._filled(section, lambda source: template.render(source, facts))

    def line(self, name: str, facts: Mapping[str, Any]) -> str:
        """`EFFECT` or `DO` with a finding's facts filled in; empty where the page has none."""
        from runbooks import template

        source = {EFFECT: self.effect, DO: self.do}[name]
        try:
            # A quoted error may end as a sentence does; the line does not.
            return " ".join(template.render(source, facts).split()).rstrip(" .:,;")
        except template.CannotRender as cannot:
            raise BadRunbook(self.path, self.lines[name], f"`{name}`: {cannot.what}") from cannot

    def outline(self, section: str, facts: Mapping[str, Any] | None = None) -> str:
        """A section without a finding: `<name>` for every unknown fact."""
        from runbooks import template

        labels = {name: value.placeholder for name, value in self.values.items() if value.placeholder}
        return self._filled(section, lambda source: template.outline(source, facts or {}, labels))

    def _filled(self, section: str, fill: Callable[[str], str]) -> str:
        from runbooks.template import CannotRender

        try:
            return fill(self.sections[section]).strip("\n")
        except CannotRender as cannot:
            line = self.lines[section] + cannot.line - 1
            raise BadRunbook(self.path, line, f"{section}: {cannot.what}") from cannot

    def head(self) -> dict[str, Any]:
        """The head as plain values."""
        patterns = [
            {"pattern": pattern.pattern, "source": pattern.source}
            | ({"unless": pattern.unless} if pattern.unless else {})
            for pattern in self.symptoms.patterns
        ]
        return {
            "code": self.code,
            "kind": self.kind,
            "title": self.title,
            "effect": self.effect,
            "do": self.do,
            "severity": self.severity,
            "explains": list(self.explains),
            "symptoms": {
                "codes": list(self.symptoms.codes),
                "patterns": patterns,
                "words": list(self.symptoms.words),
            },
            "remedies": list(self.remedies),
            "sources": list(self.sources),
            "links": [{"title": link.title, "url": link.url} for link in self.links],
            "reviewed": self.reviewed.isoformat(),
        }


class Library(Mapping[str, Runbook]):
    """Every runbook by its code, in the order of the codes."""

    def __init__(self, runbooks: Iterable[Runbook]) -> None:
        by_code = {runbook.code: runbook for runbook in runbooks}
        self._by_code = {code: by_code[code] for code in sorted(by_code)}

    @classmethod
    def load(cls, *folders: Path) -> Library:
        """Load the package's runbooks, then those of `folders`, which add codes or replace one."""
        return cls(Runbook.read(path) for folder in (OWN, *folders) for path in runbook_files(folder))

    @cached_property
    def explains(self) -> Mapping[str, frozenset[str]]:
        """For each code, the codes that it can be the cause of."""
        return {code: frozenset(runbook.explains) for code, runbook in self._by_code.items()}

    @cached_property
    def index(self) -> Index:
        """The pages by the words in them."""
        return Index(self._by_code.values())

    def of_kind(self, kind: str) -> frozenset[str]:
        """The codes that clusters of this kind can have."""
        return frozenset(runbook.code for runbook in self._by_code.values() if runbook.kind == kind)

    def __getitem__(self, code: str) -> Runbook:
        return self._by_code[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_code)

    def __len__(self) -> int:
        return len(self._by_code)


def runbook_files(folder: Path) -> list[Path]:
    """The runbooks of a folder. A README may stand beside them."""
    if not folder.is_dir():
        raise BadRunbook(folder, 1, "there is no such folder of runbooks")
    return sorted(path for path in folder.glob("*.md") if path.stem.lower() != "readme")


def _split(text: str, path: Path) -> tuple[Head, list[str], int]:
    """The head, the lines of the body, and the line number where the body starts."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise BadRunbook(path, 1, f"a runbook starts with its head: the first line must be `{FENCE}`")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise BadRunbook(path, len(lines), f"the head does not end: a line `{FENCE}` is missing")
    return read_head("\n".join(lines[1:end]), path, first_line=2), lines[end + 1 :], end + 2


def _sections(body: list[str], path: Path, first: int) -> tuple[dict[str, str], dict[str, int]]:
    texts: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    current, fence = "", ""
    for number, line in enumerate(body, first):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.fullmatch(line)
        if heading:
            current = _next_section(heading[1], list(texts), path, number)
            texts[current], lines[current] = [], number + 1
        elif current:
            texts[current].append(line)
        elif line.strip():
            raise BadRunbook(path, number, f"text before `## {MEANING}`")
    if fence:
        raise BadRunbook(path, first + len(body) - 1, f"a code block ({fence}) is not closed")
    for name in SECTIONS:
        if not "".join(texts.get(name, [])).strip():
            where = lines.get(name, first + len(body))
            raise BadRunbook(path, where, f"the section `## {name}` is {'empty' if name in lines else 'missing'}")
    return {name: "\n".join(text) for name, text in texts.items()}, lines


def _next_section(name: str, before: list[str], path: Path, line: int) -> str:
    expected = SECTIONS[len(before)] if len(before) < len(SECTIONS) else None
    if name == expected:
        return name
    want = f"expected `## {expected}` here" if expected else "no more sections may follow"
    raise BadRunbook(path, line, f"`## {name}`: {want}")


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after this line, or none."""
    mark = _FENCE_MARK.match(line)
    if not mark:
        return fence
    if not fence:
        return mark[1]
    closes = mark[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence
