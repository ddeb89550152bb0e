"""The two lines with which an answer begins: what does not work and why, and what to do."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bot.render.headline import LONGEST, beside_name, first_lines, for_cluster, headline, plain
from bot.report.known import checked_codes
from bot.slack.kit import sentences
from handlers.model import Finding, Ranked, Severity
from runbooks.library import Library
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, USAGE, library

OWN = Library.load()
QUOTA = diagnoses.found().findings[0].finding


def test_every_code_that_a_check_finds_has_both_lines() -> None:
    assert [code for code in sorted(checked_codes()) if not (OWN[code].effect and OWN[code].do)] == []


def test_the_first_line_names_cluster_effect_and_cause_and_the_second_what_to_do() -> None:
    said = first_lines(diagnoses.found(), library())
    assert said
    assert plain(said.effect) == (
        "prod-weu cannot add nodes to pool apps: vCPU quota standardDSv5Family is full (98 of 100 used)"
    )
    assert said.do == "Ask for 106 (now 100), or scale down batch (2 nodes, 16 cores)"
    assert first_lines(diagnoses.clear(), library()) is None


@pytest.mark.parametrize("known", [Library([]), library()])
def test_a_page_without_these_lines_or_a_fact_says_its_title_and_its_proof(known: Library) -> None:
    said = headline(Finding("quota-exceeded", USAGE, ("98 of 100 cores are used",)), known, "prod-weu")
    assert said.effect.endswith(": 98 of 100 cores are used")
    assert said.do == ""


def test_a_line_that_stands_alone_names_its_cluster_once() -> None:
    assert for_cluster("`shop/web` restarts", "prod-weu") == "`prod-weu`: `shop/web` restarts"
    assert for_cluster("Pool a of `prod-weu` is Failed", "prod-weu") == "Pool a of `prod-weu` is Failed"
    assert beside_name("`prod-weu` cannot add nodes", "prod-weu") == "cannot add nodes"


@pytest.mark.parametrize(
    ("effect", "cluster"),
    [("`product-api` restarts", "prod"), ("`prod-weu-2` is Failed", "prod-weu"), ("Pool `my_prod` is full", "prod")],
)
def test_a_name_that_only_begins_or_ends_like_the_clusters_does_not_name_it(effect: str, cluster: str) -> None:
    assert for_cluster(effect, cluster) == f"`{cluster}`: {effect}"
    named = f"{effect} on `{cluster.upper()}`"
    assert for_cluster(named, cluster) == named


def test_whether_it_is_an_error_or_a_warning_decides_what_is_claimed() -> None:
    facts = {"limit": 100, "used": 98, "needed": 8, "short": 6, "quota": "cores", "new_limit": 106, "holders": []}
    error = Finding("quota-exceeded", USAGE, ("x",), facts=facts)
    assert "cannot add nodes" in headline(error, OWN, "prod-weu").effect
    warning = replace(error, severity=Severity.WARNING)
    assert "has no room for the next nodes" in headline(warning, OWN, "prod-weu").effect


def test_the_worst_cause_begins_and_a_long_error_is_cut() -> None:
    proof = "Azure said: " + "Internal server error, try later. " * 60
    long = replace(diagnoses.found(), findings=(Ranked(Finding("cluster-failed", CLUSTER, (proof,))),))
    said = first_lines(long, Library([]))
    assert said
    assert len(said.effect) <= LONGEST + len("`prod-weu`: ")
    assert said.effect.endswith("…")


def test_hostile_names_format_nothing_and_mention_nobody() -> None:
    facts = QUOTA.facts | {"pool": "<!channel> `x` *b*", "family": "_i_ <https://evil.example|portal>"}
    said = headline(replace(QUOTA, facts=facts), library(), "prod-weu")
    line = sentences.named(said.effect)
    assert "<!channel>" not in line
    assert "<https" not in line
    assert line.count("`") == 4
    assert json.dumps(line)
