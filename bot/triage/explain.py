"""What a pasted error is about. Text alone proves nothing: what is recognised here has not been verified."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from bot.triage.explain_text import PastedText
from bot.triage.literals import Needs, needs
from bot.triage.plain_text import without_empty_lines
from handlers.evidence.errors import ErrorDetail, innermost, layers
from runbooks.library import Library, Runbook
from runbooks.patterns import searchable
from runbooks.values import Facts, extract

LONGEST = 50_000
"""Characters that are read: a long log is cut, so that no pattern runs for minutes."""

_INNERMOST_CODE, _PATTERN, _OUTER_CODE, _WORDS = 100, 80, 40, 20
"""How much each kind of symptom says. The innermost error's own code is what Azure itself calls the problem."""


@dataclass(frozen=True, slots=True)
class Match:
    """A runbook that the text matches, and the reasons."""

    runbook: Runbook
    by: str
    weight: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """The innermost error of the text, the matching runbooks, best first, and the values for the first one."""

    error: ErrorDetail | None
    matches: tuple[Match, ...]
    facts: Facts = field(default_factory=dict)
    """Read from the text, for the best match's page: `runbook.outline(section, facts)`."""

    @property
    def is_certain(self) -> bool:
        """Whether a code or a pattern says what it is: words alone are in every second question."""
        return bool(self.matches) and max(match.weight for match in self.matches) >= _OUTER_CODE


def explain(text: str, library: Library) -> Explanation:
    """Recognise a pasted error, or a sentence about one."""
    text = without_empty_lines(text[:LONGEST])
    error = innermost(text)
    codes = {layer.code.lower() for layer in layers(text) if layer.code}
    pasted = PastedText(text)
    found = [match for runbook in library.values() if (match := _match(runbook, pasted, error, codes))]
    matches = tuple(sorted(found, key=lambda match: _order(match, found)))
    return Explanation(error, matches, extract(matches[0].runbook, text) if matches else {})


def _order(match: Match, found: list[Match]) -> tuple[bool, int, str]:
    """Causes before what they explain, unless only words speak for the cause."""
    explained = any(match.runbook.code in other.runbook.explains for other in found if other.weight >= _OUTER_CODE)
    return explained, -match.weight, match.runbook.code


def _match(runbook: Runbook, pasted: PastedText, error: ErrorDetail | None, codes: set[str]) -> Match | None:
    symptoms = runbook.symptoms
    for code in symptoms.codes:
        if error and code.lower() == error.code.lower():
            return Match(runbook, code, _INNERMOST_CODE)
    for pattern in symptoms.patterns:
        wanted = _needs(pattern.pattern)
        if wanted and not pasted.has_any(wanted):
            continue  # Most patterns need a literal that is not in the text; checking for that costs next to nothing.
        hit = searchable(pattern.pattern, pattern.unless).search(pasted.text)
        if hit:
            return Match(runbook, hit[0].strip(), _PATTERN)
    for code in symptoms.codes:
        if code.lower() in codes or pasted.says(code):
            return Match(runbook, code, _OUTER_CODE)
    words = [word for word in symptoms.words if pasted.says(word)]
    return Match(runbook, ", ".join(words), _WORDS * len(words)) if words else None


@cache
def _needs(pattern: str) -> Needs:
    return needs(pattern)
