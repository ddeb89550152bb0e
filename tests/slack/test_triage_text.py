"""What *Triage this* reads in a message, and which clusters it finds there."""

from __future__ import annotations

import pytest

from bot.slack.triage.view import triaged
from bot.triage.message_text import LONGEST, readable
from bot.triage.named import named_clusters
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from tests.checking import LIBRARY
from tests.slack.limits_held import assert_accepted

SUBSCRIPTION = "3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90"
NASTY = "<!channel> `x` *y* <https://evil.example|ok>"


def _member(name: str, group: str = "rg-prod") -> FleetMember:
    kind = "Microsoft.ContainerService/managedClusters"
    id_ = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{kind}/{name}"
    return FleetMember(name, id_, kind, "westeurope", SUBSCRIPTION, "Succeeded")


FLEET = [_member(name) for name in ("prod-weu", "prod-eus2", "staging-neu", "dev-shared", "prod")]
TWINS = [_member("prod-weu", "rg-a"), _member("prod-weu", "rg-b")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("prod-weu is down", ["prod-weu"]),
        ("PROD-WEU: is `prod-eus2` down, too?", ["prod-weu", "prod-eus2"]),
        ("(prod-eus2), then prod-weu.", ["prod-eus2", "prod-weu"]),
        ("cluster=prod-weu;state=Failed", ["prod-weu"]),
        ("prod-weu-old and my-prod-weu and prod-weu_2", []),
        ("preprod, production", []),
        ("prod", ["prod"]),
        (f"look at {FLEET[0].id.upper()}.", ["prod-weu"]),
        (f"{FLEET[0].id}/agentPools/apps failed", ["prod-weu"]),
        (FLEET[0].id.replace("prod-weu", "prod-weu2"), []),
        ("https://portal.azure.com/#@x/resource" + FLEET[2].id.replace("/", "%2F"), ["staging-neu"]),
        ("nothing of ours", []),
    ],
)
def test_clusters_are_found_by_whole_names_and_ids(text: str, names: list[str]) -> None:
    assert [one.name for one in named_clusters(text, FLEET)] == names


def test_an_id_says_which_of_two_twins_is_meant_and_a_name_does_not() -> None:
    assert named_clusters(f"prod-weu: {TWINS[1].id}", TWINS) == [TWINS[1]]
    assert named_clusters("prod-weu", TWINS) == TWINS


def test_a_message_is_read_with_its_blocks_and_attachments_each_line_once() -> None:
    message = {
        "text": "*prod-weu* &amp; <https://grafana.example/d/1|the dashboard> <@U0REQUESTER>",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "Alert"}},
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "pool"}, {"type": "mrkdwn", "text": "apps"}]},
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [{"type": "text", "text": "Code="}, {"type": "text", "text": "QuotaExceeded"}],
                    }
                ],
            },
            {"type": "context", "elements": [{"type": "plain_text", "text": "Alert"}]},
        ],
        "attachments": [
            {"fallback": "not shown", "title": "Firing", "fields": [{"title": "cluster", "value": "prod-eus2"}]},
            {"fallback": "only this"},
        ],
    }
    assert readable(message).split("\n") == [
        "*prod-weu* & the dashboard https://grafana.example/d/1 ",
        "Alert",
        "pool",
        "apps",
        "Code=QuotaExceeded",
        "Firing",
        "cluster: prod-eus2",
        "only this",
    ]


@pytest.mark.parametrize("message", [{}, {"text": None, "blocks": None}, {"attachments": [{}], "blocks": [{}]}])
def test_a_message_without_words_is_empty(message: dict[str, object]) -> None:
    assert readable(message) == ""


def test_a_message_of_any_length_is_read_up_to_slacks_limit() -> None:
    assert len(readable({"text": "\n".join(f"line {number}" for number in range(20_000))})) == LONGEST


@pytest.mark.parametrize("pasted", ["", "hello", "QuotaExceeded on prod-weu", f"{NASTY} QuotaExceeded", "x " * 20_000])
@pytest.mark.parametrize(
    "seen",
    [FLEET, [], TWINS, [_member(f"cluster-{number}") for number in range(200)], Problem("cannot", NASTY, "try")],
    ids=["fleet", "none", "twins", "many", "problem"],
)
def test_every_answer_is_accepted_and_harmless(pasted: str, seen: list[FleetMember] | Problem) -> None:
    assert_accepted(triaged(pasted, LIBRARY, seen, "1772593920.000100"))


def test_more_clusters_than_buttons_are_counted() -> None:
    many = [_member(f"cluster-{number}") for number in range(9)]
    said = triaged(" ".join(one.name for one in many), LIBRARY, many, "1.2")
    assert "4 more clusters" in str(said.head.blocks)
