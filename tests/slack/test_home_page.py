"""App Home as a page: every state of it within Slack's limits, and harmless whatever names hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.checks.store.recent import RecentCheck
from bot.policy.look import Refused, Why
from bot.policy.model import Policy
from bot.slack.fixes.lists.view import OpenApproval
from bot.slack.home import view as home_view
from bot.slack.home.view import Shown
from bot.slack.inbound.gate import refusal
from bot.slack.kit import limits
from bot.slack.kit.links import thread_link
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from sandbox.slack.blocks.surfaces import check_view
from tests.slack.limits_held import assert_blocks_accepted
from tests.slack_app.reading import text_of

NOW = datetime(2026, 3, 4, 3, 12, tzinfo=UTC)
SUBSCRIPTION = "3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90"
NASTY = "<!channel> `x` *y* <https://evil.example|ok>"
ADDRESS = "https://contoso.slack.com/"
LINK = f"{ADDRESS}archives/C0INCIDENTS/p1772593920000100"


def _member(
    name: str, state: str | None = "Succeeded", power: str | None = "Running", group: str = "rg"
) -> FleetMember:
    kind = "Microsoft.ContainerService/managedClusters"
    id_ = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{kind}/{name.partition('>')[0].strip('<!')}"
    return FleetMember(name, id_, kind, "westeurope", SUBSCRIPTION, state, power)


def _recent(number: int = 1, **more: Any) -> RecentCheck:
    values = {
        "request": f"r{number}",
        "cluster": "prod-weu",
        "verdict": "UNHEALTHY",
        "cause": "A core quota is used up",
        "user": "U0REQUESTER",
        "channel": "C0INCIDENTS",
        "at": NOW,
        "ts": "1772593920.000100",
    }
    return RecentCheck(**(values | more))


def _approval(number: int) -> OpenApproval:
    return OpenApproval(f"Reconcile pool {number}", "prod-weu", "U0REQUESTER", NOW, "https://contoso.slack.com/x")


def _shown(
    fleet: Sequence[FleetMember] | Problem = (), recent: Sequence[RecentCheck] | None = (), **more: Any
) -> dict[str, Any]:
    seen = fleet if isinstance(fleet, Problem) else tuple(fleet)
    return home_view.page(Shown(seen, NOW, recent, address=ADDRESS, **more), "D0REQUESTER")


def _assert_accepted(view: dict[str, Any]) -> None:
    check_view(view, "home", frozenset())
    assert_blocks_accepted(view["blocks"], limits.BLOCKS_IN_VIEW)
    assert len(view["private_metadata"]) <= limits.PRIVATE_METADATA


MANY = [
    _member(f"cluster-{number:03}", ["Succeeded", "Failed", "Updating", None][number % 4], group=f"rg-{number % 3}")
    for number in range(200)
]


@pytest.mark.parametrize(
    "view",
    [
        home_view.loading("D0"),
        home_view.refused(refusal(Policy().look, Refused(Why.GUEST, ("C0INCIDENTS", "direct")), None), "D0"),
        _shown(),
        _shown(Problem("cannot list the clusters", f"Azure said {NASTY * 50}", "try again")),
        _shown([_member("prod-weu")], None),
        _shown(MANY, [_recent(number) for number in range(60)], approvals=[_approval(number) for number in range(40)]),
        _shown([_member(NASTY, NASTY)], [_recent(cluster=NASTY, cause=NASTY, verdict="")], note="Checking"),
        _shown([_member("x" * 63, group="g" * 90)]),
    ],
    ids=["loading", "refused", "empty", "azure-away", "memory-away", "200-clusters", "nasty", "long-id"],
)
def test_every_state_is_accepted(view: dict[str, Any]) -> None:
    _assert_accepted(view)


def test_failed_comes_before_what_moves_before_what_is_stopped_before_the_rest() -> None:
    fleet = [
        _member("a-well"),
        _member("b-unknown", None),
        _member("c-stopped", power="Stopped"),
        _member("d-updating", "Updating"),
        _member("e-failed", "Failed", "Stopped"),
    ]
    said = text_of(_shown(fleet)["blocks"])
    order = [said.index(name) for name in ("e-failed", "d-updating", "c-stopped", "b-unknown", "a-well")]
    assert order == sorted(order)
    assert "5 clusters*: 1 Failed, 1 Updating, 1 Stopped, 1 state unknown, 1 Succeeded" in said


def test_what_does_not_fit_is_counted() -> None:
    said = text_of(_shown(MANY)["blocks"])
    assert "and 130 more with problems" in said
    assert "… and 20 more" in said


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        ([_member(f"prod-{number}") for number in range(100)], ""),
        ([_member(f"prod-{number}") for number in range(101)], "1 more does not fit into this menu"),
        ([_member("prod", group=f"{'g' * 90}-{number}") for number in range(2)], "2 more do not fit into this menu"),
    ],
    ids=["as many as fit", "one too many", "alike, with ids that are too long"],
)
def test_clusters_that_the_menu_cannot_hold_are_told(fleet: list[FleetMember], said: str) -> None:
    view = _shown(fleet)
    _assert_accepted(view)
    text = text_of(view["blocks"])
    assert ("into this menu" in text) == bool(said)
    assert said in text


def test_each_cluster_in_trouble_has_its_button_and_one_that_is_not_unique_its_id() -> None:
    view = _shown([_member("twin", "Failed", group="rg-a"), _member("twin", "Failed", group="rg-b")])
    values = [block["accessory"]["value"] for block in view["blocks"] if "accessory" in block]
    assert [one.count("/managedClusters/twin") for one in values] == [1, 1]
    assert len(set(values)) == 2


@pytest.mark.parametrize(
    ("check", "address", "link"),
    [
        (_recent(), ADDRESS, LINK),
        (
            _recent(thread_ts="1772593900.000200"),
            ADDRESS,
            f"{LINK}?thread_ts=1772593900.000200&cid=C0INCIDENTS",
        ),
        (_recent(ts=""), ADDRESS, ""),
        (_recent(), "", ""),
    ],
)
def test_a_check_is_linked_as_slack_links_messages(check: RecentCheck, address: str, link: str) -> None:
    assert thread_link(check, address) == link


def test_a_check_without_an_answer_says_so() -> None:
    said = text_of(_shown(recent=[_recent(verdict="", cause="no cluster has that name")])["blocks"])
    assert "NO ANSWER : no cluster has that name" in said


def test_open_approvals_are_listed_and_without_any_it_is_said() -> None:
    assert "No approvals are open." in text_of(_shown()["blocks"])
    said = text_of(_shown(approvals=[_approval(1)])["blocks"])
    assert "Reconcile pool 1" in said
    assert "No approvals are open." not in said


def test_checks_of_a_part_do_not_push_the_verdict_on_the_whole_off_the_page() -> None:
    in_part = [
        _recent(number, verdict="HEALTHY", cause="", area="network") for number in range(home_view.MOST_RECENT + 5)
    ]
    older = [_recent(90), _recent(91, cluster="dev-shared"), _recent(92, cause="what it was before")]
    said = text_of(_shown(recent=[*in_part, *older])["blocks"])
    assert said.count("in network only") == home_view.MOST_RECENT
    assert said.count("A core quota is used up") == 1
    assert "what it was before" not in said
    assert "7 older checks not shown." in said


def test_a_whole_check_among_the_latest_is_enough() -> None:
    latest = [_recent(0, verdict="HEALTHY", cause=""), *(_recent(number, area="network") for number in range(1, 12))]
    said = text_of(_shown(recent=[*latest, _recent(90, cause="what it was before")])["blocks"])
    assert "what it was before" not in said
    assert "3 older checks not shown." in said
