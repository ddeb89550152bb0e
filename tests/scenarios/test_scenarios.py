"""Every scenario, checked for real: what is expected is found, its decoy is not, and its twin is quiet about it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from handlers.clients.recording.case import Recorder
from handlers.model import Diagnosis, Outcome, State
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import PATIENT, PATIENT_S, azure, check, cluster_id
from tests.replaying import replayed, verdict
from tests.runbooks.first_lines import wrong_first_lines
from tests.runbooks.rendered import wrong_commands

OUT_OF_REACH = {"api-server-unavailable", "private-cluster-unreachable", "read-only-disabled-subscription"}
"""If the API server does not respond or its credential is denied, Kubernetes evidence is missing, as the check says."""

UNSEEN = ("not looked at", "was not seen", "were not seen", "cannot be seen")
"""Phrases that never appear in a clear check. (Azure's own texts, which some quote, "could not" do many things.)"""

Found = set[tuple[str, str, frozenset[str]]]


def found(diagnosis: Diagnosis) -> Found:
    return {
        (one.finding.code, one.finding.subject.lower(), frozenset(code for code, _ in one.explained_by))
        for one in diagnosis.findings
    }


KINDS = {"managedclusters", "kubernetesclusters", "appliances", "connectedclusters"}


def asked_about(world: World) -> list[str]:
    """The clusters of every kind, each once: a Nexus cluster is an Arc-connected one, too."""
    found = (
        body["name"] for key, body in world.resources.items() if key.count("/") == 8 and key.split("/")[7] in KINDS
    )
    return [*dict.fromkeys(found)]


Open = Mapping[str, tuple[str, ...]]


async def play(world: World, expect: dict[str, Found], stays_open: Open) -> None:
    async with azure(world) as server:
        for name in asked_about(world):
            diagnosis = await check(server, name, graph=PATIENT, deadline_s=PATIENT_S)
            out_of_reach = OUT_OF_REACH & {code for code, _, _ in expect.get(name, set())}
            undecided = tuple(one.id for one in diagnosis.checks if one.outcome is Outcome.INCONCLUSIVE)
            assert out_of_reach or undecided == stays_open.get(name, ()), name
            assert out_of_reach or undecided or diagnosis.unseen == (), (name, diagnosis.unseen)
            assert found(diagnosis) == expect.get(name, set()), name
            assert wrong_commands(diagnosis) == [], name
            assert wrong_first_lines(diagnosis) == [], name
            clear = [one.why for one in diagnosis.checks if one.outcome is Outcome.CLEAR]
            assert not [why for why in clear if any(words in why for words in UNSEEN)], name
            assert not [why for why in clear if "kubectl get --raw" in why or "GET /" in why], (
                name
            )  # a sentence instead
            wanted = State.FOUND if expect.get(name) else State.CLEAR
            assert diagnosis.state is wanted, [(one.id, one.outcome, one.why) for one in diagnosis.checks]


def expectation(expect: object) -> dict[str, Found]:
    return {
        name: {(one.code, one.subject.lower(), frozenset(one.explained_by)) for one in findings}
        for name, findings in expect.items()  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("name", Scenario.names())
async def test_a_scenario_is_diagnosed_as_expected_and_the_rest_of_the_fleet_is_quiet(name: str) -> None:
    scenario = Scenario.load(name)
    await play(scenario.world, expectation(scenario.expect), scenario.stays_open)


@pytest.mark.parametrize("name", [one.name for one in Scenario.heads() if one.has_twin])
async def test_the_twin_differs_in_one_fact_and_is_not_reported(name: str) -> None:
    scenario = Scenario.load(name)
    assert scenario.twin is not None
    await play(scenario.twin_world(), expectation(scenario.twin.expect), scenario.twin.stays_open)


@pytest.mark.parametrize("name", Scenario.names())
async def test_a_recorded_check_replays_offline_byte_for_byte(name: str, tmp_path: Path) -> None:
    scenario = Scenario.load(name)
    cluster = next((one for one, findings in scenario.expect.items() if findings), "prod-weu")
    case = tmp_path / "case.zip"
    async with azure(scenario.world) as server:
        recorder = Recorder(str(cluster_id(scenario.world, cluster)))
        first = await check(server, cluster, recorder=recorder)
    recorder.save(case)
    assert verdict(await replayed(case)) == verdict(first)
