"""The policy file: interpreted literally; unknown keys are rejected with name and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.policy.file import load, read
from bot.policy.model import Look, LookRule, Policy
from handlers.problem import Exit, Problem

RIGHT = """\
look:
  ask: the platform team in platform-on-call
  rules:
    - clusters: [prod-*, payments-prod]
      channels: [C0123ABCD, direct]
      people: ["T0123ABCD:U0123ABCD", S0123ABCD]
    - clusters: [dev-shared]
  guests: [C0123ABCD]
  slack_connect: no
"""


def _file(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    rules = (
        LookRule(
            clusters=("prod-*", "payments-prod"),
            channels=("C0123ABCD", "direct"),
            people=("T0123ABCD:U0123ABCD", "S0123ABCD"),
        ),
        LookRule(clusters=("dev-shared",), channels=("*",), people=("*",)),
    )
    ask = "the platform team in platform-on-call"
    assert load(_file(tmp_path, RIGHT)) == Policy(look=Look(rules=rules, guests=("C0123ABCD",), ask=ask))


FIXES = """\
fixes:
  rules:
    - clusters: [prod-*]
      remedies: [%s]
      approvers: [S0123ABCD]
      approvals: 2
    - clusters: ["*"]
      approvers: [S0123ABCD]
"""
REMEDIES = ("reconcile-cluster", "reconcile-pool", "update-instances")


@pytest.mark.parametrize("names", ["reconcile-*, update-instances", "'*'", "'reconcile-p??l'"])
def test_a_rule_about_remedies_that_there_are_is_taken(tmp_path: Path, names: str) -> None:
    policy, complaints = read(_file(tmp_path, FIXES % names), remedies=REMEDIES)
    assert complaints == []
    assert policy


@pytest.mark.parametrize("name", ["reconcile-clster", "restart-*"])
def test_a_remedy_that_there_is_not_is_refused_before_it_falls_through_to_a_laxer_rule(
    tmp_path: Path, name: str
) -> None:
    policy, (complaint,) = read(_file(tmp_path, FIXES % f"update-instances, {name}"), remedies=REMEDIES)
    assert policy is None
    assert (complaint.line, name in complaint.what) == (4, True)
    assert "reconcile-cluster, reconcile-pool, update-instances" in complaint.do
    with pytest.raises(Problem) as refused:
        load(tmp_path / "policy.yaml", remedies=REMEDIES)
    assert name in refused.value.why


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}", "look: {}"])
def test_what_is_left_out_is_as_without_a_file(tmp_path: Path, text: str) -> None:
    assert load(_file(tmp_path, text)) == load(None) == Policy()


@pytest.mark.parametrize(
    ("text", "line", "what", "do"),
    [
        (RIGHT.replace("guests:", "gests:"), 8, "`look.gests` is not a key", "allowed there: rules, guests"),
        (
            RIGHT.replace("channels:", "chanels:"),
            5,
            "`look.rules.1.chanels` is not a key",
            "clusters, channels, service_accounts, people",
        ),
        (RIGHT + "repairs: {}\n", 10, "`repairs` is not a key of the policy", "allowed there: look"),
        (RIGHT.replace("C0123ABCD, direct", "'#incidents'"), 5, "`look.rules.1.channels` cannot be", "channel ids"),
        (RIGHT.replace("S0123ABCD", "U0123ABCD"), 6, "cannot be 'U0123ABCD'", "T0123ABCD:U0123ABCD"),
        (RIGHT.replace("[dev-shared]", "dev-shared"), 7, "`look.rules.2.clusters` cannot be 'dev-shared'", "a list of"),
        (RIGHT.replace("- clusters: [dev-shared]", "- people: ['*']"), 7, "clusters` is missing", "cluster names"),
        (RIGHT.replace("slack_connect: no", "slack_connect: yes"), 9, "`look.slack_connect` cannot be True", "no, or"),
        (RIGHT.replace("[prod-*,", "[7,"), 4, "`look.rules.1.clusters` cannot be 7", "cluster names"),
        (RIGHT + "  guests: no\n", 10, "`look.guests` is there twice", "keep one"),
        (RIGHT.replace("rules:", "rules: ["), 4, "it is not YAML", "correct that line"),
        ("- look\n", 1, "it holds no keys", "begin with one of look"),
        ("look: no\n", 1, "`look` cannot be False", "who may look"),
        ("look: &again {rules: [*again]}\n", 1, "an alias (`*name`) is not read here", "correct that line"),
        (f"look:\n  rules: {'[' * 90}\n", 2, "it is nested more than 50 levels deep", "correct that line"),
        ("look:\n" + "- a\n" * 20_000, 19_999, "it holds more than 20000 values", "correct that line"),
        (f"look: {'9' * 5000}\n", 1, "no number or date has 5000 characters", "correct that line"),
        ("fixes:\n  freezes: [2026-02-30]\n", 2, "it looks like a value of type timestamp and is none", "correct"),
        ("#" * 1_000_001, 1, "it has more than 1000000 characters", "correct that line"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_line(tmp_path: Path, text: str, line: int, what: str, do: str) -> None:
    policy, complaints = read(_file(tmp_path, text))
    assert policy is None
    assert any((one.line, what in one.what, do in one.do) == (line, True, True) for one in complaints), complaints
    with pytest.raises(Problem) as refused:
        load(tmp_path / "policy.yaml")
    assert "policy.yaml" in refused.value.what
    assert refused.value.code is Exit.USAGE


def test_of_several_complaints_the_first_is_told_and_the_rest_counted(tmp_path: Path) -> None:
    file = _file(tmp_path, RIGHT.replace("clusters:", "cluster:"))
    with pytest.raises(Problem, match=r"line 4: .*, and 3 more \(`aksbot policy lint` lists all\)"):
        load(file)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot read the policy"):
        load(tmp_path)
