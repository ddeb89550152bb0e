"""`logs`: what the control plane has logged, out of Log Analytics, over real sockets; or how to have it kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.checks.check import check_target, engine_for
from bot.checks.clients import clients
from bot.checks.words import areas, read_check
from bot.report.events import Report
from handlers.clients.kube.access import KubeAccess
from handlers.clients.recording.case import Recorder
from handlers.model import Check, Outcome, Target
from handlers.resource_id import ResourceId
from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.checking import LIBRARY, access, azure
from tests.handlers.diagnose.inside import page
from tests.sandbox.worlds import CLUSTER, GROUP, small_world

Body = dict[str, Any]

WORKSPACE = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/law-prod"
GUID = "0f1e2d3c-4b5a-4697-8877-665544332211"
QUERY = "Microsoft.OperationalInsights/workspaces/query/read"
SENT = ("kube-apiserver", "kube-scheduler", "kube-audit-admin")
WEBHOOK = 'E1120 03:20:44.1       1 dispatcher.go:214] "Failed calling webhook, failing closed" webhook="{}"'


def setting(*sends: str, to: str | None = WORKSPACE, tables: str | None = "Dedicated") -> Body:
    return {
        "id": f"{CLUSTER}/providers/microsoft.insights/diagnosticSettings/control-plane",
        "type": "Microsoft.Insights/diagnosticSettings",
        "name": "control-plane",
        "properties": {
            "workspaceId": to,
            "storageAccountId": None if to else f"{GROUP}/providers/Microsoft.Storage/storageAccounts/keptlogs",
            "logs": [{"category": name, "enabled": True} for name in sends],
            "logAnalyticsDestinationType": tables,
        },
    }


def line(message: str, minutes: int = 10, **more: str) -> Body:
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    made = {"Table": "AKSControlPlane", "TimeGenerated": at, "Category": "kube-apiserver", "Level": "ERROR"}
    return made | {"PodName": "kube-apiserver-0", "Message": message, "_ResourceId": CLUSTER.lower()} | more


def world(*lines: Body, sent: Body | None = None) -> World:
    made = small_world()
    made.put(
        {
            "id": WORKSPACE,
            "type": "Microsoft.OperationalInsights/workspaces",
            "name": "law-prod",
            "location": "westeurope",
            "properties": {"customerId": GUID, "provisioningState": "Succeeded"},
        }
    )
    made.put(sent or setting(*SENT))
    made.logs[WORKSPACE.lower()] = list(lines)
    return made


async def asked(server: ArmServer, recorder: Recorder | None = None) -> Check:
    _, scope = read_check(["prod-weu", "logs"], areas())
    target = Target(ResourceId.parse(CLUSTER), about=scope.about)
    async with clients(access(server), KubeAccess(), recorder=recorder) as opened:
        engine = engine_for(LIBRARY, scope, 60)
        events = [event async for event in check_target(target, opened, engine)]
    report = events[-1]
    assert isinstance(report, Report)
    (ended,) = report.diagnosis.checks
    return ended


async def answer(stage: World) -> Check:
    async with azure(stage) as server:
        return await asked(server)


async def test_the_errors_of_the_last_hour_are_told_by_kind_with_their_number() -> None:
    lines = [
        line(WEBHOOK.format("one"), 5),
        line(WEBHOOK.format("two"), 9),
        line("etcd timed out", 7, Category="kube-scheduler"),
    ]
    ended = await answer(world(*lines))
    (finding,) = ended.findings
    assert finding.because[0].startswith("3 errors since")
    assert finding.because[0].endswith("kube-apiserver 2, kube-scheduler 1")
    assert finding.because[1].startswith("2 × kube-apiserver")
    assert 'webhook="one"' in finding.because[1]
    assert "AKSControlPlane | where" in page("Fix", finding)


@pytest.mark.parametrize(
    "other",
    [
        line("all is well", Level="INFO"),
        line("too old", minutes=90),
        line("of another cluster", _ResourceId=f"{CLUSTER}-two".lower()),
        line("of the audit", Category="kube-audit-admin"),
        line("of a category that is not sent", Category="guard"),
    ],
)
async def test_a_line_that_is_no_error_of_this_cluster_in_the_last_hour_is_none(other: Body) -> None:
    ended = await answer(world(other))
    assert ended.outcome is Outcome.CLEAR
    assert "kube-apiserver, kube-scheduler" in ended.why


async def test_the_table_that_all_resources_share_is_read_where_the_setting_sends_there() -> None:
    at = line("")["TimeGenerated"]
    row = {"Table": "AzureDiagnostics", "TimeGenerated": at, "Category": "kube-apiserver", "pod_s": "a"}
    row |= {"log_s": "E1120 no lease", "_ResourceId": CLUSTER.lower()}
    ended = await answer(world(row, sent=setting(*SENT, tables=None)))
    assert "no lease" in ended.findings[0].because[1]
    assert "AzureDiagnostics" in str(ended.findings[0].facts["query"])
    assert (
        await answer(world(row | {"log_s": "I1120 fine"}, sent=setting(*SENT, tables=None)))
    ).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (setting("kube-audit-admin"), "no diagnostic setting of prod-weu sends the control plane's logs anywhere"),
        (setting(*SENT, to=None), "control-plane sends them to keptlogs"),
    ],
)
async def test_where_nothing_keeps_them_the_page_says_how_to_turn_it_on(sent: Body, why: str) -> None:
    (finding,) = (await answer(world(sent=sent))).findings
    assert why in finding.because[0]
    shown = page("Fix", finding)
    assert f"az monitor diagnostic-settings create --subscription {CLUSTER.split('/')[2]}" in shown
    assert "managedClusters/prod-weu" in shown


async def test_a_table_to_which_nothing_was_sent_yet_proves_nothing() -> None:
    stage = world()
    stage.logs_empty.add(WORKSPACE.lower())
    ended = await answer(stage)
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "nothing has arrived there yet" in ended.why


@pytest.mark.parametrize("action", [QUERY, "Microsoft.OperationalInsights/workspaces/query/AKSControlPlane/read"])
async def test_who_may_not_query_is_told_the_permission(action: str) -> None:
    async with azure(world(line("an error"))) as server:
        server.deny("reader", action)
        ended = await asked(server)
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert any(gap.grant == QUERY for gap in ended.unseen)


@pytest.mark.parametrize("errors", [(), (line("an error"),)])
async def test_an_answer_in_part_is_never_clear_and_says_at_least(errors: tuple[Body, ...]) -> None:
    stage = world(*errors)
    stage.logs_in_part = True
    ended = await answer(stage)
    assert ended.outcome is not Outcome.CLEAR
    assert not errors or ended.findings[0].because[0].startswith("at least 1 error")


async def test_a_workspace_that_is_gone_leaves_it_open() -> None:
    stage = world()
    del stage.resources[WORKSPACE.lower()]
    assert (await answer(stage)).outcome is Outcome.INCONCLUSIVE


async def test_a_query_is_asked_with_a_token_for_log_analytics_alone_and_never_for_audit_logs() -> None:
    recorder = Recorder()
    async with azure(world(line("an error"))) as server:
        await asked(server, recorder)
        assert server.log_analytics is not None
        assert [call.status for call in server.log_analytics.log] == [200]
    (query,) = [call for call in recorder.recording.calls if call.url.startswith("/v1/workspaces/")]
    assert "audit" not in str(query.body).lower()
    assert query.url == f"/v1/workspaces/{GUID}/query"
