"""The files of a support packet: what support asks for is in them, complete, and what is not there is named."""

from __future__ import annotations

import csv
import io
import os
import time
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.render.packet.material import Happened
from bot.render.packet.picture import picture
from bot.render.packet.timeline import MOST_ROWS
from handlers.clients.recording.case import Recording
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.control_plane_logs import ControlPlaneLogs, LogLine
from handlers.evidence.support import Deployment, Deployments, Tenancy
from handlers.model import NotApplicable, Unavailable, Why
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, POOL
from tests.bot.packets import (
    ACTIVITY,
    DENIED,
    IDS,
    NOW,
    asked,
    entry,
    event,
    managed_cluster,
    material,
    opened,
    packed,
    text,
)

GOLDEN = Path(__file__).parent / "golden" / "support-packet-contents.txt"
WHOLE = {"error": {"code": "Wrapped", "message": "x" * 5000, "details": [{"code": "Inner", "message": "no address"}]}}
FAILED = asked(ACTIVITY, {"value": [entry("one", "Failed", 30, text(WHOLE)), entry("two", "Started", 35)]})
ASO = asked(
    "/kube:/apis/dbforpostgresql.azure.com/v1api20230601/flexibleservers",
    {
        "items": [
            {
                "kind": "FlexibleServer",
                "metadata": {
                    "namespace": "shop",
                    "name": "orders",
                    "annotations": {"serviceoperator.azure.com/resource-id": f"{CLUSTER}/orders"},
                },
                "status": {
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "False",
                            "severity": "Error",
                            "reason": "LocationIsOfferRestricted",
                            "message": "Subscriptions are restricted from provisioning here.",
                            "lastTransitionTime": "2026-11-20T02:00:00Z",
                        }
                    ]
                },
            }
        ]
    },
)


def test_the_table_of_contents_is_this() -> None:
    calls = (FAILED, asked("/kube:/api/v1/events", {"items": [event("BackOff", 5, "again")]}), ASO)
    archive = packed(material(*calls, facts={ManagedCluster: managed_cluster()}), picture=b"\x89PNG\r\n\x1a\n")
    contents = "".join(f"{name}: {holds}\n" for name, holds in archive.contents)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(contents)
    assert contents == GOLDEN.read_text()
    with zipfile.ZipFile(io.BytesIO(archive.packed())) as file:
        assert file.namelist() == [name for name, _ in archive.contents]
    assert all(f"`{name}`" in opened(archive)["summary.md"] for name, _ in archive.contents)


def test_an_error_stands_there_complete_with_its_exact_time_and_every_id() -> None:
    page = opened(packed(material(FAILED)))["errors.md"]
    assert "x" * 5000 in page
    assert '"message": "no address"' in page
    assert "2026-11-20T03:00:00.000Z" in page
    assert all(name in page for name in (*IDS.values(), POOL))


def test_the_summary_leads_with_the_latest_error_of_the_cluster_and_not_of_its_surroundings() -> None:
    elsewhere = entry("three", "Failed", 1, "a balancer failed", about="/subscriptions/x/balancer")
    called = asked(ACTIVITY, {"value": [elsewhere, entry("one", "Failed", 30, text(WHOLE))]})
    summary = opened(packed(material(called)))["summary.md"]
    latest = summary.partition("## The latest error")[2].partition("##")[0]
    assert POOL in latest
    assert "2026-11-20T03:00:00.000Z" in latest
    assert IDS["correlationId"] in latest
    assert "1 more error" in latest


def test_what_a_resource_says_of_itself_is_an_error_without_a_time_of_its_own() -> None:
    failed = {"id": POOL, "name": "apps", "properties": {"status": {"provisioningError": {"code": "SubnetIsFull"}}}}
    page = opened(packed(material(asked(f"{CLUSTER}/agentPools", {"value": [failed]}))))["errors.md"]
    assert '"code": "SubnetIsFull"' in page
    assert "- as it was read at 2026-11-20T03:30:00.000Z" in page
    assert "- at:" not in page


def test_the_same_error_again_is_one_error_with_all_its_times() -> None:
    called = asked(ACTIVITY, {"value": [entry(str(minutes), "Failed", minutes, "no room") for minutes in (1, 2, 3)]})
    page = opened(packed(material(called)))["errors.md"]
    assert page.count("no room") == 1
    assert all(f"03:{30 - minutes}:00.000Z" in page for minutes in (1, 2, 3))


def test_what_was_refused_is_told_with_its_request_id() -> None:
    page = opened(packed(material(asked(f"{CLUSTER}/detectors", DENIED, 403))))["errors.md"]
    assert "AuthorizationFailed" in page.partition("# What could not be read")[2]
    assert "55555555-aaaa-4bbb-8ccc-666666666666" in page


def test_azure_kubernetes_and_aksbot_stand_on_one_axis() -> None:
    done = Happened(NOW - timedelta(minutes=20), "aksbot", "reconcile-pool started", POOL, "by somebody")
    calls = (FAILED, asked("/kube:/api/v1/events", {"items": [event("BackOff", 25, "again")]}))
    files = opened(packed(material(*calls, done=(done,))))
    rows = list(csv.DictReader(io.StringIO(files["timeline.csv"])))
    assert [row["source"] for row in rows] == ["Activity log", "Activity log", "Kubernetes", "aksbot"]
    assert [row["utc"] for row in rows] == sorted(row["utc"] for row in rows)
    assert rows[1]["correlation_id"] == IDS["correlationId"]
    page = files["timeline.md"]
    assert page.index("Started") < page.index("✗ Microsoft.ContainerService") < page.index("BackOff")
    assert page.index("BackOff") < page.index("reconcile-pool started")


def test_an_entry_that_two_logs_hold_is_told_once() -> None:
    twice = asked(ACTIVITY, {"value": [entry("one", "Failed", 30, "no room")]})
    again = asked(ACTIVITY, {"value": [entry("one", "Failed", 30, "no room")]}, filter="other")
    rows = list(csv.DictReader(io.StringIO(opened(packed(material(twice, again)))["timeline.csv"])))
    assert len(rows) == 1


def test_a_text_of_somebody_elses_is_no_formula_and_ends_no_table_and_no_block() -> None:
    evil = '=HYPERLINK("http://example.com") | ``` \x1b[31m'
    failed = asked(ACTIVITY, {"value": [entry("one", "Failed", 30, evil)]})
    files = opened(packed(material(failed, asked("/kube:/api/v1/events", {"items": [event("X", 5, evil)]}))))
    cells = [cell for row in csv.reader(io.StringIO(files["timeline.csv"])) for cell in row]
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
    assert "\x1b" not in files["errors.md"] + files["timeline.md"]
    assert "````" in files["errors.md"]
    (row,) = [line for line in files["timeline.md"].splitlines() if "Warning X" in line]
    assert row.replace("\\|", "").count("|") == 4


def test_of_very_many_entries_the_page_shows_the_latest_and_the_table_all() -> None:
    many = [event("BackOff", 1, f"message {number}", name=f"web-{number}") for number in range(MOST_ROWS + 50)]
    files = opened(packed(material(asked("/kube:/api/v1/events", {"items": many}))))
    assert f"The latest {MOST_ROWS} of {MOST_ROWS + 50} entries" in files["timeline.md"]
    assert len(files["timeline.csv"].splitlines()) == MOST_ROWS + 51


def test_what_azure_service_operator_is_stands_above_what_its_objects_say() -> None:
    page = opened(packed(material(ASO)))["azure-service-operator.md"]
    assert "an operator in Kubernetes" in page
    assert "Azure Resource Manager's public REST API" in page
    assert page.index("public REST API") < page.index("Subscriptions are restricted from provisioning here.")
    assert "FlexibleServer shop/orders: LocationIsOfferRestricted" in page
    assert f"{CLUSTER}/orders" in page


def test_without_the_operator_there_is_no_page_about_it() -> None:
    assert "azure-service-operator.md" not in opened(packed(material(FAILED)))


def test_a_template_that_made_the_cluster_is_named_and_others_are_not() -> None:
    made = Deployment("/d/one", "cluster-weu", NOW, "Failed", "cor-1", "hash-1", (POOL,), {"code": "Conflict"})
    other = Deployment("/d/two", "some-vault", NOW, "Succeeded", "cor-2", "hash-2", ("/other",), None)
    known = Deployments(source="", taken_at=NOW, deployments=(made, other))
    page = opened(packed(material(facts={Deployments: known})))["commands.md"]
    assert "cluster-weu" in page
    assert "cor-1" in page
    assert '"code": "Conflict"' in page
    assert "some-vault" not in page
    beside = Deployments(source="", taken_at=NOW, deployments=(other,))
    assert (
        "none of them made or changed this cluster"
        in opened(packed(material(facts={Deployments: beside})))["commands.md"]
    )


LOGS = ControlPlaneLogs(
    source="",
    taken_at=NOW,
    workspace="/subscriptions/x/workspaces/law",
    workspace_id="guid-1",
    table="AKSControlPlane",
    query="AKSControlPlane | take 1",
    components=("kube-apiserver",),
    since=NOW - timedelta(hours=1),
    lines=(LogLine(NOW, "kube-apiserver", "ERROR", "pod-1", "etcdserver: request timed out"),),
)


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        (LOGS, "etcdserver: request timed out"),
        (LOGS, "1 error, newest first."),
        (replace(LOGS, lines=()), "No errors."),
        (replace(LOGS, lines=(), never_written=True), "nothing has arrived there yet"),
        (NotApplicable("no setting sends them"), "They could not be read: no setting sends them."),
        (Unavailable("the logs", Why.DENIED, "403"), "They could not be read: the logs: denied, 403."),
    ],
)
def test_the_control_planes_logs_are_shown_or_why_they_are_not(
    logs: ControlPlaneLogs | NotApplicable | Unavailable, said: str
) -> None:
    page = opened(packed(material(facts={ManagedCluster: managed_cluster(), ControlPlaneLogs: logs})))
    assert said in page["api-server-logs.md"]
    assert ("No errors" in page["api-server-logs.md"]) == (said == "No errors.")


def test_what_could_not_be_read_is_named_with_the_permission() -> None:
    blind = Unavailable("the tenant and the subscription", Why.DENIED, "403", "Microsoft.Resources/subscriptions/read")
    files = opened(packed(material(facts={Tenancy: blind}, unseen=(blind,))))
    assert "| Tenant | could not be read |" in files["summary.md"]
    assert "grant `Microsoft.Resources/subscriptions/read`" in files["summary.md"]


def test_the_packet_is_a_recording_too(tmp_path: Path) -> None:
    file = tmp_path / "packet.zip"
    file.write_bytes(packed(material(FAILED)).packed())
    read = Recording.load(file)
    assert (read.target, len(read.calls)) == (CLUSTER, 1)


def test_the_name_is_that_of_the_request_whatever_the_cluster_is_called() -> None:
    assert packed(material()).name == "support-prod-weu-20261120T033000Z.zip"


def test_the_picture_shows_the_last_day_and_there_is_none_of_nothing() -> None:
    old = asked(ACTIVITY, {"value": [entry("old", "Failed", 60 * 24 * 5, "old"), entry("new", "Failed", 5, "new")]})
    drawn = picture(material(old))
    assert drawn is not None
    assert "03:25" in drawn.alt
    assert "15 Nov" not in drawn.alt
    assert picture(material()) is None


def test_a_healthy_cluster_has_a_packet_too() -> None:
    files = opened(packed(material(diagnosis=diagnoses.clear())))
    assert "HEALTHY in what was asked" in files["summary.md"]
    assert "The latest error" not in files["summary.md"]
    assert "Azure reports no error" in files["errors.md"]
    assert "Neither Azure nor the cluster reported anything" in files["timeline.md"]


@pytest.mark.soak
def test_that_of_a_cluster_of_5000_nodes_opens_within_two_seconds() -> None:
    nodes = [
        {"metadata": {"name": f"aks-apps-{number:06}"}, "status": {"conditions": [{"type": "Ready"}] * 6}}
        for number in range(5000)
    ]
    pods = [
        {
            "metadata": {"name": f"web-{number:07}", "namespace": "shop"},
            "spec": {"nodeName": "aks-apps-000001"},
            "status": {"phase": "Running", "podIP": "10.0.0.1"},
        }
        for number in range(150_000)
    ]
    events = [event("BackOff", number % 60, f"message {number}", name=f"web-{number}") for number in range(20_000)]
    calls = [asked("/kube:/api/v1/nodes", {"items": nodes}), asked("/kube:/api/v1/events", {"items": events})]
    calls += [
        asked("/kube:/api/v1/pods", {"items": pods[at : at + 500]}, page=str(at)) for at in range(0, 150_000, 500)
    ]
    calls += [asked(ACTIVITY, {"value": [entry(str(number), "Failed", number, text(WHOLE)) for number in range(2000)]})]
    content = packed(material(*calls)).packed()
    began = time.process_time()
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        files = {name: file.read(name) for name in file.namelist()}
    rows = list(csv.DictReader(io.StringIO(files["timeline.csv"].decode())))
    assert time.process_time() - began < 2
    assert len(rows) == 22_000
    assert len(files["summary.md"]) + len(files["timeline.md"]) + len(files["errors.md"]) < 4_000_000
