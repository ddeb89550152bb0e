"""One recorded fault: the cluster's objects, the container logs, and the correct answers."""

from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from handlers.model import Diagnosis, Finding

Body = dict[str, Any]

_BESIDE = Path(__file__).parents[3] / "shared" / "cloud-opsbench"
FOLDER = Path(os.environ.get("AKSBOT_TEST_OPSBENCH", _BESIDE))


@dataclass(frozen=True, slots=True)
class Recorded:
    """One fault."""

    name: str
    at: datetime
    namespace: str
    objects: tuple[Body, ...]
    logs: dict[str, dict[str, list[str]]]
    stopped: tuple[Body, ...]
    kind: str
    object: str
    codes: tuple[Body, ...]
    seen: str

    @property
    def asked_for(self) -> bool:
        """Whether the fault is visible in the API; faults visible only as latency are not scored."""
        return self.seen != "no"

    def right(self, finding: Finding) -> bool:
        """Whether this finding is correct: its code, facts and object."""
        return self.names(finding) and any(
            finding.code == one["code"] and all(_agrees(finding, *fact) for fact in one["facts"].items())
            for one in self.codes
        )

    def names(self, finding: Finding) -> bool:
        kind, _, name = self.object.partition("/")
        if kind == "node" and not any(
            one["kind"] == "Node" and one["metadata"]["name"] == name for one in self.objects
        ):
            return True  # a control plane node, whose name is unknown in AKS
        told = " ".join((finding.subject, *finding.affects, *map(str, finding.facts.values()), *finding.because))
        return kind == "namespace" or bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w])", told))


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one diagnosis."""

    recorded: Recorded
    diagnosis: Diagnosis

    @property
    def first(self) -> Finding | None:
        return next((one.finding for one in self.diagnosis.findings if one.root), None)

    @property
    def right(self) -> bool:
        return self.first is not None and self.recorded.right(self.first)

    @property
    def false_clear(self) -> bool:
        return not self.diagnosis.findings

    @property
    def beside(self) -> tuple[Finding, ...]:
        """Other roots: findings not explained by the first one."""
        return tuple(one.finding for one in self.diagnosis.findings if one.root)[1:]


def _agrees(finding: Finding, name: str, wanted: str) -> bool:
    return re.fullmatch(wanted, str(finding.facts.get(name, ""))) is not None


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz")))


def load(name: str) -> Recorded:
    body = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    expect = body["expect"]
    return Recorded(
        name=name,
        at=datetime.fromisoformat(body["recorded_at"]),
        namespace=body["namespace"],
        objects=tuple(body["objects"]),
        logs=body["logs"],
        stopped=tuple(body["stopped_units"]),
        kind=expect["root_cause"],
        object=expect["object"],
        codes=tuple(expect["codes"]),
        seen=expect["seen"],
    )
