"""Generates `docs/catalogue.md`: every problem the bot knows, from the runbooks and the diagnostics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bot.report.known import asked_codes, checked_codes
from runbooks.head import GUIDE
from runbooks.library import FURTHER, OWN, Library, Runbook

CHECK, ASKED, TEXT = "check", "question", "text"
FILE = OWN.parent / "docs" / "catalogue.md"
_NO_SECTION = "Other"
_SECTIONS = {
    "001": "Cluster, node or node pool in a failed state",
    "002": "Network problems",
    "003": "Azure Service Operator",
    "000": "AKS hybrid on Azure Operator Nexus",
    "004": "Azure Arc resource bridge",
}
"""By the number of the reference document, as sources name it: `seed 001: …`."""
_DOCUMENT = re.compile(r"\bseed (\d{3})\b")
_HEAD = """\
# Every problem the bot knows

Written by `aksbot runbooks catalogue`; a test compares it. Do not edit it.

*Known by*: **check** = `aksbot check` proves it from evidence; **question** = it does where somebody asks about that
path or service account (`aksbot check CLUSTER path …`, `… rbac …`); **text** = recognised in what somebody pasted or
wrote, not verified, since no check looks for it yet; **guide** = no problem, but how to go on (logs, support).
*Explains*: where both are found, the other is a consequence of this one.
"""


def catalogue(library: Library) -> str:
    """The whole document."""
    return "\n".join(_lines(library)) + "\n"


def _lines(library: Library) -> Iterator[str]:
    yield _HEAD
    counted = Counter(map(_known_by, library.values()))
    yield (
        f"{len(library)} codes: {counted[CHECK]} proved by a check, {counted[ASKED]} where someone asks, "
        f"{counted[TEXT]} recognised in text, "
        f"{counted[GUIDE]} guides."
    )
    for title in (*_SECTIONS.values(), _NO_SECTION):
        members = [runbook for runbook in library.values() if section_of(runbook) == title]
        if members:
            yield f"\n## {title}\n"
            yield "| code | what is wrong | severity | known by | explains | fixes it offers |"
            yield "|---|---|---|---|---|---|"
            yield from map(_row, members)
            yield from _further(members)


def _row(runbook: Runbook) -> str:
    cells = (
        f"[{runbook.code}](../runbooks/{runbook.code}.md)",
        runbook.title.replace("|", "\\|"),
        runbook.severity,
        _known_by(runbook),
        ", ".join(runbook.explains) or "–",
        ", ".join(runbook.remedies) or "steps",
    )
    return f"| {' | '.join(cells)} |"


def _further(members: Sequence[Runbook]) -> Iterator[str]:
    """Below the table: the public pages to read on at, each once, with the codes that name it."""
    codes: dict[tuple[str, str], list[str]] = {}
    for runbook in members:
        for link in runbook.links:
            codes.setdefault((link.title, link.url), []).append(runbook.code)
    if codes:
        yield f"\n{FURTHER}:\n"
        yield from (f"- [{title}]({url}): {', '.join(named)}" for (title, url), named in codes.items())


def _known_by(runbook: Runbook) -> str:
    if runbook.code in checked_codes():
        return CHECK
    if runbook.code in asked_codes():
        return ASKED
    return GUIDE if runbook.kind == GUIDE else TEXT


def section_of(runbook: Runbook) -> str:
    """The section of the document that a page comes from: the first one its sources name."""
    named = (*runbook.sources, *(pattern.source for pattern in runbook.symptoms.patterns))
    first = next((hit[1] for text in named if (hit := _DOCUMENT.search(text))), "")
    return _SECTIONS.get(first, _NO_SECTION)
