"""What each question of a check cost, as `aksbot check --output json` prints it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.checks.check import check_target, engine_for
from bot.checks.clients import clients
from bot.render.json_report import as_dict
from bot.report.events import EVERYTHING, Report, Selection
from handlers.clients.kube.access import KubeAccess
from handlers.model import Target
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.checking import LIBRARY, access, azure, cluster_id

Body = dict[str, Any]


async def printed(server: ArmServer, name: str, scope: Selection = EVERYTHING) -> Body:
    """The JSON of one check by a reader of its own."""
    target, engine = Target(cluster_id(server.world, name)), engine_for(LIBRARY, scope, 30.0)
    async with clients(access(server), KubeAccess()) as opened:
        events = [event async for event in check_target(target, opened, engine)]
    assert isinstance(events[-1], Report)
    return as_dict(events[-1], LIBRARY)


def question(whole: Body, name: str) -> Body:
    found: Body = next(check for check in whole["checks"] if check["id"] == name)
    return found


async def test_every_read_of_a_check_is_listed_once_with_the_fact_it_was_made_for() -> None:
    async with azure(Scenario.load("healthy-fleet").world) as server:
        whole = await printed(server, "prod-weu")
        sent = [(request.method, request.path) for request in server.log if request.principal == "reader"]
    reads = [read for fact in whole["facts"] for read in fact["reads"]]
    counted = {side: sum(fact["calls"][side] for fact in whole["facts"]) for side in ("arm", "kube")}
    assert counted == whole["calls"]
    assert sorted((read["method"], read["path"]) for read in reads if read["path"].startswith("/subscriptions/")) == (
        sorted(sent)
    )
    assert len(reads) == sum(counted.values())
    assert all(read["took_ms"] > 0 for read in reads)


async def test_a_question_names_the_reads_it_waited_for_their_number_and_when_they_were_in() -> None:
    async with azure(Scenario.load("healthy-fleet").world, latency_s=0.01) as server:
        whole = await printed(server, "prod-weu")
    facts = {fact["fact"]: fact for fact in whole["facts"]}
    for check in whole["checks"]:
        waited_for = [facts[name] for name in check["waited_for"]]
        assert check["calls"]["arm"] == sum(fact["calls"]["arm"] for fact in waited_for)
        assert check["calls"]["kube"] == sum(fact["calls"]["kube"] for fact in waited_for)
        assert check["waited_ms"] >= max((fact["took_ms"] for fact in waited_for), default=0)
    assert {"ManagedCluster", "AgentPools", "PoolSubnets"} <= set(question(whole, "subnet-full")["waited_for"])
    assert "Locks" not in question(whole, "subnet-full")["waited_for"]


async def test_a_question_about_causes_waited_for_the_reads_of_those_causes() -> None:
    async with azure(Scenario.load("healthy-fleet").world) as server:
        whole = await printed(server, "prod-weu")
    infra, subnet = (set(question(whole, name)["waited_for"]) for name in ("cluster-failed-infra", "subnet-full"))
    assert subnet < infra
    assert "Locks" in infra


@pytest.mark.parametrize("code", ["subnet-full", "resource-lock"])
async def test_a_check_of_one_code_lists_no_other_reads(code: str) -> None:
    async with azure(Scenario.load("healthy-fleet").world) as server:
        whole = await printed(server, "prod-weu", Selection(only=code))
    assert [check["id"] for check in whole["checks"]] == [code]
    assert {fact["fact"] for fact in whole["facts"]} == set(question(whole, code)["waited_for"])
