"""Authorization of fixes: rules, risk, freezes, groups, break-glass. Anything not in the policy is denied."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.fixes.may import Barrier, NotAllowed, Open, may_approve, may_be_offered, may_break_glass, whom_to_call
from bot.policy.file import load, read
from bot.policy.fixes import Fixes
from bot.policy.look import Asker
from handlers.remedy.plan import Risk
from tests.fixes.plans import PLAN, RISKY

THURSDAY = datetime(2026, 11, 19, 3, 0, tzinfo=UTC)
SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

POLICY = """
fixes:
  expires_minutes: 15
  freezes:
    - { name: weekend, days: [sat, sun], timezone: Europe/Berlin }
    - { name: night, since: "00:00", until: "05:00", timezone: America/New_York }
  rules:
    - clusters: [payments-*]
      approvers: []
    - clusters: [prod-*]
      remedies: [reconcile-*, update-instances]
      approvers: [T01:U02, S01]
      approvals: 2
      requester_counts: false
      reason: true
      highest_risk: medium
      frozen: [weekend]
      break_glass: [T01:U09]
    - clusters: [dev-*]
      approvers: [T01:U01]
"""

APPROVER, GROUPED = Asker("T01", "U02"), Asker("T01", "U03", groups=frozenset({"S01"}))
ON_CALL, PASSER_BY = Asker("T01", "U09"), Asker("T01", "U77")


@pytest.fixture
def fixes(tmp_path: Path) -> Fixes:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return load(file).fixes


def barrier(decision: Open | NotAllowed) -> Barrier:
    assert isinstance(decision, NotAllowed), decision
    return decision.barrier


def test_without_a_policy_nobody_may() -> None:
    assert barrier(may_be_offered(Fixes(), PLAN, THURSDAY)) is Barrier.NO_RULE


def test_the_first_rule_that_fits_counts(fixes: Fixes) -> None:
    offer = may_be_offered(fixes, PLAN, THURSDAY)
    assert isinstance(offer, Open)
    assert (offer.number, offer.rules.needed, offer.rules.lasts_ms) == (2, 2, 15 * 60_000)
    assert offer.ping == ("T01:U02", "S01")


@pytest.mark.parametrize(
    ("more", "approvers", "others", "quiet"),
    [
        ("", ("S0LEADS", "S0TEAM"), (), ()),
        ("ping: [S0ONCALL]", (), ("S0ONCALL",), ("S0LEADS", "S0TEAM")),
        ("ping: [S0ONCALL, S0LEADS]", ("S0LEADS",), ("S0ONCALL",), ("S0TEAM",)),
        ("escalate: [{after_minutes: 5, ping: [S0TEAM]}]", ("S0LEADS",), (), ()),
    ],
)
def test_whoever_is_called_without_being_an_approver_is_not_taken_for_one(
    tmp_path: Path, more: str, approvers: tuple[str, ...], others: tuple[str, ...], quiet: tuple[str, ...]
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        f"fixes:\n  rules:\n    - {{clusters: ['*'], approvers: [S0LEADS, S0TEAM]{', ' * bool(more)}{more}}}\n"
    )
    policy = load(file).fixes
    offer = may_be_offered(policy, PLAN, THURSDAY)
    assert isinstance(offer, Open)
    called = whom_to_call(policy, offer, THURSDAY)
    assert (called.approvers, called.others, called.quiet) == (approvers, others, quiet)
    assert called.anybody_may_approve


def test_an_empty_list_is_nobody(fixes: Fixes) -> None:
    payments = replace(PLAN, cluster=PLAN.cluster.replace("prod-weu", "payments-prod"))
    assert barrier(may_be_offered(fixes, payments, THURSDAY)) is Barrier.NOBODY
    assert barrier(may_approve(fixes, payments, APPROVER, THURSDAY)) is Barrier.NOBODY


def test_a_remedy_that_no_rule_names_is_nobodys(fixes: Fixes) -> None:
    assert barrier(may_be_offered(fixes, replace(PLAN, remedy="abort-operation"), THURSDAY)) is Barrier.NO_RULE


def test_what_is_riskier_than_allowed_is_not_offered(fixes: Fixes) -> None:
    risky = replace(RISKY, remedy="reconcile-pool", risk=Risk.HIGH)
    assert barrier(may_be_offered(fixes, risky, THURSDAY)) is Barrier.RISK


def test_approvers_may_by_name_or_by_group_and_others_may_not(fixes: Fixes) -> None:
    assert isinstance(may_approve(fixes, PLAN, APPROVER, THURSDAY), Open)
    assert isinstance(may_approve(fixes, PLAN, GROUPED, THURSDAY), Open)
    assert barrier(may_approve(fixes, PLAN, PASSER_BY, THURSDAY)) is Barrier.PERSON
    assert barrier(may_approve(fixes, PLAN, ON_CALL, THURSDAY)) is Barrier.PERSON


def test_the_right_user_of_another_team_may_not(fixes: Fixes) -> None:
    assert barrier(may_approve(fixes, PLAN, Asker("T02", "U02"), THURSDAY)) is Barrier.PERSON


@pytest.mark.parametrize("who", [replace(APPROVER, guest=True), replace(APPROVER, stranger=True)])
def test_guests_and_strangers_never_may(fixes: Fixes, who: Asker) -> None:
    assert barrier(may_approve(fixes, PLAN, who, THURSDAY)) is Barrier.GUEST


def test_a_freeze_stops_approvers_and_not_the_one_who_breaks_the_glass(fixes: Fixes) -> None:
    frozen = may_approve(fixes, PLAN, APPROVER, SATURDAY)
    assert barrier(frozen) is Barrier.FROZEN
    assert isinstance(may_break_glass(fixes, PLAN, ON_CALL, SATURDAY), Open)
    assert barrier(may_break_glass(fixes, PLAN, APPROVER, SATURDAY)) is Barrier.PERSON


@pytest.mark.parametrize(
    ("name", "at", "on"),
    [
        ("weekend", datetime(2026, 11, 20, 22, 59, tzinfo=UTC), False),
        ("weekend", datetime(2026, 11, 20, 23, 0, tzinfo=UTC), True),  # midnight in Berlin
        ("weekend", datetime(2026, 11, 22, 22, 59, tzinfo=UTC), True),
        ("weekend", datetime(2026, 11, 22, 23, 0, tzinfo=UTC), False),
        ("night", datetime(2026, 11, 19, 5, 0, tzinfo=UTC), True),  # midnight in New York
        ("night", datetime(2026, 11, 19, 10, 0, tzinfo=UTC), False),
    ],
)
def test_a_freeze_begins_and_ends_by_its_own_clock(fixes: Fixes, name: str, at: datetime, on: bool) -> None:
    (freeze,) = [one for one in fixes.freezes if one.name == name]
    assert freeze.holds(at) is on


@pytest.mark.parametrize(
    ("wrong", "line", "said"),
    [
        ("fixes:\n  rules:\n    - clusters: [prod-*]\n", 3, "approvers"),
        ("fixes:\n  rules:\n    - clusters: [prod-*]\n      approvers: ['*']\n", 4, "approvers"),
        ("fixes:\n  rules:\n    - clusters: [prod-*]\n      approvers: [U02]\n", 4, "approvers"),
        ("fixes:\n  rules:\n    - clusters: [prod-*]\n      approvers: []\n      approvals: 0\n", 5, "approvals"),
        ("fixes:\n  rules:\n    - clusters: [prod-*]\n      approvers: []\n      frozen: [never]\n", 1, "fixes"),
        ("fixes:\n  freezes:\n    - { name: x, timezone: Mars/Olympus }\n", 3, "timezone"),
        ("fixes:\n  freezes:\n    - { name: x, since: '18:00', until: '06:00' }\n", 3, "freezes"),
        ("fixes:\n  expires_minutes: 0\n", 2, "expires_minutes"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_line(tmp_path: Path, wrong: str, line: int, said: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(wrong)
    policy, complaints = read(file)
    assert policy is None
    assert complaints[0].line == line
    assert said in complaints[0].what
