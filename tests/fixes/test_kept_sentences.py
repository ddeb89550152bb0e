"""Texts stored in proposals, executions and the audit log are plain text, however a fix ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from bot.fixes import reasons
from bot.fixes.may import Barrier, NotAllowed
from bot.fixes.outcome import outcome_of, without_acts
from bot.fixes.proposal import End
from bot.fixes.store import audit_records
from bot.policy.fixes import Freeze
from bot.render.verdict import label
from bot.report.events import Report
from bot.slack.fixes import message_text
from bot.slack.kit import escaping
from handlers.model import Diagnosis
from handlers.problem import Problem
from handlers.remedy.execution import Call, Execution, Note, Outcome
from handlers.remedy.plan import Forbidden, Plan, Verb, Verify
from tests.bot import diagnoses
from tests.fixes.markup import markup_in
from tests.fixes.plans import APPROVER, PLAN, POOL, proposal

FACTS: dict[type | str, Any] = {
    "Plan": PLAN,
    "Person": APPROVER,
    "Barrier": Barrier.PERSON,
    "NotAllowed": NotAllowed(Barrier.FROZEN, 2, freeze=Freeze(name="peak-hours")),
    "Freeze": Freeze(name="peak-hours"),
    "int": 3,
    "str": "pool apps",
    "tuple[str, ...]": ("state of pool apps: was Failed, is Updating",),
    "Sequence[str]": ("approver is not among those",),
}
"""The values that fill in each sentence."""

WALKED = replace(PLAN, verify=Verify("nodepool-failed", diagnoses.POOL))
LOOKING = replace(PLAN, steps=(replace(PLAN.steps[0], verb=Verb.PROBE_FROM_POD),))
CALL = Call("PUT", POOL, "0f3c", "200")


def test_every_reason_is_plain_text() -> None:
    found = {name: markup_in(said) for name, said in _sentences()}
    assert len(found) > 20
    assert {name: marks for name, marks in found.items() if marks} == {}


def _sentences() -> Iterator[tuple[str, str]]:
    for name, one in vars(reasons).items():
        if isinstance(one, str) and name.isupper():
            yield name, one
        elif isinstance(one, Forbidden):
            yield name, one.because
        elif inspect.isfunction(one) and one.__module__ == reasons.__name__ and not name.startswith("_"):
            said = _said(one)
            yield name, said.because if isinstance(said, Forbidden) else said


def _said(sentence: Callable[..., str | Forbidden]) -> str | Forbidden:
    return sentence(*(FACTS[one.annotation] for one in inspect.signature(sentence).parameters.values()))


@pytest.mark.parametrize("barrier", Barrier)
def test_whoever_is_refused_is_recorded_in_plain_text_that_speaks_to_nobody(barrier: Barrier) -> None:
    said = reasons.why_barred(NotAllowed(barrier, 2, freeze=Freeze(name="peak-hours")), "prod-weu", "reconcile-pool")
    assert said
    assert markup_in(said) == []
    assert "you" not in said.split()


LOOKS: dict[str, Report | Problem] = {
    "gone": Report(diagnoses.clear(), 1.0, 1),
    "still there": Report(diagnoses.walked(), 1.0, 1),
    "nobody can tell": Report(diagnoses.blind(), 1.0, 1),
    "no look": Problem("cannot check prod-weu", "no answer within 60 s", "check again"),
}


@pytest.mark.parametrize("plan", [PLAN, WALKED, LOOKING], ids=["repairs", "is still there", "only looks"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_fix_that_ends_keeps_plain_text_whatever_was_sent_and_seen(plan: Plan, look: str) -> None:
    for outcome, calls, ask in product(Outcome, ((), (CALL,)), ("", "Look at it in the portal")):
        here = replace(_here(plan), outcome=outcome, calls=calls, why="Azure said no", ask=ask)
        for end, why in (outcome_of(plan, here, LOOKS[look]), without_acts(here)):
            assert why
            record = audit_records.ended(proposal(), end.value, why, here)
            assert markup_in(f"{why}\n{record.as_json()}") == [], (outcome, why)


def test_every_end_that_a_look_can_come_to_is_among_them() -> None:
    ends = {
        outcome_of(plan, replace(_here(plan), outcome=outcome, calls=(CALL,)), look)[0]
        for plan, outcome, look in product((PLAN, WALKED, LOOKING), Outcome, LOOKS.values())
    } | {without_acts(replace(_here(PLAN), outcome=outcome))[0] for outcome in Outcome}
    assert ends == set(End) - {End.DENIED, End.EXPIRED}, "those two are people's and the clock's"


@pytest.mark.parametrize("diagnosis", [diagnoses.clear(), diagnoses.found(), diagnoses.blind()])
def test_the_verdict_that_a_reason_quotes_is_plain(diagnosis: Diagnosis) -> None:
    assert markup_in(label(diagnosis)[0]) == []


def test_what_slack_shows_of_a_fix_would_be_noticed() -> None:
    """The other way round: the words of the Slack side hold markup, and none of them passes for a reason."""
    one = proposal().moved(end=End.FIXED)
    shown = [message_text.head(one), escaping.code("prod-weu"), escaping.escape("a & b")]
    assert all(markup_in(said) for said in [*shown, "<@U0APPROVER> approved", ":x: failed", '{"type":"section"}'])


def _here(plan: Plan) -> Execution:
    note = Note(datetime(2026, 11, 18, 3, 14, 9, tzinfo=UTC), "the name resolves to 10.0.0.4")
    answer = "https://kubernetes.default.svc/ no answer within 10 s\nhttps://10.0.0.1/ 401: the way is open"
    return replace(Execution.begin("p1", plan), notes=(note,), answer=answer if plan is LOOKING else "")
