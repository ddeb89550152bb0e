"""What a digest says: what is new, what was mended, what lasts, and what could not be looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.checks.digest import ClusterNews, Digest, headline, news_of, parts
from bot.checks.fleet import Checked
from bot.checks.store.verdicts import PastVerdict
from bot.report.events import Report
from handlers.model import Diagnosis, Outcome, State, Unavailable, Why
from handlers.problem import Problem
from runbooks.library import Library
from tests.bot.diagnoses import clear, found
from tests.checks.test_fleet_lines import member

NOW = datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
LIBRARY = Library.load()


def checked(diagnosis: Diagnosis) -> Checked:
    return Checked(member("prod-weu"), Report(diagnosis, 1.0, 1, 1))


def before(*roots: tuple[str, str]) -> PastVerdict:
    state = State.FOUND if roots else State.CLEAR
    return PastVerdict("prod-weu", "x", NOW - timedelta(hours=30), state, "error" if roots else "", roots)


def root_of(diagnosis: Diagnosis) -> tuple[str, str]:
    first = next(ranked.finding for ranked in diagnosis.findings if ranked.root)
    return first.code, first.subject


def digest(*news: ClusterNews, **more: tuple[str, ...]) -> Digest:
    return Digest(NOW - timedelta(hours=24), NOW, news, **more)


def test_what_was_not_there_before_is_new_and_what_was_lasts() -> None:
    code, subject = root_of(found())
    assert news_of(checked(found()), before()).new[0] == code
    lasting = news_of(checked(found()), before((code, subject.upper())))
    assert code in lasting.lasting
    assert code not in lasting.new


def test_of_a_cluster_that_was_never_checked_nothing_is_new() -> None:
    news = news_of(checked(found()), None)
    assert news.new == ()
    assert news.first
    assert any("first check" in line for _, lines in parts(digest(news), LIBRARY) for line in lines)


def test_what_is_gone_is_mended() -> None:
    assert news_of(checked(clear()), before(("subnet-full", "snet"))).mended == ("subnet-full",)


def test_what_cannot_be_seen_now_is_not_mended() -> None:
    blind = clear()
    one = blind.checks[0]
    unseen = replace(one, outcome=Outcome.INCONCLUSIVE, unseen=(Unavailable("x", Why.DENIED, "403"),))
    diagnosis = replace(blind, checks=(unseen, *blind.checks[1:]))
    news = news_of(checked(diagnosis), before(*((code, "x") for code in one.codes)))
    assert news.mended == ()
    assert news.open_checks == 1


def test_a_cluster_that_could_not_be_checked_is_neither_mended_nor_quiet() -> None:
    problem = Problem("cannot check prod-weu", "no answer within 120 s", "try again")
    news = news_of(Checked(member("prod-weu"), problem), before(("subnet-full", "snet")))
    assert news.mended == ()
    assert dict(parts(digest(news), LIBRARY)) == {"Not looked at": ("prod-weu: could not be checked",)}
    assert headline(digest(news)) == "1 cluster: nothing new was found, but not everything could be looked at"


def test_nothing_to_say_is_one_line() -> None:
    told = digest(ClusterNews("a"), ClusterNews("b"))
    assert headline(told) == "2 clusters checked, nothing is wrong and nothing new"
    assert list(parts(told, LIBRARY)) == []


def test_the_first_line_counts_and_the_rest_names_each_cluster_with_the_titles() -> None:
    told = digest(
        ClusterNews("a", new=("subnet-full", "quota-exceeded")),
        ClusterNews("b", mended=("quota-exceeded",), lasting=("subnet-full",)),
        ending=("the mute of x on b, at 12:00 UTC",),
        fixes=("b: reconcile-pool ended fixed",),
    )
    subnet, quota = LIBRARY["subnet-full"].title, LIBRARY["quota-exceeded"].title
    assert headline(told) == "2 clusters in the last 24 h: 2 new problems, 1 mended, 1 as before"
    assert dict(parts(told, LIBRARY)) == {
        "New": (f"a: {subnet}, {quota}",),
        "Mended": (f"b: {quota}",),
        "Fixes": ("b: reconcile-pool ended fixed",),
        "As before": (f"b: {subnet}",),
        "Ends today": ("the mute of x on b, at 12:00 UTC",),
    }
