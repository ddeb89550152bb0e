"""The job with real checks: against Azure as the sandbox serves it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.checks.check import check, engine_for
from bot.checks.clients import clients
from bot.checks.runner import azure_runner
from bot.render.report import report_lines
from bot.report.events import Report, Selection
from bot.report.report_json import dump, load
from bot.slack.checks import view as checks_view
from bot.slack.kit.message import Pressed
from bot.store.connect import Connection
from handlers.clients.kube.access import KubeAccess
from handlers.problem import Problem
from sandbox.scenario import Scenario
from tests.checking import LIBRARY, access, azure
from tests.checks.people import Listener, request, working
from tests.slack.limits_held import assert_accepted


async def test_a_request_is_answered_with_the_cause(connection: Connection) -> None:
    scenario = Scenario.load("quota-blocks-upgrade")
    listener = Listener()
    async with (
        azure(scenario.world) as server,
        clients(access(server), KubeAccess()) as opened,
        working(connection, azure_runner(opened, LIBRARY, 30.0), listener) as jobs,
    ):
        await asyncio.gather(jobs.check(request("ada")), jobs.check(request("bob")))
        ada, bob = await listener.answered("ada", "bob")
        await jobs.check(request("eve", "prod-wue"))
        (eve,) = await listener.answered("eve")
    codes = [one.finding.code for one in ada.what.report.diagnosis.findings if one.root]
    assert codes == ["quota-exceeded"]
    assert bob.what.report == ada.what.report
    assert eve.how == "failed"
    assert isinstance(eve.what, Problem)
    assert_accepted(checks_view.answer(ada.what, Pressed("ada", "prod-weu"), LIBRARY))


@pytest.mark.parametrize("name", ["quota-blocks-upgrade", "subnet-full", "healthy-fleet"])
async def test_what_a_real_check_reports_comes_back_from_the_cache_unchanged(name: str) -> None:
    scenario = Scenario.load(name)
    engine = engine_for(LIBRARY, Selection(), 30.0)
    async with azure(scenario.world) as server, clients(access(server), KubeAccess()) as opened:
        events = [event async for event in check("prod-weu", opened, engine, timeout_s=30.0)]
    report = events[-1]
    assert isinstance(report, Report)
    again = load(dump(report))
    assert report_lines(again, LIBRARY, 100) == report_lines(report, LIBRARY, 100)


@pytest.mark.parametrize("denied", [False, True])
async def test_what_azures_detectors_said_comes_back_from_the_cache_too(denied: bool) -> None:
    engine = engine_for(LIBRARY, Selection(only="nodepool-failed"), 30.0)
    async with (
        azure(Scenario.load("nodepool-failed").world) as server,
        clients(access(server), KubeAccess()) as opened,
    ):
        if denied:
            server.deny("reader", "Microsoft.ContainerService/managedClusters/detectors/read")
        events = [event async for event in check("staging-neu", opened, engine, timeout_s=30.0, detectors=True)]
    report = events[-1]
    assert isinstance(report, Report)
    assert report.detectors is not None
    assert load(dump(report)).detectors == report.detectors


def test_a_check_with_detectors_is_another_question() -> None:
    plain = request("ada")
    asked = replace(plain, scope=replace(plain.scope, detectors=True))
    assert plain.question != asked.question
    assert plain.question == request("bob").question
