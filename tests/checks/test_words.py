"""The grammar of `check`, one for Slack and the terminal."""

from __future__ import annotations

import pytest

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.words import areas, read_check, scope_of
from bot.report.events import EVERYTHING, Selection
from bot.slack.kit.message import Pressed
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Exit, Problem
from handlers.question import USAGE, Word, read_question

SOMEWHERE = Address("T1", "C1", "U1")
AREAS = frozenset({"network", "quota"})
ASKED = {
    Word.FROM: "from 203.0.113.9",
    Word.NODE: "node aks-web-12345678-vmss000001",
    Word.POD: "pod shop/web-6f5d8c7b9-x2x4z",
    Word.NAMESPACE: "ns shop",
    Word.PATH: "path shop/web shop/cart:8080",
    Word.RBAC: "rbac shop/exporter list pods",
    Word.LOGS: "logs",
}


@pytest.mark.parametrize("asked", ASKED.values())
def test_each_question_is_read_in_slack_and_in_the_terminal_alike(asked: str) -> None:
    question = read_question(asked.split())
    assert str(question) == asked
    assert read_check(f"prod-weu {asked}".split(), AREAS) == ("prod-weu", Selection(about=question))
    assert read_check(asked.split(), AREAS) == (None, Selection(about=question))
    assert scope_of(asked.split(), None, None) == Selection(about=question)


def test_every_word_has_its_form_and_a_sentence_of_its_own() -> None:
    assert set(USAGE) == set(ASKED) == set(Word)
    said = [read_question(asked.split()).said for asked in ASKED.values()]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    ("typed", "cluster", "area"),
    [
        ("", None, None),
        ("prod-weu", "prod-weu", None),
        ("network", None, "network"),
        ("prod-weu Network", "prod-weu", "network"),
        ("node", "node", None),
    ],
)
def test_without_a_question_it_is_as_it_was(typed: str, cluster: str | None, area: str | None) -> None:
    assert read_check(typed.split(), AREAS) == (cluster, Selection(area))


def test_a_cluster_may_be_called_like_a_word() -> None:
    cluster, scope = read_check(["node", "node", "aks-1"], AREAS)
    assert (cluster, str(scope.about)) == ("node", "node aks-1")
    cluster, scope = read_check(["logs", "logs"], AREAS)
    assert (cluster, str(scope.about)) == ("logs", "logs")


def test_an_area_narrows_what_is_about_one_thing_and_nothing_else() -> None:
    assert read_check(["prod-weu", "network", "ns", "shop"], AREAS)[1].area == "network"
    with pytest.raises(Problem) as refused:
        read_check(["prod-weu", "network", "path", "shop/a", "shop/b:1"], AREAS)
    assert refused.value.why == "`path` asks one thing only"


@pytest.mark.parametrize(
    ("typed", "why", "do"),
    [
        ("prod-weu from office", "'office' is no IP address", "say `from <ip>`"),
        ("prod-weu pod web-1", "'web-1' is not namespace/name", "say `pod <namespace>/<pod>`"),
        ("prod-weu path shop/a shop/b", "'shop/b' names no port", "path <namespace>/<pod>"),
        ("prod-weu path shop/a", "path takes 2 words, and there are 1", "path <namespace>/<pod>"),
        ("prod-weu path shop/a shop/b:99999", "'99999' is no port", "path <namespace>/<pod>"),
        ("prod-weu rbac shop/a list", "rbac takes 3 or 4 words, and there are 2", "rbac <namespace>"),
        ("prod-weu node ../secrets", "'../secrets' is no name of Kubernetes", "say `node <name>`"),
        ("prod-weu pth shop/a shop/b:80", "there are 4 words", "path <namespace>/<pod>"),
        ("prod-weu nod", "'nod' is no area and begins no question", "`node <name>`"),
        ("prod-weu netwrk", "'netwrk' is no area and begins no question", "network"),
    ],
)
def test_what_cannot_be_read_is_answered_with_the_right_form(typed: str, why: str, do: str) -> None:
    with pytest.raises(Problem) as refused:
        read_check(typed.split(), AREAS)
    assert why in refused.value.why
    assert do in refused.value.do
    assert refused.value.code is Exit.USAGE


def test_options_and_words_do_not_contradict_each_other() -> None:
    assert scope_of((), "network", None) == Selection("network")
    assert scope_of(["ns", "shop"], sorted(areas())[0], None).area == sorted(areas())[0]
    with pytest.raises(Problem, match="cannot tell what to check"):
        scope_of(["ns", "shop"], None, "subnet-full")


def test_two_who_ask_the_same_share_a_check_and_other_questions_do_not() -> None:
    def request(asked: str) -> str:
        scope = Selection(about=read_question(asked.split())) if asked else EVERYTHING
        return CheckRequest(asked or "whole", ClusterRef.of("prod-weu"), SOMEWHERE, scope).question

    keys = [request(asked) for asked in ("", *ASKED.values())]
    assert len(set(keys)) == len(keys)
    assert request("ns shop") == request("ns shop")


@pytest.mark.parametrize("asked", ASKED.values())
def test_a_button_asks_the_same_again(asked: str) -> None:
    pressed = Pressed("r-1", "prod-weu", Selection(about=read_question(asked.split())))
    assert Pressed.load(pressed.dump()) == pressed
