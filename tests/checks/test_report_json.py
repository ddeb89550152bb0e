from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.checks.request import CheckRequest
from bot.render.report import report_lines
from bot.report.events import Report
from bot.report.report_json import dump, load
from bot.store.codec import decode, encode
from handlers.model import Diagnosis, Finding, Ranked
from tests.bot import diagnoses
from tests.bot.diagnoses import POOL, library
from tests.checks.people import request


@pytest.mark.parametrize(
    "make", [diagnoses.found, diagnoses.clear, diagnoses.blind, diagnoses.walked, diagnoses.beside]
)
def test_a_report_comes_back_as_it_was_and_reads_the_same(make: Callable[[], Diagnosis]) -> None:
    report = Report(make(), 812.0, 12, 3, datetime(2026, 11, 18, 2, 30, tzinfo=UTC))
    again = load(dump(report))
    assert again == report
    assert report_lines(again, library(), 80) == report_lines(report, library(), 80)


STORED = Path(__file__).parents[1] / "store" / "stored" / "report_with_kinds_of_facts.json"


def test_plain_facts_come_back_as_they_were() -> None:
    facts = {"nested": {"$is": "tuple", "of": [1], "and": "more"}, "plain": [1, 2.5, None, True, "text", {"nodes": 4}]}
    diagnosis = diagnoses.clear()
    finding = Finding("nodepool-failed", POOL, ("it is Failed",), facts=facts)
    report = Report(replace(diagnosis, findings=(Ranked(finding),)), 1.0, 1)
    assert load(dump(report)).diagnosis.findings[0].finding.facts == facts


def test_a_report_of_the_version_before_is_read_with_its_facts_as_plain_json() -> None:
    report = load(STORED.read_text("utf-8"))
    (found,) = report.diagnosis.findings
    assert found.finding.facts == {
        "at": "2026-11-18T02:30:00+00:00",
        "day": "2026-11-18",
        "took": 180.0,
        "pools": ["apps", {"nodes": 4}],
        "names": ["apps"],
        "$is": "no tag of ours",
        "plain": [1, 2.5, None, True, "text"],
    }
    assert [one.outcome for one in report.diagnosis.checks] == [one.outcome for one in diagnoses.blind().checks]
    assert load(dump(report)) == report


def test_a_request_comes_back_as_it_was() -> None:
    asked = request("ada", fresh=True, area="network")
    assert decode(CheckRequest, encode(asked)) == asked
    assert json.loads(encode(asked))["cluster"] == "prod-weu"


def test_an_id_and_a_portal_link_to_it_are_one_question() -> None:
    link = f"https://portal.azure.com/#@contoso.com/resource{diagnoses.CLUSTER}/overview"
    assert request("ada", link).question == request("bob", diagnoses.CLUSTER.upper()).question
