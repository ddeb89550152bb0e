"""`aksbot policy lint | explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bot.conftest import Here


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text("look:\n  ask: the platform team\n  rules:\n    - {clusters: [prod-*], channels: [C0123ABCD]}\n")
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    return file


def test_a_right_policy_is_called_right(here: Here, policy: Path) -> None:
    assert here("policy", "lint").out.startswith("the policy is right")
    assert here("policy", "lint", str(policy)).code == 0


def test_all_that_is_wrong_is_named_by_line(here: Here, policy: Path) -> None:
    policy.write_text("look:\n  rule: []\n  guests: 3\n")
    ran = here("policy", "lint")
    assert ran.code == 64
    assert "policy.yaml:2: `look.rule` is not a key" in ran.err
    assert "policy.yaml:3: `look.guests` cannot be 3" in ran.err
    assert "2 things wrong" in ran.err


def test_a_rule_about_a_remedy_that_there_is_not_is_named_by_line(here: Here, policy: Path) -> None:
    rule = "    - {clusters: [prod-*], approvers: [S0123ABCD],\n       remedies: [reconcile-clster]}\n"
    policy.write_text(f"fixes:\n  rules:\n{rule}")
    ran = here("policy", "lint")
    assert ran.code == 64
    assert "policy.yaml:4: `fixes.rules.1.remedies` names 'reconcile-clster'" in ran.err
    assert "reconcile-cluster" in ran.err
    assert here("policy", "explain", "prod-weu").code == 64


def test_rules_that_could_never_hold_are_named_by_line(here: Here, policy: Path) -> None:
    rule = "    - clusters: []\n      approvers: ['T01:U01', 'T01:U01']\n      approvals: 2\n"
    policy.write_text(f"fixes:\n  rules:\n{rule}")
    ran = here("policy", "lint")
    assert ran.code == 64
    assert "policy.yaml:3: `fixes.rules.1.clusters` is empty, so that it never holds; name what" in ran.err
    assert "policy.yaml:5: `fixes.rules.1.approvals` asks for 2 approvals, and there is only 1 approver" in ran.err
    assert "2 things wrong" in ran.err


@pytest.mark.parametrize(
    ("rule", "warned"),
    [
        ("approvers: [T01:U01, T01:U02], approvals: 2, requester_counts: false", True),
        ("approvers: [T01:U01], requester_counts: false", True),
        ("approvers: [T01:U01, T01:U02], approvals: 2", False),
        ("approvers: [T01:U01, T01:U02, T01:U03], approvals: 2, requester_counts: false", False),
        ("approvers: [T01:U01, S01], approvals: 2, requester_counts: false", False),
        ("approvers: []", False),
    ],
)
def test_a_rule_that_no_approver_can_make_use_of_themselves_is_right_and_warned_of(
    here: Here, policy: Path, rule: str, warned: bool
) -> None:
    policy.write_text(f"fixes:\n  rules:\n    - {{clusters: ['*'], {rule}}}\n")
    ran = here("policy", "lint")
    said = " ".join(ran.out.split())
    assert (ran.code, said.startswith("the policy is right")) == (0, True)
    assert ("`fixes.rules.1`" in said and "where an approver asks, nobody else can complete it" in said) is warned


def test_without_a_policy_there_is_nothing_to_check_and_the_default_is_told(here: Here) -> None:
    ran = here("policy", "lint")
    assert ran.code == 64
    assert "everybody but guests" in " ".join(ran.err.split())


def test_a_settings_file_names_the_policy_from_where_it_stands(
    here: Here, policy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AKSBOT_POLICY")
    (tmp_path / "aksbot.toml").write_text('policy = "policy.yaml"\n')
    assert here("policy", "lint").code == 0


def test_the_rule_that_says_yes_is_named(here: Here, policy: Path) -> None:
    ran = here("policy", "explain", "prod-weu", "--channel", "C0123ABCD")
    assert ran.code == 0
    assert "allowed: rule 1" in ran.out


def test_a_no_is_explained(here: Here, policy: Path) -> None:
    ran = here("policy", "explain", "prod-weu")
    assert ran.code == 1
    assert "not for this channel" in ran.out
    assert "C0123ABCD" in ran.out
    assert "the platform team" in ran.out


def test_programs_get_an_object(here: Here, policy: Path) -> None:
    ran = here("policy", "explain", "dev-shared", "--output", "json")
    assert json.loads(ran.out) == {
        "allowed": False,
        "why": "no rule lets anybody look at this cluster",
        "channels": [],
    }


@pytest.mark.parametrize("option", [("--guest",), ("--stranger",)])
def test_outsiders_can_be_asked_about(here: Here, option: tuple[str]) -> None:
    assert here("policy", "explain", "prod-weu").code == 0
    assert here("policy", "explain", "prod-weu", *option).code == 1


@pytest.mark.parametrize("words", [("--user", "requester"), ("--channel", "#incidents")])
def test_what_is_no_id_is_refused(here: Here, words: tuple[str, str]) -> None:
    ran = here("policy", "explain", "prod-weu", *words)
    assert ran.code == 64
    assert words[1] in ran.err


FIXES = """\
fixes:
  freezes: [{name: peak, days: [mon, tue, wed, thu, fri, sat, sun]}]
  rules:
    - {clusters: [payments-*], approvers: [T0123ABCD:U0000LEAD], frozen: [peak], break_glass: [T0123ABCD:U0ONCALL]}
    - {clusters: [prod-*], remedies: [reconcile-*], approvers: [S0123ABCD], approvals: 2, requester_counts: false}
"""


def test_who_may_let_a_fix_run_is_explained(here: Here, policy: Path) -> None:
    policy.write_text(FIXES)
    ran = here("policy", "explain", "prod-weu", "--remedy", "reconcile-pool")
    assert ran.code == 0
    assert "allowed: rule 2" in ran.out
    assert "approvals needed: 2; the word of whoever asks does not count" in ran.out
    assert "S0123ABCD" in ran.out


def test_whether_one_person_may_let_it_run_is_explained(here: Here, policy: Path) -> None:
    policy.write_text(FIXES)
    asked = ("policy", "explain", "prod-weu", "--remedy", "reconcile-pool", "--user", "T0123ABCD:U0000LEAD")
    assert here(*asked).code == 1
    assert "not among the approvers" in here(*asked).out
    assert here(*asked, "--group", "S0123ABCD").code == 0
    assert "guests" in here(*asked, "--group", "S0123ABCD", "--guest").out


def test_a_freeze_and_who_may_break_the_glass_are_told(here: Here, policy: Path) -> None:
    policy.write_text(FIXES)
    asked = ("policy", "explain", "payments-prod", "--remedy", "reconcile-pool")
    lead = here(*asked, "--user", "T0123ABCD:U0000LEAD")
    assert lead.code == 1
    assert "ON NOW" in lead.out
    assert "who may break the glass: T0123ABCD:U0ONCALL" in lead.out
    assert here(*asked, "--user", "T0123ABCD:U0ONCALL").code == 0
    told = json.loads(here(*asked, "--output", "json").out)
    assert (told["frozen"], told["rule"]) == ("peak", 1)


def test_what_no_rule_covers_and_no_remedy_is_called_is_told(here: Here, policy: Path) -> None:
    policy.write_text(FIXES)
    assert (
        "no rule of the policy covers it" in here("policy", "explain", "dev-shared", "--remedy", "reconcile-pool").out
    )
    ran = here("policy", "explain", "prod-weu", "--remedy", "reconcile-pol")
    assert ran.code == 64
    assert "reconcile-pool" in ran.err
