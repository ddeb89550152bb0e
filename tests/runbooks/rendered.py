"""Checks the `az` and `kubectl` lines of pages rendered with a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.model import Diagnosis, Finding
from runbooks.commands import complaint_about
from runbooks.library import SECTIONS
from runbooks.lint import shell_lines
from tests.checking import LIBRARY

_IN_PROSE = re.compile(r"`((?:az|kubectl) [^`]* --?[a-z][^`]*)`")
"""A command with options within prose; without options, it may just be the name of a command."""
_EMPTY = re.compile(r"(--[\w-]+)[ =](?:''|\"\")(?:\s|$)")
"""An option whose value was not filled in."""
_TAKES_NOTHING = frozenset({"--dns-servers", "--node-taints"})
"""Options for which az allows an empty value, which clears a list."""


def wrong_commands(diagnosis: Diagnosis) -> list[str]:
    """Every invalid command line in the pages of these findings."""
    lines = (line for ranked in diagnosis.findings for line in commands_of(ranked.finding))
    return [f"{line}: {what}" for line in lines if (what := wrong_with(line))]


def commands_of(finding: Finding) -> Iterator[str]:
    """The commands shown for a finding: in the rendered page and in its proof."""
    for section in SECTIONS:
        text = LIBRARY[finding.code].render(section, finding.facts)
        yield from (line for _, line in shell_lines(text, 1))
        yield from _IN_PROSE.findall(text)
    yield from (line for text in finding.because for line in _IN_PROSE.findall(text))


def wrong_with(line: str) -> str:
    """Why a rendered line is invalid; empty if it is valid."""
    empty = [option for option in _EMPTY.findall(line) if option not in _TAKES_NOTHING]
    return complaint_about(line) or (f"`{empty[0]}` has no value" if empty else "")
