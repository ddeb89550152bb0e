"""Versions are compared part by part, everywhere by the same function."""

from pathlib import Path

import pytest

import handlers
from handlers.version import meets


@pytest.mark.parametrize(
    ("runs", "asked"),
    [
        ("1.30.10", "1.30"),
        ("1.30.1", "1.30.1"),
        ("v1.30.1", "1.30.1"),
        ("1.30.1", "v1.30"),
        ("1.30.1-hotfix.20260401", "1.30.1"),
        ("1.30.1+build", "1.30.1"),
        ("1.30", ""),
        ("", ""),
    ],
)
def test_what_was_asked_for_runs(runs: str, asked: str) -> None:
    assert meets(runs, asked)


@pytest.mark.parametrize(
    ("runs", "asked"),
    [
        ("1.30.10", "1.30.1"),
        ("1.30.1", "1.30.10"),
        ("1.3.0", "1.30"),
        ("1.30", "1.30.1"),
        ("", "1.30"),
        ("1.31", "1.3"),
    ],
)
def test_what_only_begins_alike_is_another_version(runs: str, asked: str) -> None:
    assert not meets(runs, asked)


def test_nothing_compares_versions_by_their_first_characters() -> None:
    code = Path(handlers.__file__).parent.rglob("*.py")
    lines = [(file.name, line.strip()) for file in code for line in file.read_text().splitlines()]
    assert not [one for one in lines if "startswith(" in one[1] and "version" in one[1].lower()]
