"""A fix that only looks ends with what it saw, never with "fixed"."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.fixes.outcome import outcome_of
from bot.fixes.proposal import End
from bot.report.events import Report
from handlers.model import Diagnosis
from handlers.remedy.execution import Execution, Note, Outcome
from handlers.remedy.plan import Verb
from tests.bot import diagnoses
from tests.fixes.plans import PLAN

LOOKING = replace(PLAN, steps=(replace(PLAN.steps[0], verb=Verb.PROBE_FROM_POD),))
REMOVED = Note(datetime(2026, 11, 18, 3, 14, 9, tzinfo=UTC), "the probe pod is removed")
HERE = replace(Execution.begin("p1", LOOKING), notes=(REMOVED,), outcome=Outcome.DONE)
LOOKS = [diagnoses.clear(), diagnoses.walked(), diagnoses.blind()]


@pytest.mark.parametrize("diagnosis", LOOKS, ids=["gone", "still there", "nobody can tell"])
def test_what_the_probe_answered_is_told_and_nothing_is_called_fixed(diagnosis: Diagnosis) -> None:
    here = replace(HERE, answer="https://10.0.0.1/ no answer within 10 s\nhttps://prod-weu/ 401: the way is open")
    end, why = outcome_of(LOOKING, here, Report(diagnosis, 1.0, 1))
    assert end is End.ANSWERED
    assert "What it saw: https://10.0.0.1/ no answer within 10 s; https://prod-weu/ 401: the way is open" in why
    assert REMOVED.says not in why


@pytest.mark.parametrize("diagnosis", LOOKS, ids=["gone", "still there", "nobody can tell"])
def test_a_probe_without_an_answer_says_so(diagnosis: Diagnosis) -> None:
    end, why = outcome_of(LOOKING, HERE, Report(diagnosis, 1.0, 1))
    assert end is End.FAILED
    assert "It got no answer" in why
