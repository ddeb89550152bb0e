"""Rules and freezes that could not do what they say are refused; a freeze holds to the last moment that it names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.policy.file import Complaint, load, read
from bot.policy.fixes import Freeze
from handlers.problem import Exit, Problem

STRICT_THEN_LAX = """\
fixes:
  rules:
    - clusters: %s
      remedies: %s
      approvers: %s
      approvals: %s
    - clusters: ["*"]
      approvers: [S0123ABCD]
"""
ONE, OTHER, GROUP = "T0123ABCD:U0AAAA", "T0123ABCD:U0BBBB", "S0123ABCD"
FREEZES = """\
fixes:
  freezes:
    - { name: %s, %s }
"""


def _file(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def _rules(
    folder: Path, *, clusters: str = "[prod-*]", remedies: str = "['*']", approvers: str = GROUP, approvals: str = "1"
) -> Path:
    return _file(folder, STRICT_THEN_LAX % (clusters, remedies, f"[{approvers}]", approvals))


def _complaint(file: Path) -> Complaint:
    policy, (complaint,) = read(file)
    assert policy is None
    return complaint


@pytest.mark.parametrize(("key", "line"), [("clusters", 3), ("remedies", 4)])
def test_a_rule_about_nothing_is_refused_before_a_laxer_one_decides(tmp_path: Path, key: str, line: int) -> None:
    file = _rules(tmp_path, **{key: "[]"})
    complaint = _complaint(file)
    assert (complaint.line, complaint.what) == (line, f"`fixes.rules.1.{key}` is empty, so that it never holds")
    with pytest.raises(Problem) as refused:
        load(file)
    assert "policy.yaml" in refused.value.what
    assert refused.value.why.startswith(f"line {line}: `fixes.rules.1.{key}` is empty")
    assert refused.value.do == "name what it is about, or remove the whole entry"
    assert refused.value.code is Exit.USAGE


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("look:\n  rules:\n    - clusters: []\n", 3, "`look.rules.1.clusters` is empty"),
        ("channels:\n  alerts:\n    - { channel: C0123ABCD, clusters: [] }\n", 3, "`channels.alerts.1.clusters` is"),
        (FREEZES % ("never", "days: []"), 3, "`fixes.freezes.1.days` is empty"),
    ],
)
def test_no_other_rule_is_about_nothing_either(tmp_path: Path, text: str, line: int, what: str) -> None:
    complaint = _complaint(_file(tmp_path, text))
    assert (complaint.line, what in complaint.what) == (line, True), complaint


def test_that_the_bot_speaks_of_no_cluster_by_itself_can_be_meant(tmp_path: Path) -> None:
    assert not load(_file(tmp_path, "channels:\n  clusters: []\n")).channels.speaks_of("prod-weu")


@pytest.mark.parametrize(
    ("approvers", "approvals", "there"),
    [
        (ONE, 2, "there is only 1 approver"),
        (f"{ONE}, {ONE}", 2, "there is only 1 approver"),
        (f"{ONE}, {OTHER}", 3, "there are only 2 approvers"),
    ],
    ids=["one", "one listed twice", "two"],
)
def test_more_approvals_than_approvers_are_refused(tmp_path: Path, approvers: str, approvals: int, there: str) -> None:
    complaint = _complaint(_rules(tmp_path, approvers=approvers, approvals=str(approvals)))
    said = f"`fixes.rules.1.approvals` asks for {approvals} approvals, and {there}"
    assert (complaint.line, complaint.what) == (6, said)
    assert complaint.do == "name more approvers, or ask for fewer"


@pytest.mark.parametrize(
    ("approvers", "approvals"),
    [(f"{ONE}, {OTHER}", 2), (GROUP, 3), (f"{ONE}, {GROUP}", 3), ("", 1)],
    ids=["as many", "a group has members", "a person and a group", "nobody may"],
)
def test_as_many_approvals_as_there_can_be_are_taken(tmp_path: Path, approvers: str, approvals: int) -> None:
    assert read(_rules(tmp_path, approvers=approvers, approvals=str(approvals)))[1] == []


def _freeze(folder: Path, window: str) -> Freeze:
    (freeze,) = load(_file(folder, FREEZES % ("a-freeze", window))).fixes.freezes
    return freeze


def _at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


LAST_MOMENT, LAST_MINUTE = (2026, 11, 19, 23, 59, 59, 999_999), (2026, 11, 19, 23, 59, 0)
BERLINS_LAST_MOMENT, BERLINS_MIDNIGHT = (2026, 11, 19, 22, 59, 59, 999_999), (2026, 11, 19, 23, 0)


@pytest.mark.parametrize(
    ("window", "at", "on"),
    [
        ("since: '18:00', until: '24:00'", (2026, 11, 19, 17, 59, 59, 999_999), False),
        ("since: '18:00', until: '24:00'", (2026, 11, 19, 18, 0), True),
        ("since: '18:00', until: '24:00'", LAST_MOMENT, True),
        ("since: '18:00', until: '24:00'", (2026, 11, 20, 0, 0), False),
        ("since: 18:00, until: 24:00", LAST_MOMENT, True),  # YAML reads minutes
        ("since: '18:00', until: '23:59'", LAST_MINUTE, True),
        ("since: '18:00', until: 23:59", LAST_MOMENT, True),
        ("since: '18:00'", LAST_MOMENT, True),
        ("since: '23:59', until: '24:00'", LAST_MINUTE, True),
        ("days: [thu]", LAST_MOMENT, True),
        ("days: [thu]", (2026, 11, 20, 0, 0), False),
        ("last: 2026-11-19", LAST_MOMENT, True),
        ("last: 2026-11-19", (2026, 11, 20, 0, 0), False),
        ("until: '18:00'", (2026, 11, 19, 17, 59, 59, 999_999), True),
        ("until: '18:00'", (2026, 11, 19, 18, 0), False),
        ("until: '23:58'", (2026, 11, 19, 23, 58), False),
        ("until: '24:00', days: [thu], timezone: Europe/Berlin", BERLINS_LAST_MOMENT, True),
        ("until: '24:00', days: [thu], timezone: Europe/Berlin", BERLINS_MIDNIGHT, False),
        # Clocks go back at 3:00 on 25 October 2026 in Berlin: both hours from 2:00 on are frozen.
        ("since: '02:00', until: '03:00', timezone: Europe/Berlin", (2026, 10, 25, 0, 30), True),
        ("since: '02:00', until: '03:00', timezone: Europe/Berlin", (2026, 10, 25, 1, 30), True),
        ("since: '02:00', until: '03:00', timezone: Europe/Berlin", (2026, 10, 25, 2, 0), False),
        # That day has 25 hours, and all of them are in it.
        ("days: [sun], timezone: Europe/Berlin", (2026, 10, 24, 22, 0), True),
        ("days: [sun], timezone: Europe/Berlin", (2026, 10, 25, 22, 59, 59, 999_999), True),
        ("days: [sun], timezone: Europe/Berlin", (2026, 10, 25, 23, 0), False),
    ],
)
def test_a_freeze_holds_from_its_first_moment_to_its_last(
    tmp_path: Path, window: str, at: tuple[int, ...], on: bool
) -> None:
    assert _freeze(tmp_path, window).holds(_at(*at)) is on


def test_two_freezes_leave_no_moment_of_a_night_between_them(tmp_path: Path) -> None:
    evening, morning = _freeze(tmp_path, "since: '18:00', until: '24:00'"), _freeze(tmp_path, "until: '06:00'")
    for moment in (LAST_MINUTE, LAST_MOMENT, (2026, 11, 20, 0, 0), (2026, 11, 20, 5, 59, 59, 999_999)):
        assert evening.holds(_at(*moment)) or morning.holds(_at(*moment)), moment


def test_a_night_in_one_freeze_is_refused_and_the_two_that_it_takes_are_named(tmp_path: Path) -> None:
    complaint = _complaint(_file(tmp_path, FREEZES % ("night", "since: '18:00', until: '06:00'")))
    assert (complaint.line, "since must come before until" in complaint.what) == (3, True)
    assert "one until 24:00, and one since 00:00" in complaint.do


@pytest.mark.parametrize(
    ("window", "hours"),
    [("since: '18:00', until: '24:00'", "18:00 to 24:00"), ("until: '18:00'", "00:00 to 18:00")],
)
def test_the_hours_of_a_freeze_are_shown_as_people_write_them(tmp_path: Path, window: str, hours: str) -> None:
    assert _freeze(tmp_path, window).hours == hours


ESCALATES = """\
fixes:
  expires_minutes: 30
  rules:
    - clusters: ["*"]
      approvers: [S0ONCALL, S0LEADS]
      escalate: %s
"""


def test_the_next_group_is_one_that_can_approve(tmp_path: Path) -> None:
    policy, complaints = read(_file(tmp_path, ESCALATES % "[{after_minutes: 10, ping: [S0LEADS]}]"))
    assert policy is not None, complaints
    (step,) = policy.fixes.rules[0].escalate
    assert (step.after_minutes, step.ping) == (10, ("S0LEADS",))


@pytest.mark.parametrize(
    ("steps", "what", "do"),
    [
        ("[{after_minutes: 10, ping: [S0OTHERS]}]", "calls S0OTHERS, who is not among the approvers", "approvers"),
        ("[{after_minutes: 10, ping: []}]", "is empty", "remove the whole entry"),
        ("[{after_minutes: 30, ping: [S0LEADS]}]", "after 30 minutes, and a request expires after 30", "fewer"),
        (
            "[{after_minutes: 10, ping: [S0LEADS]}, {after_minutes: 10, ping: [S0ONCALL]}]",
            "is not in order",
            "give each step more",
        ),
        ("[{minutes: 10, ping: [S0LEADS]}]", "`fixes.rules.1.escalate.1.minutes` is not a key", "after_minutes, ping"),
    ],
)
def test_a_step_that_would_call_nobody_who_can_help_is_refused(tmp_path: Path, steps: str, what: str, do: str) -> None:
    policy, complaints = read(_file(tmp_path, ESCALATES % steps))
    assert policy is None
    assert any(what in one.what and do in one.do for one in complaints), complaints
