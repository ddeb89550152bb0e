"""Reports everything that is wrong with a folder of runbooks, by file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runbooks.commands import complaint_about
from runbooks.head import BadRunbook, SymptomPattern, Value
from runbooks.library import DO, EFFECT, FIX, OWN, SECTIONS, Library, Runbook, runbook_files
from runbooks.linear import NotLinear, compile_linear
from runbooks.patterns import longest, searchable
from runbooks.template import CannotRender, gaps
from runbooks.template import check as check_template
from runbooks.values import found_in

_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(\w*)")
_URL = re.compile(r"https?://")
_LINK = re.compile(r"\[[^\]]+\]\([^)]*\)")
_ONLY_A_LINK = re.compile(r"\s*(?:[-*]|\d+\.)?\s*(?:see|read)?:?\s*\[[^\]]+\]\([^)]*\)\s*\.?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    """One error."""

    file: Path
    line: int
    what: str
    warning: bool = False
    """The runbook can be used all the same."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'warning: ' if self.warning else ''}{self.what}"


def lint(*folders: Path) -> list[Complaint]:
    """Check every runbook of these folders (by default the package's own), against all known codes."""
    complaints: list[Complaint] = []
    wanted = _read(folders or (OWN,), complaints)
    known = {runbook.code: runbook for runbook in _read((OWN,), [])} | {runbook.code: runbook for runbook in wanted}
    for runbook in wanted:
        complaints += _complaints(runbook, known)
    return sorted(complaints)


def _read(folders: tuple[Path, ...], complaints: list[Complaint]) -> list[Runbook]:
    runbooks = []
    for folder in folders:
        try:
            files = runbook_files(folder)
        except BadRunbook as bad:
            complaints.append(Complaint(bad.file, bad.line, bad.what))
            continue
        for path in files:
            try:
                runbooks.append(Runbook.read(path))
            except BadRunbook as bad:
                complaints.append(Complaint(bad.file, bad.line, bad.what))
    return runbooks


def _complaints(runbook: Runbook, known: Mapping[str, Runbook]) -> Iterator[Complaint]:
    for line, what in (
        *_explains(runbook, Library(known.values())),
        *_patterns(runbook),
        *_values(runbook),
        *_templates(runbook),
        *_first_lines(runbook),
        *_commands(runbook),
        *_links(runbook),
    ):
        yield Complaint(runbook.path, line, what)
    for line, what in _old_patterns(runbook):
        yield Complaint(runbook.path, line, what, warning=runbook.path.parent != OWN)


def _explains(runbook: Runbook, library: Library) -> Iterator[tuple[int, str]]:
    line = runbook.lines["explains"]
    for code in runbook.explains:
        if code not in library:
            yield line, f"`explains` names {code!r}, and no runbook has that code"
    loop = _loop(runbook.code, library)
    if loop:
        yield line, f"`explains` goes in a circle: {' -> '.join(loop)}"


def _loop(code: str, library: Library) -> list[str] | None:
    """The shortest cycle from a code back to itself."""
    paths, seen = [[code]], {code}
    for path in paths:
        for following in sorted(library.explains.get(path[-1], ())):
            if following == code:
                return [*path, code]
            if following not in seen:
                seen.add(following)
                paths.append([*path, following])
    return None


def _patterns(runbook: Runbook) -> Iterator[tuple[int, str]]:
    for pattern in runbook.symptoms.patterns:
        if what := _wrong(pattern.pattern, pattern.unless):
            yield pattern.line, f"pattern {what}"
        elif searchable(pattern.pattern, pattern.unless).search(""):
            yield pattern.line, f"pattern {pattern.pattern!r} matches any text"


def _values(runbook: Runbook) -> Iterator[tuple[int, str]]:
    """A value's pattern must find something in its own example."""
    for name, value in runbook.values.items():
        if what := _wrong(value.pattern, value.unless):
            yield value.line, f"value `{name}`: pattern {what}"
        elif not searchable(value.pattern, value.unless).groups:
            yield value.line, f"value `{name}`: {value.pattern!r} has no group; what it finds stands in one"
        elif not found_in(value.pattern, value.example, value.unless):
            yield value.line, f"value `{name}`: {value.pattern!r} finds nothing in its example {value.example!r}"


def _wrong(pattern: str, unless: str) -> str | None:
    """Why this pattern cannot be compiled."""
    for expression in filter(None, (pattern, unless)):
        try:
            compile_linear(expression)
        except NotLinear as refused:
            try:
                re.compile(expression)
            except re.error as bad:
                return f"{expression!r} is not a regular expression: {bad}"
            if expression == unless or not longest(expression):
                return _refused(expression, refused, "it is never looked for")
    return None


def _old_patterns(runbook: Runbook) -> Iterator[tuple[int, str]]:
    """Patterns that RE2 refuses and the bot still supports."""
    patterns: list[SymptomPattern | Value] = [*runbook.symptoms.patterns, *runbook.values.values()]
    for pattern in patterns:
        try:
            compile_linear(pattern.pattern)
        except NotLinear as refused:
            if not _wrong(pattern.pattern, pattern.unless):
                until = f"only the first {longest(pattern.pattern):,} characters of a text are searched for it"
                yield pattern.line, f"pattern {_refused(pattern.pattern, refused, until)}"


def _refused(pattern: str, refused: NotLinear, so: str) -> str:
    """What is wrong, why, and what to write instead."""
    do = "write it without lookaround and backreferences, and what must not stand there under `unless`"
    return f"{pattern!r} cannot be run in linear time ({refused}), so {so}; {do}"


def _templates(runbook: Runbook) -> Iterator[tuple[int, str]]:
    for section in SECTIONS:
        source, first = runbook.sections[section], runbook.lines[section]
        try:
            check_template(source)
        except CannotRender as bad:
            yield first + bad.line - 1, f"{section}: {bad.what}"
        else:
            yield from ((first + line - 1, f"{section}: {what}") for line, what in gaps(source))


def _first_lines(runbook: Runbook) -> Iterator[tuple[int, str]]:
    """The two lines with which an answer begins: both or none, and none less than the page that this one replaces."""
    own = OWN / runbook.path.name
    replaced = Runbook.read(own) if runbook.path != own and own.is_file() else None
    wanted = bool(runbook.effect or runbook.do or (replaced and replaced.effect))
    for name, source in ((EFFECT, runbook.effect), (DO, runbook.do)):
        if wanted and not source:
            yield runbook.lines["title"], f"`{name}` is missing: a line of the answer, where a check finds this"
        try:
            check_template(source)
        except CannotRender as bad:
            yield runbook.lines[name], f"`{name}`: {bad.what}"


def _commands(runbook: Runbook) -> Iterator[tuple[int, str]]:
    for section in SECTIONS:
        for line, text in shell_lines(runbook.sections[section], runbook.lines[section]):
            what = complaint_about(text)
            if what:
                yield line, f"{section}: {what}"


def shell_lines(text: str, first: int) -> Iterator[tuple[int, str]]:
    """The shell lines in code fences, with continuation lines joined, each with its line number."""
    fence, shell, stored, began = "", False, "", 0
    for number, line in enumerate(text.split("\n"), first):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, shell = mark[1], mark[2] in ("", "sh", "bash", "shell", "console")
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif fence and (shell or line.lstrip().startswith(("az ", "kubectl "))):
            began = began if stored else number
            stored += line.rstrip()
            if stored.endswith("\\"):
                stored = stored[:-1] + " "
                continue
            yield began, stored.removeprefix("$ ")
            stored = ""


def _links(runbook: Runbook) -> Iterator[tuple[int, str]]:
    """At 3 a.m. a link is no answer: the steps are in the page, and a link only names their source."""
    fence = False
    for number, line in enumerate(runbook.sections[FIX].split("\n"), runbook.lines[FIX]):
        if _FENCE.match(line):
            fence = not fence
        elif not fence and (_URL.search(_LINK.sub("", line)) or _ONLY_A_LINK.fullmatch(line)):
            yield number, f"{FIX}: a bare link; write the step, and link a word of it"
