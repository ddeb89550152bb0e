"""The proof of a finding as lines: bullets, the steps of a ledger, and the line that quotes Azure's error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import shorten

from bot.render.clean import one_line, wrapped
from bot.render.line import Line
from handlers.model import Finding

_STEP = re.compile(r"(?P<mark>[•✓✗?–]) (?=\d)")
"""A step of a ledger brings its own mark; a bullet before it would only hide that."""
_STYLES = {"•": "", "✓": "right", "✗": "error", "?": "unsure", "–": "dim"}
_LONGEST = 240
"""Azure can say a page in one sentence; the JSON report holds all of it."""
_MOST_LINES = 2
"""A consequence is told shortly: its cause stands above it."""


def proof_lines(finding: Finding, columns: int) -> Iterator[Line]:
    """All lines of the proof of a cause."""
    for proof in finding.because:
        text = shorten(one_line(proof), _LONGEST, placeholder=" …")
        step = _STEP.match(text)
        if step:
            yield from _step(step["mark"], text[step.end() :], columns)
        else:
            yield from (Line.of((line, "")) for line in wrapped(text, indent="  • ", hang="    ", columns=columns))


def own_proof_lines(finding: Finding, columns: int) -> Iterator[Line]:
    """The proof of a consequence, if it differs from its cause's: then a person must see it."""
    lines = wrapped(one_line(own_proof(finding)), indent="    ", columns=columns)
    shown = lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        shown[-1] = shorten(f"{shown[-1]} {lines[_MOST_LINES]}", columns - 4, placeholder=" …").strip()
        shown[-1] = f"    {shown[-1]}"
    yield from (Line.of((line, "dim")) for line in shown)


def own_proof(finding: Finding) -> str:
    """The line that quotes Azure's error; else the second line, because the first only repeats the state."""
    for fact in ("message", "code"):
        text = one_line(str(finding.facts.get(fact) or ""))
        holding = [line for line in finding.because if text and text in one_line(line)]
        if holding:
            return holding[0]
    return finding.because[1] if len(finding.because) > 1 else finding.because[0]


def _step(mark: str, text: str, columns: int) -> Iterator[Line]:
    first, *more = wrapped(text, indent="    ", hang="      ", columns=columns)
    yield Line.of(("  ", ""), (mark, _STYLES[mark]), (f" {first.strip()}", ""))
    yield from (Line.of((line, "")) for line in more)
