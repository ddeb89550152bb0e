"""Runbooks are read strictly: a bad one is refused by file and line, nothing is skipped."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runbooks.head import BadRunbook
from runbooks.library import CHECK, FIX, OWN, SECTIONS, Library, Runbook
from tests.runbooks.pages import RIGHT, line_of, write


def test_a_right_runbook_is_read_completely(tmp_path: Path) -> None:
    runbook = Runbook.read(write(tmp_path))
    assert (runbook.code, runbook.severity, runbook.reviewed) == ("quota-exceeded", "error", date(2026, 11, 18))
    assert tuple(runbook.sections) == SECTIONS
    assert runbook.kind == "aks"
    assert runbook.symptoms.codes == ("QuotaExceeded", "ErrCode_InsufficientVCPUQuota")
    assert runbook.symptoms.patterns[0].source == "a recorded deployment"


@pytest.mark.parametrize(
    ("right", "wrong", "where", "what"),
    [
        ("severity: error", "severity: fatal", "severity:", "one of error, warning, info"),
        ("severity: error", "severity: [error]", "severity:", "must be text"),
        ("severity: error\n", "", "code:", "lacks `severity`"),
        ("severity: error", "severity: error\nkind: nexus", "kind:", "one of aks, hybrid, arc-bridge, guide"),
        ("severity: error", "severity: error\nseverity: error", None, "stands twice"),
        ("remedies: []", "remedies: reboot", "remedies:", "must be a list"),
        ("remedies: []", "remedies: [Reboot It]", "remedies:", "lower-case words"),
        ("remedies: []", "remedy: []", "remedy:", "unknown key `remedy`"),
        ("explains: []", "explains: [1]", "explains:", "must be text"),
        ("reviewed: 2026-11-18", "reviewed: last week", "reviewed:", "must be a date"),
        ("reviewed: 2026-11-18", "reviewed: 2026-02-31", "reviewed:", "must be a date"),
        ('      source: "a recorded deployment"\n', "", "pattern:", "lacks `source`"),
        ('words: ["out of quota", "core quota"]', "words: [", None, "not YAML"),
        ('words: ["out of quota", "core quota"]', "words: &a [*a]", "words:", "an alias (`*name`) is not read here"),
        ("title: The", "title: ''\n# The", "title:", "`title` is empty"),
        ("code: quota-exceeded", "code: quota", "code:", "the file is 'quota-exceeded.md'"),
        ("---\ncode", "code", "code:", "the first line must be `---`"),
        ("## Check it yourself", "## Check it", "## Check it", "expected `## Check it yourself` here"),
        ("## Fix", "## Not this, if", "## Not this, if", "expected `## Fix` here"),
        ("## What it means", "Hello\n\n## What it means", "Hello", "text before `## What it means`"),
        ("- the error names a subnet or a policy.", "", None, "`## Not this, if` is empty"),
        ("   ```\n{% if", "{% if", None, "is not closed"),
    ],
)
def test_a_wrong_runbook_is_refused_by_file_and_line(
    tmp_path: Path, right: str, wrong: str, where: str | None, what: str
) -> None:
    assert right in RIGHT
    path = write(tmp_path)
    broken = RIGHT.replace(right, wrong, 1)
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(BadRunbook) as refused:
        Library.load(tmp_path)
    assert refused.value.file == path
    assert what in refused.value.what
    if where:
        assert refused.value.line == line_of(broken, where)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quota-exceeded.md").write_bytes(b"---\n\xff\xfe")
    with pytest.raises(BadRunbook, match="cannot be read"):
        Library.load(tmp_path)


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRunbook, match="no such folder"):
        Library.load(tmp_path / "nowhere")


def test_a_team_adds_codes_and_replaces_others(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two", RIGHT.replace("severity: error", "severity: warning"))
    write(tmp_path / "two", code="our-proxy")
    library = Library.load(tmp_path / "one", tmp_path / "two")
    assert library["quota-exceeded"].severity == "warning"
    assert "our-proxy" in library
    assert list(library) == sorted(library)
    assert len(library) >= len(list(OWN.glob("*.md"))) + 1


def test_a_readme_may_lie_beside_the_runbooks(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("our runbooks", encoding="utf-8")
    Library.load(tmp_path)


def test_an_unknown_code_explains_nothing() -> None:
    assert "nothing-like-that" not in Library([]).explains


def test_a_heading_inside_a_code_block_is_no_section(tmp_path: Path) -> None:
    text = RIGHT.replace("az vm list-usage", "## a comment\naz vm list-usage")
    assert "## a comment" in Runbook.read(write(tmp_path, text)).sections[CHECK]


def test_a_missing_fact_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(BadRunbook, match="'new_limit' is undefined") as refused:
        Runbook.read(path).render(FIX, {})
    assert refused.value.line == line_of(RIGHT, "**{{ new_limit }}**")


def test_an_outline_shows_a_name_for_every_fact(tmp_path: Path) -> None:
    text = Runbook.read(write(tmp_path)).outline(FIX)
    assert "**<new_limit>** (now <limit>)" in text
    assert "az resource update --ids <pool_id> --subscription <subscription>" in text


def test_the_packages_own_runbooks_are_all_readable_and_outlined() -> None:
    for runbook in Library.load().values():
        for section in SECTIONS:
            assert runbook.outline(section)
