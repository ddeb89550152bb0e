"""The `az` and `kubectl` lines of a page that is filled in with a finding, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.model import Diagnosis, Finding
from runbooks.commands import complaint_about
from runbooks.library import SECTIONS
from runbooks.lint import shell_lines
from tests.checking import LIBRARY

_IN_PROSE = re.compile(r"`((?:az|kubectl) [^`]* --?[a-z][^`]*)`")
"""A command with options that stands in a sentence; without options it may be the mere name of a command."""
_EMPTY = re.compile(r"(--[\w-]+)[ =](?:''|\"\")(?:\s|$)")
"""An option whose value was not filled in."""
_TAKES_NOTHING = frozenset({"--dns-servers", "--node-taints"})
"""With an empty value they clear a list, as az says."""


def wrong_commands(diagnosis: Diagnosis) -> list[str]:
    """Of all findings: every line that no program would take."""
    lines = (line for ranked in diagnosis.findings for line in commands_of(ranked.finding))
    return [f"{line}: {what}" for line in lines if (what := wrong_with(line))]


def commands_of(finding: Finding) -> Iterator[str]:
    """The commands that a finding shows people: in the page with its facts, and in its proof."""
    for section in SECTIONS:
        text = LIBRARY[finding.code].render(section, finding.facts)
        yield from (line for _, line in shell_lines(text, 1))
        yield from _IN_PROSE.findall(text)
    yield from (line for text in finding.because for line in _IN_PROSE.findall(text))


def wrong_with(line: str) -> str:
    """Why a filled-in line would be refused; empty where it would not."""
    empty = [option for option in _EMPTY.findall(line) if option not in _TAKES_NOTHING]
    return complaint_about(line) or (f"`{empty[0]}` has no value" if empty else "")
