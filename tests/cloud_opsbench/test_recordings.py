"""Recorded faults of workloads: the root cause is found, nothing is wrongly reported as healthy, and it is fast."""

from __future__ import annotations

import pytest

from tests.cloud_opsbench.recording import Score, load, names
from tests.cloud_opsbench.serving import diagnosed
from tests.handlers.diagnose.wire import CHECKED
from tests.sample import takes

ONE_OF = 12
"""How many of the recordings a usual run takes; a soak takes all."""
RIGHT, FALSE_CLEAR = 0.90, 0.02

pytestmark = pytest.mark.skipif(not names(), reason="no recordings (AKSBOT_TEST_OPSBENCH)")


async def scored(wanted: list[str]) -> list[Score]:
    return [await diagnosed(recorded) for recorded in map(load, wanted) if recorded.asked_for]


@pytest.mark.parametrize("name", [name for name in names() if takes(name, ONE_OF)])
async def test_what_is_named_as_the_root_is_no_guess(name: str) -> None:
    """A crash of a check, or a finding of a workload that the recording shows to be well, fails here at once."""
    recorded = load(name)
    score = await diagnosed(recorded)
    assert [one.id for one in score.diagnosis.checks if one.outcome == "crashed"] == []
    assert len(score.beside) <= 1, [(one.code, one.subject) for one in score.beside]


@pytest.mark.soak
async def test_nine_of_ten_roots_are_right_and_hardly_any_is_called_clear() -> None:
    """Of the kinds that a check asks about: the others are in the table of `python -m tests.cloud_opsbench`."""
    every = await scored(list(names()))
    scores = [one for one in every if any(row["code"] in CHECKED for row in one.recorded.codes)]
    right = sum(one.right for one in scores) / len(scores)
    clear = sum(one.false_clear for one in scores) / len(scores)
    wrong = [(one.recorded.name, one.first.code if one.first else "clear") for one in scores if not one.right]
    assert right >= RIGHT, wrong
    assert clear <= FALSE_CLEAR, wrong
