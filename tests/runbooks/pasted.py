"""The runbooks recognized from pasted text: sample texts, and the rendered page."""

from __future__ import annotations

import os
import re
from pathlib import Path

from runbooks.library import SECTIONS, Library, Runbook
from runbooks.values import Facts
from tests.runbooks import said_azure, said_hybrid, said_wild

LIBRARY = Library.load()
GOLDEN = Path(__file__).parent / "golden"
WRITE = bool(os.environ.get("UPDATE_GOLDEN"))
"""Set by `make generate` to rewrite the golden pages; review the diff."""
SAID = said_azure.SAID | said_hybrid.SAID | said_wild.SAID


def page(runbook: Runbook, facts: Facts) -> str:
    """The whole page, rendered with the known values."""
    sections = (f"## {section}\n{runbook.outline(section, facts)}\n" for section in SECTIONS)
    return "\n".join((f"# {runbook.title}\n", *sections))


def pasted(code: str) -> str:
    """A pasted text as a file."""
    return (GOLDEN / f"{code}.pasted.txt").read_text(encoding="utf-8")


def shell_lines(text: str) -> list[str]:
    """The commands of a page, without comments."""
    blocks = re.findall(r"^\s*```sh\n(.*?)^\s*```", text, re.MULTILINE | re.DOTALL)
    lines = (line.strip() for block in blocks for line in block.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
