"""The report for people, at 60 and at 80 columns, and for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path

import pytest

from bot.render.json_report import as_dict, as_json, plain
from bot.render.report import report_lines
from bot.report.events import Report
from handlers.model import Diagnosis, Finding, Outcome, Ranked, Unavailable, Why
from runbooks.library import Library
from tests.bot import diagnoses
from tests.bot.diagnoses import TARGET, check, library

GOLDEN = Path(__file__).parent / "golden"
CASES: dict[str, Callable[[], Diagnosis]] = {
    "found": diagnoses.found,
    "warned": diagnoses.warned,
    "blind": diagnoses.blind,
    "clear": diagnoses.clear,
    "clear-in-network": diagnoses.clear_in_network,
    "clear-for-one-code": diagnoses.clear_for_one_code,
    "beside": diagnoses.beside,
    "walked": diagnoses.walked,
}


def text_of(diagnosis: Diagnosis, columns: int = 80, known: Library | None = None) -> str:
    report = Report(diagnosis, 1432.1, 18)
    lines = report_lines(report, library() if known is None else known, columns)
    return "\n".join(line.text for line in lines) + "\n"


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("case", CASES)
def test_the_report_reads_as_agreed(case: str, columns: int) -> None:
    golden, shown = GOLDEN / f"{case}-{columns}.txt", text_of(CASES[case](), columns)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [48, 60, 80, 100])
@pytest.mark.parametrize("case", CASES)
def test_only_what_is_copied_is_wider_than_the_terminal(case: str, columns: int) -> None:
    for line in text_of(CASES[case](), columns).split("\n")[1:]:
        words = line.split()
        assert len(line) <= columns or len(words) == 1 or words[0] == "az" or words[0].startswith("--")


def test_the_first_lines_are_the_effect_and_what_to_do_and_the_cause_comes_before_what_follows() -> None:
    lines = text_of(diagnoses.found()).split("\n")
    assert lines[:3] == [
        "prod-weu cannot add nodes to pool apps: vCPU quota standardDSv5Family is full",
        "(98 of 100 used)",
        "→ Ask for 106 (now 100), or scale down batch (2 nodes, 16 cores)",
    ]
    assert lines[3] == "UNHEALTHY · 1 cause, 2 consequences · 1 check without a result"
    order = ["quota-exceeded", "What to do", "What follows from it", "Could not see", "Ruled out", "Azure calls"]
    found = [next(number for number, line in enumerate(lines) if words in line) for words in order]
    assert found == sorted(found)


def test_a_command_can_be_copied_whole_with_this_clusters_values() -> None:
    command = f"az resource update --ids {diagnoses.POOL} --subscription {diagnoses.SUBSCRIPTION[15:]}"
    copied = " ".join(text_of(diagnoses.found(), 60).replace("\\\n", " ").split())
    assert command in copied


def test_what_was_denied_is_named_once_with_what_to_grant() -> None:
    text = text_of(diagnoses.blind())
    assert "scale sets, instances: denied" in text
    assert text.count("grant Microsoft.Compute/virtualMachineScaleSets/read") == 1


def test_a_runbook_that_lacks_a_fact_is_shown_with_a_placeholder_and_says_so() -> None:
    root = diagnoses.found().findings[0]
    facts = {key: value for key, value in root.finding.facts.items() if key != "new_limit"}
    diagnosis = replace(diagnoses.found(), findings=(Ranked(replace(root.finding, facts=facts)),))
    text = text_of(diagnosis)
    assert "<new_limit>" in text
    assert "could not be filled in" in text


def test_an_answer_that_found_nothing_names_what_no_check_asks_about() -> None:
    text = text_of(diagnoses.clear(), 80, diagnoses.wider_library())
    first = "prod-weu: HEALTHY in what was asked · 6 checks found nothing; 2 kinds of problem have no check\n"
    assert text.startswith(first)
    assert "\nNo check for: memory-saturation, vnet-blocked\n" in text
    assert "No check for" not in text_of(diagnoses.found(), 80, diagnoses.wider_library())


def test_a_cause_without_a_runbook_still_shows_its_proof() -> None:
    text = text_of(diagnoses.found(), known=Library([]))
    assert "98 of 100 cores are used" in text
    assert "There is no runbook for quota-exceeded." in text


def test_a_page_of_proof_is_cut_and_shows_it() -> None:
    root = replace(diagnoses.found().findings[0].finding, because=("Azure said: " + "so much, " * 200,))
    proof = text_of(replace(diagnoses.found(), findings=(Ranked(root),))).split("What to do")[0]
    assert len(proof) < 900  # the first line has its beginning, too
    assert proof.rstrip().endswith("so much, …")


def test_many_checks_that_are_right_take_one_line() -> None:
    checks = tuple(check(f"some-longer-question-{number}", Outcome.CLEAR) for number in range(60))
    lines = text_of(Diagnosis(TARGET, (), checks, (), 1.0), 60).split("\n")
    assert lines[2].startswith("Ruled out: some-longer-question-0")
    assert lines[2].endswith("more")
    assert len(lines[2]) <= 60


def test_a_cluster_that_no_check_applies_to_is_not_checked_and_looks_like_no_trouble() -> None:
    report = Report(diagnoses.beside(), 120.0, 1)
    first = report_lines(report, library(), 80)[0]
    assert first.text == "edge-nexus-01: NOT CHECKED · Arc-connected cluster, no check applies to it"
    assert [style for _, style in first.pieces] == ["title", "dim", "dim"]
    assert as_dict(report, library())["state"] == "inconclusive"


def test_where_no_question_was_about_a_known_kind_it_is_not_checked_either() -> None:
    text = text_of(diagnoses.beside_the_point())
    assert text.startswith("prod-weu: NOT CHECKED · no check applies to it\n")


def test_a_consequence_shows_its_own_error_in_two_lines_at_most() -> None:
    for columns in (48, 60, 80):
        _, _, below = text_of(diagnoses.found(), columns).partition("What follows from it\n")
        below, _, _ = below.partition("\n\n")
        pool, cluster = below.split("  → ")[1:]
        assert "Azure said: ErrCode_InsufficientVCPUQuota" in pool
        assert "error: Internal server error" in cluster
        assert cluster.rstrip().endswith("…")
        assert "write failed" not in cluster
        assert [len(one.rstrip("\n").split("\n")) for one in (pool, cluster)] in ([3, 3], [2, 3], [3, 4], [4, 4])


def test_the_steps_of_a_ledger_carry_their_own_marks_in_their_own_colours() -> None:
    lines = report_lines(Report(diagnoses.walked(), 640.0, 9), library(), 60)
    steps = [line.pieces for line in lines if len(line.pieces) == 3 and line.pieces[0] == ("  ", "")]
    assert [(mark, style) for _, (mark, style), _ in steps] == [
        ("•", ""),
        ("✗", "error"),
        ("✓", "right"),
        ("✗", "error"),
        ("✓", "right"),
        ("?", "unsure"),
        ("–", "dim"),
    ]
    assert [text[:3] for *_, (text, _) in steps] == [f" {number} " for number in range(1, 8)]


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m\x1bP+q\x1b\\\u202e\u2066[bold]x[/bold] `y`\r\nnext\x00\x08"


def test_nothing_from_azure_can_steer_the_terminal() -> None:
    base = diagnoses.found()
    hostile = Finding(HOSTILE, HOSTILE, because=(HOSTILE,), facts={})
    unseen = Unavailable(HOSTILE, Why.DENIED, HOSTILE, HOSTILE)
    findings = (Ranked(hostile), Ranked(replace(hostile, subject="b"), ((HOSTILE, HOSTILE),)))
    crashed = check(HOSTILE, Outcome.CRASHED, HOSTILE)
    text = text_of(replace(base, findings=findings, unseen=(unseen,), checks=(crashed, *base.checks)))
    assert not {char for char in text if ord(char) < 32 or 126 < ord(char) < 160} - {"\n"}
    assert "\u202e" not in text
    assert "owned" not in text
    assert "[bold]x[/bold]" in text


def test_hostile_facts_in_a_runbook_cannot_steer_the_terminal() -> None:
    root = diagnoses.found().findings[0]
    facts = dict(root.finding.facts) | {"pool": HOSTILE, "pool_id": HOSTILE}
    text = text_of(replace(diagnoses.found(), findings=(Ranked(replace(root.finding, facts=facts)),)))
    assert not {char for char in text if ord(char) < 32 or 126 < ord(char) < 160} - {"\n"}


def test_json_has_the_agreed_keys_and_is_plain_ascii() -> None:
    report = Report(diagnoses.found(), 1432.14, 18, kube_calls=2)
    text = as_json(report, library())
    assert text.isascii()
    whole = json.loads(text)
    assert whole["cluster"] == "prod-weu"
    assert whole["state"] == "found"
    assert whole["took_ms"] == 1432.1
    assert whole["calls"] == {"arm": 18, "kube": 2}
    root, pool, cluster = whole["findings"]
    assert root["root"] is True
    assert root["explained_by"] == []
    assert root["facts"]["new_limit"] == 106
    assert pool["explained_by"] == [{"code": "quota-exceeded", "subject": diagnoses.USAGE}]
    assert (cluster["root"], cluster["severity"], cluster["remedies"]) == (False, "error", [])
    assert [one["id"] for one in whole["checks"]] == sorted(one["id"] for one in whole["checks"])
    assert {"id", "outcome", "why", "took_ms"} <= set(whole["checks"][0])
    assert whole["unseen"][0]["grant"] == "Microsoft.Authorization/locks/read"


def test_json_is_the_same_for_the_same_diagnosis() -> None:
    report = Report(diagnoses.found(), 1432.1, 18)
    assert as_json(report, library()) == as_json(report, library())


class Colour(Enum):
    RED = "red"


def test_facts_of_any_kind_become_plain_json() -> None:
    facts = {
        "b": {3, 1, 2},
        "a": (datetime(2026, 11, 18, tzinfo=UTC), timedelta(seconds=90)),
        "c": Colour.RED,
        "d": TARGET.id,
        "e": None,
    }
    assert list(plain(facts)) == ["a", "b", "c", "d", "e"]
    assert plain(facts) == {
        "a": ["2026-11-18T00:00:00+00:00", 90.0],
        "b": [1, 2, 3],
        "c": "red",
        "d": diagnoses.CLUSTER,
        "e": None,
    }


def test_a_replay_says_when_it_was_recorded() -> None:
    moment = datetime(2026, 11, 18, 3, 4, tzinfo=UTC)
    report = Report(diagnoses.clear(), 900.0, 18, recorded_at=moment)
    assert report_lines(report, library(), 80)[-1].text.endswith("replay of 2026-11-18 03:04 UTC")
    assert as_dict(report, library())["recorded_at"] == "2026-11-18T03:04:00+00:00"
