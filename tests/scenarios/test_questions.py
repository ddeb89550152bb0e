"""Every question of a scenario about something in particular, asked as people type it, and answered as expected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.checks.check import check, engine_for
from bot.checks.clients import Clients, clients
from bot.checks.words import areas, read_check
from bot.report.events import Report
from handlers.clients.kube.access import KubeAccess
from handlers.model import State
from sandbox.scenario import FOLDER, Question, Scenario
from sandbox.world import World
from tests.checking import LIBRARY, access, azure

WITH_QUESTIONS = [
    name for name in Scenario.names() if "\nquestions:" in (FOLDER / name / "scenario.yaml").read_text(encoding="utf-8")
]


def stages(name: str) -> Iterator[tuple[World, str, tuple[Question, ...]]]:
    scenario = Scenario.load(name)
    for cluster, questions in scenario.questions.items():
        yield scenario.world, cluster, questions
    for cluster, questions in (scenario.twin.questions if scenario.twin else {}).items():
        yield scenario.twin_world(), cluster, questions


async def answer(opened: Clients, typed: str) -> Report:
    cluster, scope = read_check(typed.split(), areas())
    assert cluster is not None
    engine = engine_for(LIBRARY, scope, 30)
    events = [event async for event in check(cluster, opened, engine, timeout_s=30, about=scope.about)]
    report = events[-1]
    assert isinstance(report, Report)
    return report


@pytest.mark.parametrize("name", WITH_QUESTIONS)
async def test_a_question_about_something_in_particular_has_its_own_answer(name: str) -> None:
    for world, cluster, questions in stages(name):
        async with azure(world) as server, clients(access(server), KubeAccess()) as opened:
            for question in questions:
                diagnosis = (await answer(opened, f"{cluster} {question.ask}")).diagnosis
                found = {(one.finding.code, one.finding.subject.lower()) for one in diagnosis.findings}
                why = [(one.id, one.outcome, one.why) for one in diagnosis.checks]
                assert found == {(one.code, one.subject.lower()) for one in question.expect}, (question.ask, why)
                wanted = State.FOUND if question.expect else State.INCONCLUSIVE if question.stays_open else State.CLEAR
                assert diagnosis.state is wanted, (question.ask, why)
