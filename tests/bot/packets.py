"""Support packets made of invented answers: a report, the calls that it was made from, and what they hold."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.render.packet import pages
from bot.render.packet.archive import Archive
from bot.render.packet.material import Happened, Material
from bot.report.events import Report
from handlers.clients.recording.case import RecordedCall, Recording
from handlers.evidence.azure import ManagedCluster
from handlers.model import Diagnosis, Unavailable
from tests.bot import diagnoses
from tests.bot.diagnoses import CLUSTER, POOL, SUBSCRIPTION

NOW = datetime(2026, 11, 20, 3, 30, tzinfo=UTC)
ACTIVITY = f"{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
IDS = {"correlationId": "11111111-aaaa-4bbb-8ccc-222222222222", "operationId": "33333333-aaaa-4bbb-8ccc-444444444444"}
DENIED = {"error": {"code": "AuthorizationFailed", "message": "The client does not have authorization."}}


def entry(name: str, status: str, minutes: int, says: str = "", about: str = POOL) -> dict[str, Any]:
    """An entry of the activity log, so many minutes before the packet was made."""
    return {
        "eventDataId": name,
        "eventTimestamp": (NOW - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z"),
        "operationName": {"value": "Microsoft.ContainerService/managedClusters/agentPools/write"},
        "status": {"value": status},
        "resourceId": about,
        "caller": "somebody@example.com",
        "properties": {"statusMessage": says},
        **IDS,
    }


def event(reason: str, minutes: int, says: str, name: str = "web-1", kind: str = "Warning") -> dict[str, Any]:
    """An event of Kubernetes."""
    at = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "metadata": {"uid": f"{reason}-{name}-{minutes}", "creationTimestamp": at},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name},
        "type": kind,
        "reason": reason,
        "message": says,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }


def managed_cluster(**more: Any) -> ManagedCluster:
    """The cluster of these packets."""
    return ManagedCluster(
        source="GET",
        taken_at=NOW,
        id=CLUSTER,
        name="prod-weu",
        location="westeurope",
        state="Failed",
        power="Running",
        version="1.35.6",
        current_version="1.34.8",
        node_group="MC_rg-prod-weu_prod-weu_westeurope",
        error=None,
        identities=(),
        network={},
        **more,
    )


def asked(path: str, answer: Any, status: int = 200, **params: str) -> RecordedCall:
    query = "&".join(f"{name}={value}" for name, value in params.items())
    headers = {"x-ms-request-id": "55555555-aaaa-4bbb-8ccc-666666666666"}
    return RecordedCall("GET", f"{path}?{query}" if query else path, None, status, headers, answer, NOW)


def material(
    *calls: RecordedCall,
    diagnosis: Diagnosis | None = None,
    done: tuple[Happened, ...] = (),
    facts: Mapping[type, Any] = {},
    unseen: tuple[Unavailable, ...] = (),
) -> Material:
    report = Report(diagnosis or diagnoses.found(), 1200.0, 14, 5)
    recording = Recording(CLUSTER, NOW, calls)
    return Material(report, recording, facts, "1.2.3", NOW, done, unseen)


def packed(made: Material, picture: bytes | None = None) -> Archive:
    return pages.archive(made, diagnoses.library(), picture)


def opened(archive: Archive) -> dict[str, str]:
    """The packet as somebody unpacks it; pictures are left out."""
    with zipfile.ZipFile(io.BytesIO(archive.packed())) as file:
        return {name: file.read(name).decode() for name in file.namelist() if not name.endswith(".png")}


def text(value: Any) -> str:
    return json.dumps(value)
