"""The pictures that README and docs show: they are there, and cloning the repository loads no megabytes of them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = ROOT / "docs" / "pictures"
MOST = 600_000
"""Bytes of all of them."""


def test_all_of_them_together_are_small() -> None:
    assert sum(file.stat().st_size for file in SHOWN.iterdir()) <= MOST


def test_every_picture_that_a_page_shows_is_there() -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
    shown = [(page, link) for page, text in pages.items() for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)]
    assert shown
    assert [link for page, link in shown if not (page.parent / link).is_file()] == []
