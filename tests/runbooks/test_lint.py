"""`aksbot runbooks lint` names every fault with its file and line, and does not stop at the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.runbooks import lint_folder
from bot.triage.explain import explain
from runbooks.library import Library
from runbooks.lint import Complaint, lint
from tests.runbooks.pages import RIGHT, line_of, write


def test_the_packages_own_runbooks_are_right() -> None:
    assert lint() == []


def test_a_right_runbook_brings_no_complaint(tmp_path: Path) -> None:
    write(tmp_path)
    assert lint(tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "where", "what"),
    [
        ("explains: []", "explains: [no-such-thing]", "explains:", "no runbook has that code"),
        ("explains: []", "explains: [quota-exceeded]", "explains:", "quota-exceeded -> quota-exceeded"),
        ('"(?i)exceeding approved .{0,60} quota"', '"(unclosed"', "pattern:", "not a regular expression"),
        ('"(?i)exceeding approved .{0,60} quota"', '".*"', "pattern:", "matches any text"),
        ("{{ family }}", "{{ family }", "`{{ family }`", "template"),
        ("{{ limit }}", "{{ limit | loud }}", "loud", "loud"),
        ("{% endif %}", "", None, "template"),
        ("az vm list-usage", "az vm list-use", "list-use", "`az vm list-use` is not in commands.yaml"),
        ("--location {{ location }}", "--place here", "--place", "has no option `--place`"),
        (" --location {{ location }}", "", "az vm list", "needs `--location`"),
        ("--output table", '--output "table', "--output", "not a shell line"),
        ("See [how to ask](", "See (", "https://", "a bare link"),
        ("2. When there is room, let the pool try again:", "2. [Read this](https://a.b)", "2. [", "a bare link"),
        ("severity: error", "severity: loud", "severity:", "one of error"),
        ("effect: No cores are left.\n", "", "title:", "`effect` is missing"),
        ("do: Ask for more.", "do: Ask for {{ more | loud }}.", "do:", "`do`: template"),
        ("(now {{ limit }})", "{% if limit %}A{% else %}B{% endif %}", "{% if limit", "which of these branches"),
        ("(now {{ limit }})", "{% if limit %}{% when 'a' %}A{% elif pool %}B{% endif %}", "{% if limit", "which of"),
        ("(now {{ limit }})", "(now{% when 'it is low' %})", "(now", "the first thing in a branch"),
        ("(now {{ limit }})", "(now {{ limit == 9 }})", "(now", "shows 'False'"),
        ("(now {{ limit }})", "{% for a, b in limit %}{{ a }}{% endfor %}", "{% for a", "its outline fails"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, where: str | None, what: str) -> None:
    assert right in RIGHT
    broken = RIGHT.replace(right, wrong, 1)
    path = write(tmp_path, broken)
    complaints = lint(tmp_path)
    assert [complaint.file for complaint in complaints] == [path]
    assert what in complaints[0].what
    if where:
        assert complaints[0].line == line_of(broken, where)


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [("(?<!not )exceeding .{0,60} quota", "only the first"), ("(?!x)(a{1,80}){1,80}", "it is never looked for")],
)
def test_a_pattern_with_a_lookaround_is_named_with_what_to_write_instead(
    tmp_path: Path, pattern: str, kept: str
) -> None:
    broken = RIGHT.replace("(?i)exceeding approved .{0,60} quota", pattern, 1)
    path = write(tmp_path, broken)
    (complaint,) = lint(tmp_path)
    assert (complaint.file, complaint.line) == (path, line_of(broken, "pattern:"))
    assert complaint.warning == (kept == "only the first")
    for part in ("cannot be run in linear time", kept, "write it without lookaround"):
        assert part in complaint.what


def test_a_team_s_old_pattern_still_recognises_and_stops_nobody(tmp_path: Path) -> None:
    write(tmp_path, RIGHT.replace("(?i)exceeding approved .{0,60} quota", "(?<!not )exceeding our quota", 1))
    library = Library.load(tmp_path)
    assert [one.runbook.path.parent for one in explain("exceeding our quota", library).matches[:1]] == [tmp_path]
    assert lint_folder(tmp_path) == 0


def test_what_must_not_stand_there_is_read_from_the_page(tmp_path: Path) -> None:
    with_unless = RIGHT.replace(
        '"(?i)exceeding approved .{0,60} quota"', '"exceeding approved .{0,60} quota"\n      unless: "cores quota"', 1
    )
    write(tmp_path, with_unless)
    assert lint(tmp_path) == []
    library = Library.load(tmp_path)
    assert explain("exceeding approved regional quota", library).matches[0].weight == 80
    assert all(one.weight < 80 for one in explain("exceeding approved cores quota", library).matches)


def test_every_file_is_read_although_one_is_broken(tmp_path: Path) -> None:
    first = write(tmp_path, "nothing", code="a-first")
    second = write(tmp_path, RIGHT.replace("az vm list-usage", "az vm nonsense"), code="b-second")
    assert [complaint.file for complaint in lint(tmp_path)] == [first, second]


def test_a_circle_of_causes_is_refused(tmp_path: Path) -> None:
    for code, explains in (("one", "two"), ("two", "three"), ("three", "one")):
        write(tmp_path, RIGHT.replace("explains: []", f"explains: [{explains}]"), code=code)
    assert "one -> two -> three -> one" in next(str(c) for c in lint(tmp_path) if c.file.stem == "one")


def test_a_command_over_two_lines_is_read_as_one(tmp_path: Path) -> None:
    broken = RIGHT.replace("az vm list-usage --location", "az vm list-usage \\\n  --no-such --location")
    write(tmp_path, broken)
    assert lint(tmp_path)[0].line == line_of(broken, "list-usage")


def test_a_missing_folder_is_a_complaint(tmp_path: Path) -> None:
    assert lint(tmp_path / "no") == [Complaint(tmp_path / "no", 1, "there is no such folder of runbooks")]
