"""Several problems in one cluster that have nothing to do with each other: all are found, each explains what belongs to
it and nothing else, and the order is that of what they cost."""

from __future__ import annotations

from itertools import pairwise

import pytest

from handlers.model import Diagnosis, Outcome, Ranked, Severity
from sandbox.scenario import FOLDER, Scenario
from tests.checking import PATIENT, PATIENT_S, azure, check
from tests.runbooks.rendered import wrong_commands
from tests.scenarios.test_scenarios import found

MIXED = {file.parent.name: file.parent for file in sorted((FOLDER / "mixed").glob("*/scenario.yaml"))}
SEVERITIES = tuple(Severity)


async def checked(scenario: Scenario) -> tuple[str, Diagnosis]:
    """The cluster that a scenario is about, and its check."""
    [cluster] = [cluster for cluster, findings in scenario.expect.items() if findings]
    async with azure(scenario.world) as server:
        return cluster, await check(server, cluster, graph=PATIENT, deadline_s=PATIENT_S)


def test_there_are_at_least_fifteen() -> None:
    assert len(MIXED) >= 15


@pytest.mark.parametrize("name", MIXED)
async def test_all_problems_are_found_each_with_what_it_explains_and_the_worst_first(name: str) -> None:
    scenario = Scenario.load(MIXED[name])
    cluster, diagnosis = await checked(scenario)
    expected = scenario.expect[cluster]
    assert found(diagnosis) == {(one.code, one.subject.lower(), frozenset(one.explained_by)) for one in expected}
    assert wrong_commands(diagnosis) == []
    order = [(ranked.finding.code, ranked.finding.subject.lower()) for ranked in diagnosis.findings]
    assert order == [(one.code, one.subject.lower()) for one in expected]
    undecided = tuple(one.id for one in diagnosis.checks if one.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED))
    assert undecided == tuple(scenario.stays_open.get(cluster, ()))
    roots = [ranked for ranked in diagnosis.findings if ranked.root]
    stories = scenario.lineage.own.stories
    assert 2 <= len(stories) <= 3
    assert len(roots) >= len(stories)
    _must_be_in_order(diagnosis.findings, roots)


def _must_be_in_order(findings: tuple[Ranked, ...], roots: list[Ranked]) -> None:
    """Roots first, the worst before the others, and no effect before its cause."""
    assert list(findings[: len(roots)]) == roots
    weights = [SEVERITIES.index(ranked.finding.severity) for ranked in roots]
    assert all(first <= second for first, second in pairwise(weights))
    seen: set[tuple[str, str]] = set()
    for ranked in findings:
        assert set(ranked.explained_by) <= seen
        seen.add((ranked.finding.code, ranked.finding.subject))


async def test_of_two_quotas_each_explains_its_own_pool_and_one_of_them_the_cluster() -> None:
    _, diagnosis = await checked(Scenario.load(MIXED["two-quotas"]))
    explained = {
        (ranked.finding.code, ranked.finding.subject.rpartition("/")[2]): {
            subject.rpartition("/")[2] for _, subject in ranked.explained_by
        }
        for ranked in diagnosis.findings
    }
    assert explained["nodepool-failed", "spot"] == {"lowPriorityCores"}
    assert explained["nodepool-failed", "apps"] == {"standardDSv5Family"}
    assert explained["cluster-failed", "prod-weu"] == {"standardDSv5Family", "apps"}
