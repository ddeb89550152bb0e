"""Replays a recorded check offline and compares the results."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bot.checks.check import asked_then
from bot.checks.clients import clients
from bot.render.json_report import as_dict
from bot.report.events import Report
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.clients.recording.case import Recording
from handlers.engine.graph import Graph
from handlers.engine.run import CHECK_DEADLINE_S
from handlers.model import Diagnosis, Target
from handlers.resource_id import ResourceId
from tests.checking import GRAPH, LIBRARY, diagnose


async def replayed(case: Path, deadline_s: float = CHECK_DEADLINE_S, graph: Graph = GRAPH) -> Diagnosis:
    """Diagnose the case using only the recording."""
    recording = Recording.load(case)
    target = Target(ResourceId.parse(recording.target), recording.recorded_at)
    async with clients(AzureAccess(), KubeAccess(), recording=recording) as opened:
        return await diagnose(opened, target, asked_then(graph, recording), deadline_s)


def verdict(diagnosis: Diagnosis) -> bytes:
    """Findings, the outcome of every check with its reason, and missing evidence, for exact comparison."""
    whole = as_dict(Report(diagnosis, 0.0, 0), LIBRARY)
    checks = [{key: one[key] for key in ("id", "outcome", "why")} for one in whole["checks"]]
    unseen = [asdict(one) for one in diagnosis.unseen]
    return json.dumps([whole["findings"], checks, whole["state"], unseen], sort_keys=True).encode()
