"""Replies to commands: within Slack's limits, and harmless whatever names and texts hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.checks.fleet.lines import rows
from bot.report.events import Selection
from bot.slack.fleet import view as fleet_view
from bot.slack.inbound import commands, replies
from bot.slack.kit import limits
from bot.slack.kit.message import PICK, Message
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from tests.checking import LIBRARY
from tests.slack.limits_held import assert_accepted

SUBSCRIPTION = "3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90"
NASTY = "<!channel> `x` *y* <https://evil.example|ok>"


def _member(name: str, group: str = "rg-prod", state: str | None = "Succeeded") -> FleetMember:
    kind = "Microsoft.ContainerService/managedClusters"
    id_ = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{kind}/{name}"
    return FleetMember(name, id_, kind, "westeurope", SUBSCRIPTION, state)


@pytest.mark.parametrize("code", list(LIBRARY))
def test_every_runbook_can_be_shown(code: str) -> None:
    assert_accepted(replies.runbook(code, LIBRARY))
    symptoms = LIBRARY[code].symptoms
    for word in (*symptoms.codes[:1], *symptoms.words[:1]):
        assert_accepted(replies.explained(f"Code={word} {NASTY}", LIBRARY))


@pytest.mark.parametrize(
    "typed",
    ["", "help", "help all", "runbook", f"runbook {NASTY}", "explain", f"explain {NASTY}", "chek <!here>`"],
)
def test_every_reply_is_accepted_and_harmless(typed: str) -> None:
    said = replies.at_once(commands.read_command(typed), LIBRARY)
    assert said
    assert_accepted(said)


def test_a_fleet_of_any_size_is_listed_and_offered() -> None:
    many = [_member(f"cluster-{number:04}", state=None if number % 7 else "Failed") for number in range(600)]
    assert_accepted(fleet_view.clusters(rows(many, {}), LIBRARY))
    assert_accepted(fleet_view.checking({}, many[:100], LIBRARY, 500))
    menu = _options(replies.picker(many, "network"))
    assert len(menu) == limits.OPTIONS
    assert replies.only("x").blocks


def test_clusters_of_one_name_are_told_apart_by_their_ids() -> None:
    menu = _options(replies.picker([_member("prod-weu", "rg-a"), _member("prod-weu", "rg-b"), _member("dev")], None))
    assert [one["value"].rpartition("/")[2] for one in menu] == ["prod-weu", "prod-weu", "dev"]
    assert len({one["value"] for one in menu}) == 3


@pytest.mark.parametrize(
    ("typed", "cluster", "area"),
    [
        ("", None, None),
        ("prod-weu", "prod-weu", None),
        ("`prod-weu` Network", "prod-weu", "network"),
        ("network", None, "network"),
        ("prod-weu detectors", "prod-weu", None),
        ("prod-weu network --detectors", "prod-weu", "network"),
        ("Detectors", None, None),
    ],
)
def test_a_check_is_read(typed: str, cluster: str | None, area: str | None) -> None:
    found, scope = commands.read_check(typed, {"network", "quota"})
    assert (found, scope.area) == (cluster, area)
    assert scope.detectors is ("detectors" in typed.lower())


@pytest.mark.parametrize(
    "scope", [Selection(), Selection("network"), Selection(detectors=True), Selection("network", detectors=True)]
)
def test_what_was_asked_waits_until_a_cluster_is_picked(scope: Selection) -> None:
    said = replies.picker([_member("a")], replies.waiting(scope), thread_ts="17.5")
    assert replies.picked(said.blocks[1]["block_id"]) == (scope, "17.5")


def test_a_word_that_one_page_has_shows_it() -> None:
    assert replies.runbook("pdb", LIBRARY) == replies.runbook("pdb-blocks-drain", LIBRARY)


def test_words_that_several_pages_have_list_them_best_first() -> None:
    said = replies.runbook("`Quota`", LIBRARY)
    assert_accepted(said)
    listed = said.blocks[1]["text"]["text"].split("\n")
    assert [line.split("`")[1] for line in listed[:2]] == ["namespace-quota-exceeded", "quota-exceeded"]
    assert "about `quota`" in said.text


def test_more_pages_than_fit_a_phone_are_counted() -> None:
    said = replies.runbook("node", LIBRARY)
    assert_accepted(said)
    assert len(said.blocks[1]["text"]["text"].split("\n")) == 10
    assert "more" in str(said.blocks[-1])


def test_unknown_words_get_the_nearest_pages() -> None:
    assert "Perhaps you mean `snat-exhausted`" in replies.runbook("snatt", LIBRARY).text
    assert "Perhaps" not in replies.runbook("qqqqqqqq", LIBRARY).text


@pytest.mark.parametrize("typed", ["prod-weu netwrk", "prod-weu network twice", "prod-weu from the-office"])
def test_a_check_that_makes_no_sense_is_refused(typed: str) -> None:
    with pytest.raises(Problem, match="cannot tell what to check"):
        commands.read_check(typed, {"network", "quota"})


def test_links_in_a_mention_are_what_was_pasted() -> None:
    asked = commands.read_mention("<@U123ABC> check <https://portal.azure.com/#a/b?x=1&amp;y=2|portal.azure.com>")
    assert (asked.word, asked.rest) == ("check", "https://portal.azure.com/#a/b?x=1&y=2")


@pytest.mark.parametrize(
    ("typed", "word", "rest"),
    [
        ("explain\nCode=QuotaExceeded: no cores\nare left", "explain", "Code=QuotaExceeded: no cores\nare left"),
        (" check\tprod-weu ", "check", "prod-weu"),
        ("\n", "help", ""),
    ],
)
def test_a_word_ends_where_a_line_does(typed: str, word: str, rest: str) -> None:
    assert commands.read_command(typed) == commands.ParsedCommand(word, rest)


@pytest.mark.parametrize("called", ["<@U1>", "<@U1|aksbot>:", "<@U2> <@U1>", "<@U1>, ", " <@U1>\n"])
def test_whoever_is_called_does_not_belong_to_what_is_asked(called: str) -> None:
    assert commands.read_mention(f"{called} check prod-weu") == commands.ParsedCommand("check", "prod-weu")


def test_nothing_that_people_see_suggests_a_command_that_does_not_exist() -> None:
    here = Path(__file__).parent
    files = [*(here / "golden").rglob("*.txt"), *(here.parents[1] / "runbooks").glob("*.md")]
    shown = [file.read_text() for file in files if file.name != "word-for-later.txt"]
    assert len(shown) > len(LIBRARY)
    assert {word for text in shown for word in re.findall(r"/aks ([a-z]+)", text)} <= set(commands.NOW)


def test_help_is_short_with_three_examples_and_everything_behind_a_button() -> None:
    short = replies.helped()
    assert short.text.count("`/aks ") == 3
    (more,) = short.blocks[-1]["elements"]
    whole = replies.at_once(commands.read_command(more["value"]), LIBRARY)
    assert whole is not None
    missing = [word for word in commands.NOW if f"/aks {word}" not in whole.text]
    assert missing == []


@pytest.mark.parametrize("typed", ["check prod-weu please", "check prod-weu?", "check prod-weu, now please!"])
def test_polite_words_belong_to_no_cluster(typed: str) -> None:
    assert commands.read_mention(typed) == commands.ParsedCommand("check", "prod-weu")
    assert commands.read_mention("explain it failed, please").rest == "it failed, please"


def _options(said: Message) -> list[dict[str, str]]:
    menu = next(one for block in said.blocks for one in block.get("elements", ()) if one.get("action_id") == PICK)
    return list(menu["options"])
