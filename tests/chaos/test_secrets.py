"""Secrets planted in bodies, tags and error texts do not leak into recordings, output or logs."""

import json
import logging
import zipfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from bot.render.json_report import as_json
from bot.report.events import Report
from handlers.clients.recording.case import Recorder
from handlers.model import Diagnosis
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.chaos.secrets import AS_FIELD, EVERY, TEXTS
from tests.checking import LIBRARY, azure, check, cluster_id
from tests.redaction.planted import PASSWORDS

HAND = 6


def dealt() -> Iterator[list[str]]:
    """Distribute the texts over the bodies: all of them in every body would make pages of several megabytes."""
    return cycle([TEXTS[at : at + HAND] for at in range(0, len(TEXTS), HAND)])


def planted(world: World, *, in_errors: bool = True) -> World:
    """A copy of the world with secrets in every body, tag and error text; every secret is used."""
    write_clients = dealt()
    for body in world.resources.values():
        texts = next(write_clients)
        body.setdefault("tags", {})
        if isinstance(body["tags"], dict):
            body["tags"] |= {f"planted-{number}": text for number, text in enumerate(texts)}
        if isinstance(body.get("properties"), dict):
            body["properties"]["planted"] = {**AS_FIELD, "note": "\n".join(texts), "nested": [dict(AS_FIELD)]}
    for pool in (body for key, body in world.resources.items() if "/agentpools/" in key):
        error = pool["properties"].get("status", {}).get("provisioningError")
        if error:
            error["message"] += "\n" + "\n".join(next(write_clients))
    for event in world.events if in_errors else ():
        if event["status"]["value"] == "Failed":
            said = event["properties"].get("statusMessage", "")
            event["properties"]["statusMessage"] = _in_a_string(said, "\n".join(next(write_clients)))
    return world


def planted_inside(world: World) -> World:
    """The same for every annotation, message and other text of every cluster's objects."""
    write_clients = dealt()
    for kube in world.kubes.values():
        for body in [*kube.every("pods"), *kube.every("nodes"), *kube.every("poddisruptionbudgets")]:
            texts = "\n".join(next(write_clients))
            body["metadata"].setdefault("annotations", {})["planted"] = texts
            for container in body.get("spec", {}).get("containers", []):
                container["args"] = ["--db-password", PASSWORDS[0], f"--token={PASSWORDS[1]}"]
            status = body.get("status", {})
            for one in [*status.get("conditions", []), *_waiting(status)]:
                one["message"] = f"{one.get('message', '')}\n{texts}"
            kube.put(body)
    return world


def _waiting(status: dict[str, Any]) -> list[dict[str, Any]]:
    states = [one.get("state", {}) for one in status.get("containerStatuses", [])]
    return [state["waiting"] for state in states if "waiting" in state]


def _in_a_string(message: str, texts: str) -> str:
    return json.dumps({"error": {"code": "X", "message": texts, "details": [{"message": message, **AS_FIELD}]}})


@pytest.mark.parametrize(
    "scenario",
    [
        "quota-blocks-upgrade",
        "lock-blocks-delete",
        "kube-system-not-running",
        "node-not-ready",
        "node-not-ready-network",
    ],
)
async def test_no_secret_comes_out_anywhere(scenario: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    loaded = Scenario.load(scenario)
    world = planted_inside(planted(loaded.world))
    cluster = next(name for name, findings in loaded.expect.items() if findings)
    case = tmp_path / "case.zip"
    assert min(len(world.resources), len(world.kubes) * 70) * HAND > len(TEXTS)
    async with azure(world) as server:
        recorder = Recorder(str(cluster_id(world, cluster)))
        diagnosis = await check(server, cluster, deadline_s=120, recorder=recorder)
    recorder.save(case)
    assert diagnosis.findings
    output = as_json(Report(diagnosis, 1.0, 1), LIBRARY)
    rendered = rendered_runbooks(diagnosis)
    places = {"recording": unzipped(case), "output": output, "runbooks": rendered, "log": caplog.text}
    assert leaked(places) == set()


def leaked(places: dict[str, str]) -> set[tuple[str, str]]:
    """Which secrets appear in which texts, verbatim or JSON-escaped."""
    return {
        (place, secret)
        for place, text in places.items()
        for secret in EVERY
        if secret in text or json.dumps(secret)[1:-1] in text
    }


def rendered_runbooks(diagnosis: Diagnosis) -> str:
    return "\n".join(
        LIBRARY[one.finding.code].render(section, one.finding.facts)
        for one in diagnosis.findings
        for section in LIBRARY[one.finding.code].sections
    )


def unzipped(case: Path) -> str:
    with zipfile.ZipFile(case) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())
