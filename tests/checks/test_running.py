"""Whether an operation runs: what the button under an answer offers hangs on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.checks.reporter import Answer
from bot.report.events import Report
from bot.report.running import operation_runs
from bot.slack.checks.view import answer
from bot.slack.kit.message import Pressed
from handlers.diagnose.provisioning_in_progress import NOTHING_RUNS
from handlers.model import Check, Diagnosis, Outcome
from tests.bot.diagnoses import clear
from tests.checking import LIBRARY

UPGRADES = "prod-weu has been Upgrading for 12 min; up to 66 min is usual"


def diagnosis(outcome: Outcome, why: str) -> Diagnosis:
    known = clear()
    check = Check("provisioning-in-progress", ("provisioning-in-progress",), outcome, why, 1.0)
    others = [one for one in known.checks if one.id != check.id]
    return replace(known, checks=(*others, check))


@pytest.mark.parametrize(
    ("outcome", "why", "runs"),
    [
        (Outcome.CLEAR, UPGRADES, True),
        (Outcome.FOUND, UPGRADES, True),
        (Outcome.CLEAR, NOTHING_RUNS, False),
        (Outcome.INCONCLUSIVE, "the node pools: denied", False),
    ],
)
def test_the_button_offers_to_tell_of_the_end_where_something_runs(outcome: Outcome, why: str, runs: bool) -> None:
    told = diagnosis(outcome, why)
    assert operation_runs(told) is runs
    head = answer(Answer(Report(told, 1.0, 1, 1)), Pressed("r", "prod-weu"), LIBRARY).head
    assert ("Tell me when it ends" in str(head.blocks)) is runs
