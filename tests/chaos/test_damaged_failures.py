"""The same damage with real problems: missing evidence is reported, also in the ledger, and no cause is invented."""

from dataclasses import dataclass

import pytest

from handlers.evidence.compute import ComputeUsages, Instances, ScaleSets, VmSizes
from handlers.evidence.governance import Locks, Policies, PolicyStates, RoleAssignments
from handlers.evidence.monitor import ActivityLog, DiagnosticSettings, NodeActivityLog
from handlers.evidence.scale_set_settings import ScaleSetSettings
from handlers.model import Diagnosis, Evidence, Finding, Outcome
from tests.chaos.damage import DAMAGES, Route, harmed, routes_of, sampled, side_by_side, struck, world_of
from tests.chaos.test_damaged_answers import HEALTH, errors_in, lost
from tests.checking import GRAPH, azure, check, wrongly_clear

SCENARIO, CLUSTER = "quota-blocks-upgrade", "prod-weu"
Key = tuple[str, str]

STEP_OF: dict[type[Evidence], int] = {
    ScaleSets: 2,
    Instances: 3,
    ActivityLog: 4,
    NodeActivityLog: 4,
    ComputeUsages: 5,
    VmSizes: 5,
    Policies: 6,
    PolicyStates: 6,
    RoleAssignments: 6,
    Locks: 7,
}
"""The step of a failed pool's ledger that needs each kind of evidence. Diagnostic settings are a note in step 4."""


@dataclass(frozen=True)
class Undamaged:
    """The findings with all evidence available."""

    found: frozenset[str]
    causes: dict[Key, frozenset[Key]]

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> "Undamaged":
        found = frozenset(one.id for one in diagnosis.checks if one.outcome is Outcome.FOUND)
        return cls(found, causes_of(diagnosis))


def causes_of(diagnosis: Diagnosis) -> dict[Key, frozenset[Key]]:
    """The explanations of each finding, with lower-case ids, as Azure's casing varies."""
    return {
        one.finding.key: frozenset((code, subject.lower()) for code, subject in one.explained_by)
        for one in diagnosis.findings
    }


async def undamaged() -> Undamaged:
    async with azure(world_of(SCENARIO)) as server:
        return Undamaged.of(await check(server, CLUSTER))


@pytest.mark.parametrize("damage", DAMAGES)
async def test_what_is_unseen_is_said_and_no_cause_is_invented(damage: str, caplog: pytest.LogCaptureFixture) -> None:
    await walk(sampled(await routes_of(SCENARIO, CLUSTER), damage, beside=2), damage)
    assert errors_in(caplog) == []


@pytest.mark.soak
@pytest.mark.parametrize("damage", DAMAGES)
async def test_what_is_unseen_is_said_on_every_route(damage: str, caplog: pytest.LogCaptureFixture) -> None:
    await walk(await routes_of(SCENARIO, CLUSTER), damage)
    assert errors_in(caplog) == []


async def walk(routes: list[Route] | tuple[Route, ...], damage: str) -> None:
    whole = await undamaged()
    assert {"quota-exceeded", "nodepool-failed", "cluster-failed"} <= whole.found

    async def one(route: Route) -> None:
        judge(await struck(SCENARIO, CLUSTER, route, damage), route, whole)

    await side_by_side(harmed(routes, damage), one)


def judge(diagnosis: Diagnosis, route: Route, whole: Undamaged) -> None:
    where = route.template
    outcomes = {one.id: one.outcome for one in diagnosis.checks}
    assert Outcome.CRASHED not in outcomes.values(), where
    found = {one for one, outcome in outcomes.items() if outcome is Outcome.FOUND}
    acquitted = wrongly_clear(diagnosis, lost(route, found), in_health=False)
    assert not acquitted, f"{where}: clear, and not seen: {acquitted}"
    for one in whole.found:
        assert outcomes[one] in (Outcome.FOUND, Outcome.INCONCLUSIVE), f"{where}: {one} is {outcomes[one]}"
    alarms = {"api-server-unavailable"} if where == HEALTH else set()
    for key, causes in causes_of(diagnosis).items():
        assert key in whole.causes or key[0] in alarms, f"{where}: invented {key}"
        assert causes <= whole.causes.get(key, frozenset()), f"{where}: invented a cause of {key}"
    if not alarms & {code for code, _ in causes_of(diagnosis)}:
        is_said(diagnosis, route)
    for ranked in diagnosis.findings:
        if ranked.finding.code == "nodepool-failed":
            is_in_the_ledger(ranked.finding, route)


PARTS = {
    "loadBalancers": "load balancer",
    "publicIPAddresses": "address",
    "subnets": "subnet",
    "userAssignedIdentities": "identity",
    "workspaces": "monitoring add-on",
}
"""Display names of resources that are looked up by id, used instead of the type in the path."""


def is_said(diagnosis: Diagnosis, route: Route) -> None:
    """Whether a gap is reported, by the fact's title or by the missing part (the last words of the address)."""
    last = [part for part in route.template.split("/") if part != "{}"][-1]
    for kind in route.kinds - lost_with_others(route):
        title = GRAPH.collectors[kind].title
        part = PARTS.get(last, last)
        said = [one for one in diagnosis.unseen if title in one.wanted or part in one.wanted or last in one.detail]
        assert said, f"{route.template}: {title} is not named in {[str(one) for one in diagnosis.unseen]}"


def lost_with_others(route: Route) -> frozenset[type[Evidence]]:
    """Evidence that depends on lost evidence is not requested, and is missing too."""
    return frozenset(
        kind for kind in route.kinds if any(need.kind in route.kinds for need in GRAPH.collectors[kind].needs)
    )


def is_in_the_ledger(finding: Finding, route: Route) -> None:
    ledger = {row["step"]: row for row in finding.facts["ledger"]}
    for kind in route.kinds:
        if kind in STEP_OF:
            step = ledger[STEP_OF[kind]]
            assert step["seen"] == "unseen" or _is_named(step), f"{route.template}: step {step}"
        if kind in (DiagnosticSettings, ScaleSetSettings):
            assert "could not be read" in ledger[4]["says"], ledger[4]


def _is_named(step: dict[str, str]) -> bool:
    """A cause named in Azure's error is reported even if it could not be verified; that gap is reported next to it."""
    return step["seen"] == "bad" and "Azure's error names" in step["says"] and "could not look" in step["says"]
