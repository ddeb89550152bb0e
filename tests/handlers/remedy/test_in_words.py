"""Preconditions are read by people: no JSON and no Python in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handlers.remedy.in_words import in_words
from handlers.remedy.plan import Plan
from tests.fixes.plans import PLAN

SPEC = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Failed", "Failed"),
        (3, "3"),
        (True, "yes"),
        (None, "none"),
        ([], "none"),
        ({}, "none"),
        (["1.35.6", "1.36.1"], "1.35.6, 1.36.1"),
        (SPEC, "minAvailable=2, selector.matchLabels.app=web"),
        ({"in": [{"key": "app", "values": ["web", "api"]}]}, "in[1].key=app, in[1].values=web, api"),
    ],
)
def test_a_value_reads_as_a_person_would_write_it(value: Any, said: str) -> None:
    assert in_words(value) == said


def test_what_has_moved_is_said_in_the_same_words() -> None:
    before = replace(PLAN, before={"rule of budget web": SPEC})
    now = replace(PLAN, before={"rule of budget web": {**SPEC, "minAvailable": 1}})
    (said,) = before.moved(now)
    assert said == (
        "rule of budget web: was minAvailable=2, selector.matchLabels.app=web, "
        "is minAvailable=1, selector.matchLabels.app=web"
    )


def test_a_plan_of_an_earlier_version_keeps_its_digest() -> None:
    assert "effect" not in PLAN.as_dict()
    assert Plan.from_json(PLAN.as_json()).digest == PLAN.digest
