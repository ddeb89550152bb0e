"""`aksbot runbooks list | show | lint`, with the package's own runbooks and a team's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runbooks.library import Library
from tests.bot.conftest import Here
from tests.runbooks.pages import RIGHT, line_of, write


def test_the_list_for_programs_is_an_array_of_heads(here: Here) -> None:
    ran = here("runbooks", "list", "--output", "json")
    heads = json.loads(ran.out)
    assert ran.code == 0
    assert [head["code"] for head in heads] == list(Library.load())
    assert {head["kind"] for head in heads} == {"aks", "hybrid", "arc-bridge", "guide"}
    assert {"code", "kind", "title", "severity", "explains", "remedies", "symptoms", "sources", "reviewed"} <= set(
        heads[0]
    )


def test_the_list_for_people_has_a_line_for_each_code(here: Here) -> None:
    assert [line.split()[0] for line in here("runbooks", "list").out.splitlines()] == list(Library.load())


def test_a_runbook_is_shown_with_all_its_sections(here: Here) -> None:
    ran = here("runbooks", "show", "subnet-full")
    assert ran.code == 0
    for section in ("What it means", "Check it yourself", "Fix", "Not this, if"):
        assert f"\n{section}\n" in ran.out


def test_an_unknown_code_gets_the_nearest_ones(here: Here) -> None:
    ran = here("runbooks", "show", "subnet-ful")
    assert ran.code == 64
    assert "subnet-full" in ran.err


def test_a_page_is_shown_by_a_word_that_it_alone_has(here: Here) -> None:
    assert here("runbooks", "show", "pdb").out == here("runbooks", "show", "pdb-blocks-drain").out


def test_words_of_several_pages_name_them(here: Here) -> None:
    ran = here("runbooks", "show", "spot")
    assert ran.code == 64
    assert "node-repaired-or-evicted" in ran.err


def test_what_reconciling_does_is_a_page_of_its_own(here: Here) -> None:
    ran = here("runbooks", "show", "reconcile")
    assert ran.code == 0
    assert "It does not:" in ran.out
    assert "Further reading" in ran.out


def test_a_teams_runbooks_are_used(here: Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / "ours", code="our-proxy")
    monkeypatch.setenv("AKSBOT_RUNBOOKS", str(tmp_path / "ours"))
    assert "our-proxy" in here("runbooks", "list").out
    assert "/ours" in here("runbooks", "lint").out


@pytest.mark.parametrize("words", [("runbooks", "list"), ("explain", "x"), ("check", "prod-weu"), ("replay", "x")])
def test_a_malformed_runbook_stops_every_command_by_name_and_line(
    here: Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    broken = RIGHT.replace("severity: error", "severity: loud")
    path = write(tmp_path / "ours", broken)
    monkeypatch.setenv("AKSBOT_RUNBOOKS", str(path.parent))
    ran = here(*words)
    assert ran.code == 64
    assert f"{path}, line {line_of(broken, 'severity:')}" in ran.err
    assert "one of error, warning, info" in " ".join(ran.err.split())


def test_lint_names_each_fault_and_ends_with_64(here: Here, tmp_path: Path) -> None:
    path = write(tmp_path / "ours", RIGHT.replace("az vm list-usage", "az vm nonsense"))
    ran = here("runbooks", "lint", str(path.parent))
    assert ran.code == 64
    assert f"{path}:{line_of(path.read_text(), 'nonsense')}: " in ran.err
    assert "1 thing wrong" in ran.err


def test_lint_says_when_all_is_right(here: Here) -> None:
    ran = here("runbooks", "lint")
    assert ran.code == 0
    assert ran.out.startswith("the runbooks are right")
