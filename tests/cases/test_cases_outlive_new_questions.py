"""Adding new evidence and diagnostics does not change the diagnosis of older recordings that lack them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.render.json_report import as_dict
from bot.report.events import Report
from handlers.clients.arm.reader import ArmReader
from handlers.clients.recording.case import Recorder, Recording
from handlers.engine.declare import Diagnostic, Need, collector, diagnostic
from handlers.engine.graph import Graph
from handlers.evidence.azure import ManagedCluster
from handlers.model import Clear, Diagnosis, Evidence, Finding, NotApplicable, Outcome, Unavailable
from sandbox.scenario import Scenario
from tests.cases.test_cases import CASES
from tests.checking import GRAPH, LIBRARY, azure, check, cluster_id
from tests.replaying import replayed


@dataclass(frozen=True, kw_only=True)
class Disks(Evidence):
    names: tuple[str, ...]


@collector(reads=("Microsoft.Compute/disks/read",))
async def disks(cluster: ManagedCluster, arm: ArmReader) -> Disks | NotApplicable:
    """the disks"""
    listing = await arm.list(f"{cluster.node_group_id}/providers/Microsoft.Compute/disks", "2024-03-02")
    return Disks(source=listing.source, taken_at=listing.taken_at, names=())


@diagnostic(codes=("disk-full",), area="compute")
def disk_full(disks: Disks) -> Iterator[Finding | Clear]:
    """A disk is full."""
    yield Finding("disk-full", "/disk", ("it is full",))


def with_new_questions() -> Graph:
    """Today's questions of tomorrow: one is new, and each of the others looks at a new fact as well."""
    older = [_that_looks_at_disks(one) for one in GRAPH.diagnostics]
    return Graph.of([*GRAPH.collectors.values(), disks], [*older, disk_full])


def _that_looks_at_disks(known: Diagnostic) -> Diagnostic:
    def judge(disks: Disks | Unavailable | NotApplicable, **facts: Any) -> Iterator[Any]:
        yield from known.judge(**facts)

    return replace(known, judge=judge, needs=(*known.needs, Need("disks", Disks, True, True)))


def told(diagnosis: Diagnosis, *, but: str = "") -> Any:
    whole = as_dict(Report(diagnosis, 0.0, 0), LIBRARY)
    checks = [{key: one[key] for key in ("id", "outcome", "why")} for one in whole["checks"] if one["id"] != but]
    return whole["state"], whole["findings"], checks, whole["unseen"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
async def test_a_case_from_before_questions_were_kept_is_diagnosed_the_same(case: Path) -> None:
    assert Recording.load(case).questions == ()
    before, after = await replayed(case), await replayed(case, graph=with_new_questions())
    assert told(after, but="disk-full") == told(before)
    new = next(one for one in after.checks if one.id == "disk-full")
    assert (new.outcome, new.why) == (Outcome.NOT_APPLICABLE, "not asked when this was recorded")


@pytest.mark.parametrize("name", ["healthy-fleet", "quota-blocks-upgrade", "cluster-failed"])
async def test_a_recording_is_asked_what_it_was_asked_then(name: str, tmp_path: Path) -> None:
    scenario = Scenario.load(name)
    cluster = next((one for one, findings in scenario.expect.items() if findings), "prod-weu")
    case = tmp_path / "case.zip"
    async with azure(scenario.world) as server:
        recorder = Recorder(str(cluster_id(scenario.world, cluster)), tuple(one.id for one in GRAPH.diagnostics))
        await check(server, cluster, recorder=recorder)
    recorder.save(case)
    after = await replayed(case, graph=with_new_questions())
    assert told(after) == told(await replayed(case))
    assert {one.id for one in after.checks} == set(Recording.load(case).questions)
