"""A check limited to one area or code does not update incidents, nor does its failure."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from bot.address import Address
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.report.events import EVERYTHING, Report, Selection
from bot.slack.incidents.reporter import IncidentHooks
from bot.slack.incidents.service import IncidentService
from handlers.fleet.cluster_text import ClusterRef
from handlers.model import Diagnosis
from handlers.problem import Problem
from tests.bot import diagnoses

LATE = Problem("cannot check prod-weu", "Azure did not answer", "try again")


class Keeper:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.named: list[str] = []

    async def is_silenced(self, request: CheckRequest) -> bool:
        return False

    async def observed(self, team: str, diagnosis: Diagnosis, by: str = "", *, only_changed: bool = False) -> None:
        self.heard.append(diagnosis.state.value)

    async def note_named(self, team: str, diagnosis: Diagnosis) -> None:
        self.named.append(diagnosis.target.name)

    async def not_observed(self, team: str, cluster: str) -> None:
        self.heard.append(f"{cluster} not observed")


def incident_hooks() -> tuple[IncidentHooks, Keeper]:
    incident_service = Keeper()
    return IncidentHooks(cast("IncidentService", incident_service)), incident_service


def asked_for(scope: Selection) -> CheckRequest:
    return CheckRequest("r-1", ClusterRef.of("prod-weu"), Address("T1", "C1", "U1"), scope)


@pytest.mark.parametrize(
    ("diagnosis", "heard"),
    [
        (diagnoses.clear(), ["clear"]),
        (diagnoses.found(), ["found"]),
        (diagnoses.clear_in_network(), []),
        (diagnoses.clear_for_one_code(), []),
        (diagnoses.warned(), []),
    ],
    ids=["whole", "whole-found", "area", "code", "code-found"],
)
async def test_incidents_hear_of_whole_checks_only(diagnosis: Diagnosis, heard: list[str]) -> None:
    hooks, incident_service = incident_hooks()
    await hooks.observe(asked_for(EVERYTHING), Answer(Report(diagnosis, 1.0, 1)), True)
    assert incident_service.heard == heard
    assert bool(incident_service.named) is not bool(heard), "what a narrowed check has named is the cluster's, too"


async def test_a_recording_is_not_how_it_is_now() -> None:
    hooks, incident_service = incident_hooks()
    report = Report(diagnoses.clear(), 1.0, 1)
    await hooks.observe(asked_for(EVERYTHING), Answer(replace(report, recorded_at=diagnoses.TARGET.asked_at)), True)
    assert incident_service.heard == []


@pytest.mark.parametrize(
    ("scope", "heard"), [(EVERYTHING, ["prod-weu not observed"] * 2), (Selection("network"), [])], ids=["whole", "area"]
)
async def test_only_a_whole_check_that_fails_leaves_an_incident_unseen(scope: Selection, heard: list[str]) -> None:
    hooks, incident_service = incident_hooks()
    await hooks.observe(asked_for(scope), LATE, True)
    await hooks.observe(asked_for(scope), LATE, False)
    assert incident_service.heard == heard
