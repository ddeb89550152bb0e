from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.kit import escaping, sentences
from handlers.problem import Problem

HOSTILE = [
    "<!channel> look",
    "<@U0123> and <#C0123>",
    "<https://evil.example|Azure portal>",
    "a & b < c > d",
    "`ends the code` ```and the fence```",
    "*bold* _italic_ ~gone~",
    "line\nbreak\u2028and\u202eturn",
    "\x1b[31mred\x1b[0m",
    "&lt;!here&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_is_escaped_can_mention_or_link(text: str) -> None:
    for said in (escaping.escape(text), escaping.plain(text), escaping.code(text)):
        assert not re.search(r"[<>]", said)


def test_what_looks_escaped_already_is_escaped_again() -> None:
    assert escaping.escape("&lt;!here&gt;") == "&amp;lt;!here&amp;gt;"


@given(st.text())
def test_code_holds_its_text_in_exactly_two_backticks(text: str) -> None:
    said = escaping.code(text)
    assert (said[0], said[-1], said.count("`")) == ("`", "`", 2)
    assert "\n" not in said


@given(st.text())
def test_plain_text_formats_nothing(text: str) -> None:
    said = escaping.plain(text)
    assert not set(said) & set("*`~<>\n")
    assert not re.search(r"(?<![^\W_])_|_(?![^\W_])", said)


def test_a_name_with_an_underscore_inside_stays_as_it_is() -> None:
    assert escaping.plain("MC_rg_prod-weu_westeurope") == "MC_rg_prod-weu_westeurope"


@given(st.text(), st.integers(20, 200))
def test_what_is_cut_says_so_and_fits(text: str, longest: int) -> None:
    said = escaping.cut(text, longest)
    assert len(said) <= longest
    assert said == text or said.endswith(escaping.CUT)


@given(st.text(alphabet="a&<`"), st.integers(30, 60))
def test_cut_mrkdwn_never_ends_inside_an_entity_or_a_code_span(text: str, longest: int) -> None:
    said = escaping.fits(escaping.code(text, 500) + escaping.escape(text).replace("`", ""), longest)
    assert len(said) <= longest
    assert said.count("`") % 2 == 0
    assert re.sub(r"&(amp|lt|gt);", "", said).count("&") == 0


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (timedelta(milliseconds=10), "0 s"),
        (timedelta(seconds=40), "40 s"),
        (timedelta(minutes=3, seconds=10), "3 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(seconds=-5), "0 s"),
    ],
)
def test_a_span_of_time_is_told_shortly(time: timedelta, said: str) -> None:
    assert escaping.span(time) == said


def test_a_problem_is_told_in_three_parts() -> None:
    said = sentences.problem(Problem("cannot find <prod>", "no cluster has that name", "check the name"))
    assert said == "Cannot find &lt;prod&gt;: no cluster has that name. What to do: check the name"
