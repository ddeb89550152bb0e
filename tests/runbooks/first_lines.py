"""Checks the two lines with which an answer begins, for whatever a test has found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from bot.render.headline import facts_of
from handlers.model import Diagnosis, Finding
from runbooks.library import DO, EFFECT, Library

_HOLE = re.compile(r"\bNone\b(?!\))|\[\]|``|<[a-z]+(-[a-z]+)*>|\{[{%]|, ,|\(\)|  | [,;)] |\( ")
"""What a fact that is empty leaves behind."""


def wrong_first_lines(diagnosis: Diagnosis) -> list[str]:
    """What is wrong with the lines with which an answer about one of these findings would begin."""
    return [
        f"{ranked.finding.code}, `{name}`: {what}: {line}"
        for ranked in diagnosis.findings
        for name, line in _first_lines(ranked.finding, diagnosis.target.name)
        if (what := _wrong_with_line(line))
    ]


def _first_lines(finding: Finding, cluster: str) -> Iterator[tuple[str, str]]:
    """Raises `BadRunbook` where a fact is missing."""
    runbook, facts = _library()[finding.code], facts_of(finding, cluster)
    return ((name, runbook.line(name, facts)) for name in (EFFECT, DO))


def _wrong_with_line(line: str) -> str:
    if _HOLE.search(line):
        return "a value that says nothing"
    if line.endswith((".", ":", ",")) or line.count("`") % 2:
        return "it does not end as a line should"
    return "" if (line and line[0] == line[0].upper()) or line[0] == "`" else "it begins in lower case"


@cache
def _library() -> Library:
    return Library.load()
