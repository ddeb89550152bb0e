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
    assert "policy.yaml:2: `look.rule` is no key" in ran.err
    assert "policy.yaml:3: `look.guests` cannot be 3" in ran.err
    assert "2 things wrong" in ran.err


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
