"""A valid runbook as text, for tests that break it in one place."""

from __future__ import annotations

from pathlib import Path

from tests.bot.diagnoses import FIRST_LINES, QUOTA_RUNBOOK

RIGHT = QUOTA_RUNBOOK.replace("explains: [nodepool-failed, cluster-failed]", "explains: []").replace(
    FIRST_LINES, "effect: No cores are left.\ndo: Ask for more.\n"
)


def write(folder: Path, text: str = RIGHT, *, code: str = "quota-exceeded") -> Path:
    """Write the runbook to a file named after its code."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{code}.md"
    path.write_text(text.replace("code: quota-exceeded", f"code: {code}"), encoding="utf-8")
    return path


def line_of(text: str, words: str) -> int:
    """The number of the line that contains this text."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)
