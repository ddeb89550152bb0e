"""A support packet with secrets of every kind, wherever they came in, holds none of them."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from bot.render.packet.material import Happened
from handlers.evidence.support import Deployment, Deployments, Tenancy
from tests.bot.diagnoses import POOL
from tests.bot.packets import ACTIVITY, NOW, asked, entry, event, material, packed
from tests.redaction.planted import EVERY, Planted

BY_KIND = {one.kind: one for one in EVERY}
LEAST = 40


def packet_with(planted: list[Planted]) -> dict[str, str]:
    """All of them in each place that a text can come from: Azure, Kubernetes, the audit, a template."""
    texts = [one.text for one in planted]
    activity = [entry(f"{number}", "Failed", number + 1, said) for number, said in enumerate(texts)]
    nested = [
        entry(f"n{number}", "Failed", number + 1, json.dumps({"error": {"code": "X", "message": said}}))
        for number, said in enumerate(texts)
    ]
    events = [event("Failed", number + 1, said, name=f"web-{number}") for number, said in enumerate(texts)]
    done = tuple(Happened(NOW, "aksbot", "reconcile-pool", POOL, said) for said in texts)
    operator = {
        "kind": "FlexibleServer",
        "metadata": {"name": "orders"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": "\n".join(texts)}]},
    }
    deployed = Deployment("/d/one", texts[0], NOW, "Failed", "", texts[-1], (POOL,), {"message": "\n".join(texts)})
    facts = {
        Deployments: Deployments(source="", taken_at=NOW, deployments=(deployed,)),
        Tenancy: Tenancy(source="", taken_at=NOW, tenant="t", subscription="s", name=texts[0], state="Enabled"),
    }
    calls = (
        asked(ACTIVITY, {"value": [*activity, *nested]}),
        asked("/kube:/api/v1/events", {"items": events}),
        asked("/kube:/apis/sql.azure.com/v1/servers", {"items": [operator]}),
        asked(f"{POOL}/x", {"error": {"code": "X", "message": "\n".join(texts)}}, 403),
    )
    archive = packed(material(*calls, done=done, facts=facts))
    with zipfile.ZipFile(io.BytesIO(archive.packed())) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def held(files: dict[str, str], planted: Planted) -> list[str]:
    """The files with this secret, also as JSON writes it."""
    spellings = {planted.secret, json.dumps(planted.secret)[1:-1]}
    return [name for name, content in files.items() if any(spelling in content for spelling in spellings)]


def test_there_are_secrets_of_forty_kinds_and_more() -> None:
    assert len(BY_KIND) >= LEAST


@pytest.mark.parametrize("kind", sorted(BY_KIND))
def test_no_file_of_the_packet_holds_a_secret_of_this_kind(kind: str) -> None:
    files = packet_with([one for one in EVERY if one.kind == kind])
    assert {one.secret: held(files, one) for one in EVERY if one.kind == kind and held(files, one)} == {}
    assert "[redacted:" in files["errors.md"]


def test_what_is_no_secret_is_still_there() -> None:
    files = packet_with([BY_KIND[next(iter(BY_KIND))]])
    assert POOL in files["errors.md"]
