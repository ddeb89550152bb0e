"""From a check to offered fixes, against a local Azure: which requests are made, as whom, and when none are."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from bot.checks.check import check, check_target, engine_for
from bot.checks.clients import Clients, clients
from bot.render.json_report import as_dict
from bot.report.events import Report, Selection
from bot.report.report_json import dump, load
from handlers.clients.kube.access import KubeAccess
from handlers.clients.recording.case import Recorder, Recording
from handlers.model import Target
from handlers.remedy.plan import Offer
from handlers.resource_id import ResourceId
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.world import Body, World
from tests.checking import LIBRARY, access, azure, cluster_id

TIMEOUT_S = 60.0


def world_of(scenario: str) -> World:
    return Scenario.load(scenario).world


async def report_of(opened: Clients, cluster: str, scope: Selection | None = None) -> Report:
    engine = engine_for(LIBRARY, scope or Selection(), TIMEOUT_S)
    async with aclosing(check(cluster, opened, engine, timeout_s=TIMEOUT_S)) as events:
        async for event in events:
            if isinstance(event, Report):
                return event
    raise AssertionError("a check ends with a report")


async def offers(server: ArmServer, cluster: str) -> tuple[Offer, ...]:
    async with clients(access(server), KubeAccess()) as opened:
        return (await report_of(opened, cluster)).offers


async def reasons(server: ArmServer, cluster: str) -> str:
    [offer] = await offers(server, cluster)
    assert offer.plan is None
    return "; ".join(one.because for one in offer.forbidden)


def put_below(world: World, scope: str, kind: str, properties: Body) -> None:
    at = f"{scope}/providers/Microsoft.Authorization/{kind}/d1d00000-0000-4000-8000-000000000001"
    world.put(
        {"id": at, "name": at.rsplit("/", 1)[-1], "type": f"Microsoft.Authorization/{kind}", "properties": properties}
    )


def node_group(world: World, cluster: str) -> str:
    body = world.resources[cluster_id(world, cluster).key]
    return f"/subscriptions/{body['id'].split('/')[2]}/resourceGroups/{body['properties']['nodeResourceGroup']}"


def lockdown(scope: str, excluded: str) -> Body:
    return {
        "denyAssignmentName": "aks-managed-lockdown",
        "scope": scope,
        "permissions": [{"actions": ["*"], "notActions": ["*/read"]}],
        "principals": [{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}],
        "excludePrincipals": [{"id": excluded, "type": "ServicePrincipal"}],
    }


@pytest.mark.parametrize(
    ("scenario", "cluster", "remedy", "title"),
    [
        ("nodepool-failed", "staging-neu", "reconcile-pool", "Reconcile node pool general"),
        ("cluster-failed", "prod-eus2", "reconcile-cluster", "Reconcile cluster prod-eus2"),
        ("cluster-failed-infra", "prod-eus2", "reconcile-cluster", "Reconcile 1 node pool and cluster prod-eus2"),
        ("node-vm-failed", "prod-weu", "update-instances", "Update 1 failed instance of pool apps"),
        ("subscription-not-registered", "prod-weu", "register-provider", "Register Microsoft.OperationalInsights"),
        ("upgrade-runs-long", "payments-prod", "abort-operation", "Abort the operation on cluster payments-prod"),
    ],
)
async def test_a_root_cause_comes_with_a_plan(scenario: str, cluster: str, remedy: str, title: str) -> None:
    async with azure(world_of(scenario)) as server:
        [offer] = await offers(server, cluster)
        assert [one for one in server.log if one.is_write] == []
    assert offer.plan is not None, offer.forbidden
    assert (offer.remedy, offer.plan.title) == (remedy, title)
    assert not [one for one in offer.plan.warnings if "could not see" in one]


async def test_the_writer_is_asked_as_the_writer_and_the_reader_as_the_reader() -> None:
    async with azure(world_of("nodepool-failed")) as server:
        await offers(server, "staging-neu")
        asked = [(one.principal, one.action) for one in server.log if "permissions" in one.action.lower()]
        assert {who for who, _ in asked} == {"writer"}
        assert {one.action for one in server.log if one.principal == "writer" and one.action} == {
            "Microsoft.Authorization/permissions/read"
        }


async def test_a_writer_without_the_permission_gets_no_button() -> None:
    async with azure(world_of("nodepool-failed")) as server:
        server.deny("writer", "Microsoft.ContainerService/managedClusters/agentPools/write")
        assert "the writer may not do Microsoft.ContainerService/managedClusters/agentPools/write" in await reasons(
            server, "staging-neu"
        )


async def test_a_reader_who_is_also_the_writer_may_not_write() -> None:
    async with azure(world_of("nodepool-failed")) as server:
        environment = {key: one for key, one in server.environment("reader").items() if "WRITER" not in key}
        alone = access(server).__class__(server.url, server.url, server.ca_file, identity=environment)
        async with clients(alone, KubeAccess()) as opened:
            [offer] = (await report_of(opened, "staging-neu")).offers
    assert offer.plan is None
    assert "the writer may not do" in offer.forbidden[0].because


@pytest.mark.parametrize("excluded", ["writer", "reader"])
async def test_lockdown_of_the_node_group_holds_for_whom_it_does_not_leave_out(excluded: str) -> None:
    world = world_of("node-vm-failed")
    scope = node_group(world, "prod-weu")
    who = next(one.object_id for one in world.principals if one.name == excluded)
    put_below(world, scope, "denyAssignments", lockdown(scope, who))
    async with azure(world) as server:
        [offer] = await offers(server, "prod-weu")
    assert (offer.plan is not None) == (excluded == "writer")
    assert offer.plan or "deny assignment aks-managed-lockdown" in offer.forbidden[0].because


async def test_a_cause_that_could_not_be_looked_for_stands_beside_the_plan() -> None:
    async with azure(world_of("nodepool-failed")) as server:
        server.deny("reader", "Microsoft.Compute/locations/usages/read")
        [offer] = await offers(server, "staging-neu")
    assert offer.plan is not None
    assert "not every cause could be ruled out; still open: quota-exceeded" in offer.plan.warnings


async def test_a_cluster_that_is_well_costs_no_further_call() -> None:
    async with azure(world_of("nodepool-failed")) as server:
        assert await offers(server, "dev-shared") == ()
        assert not [one for one in server.log if "denyAssignments" in one.path or "permissions" in one.path]


async def test_a_check_of_fewer_questions_cannot_tell_a_root_and_offers_nothing() -> None:
    async with azure(world_of("nodepool-failed")) as server, clients(access(server), KubeAccess()) as opened:
        report = await report_of(opened, "staging-neu", Selection(only="nodepool-failed"))
    assert report.diagnosis.findings
    assert report.offers == ()


async def test_what_was_recorded_is_not_fixed(tmp_path: Path) -> None:
    file, recorder = tmp_path / "case.zip", Recorder()
    async with azure(world_of("nodepool-failed")) as server:
        async with clients(access(server), KubeAccess(), recorder=recorder) as opened:
            report = await report_of(opened, "staging-neu")
            assert report.offers
        recorder.target = str(report.diagnosis.target.id)
        recorder.save(file)
        recording, engine = Recording.load(file), engine_for(LIBRARY, Selection(), TIMEOUT_S)
        target = Target(ResourceId.parse(recording.target), recording.recorded_at)
        async with clients(access(server), KubeAccess(), recording=recording) as opened:
            events = [event async for event in check_target(target, opened, engine)]
    assert isinstance(events[-1], Report)
    assert events[-1].diagnosis.findings
    assert events[-1].offers == ()


async def test_offers_are_counted_kept_and_told_to_programs() -> None:
    async with azure(world_of("nodepool-failed")) as server, clients(access(server), KubeAccess()) as opened:
        report = await report_of(opened, "staging-neu")
        assert report.arm_calls == len(server.calls)
    assert load(dump(report)) == replace(report, costs={})
    [finding] = as_dict(report, LIBRARY)["findings"]
    [fix] = finding["fixes"]
    assert fix["commands"] == [f"az resource update --ids {finding['subject']}"]
    assert (fix["remedy"], fix["title"], fix["risk"], fix["forbidden"]) == (
        "reconcile-pool",
        "Reconcile node pool general",
        "low",
        [],
    )


async def test_reasons_are_told_to_programs_too() -> None:
    world = world_of("node-vm-failed")
    put_below(world, node_group(world, "prod-weu"), "locks", {"level": "ReadOnly"})
    async with azure(world) as server, clients(access(server), KubeAccess()) as opened:
        report = await report_of(opened, "prod-weu")
    fixes = [one for finding in as_dict(report, LIBRARY)["findings"] for one in finding["fixes"]]
    [fix] = [one for one in fixes if one["remedy"] == "update-instances"]
    assert (fix["title"], fix["commands"]) == (None, [])
    assert "(ReadOnly)" in fix["forbidden"][0]["because"]
    assert fix["forbidden"][0]["do"]
