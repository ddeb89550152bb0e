"""What people say to the bot who do not type a command."""

from __future__ import annotations

import pytest

from bot.slack.inbound.commands import NOW, ParsedCommand, read_command, read_mention
from bot.triage.clusters import FleetNames
from bot.triage.talk import Talk, Wants, changes_asked, read_talk
from tests.checking import LIBRARY

FLEET = FleetNames(("prod-weu", "prod-neu", "staging-neu", "shared", "payments-prod"))
ERROR = "ERROR: (QuotaExceeded) Operation results in exceeding approved standardDSv5Family Cores quota"


def read(said: str) -> Talk:
    return read_talk(said, FLEET, LIBRARY)


@pytest.mark.parametrize(
    "said",
    [
        "prod-weu",
        "PROD-WEU?",
        "`prod-weu`",
        "why is prod-weu broken?",
        "what's wrong with prod-weu",
        "is prod-weu ok?",
        "can you look at prod weu please",
        "prod-weu seems slow, any idea?",
    ],
)
def test_a_cluster_that_is_named_is_checked(said: str) -> None:
    assert read(said) == Talk(Wants.CHECK, ("prod-weu",))


def test_a_name_that_is_a_word_is_a_cluster_where_it_stands_alone() -> None:
    assert read("shared") == Talk(Wants.CHECK, ("shared",))
    assert read("thanks for the shared file").wants is Wants.NOTHING


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("prod-wue", ("prod-weu",)),
        ("stagin-neu", ("staging-neu",)),
        ("why is pord-weu broken", ("prod-weu",)),
        ("prod-weu-2", ("prod-weu",)),
        ("compare prod-weu and prod-neu", ("prod-weu", "prod-neu")),
    ],
)
def test_what_may_be_meant_is_asked_back_and_not_checked(said: str, near: tuple[str, ...]) -> None:
    talk = read(said)
    assert talk.wants is Wants.WHICH
    assert set(near) <= set(talk.clusters)


@pytest.mark.parametrize(("said", "named"), [(ERROR, ()), (f"prod-weu says {ERROR}", ("prod-weu",))])
def test_a_pasted_error_is_explained_and_its_cluster_stays_one_tap_away(said: str, named: tuple[str, ...]) -> None:
    talk = read(said)
    assert (talk.wants, talk.clusters) == (Wants.EXPLAIN, named)
    assert talk.explanation is not None
    assert talk.explanation.matches[0].runbook.code == "quota-exceeded"


@pytest.mark.parametrize("said", ["thanks!", "hello there", "good night", "xyzzy"])
def test_what_means_nothing_is_nothing(said: str) -> None:
    assert read(said) == Talk(Wants.NOTHING)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("what changed on prod-weu?", "prod-weu"),
        ("What has changed in prod-weu in the last 2 hours?", "prod-weu 2h"),
        ("who changed anything on prod-weu since 30 min", "prod-weu 30min"),
        ("changes on prod-weu past 3 days", "prod-weu 3d"),
        ("changes prod-weu 2h", "prod-weu 2h"),
        ("what changed?", None),
        ("why did the changes break prod-weu and prod-neu", None),
        ("why is prod-weu broken?", None),
    ],
)
def test_a_question_about_changes_is_the_command(said: str, asked: str | None) -> None:
    assert changes_asked(said) == asked
    if asked:
        assert read_mention(f"<@U1> {said}") == ParsedCommand("changes", asked)
        assert read_command(said) == ParsedCommand("changes", asked)


def test_the_word_itself_keeps_what_follows_it() -> None:
    assert read_command("changes") == ParsedCommand("changes")
    assert read_command("explain what changed on prod-weu").word == "explain"


@pytest.mark.parametrize(
    ("said", "near"), [("chek prod-weu", "check"), ("fixs prod-weu", "fixes"), ("runbok pdb", "runbook")]
)
def test_a_misspelt_command_has_one_near_it(said: str, near: str) -> None:
    assert read_command(said).near[0] == near


@pytest.mark.parametrize("said", ["what is wrong with prod-weu", "why is it down", "is prod-weu ok", "prod-weu"])
def test_a_sentence_is_no_misspelt_command(said: str) -> None:
    assert read_command(said).near == []


@pytest.mark.parametrize("word", ["histroy", "suport", "chages"])
def test_a_command_that_does_not_exist_is_never_suggested(word: str) -> None:
    assert set(read_command(f"{word} x").near) <= set(NOW)


@pytest.mark.parametrize("said", ["help?", "Check, prod-weu", "clusters!"])
def test_a_sign_behind_a_word_changes_nothing(said: str) -> None:
    assert read_command(said).word in NOW
