from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from handlers.model import Finding
from handlers.remedy.execution import Execution
from handlers.remedy.plan import Step, Verb
from tests.fixes.plans import PLAN


@pytest.mark.parametrize(
    "value",
    [("apps",), {"apps"}, frozenset(), datetime(2026, 11, 18, tzinfo=UTC), date(2026, 11, 18), timedelta(1), b"x"],
    ids=lambda value: type(value).__name__,
)
def test_a_fact_that_would_come_back_as_something_else_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(TypeError, match=rf"the facts of subnet-full.*: pools\[1\] is a {type(value).__name__};"):
        Finding("subnet-full", "apps", ("it is full",), facts={"pools": ["apps", value]})


def test_a_fact_deep_inside_is_named_with_its_way_and_a_key_must_be_text() -> None:
    with pytest.raises(TypeError, match="the facts of subnet-full, subnet: free is a tuple"):
        Finding("subnet-full", "apps", ("it is full",), facts={"subnet": {"free": (1,)}})
    with pytest.raises(TypeError, match="the key 5 is a int"):
        Finding("subnet-full", "apps", ("it is full",), facts={"by node": {5: "full"}})


def test_what_json_can_say_is_taken_as_it_is() -> None:
    facts = {"text": "x", "number": 1.5, "none": None, "yes": True, "list": [{"a": [1]}], "object": {"b": {}}}
    assert Finding("subnet-full", "apps", ("it is full",), facts=facts).facts == facts


def test_the_same_holds_for_a_plan_for_its_steps_and_for_what_a_fix_needs_to_carry_on() -> None:
    kept = {field: getattr(PLAN, field) for field in PLAN.__slots__}
    with pytest.raises(TypeError, match="before reconcile-pool: zones is a tuple"):
        type(PLAN)(**kept | {"before": {"zones": ("1", "2")}})
    with pytest.raises(TypeError, match="the step delete-pod: grace is a timedelta"):
        Step(Verb.DELETE_POD, "shop/Pod/cart", "delete", "DELETE", "kubectl delete", {"grace": timedelta(seconds=30)})
    with pytest.raises(TypeError, match="fix fix-1 needs to carry on: sent is a datetime"):
        Execution("fix-1", PLAN, datetime.now(UTC), data={"sent": datetime.now(UTC)})
