"""The fleet by last verdict: what needs somebody first, in words, with the age of what is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.checks.fleet_lines import FleetRow, Standing, age, age_said, counted, place_said, rows, verdict_said
from bot.checks.store.verdicts import PastVerdict
from handlers.fleet.clusters import FleetMember
from handlers.fleet.kinds import AKS, BRIDGE
from handlers.model import State
from runbooks.library import Library

NOW = datetime(2026, 3, 4, 3, 12, tzinfo=UTC)
LIBRARY = Library.load()
QUOTA = ("quota-exceeded", "/subscriptions/x/usages/cores")


def member(name: str, state: str | None = "Succeeded", *, type_: str = AKS, power: str | None = None) -> FleetMember:
    id_ = f"/subscriptions/3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90/resourceGroups/rg/providers/{type_}/{name}"
    return FleetMember(name, id_, type_, "westeurope", "3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90", state, power)


def verdict(name: str, state: State = State.FOUND, severity: str = "error", **more: object) -> PastVerdict:
    roots = (QUOTA,) if state is State.FOUND else ()
    made = PastVerdict(name, member(name).id, NOW - timedelta(hours=3), state, severity if roots else "", roots)
    return replace(made, **more)  # type: ignore[arg-type]


def known(*verdicts: PastVerdict) -> dict[str, PastVerdict]:
    return {one.id.lower(): one for one in verdicts}


def test_what_is_unhealthy_comes_first_and_what_was_never_checked_before_what_is_healthy() -> None:
    latest = known(
        verdict("a", State.CLEAR), verdict("b", severity="warning"), verdict("c"), verdict("d", State.INCONCLUSIVE)
    )
    made = rows([member(name) for name in "abcde"], latest)
    assert [(row.member.name, row.standing) for row in made] == [
        ("c", Standing.UNHEALTHY),
        ("d", Standing.INCOMPLETE),
        ("b", Standing.WARNING),
        ("e", Standing.NEVER),
        ("a", Standing.HEALTHY),
    ]


def test_what_azure_calls_succeeded_is_not_healthy_for_that() -> None:
    assert FleetRow(member("a", "Succeeded")).standing is Standing.NEVER


def test_what_azure_calls_failed_since_stands_above_the_healthy() -> None:
    latest = known(verdict("a", State.CLEAR), verdict("b", State.CLEAR))
    assert [row.member.name for row in rows([member("a"), member("b", "Failed")], latest)] == ["b", "a"]


def test_the_ids_of_clusters_are_compared_in_any_case() -> None:
    shouted = replace(member("a"), id=member("a").id.upper())
    assert rows([shouted], known(verdict("a")))[0].verdict is not None


def test_a_verdict_is_said_with_the_title_of_each_cause_once() -> None:
    said = verdict_said(verdict("a", roots=(QUOTA, (QUOTA[0], "other"), ("subnet-full", "x"))), LIBRARY)
    assert said == f"unhealthy: {LIBRARY['quota-exceeded'].title}, {LIBRARY['subnet-full'].title}"


def test_many_causes_are_counted() -> None:
    codes = ("quota-exceeded", "subnet-full", "node-not-ready", "dns-broken", "webhook-blocks")
    assert verdict_said(verdict("a", roots=tuple((code, "x") for code in codes)), LIBRARY).endswith(", and 2 more")


def test_its_age_is_said_and_nothing_where_there_is_none() -> None:
    assert age_said(verdict("a"), NOW) == "checked 3 h ago"
    assert age_said(None, NOW) == ""
    ages = [timedelta(seconds=40), timedelta(minutes=12), timedelta(hours=47), timedelta(days=4)]
    assert [age(one) for one in ages] == ["40 s", "12 min", "47 h", "4 d"]


def test_azures_own_state_is_added_only_where_it_is_another() -> None:
    assert list(place_said(member("a"))) == ["westeurope"]
    assert list(place_said(member("a", "Upgrading"))) == ["Azure says Upgrading", "westeurope"]
    assert list(place_said(member("a", power="Stopped"))) == ["Stopped", "westeurope"]
    assert list(place_said(member("a", None, type_=BRIDGE))) == ["Arc resource bridge", "westeurope"]


def test_the_numbers_are_said_in_the_order_of_the_list() -> None:
    standings = [Standing.HEALTHY, Standing.UNHEALTHY, Standing.HEALTHY, Standing.NEVER]
    assert counted(standings) == "1 unhealthy, 1 never checked, 2 healthy"
