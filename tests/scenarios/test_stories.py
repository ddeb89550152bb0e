"""Several scenarios that happen in one fleet."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox.blueprint.scenario_file import renamed
from sandbox.scenario import BadScenario, Scenario

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
GOOD = {"title": "T", "story": "S", "based_on": "healthy-fleet"}


def told(tmp_path: Path, **more: Any) -> Scenario:
    (tmp_path / "scenario.yaml").write_text(json.dumps({**GOOD, **more}))
    return Scenario.load(tmp_path, now=NOW)


def codes(scenario: Scenario, cluster: str) -> list[str]:
    return [one.code for one in scenario.expect[cluster]]


def test_what_each_story_expects_comes_together(tmp_path: Path) -> None:
    stories = [{"scenario": "quota-blocks-upgrade"}, {"scenario": "node-vm-failed"}, {"scenario": "subnet-full"}]
    scenario = told(tmp_path, stories=stories)
    alone = {name: Scenario.load(name, now=NOW) for name in ("quota-blocks-upgrade", "node-vm-failed", "subnet-full")}
    assert scenario.expect["prod-weu"] == (
        *alone["quota-blocks-upgrade"].expect["prod-weu"],
        *alone["node-vm-failed"].expect["prod-weu"],
    )
    assert scenario.expect["prod-eus2"] == alone["subnet-full"].expect["prod-eus2"]
    assert scenario.speaks_of == ("prod-weu", "prod-eus2")
    assert scenario.expect["dev-shared"] == ()


def test_a_story_can_happen_in_another_cluster(tmp_path: Path) -> None:
    names = {"prod-weu": "dev-shared", "apps": "builds"}
    fleet = {"clusters": {"dev-shared": {"pools": {"builds": {"count": 4}}}}}
    scenario = told(tmp_path, stories=[{"scenario": "node-vm-failed", "names": names}], fleet=fleet)
    assert codes(scenario, "prod-weu") == []
    assert codes(scenario, "dev-shared") == ["node-vm-failed", "node-not-ready"]
    [failed] = [
        key
        for key, body in scenario.world.resources.items()
        if "/virtualmachines/" in key and body["properties"]["provisioningState"] == "Failed"
    ]
    assert failed == scenario.expect["dev-shared"][0].subject.lower()
    assert "builds" in failed


def test_names_are_replaced_as_words_only() -> None:
    given = {"apps": ["${prod-weu.pool.apps}", "apps/v1", "vnet-prod-weu", "pool 'apps' of prod-weu.", 3]}
    wanted = {"web": ["${prod-eus2.pool.web}", "apps/v1", "vnet-prod-weu", "pool 'web' of prod-eus2.", 3]}
    assert renamed(given, {"prod-weu": "prod-eus2", "apps": "web"}) == wanted


@pytest.mark.parametrize(
    ("stories", "key", "says"),
    [
        ([{"scenario": "no-such"}], "stories[0]", "no scenario 'no-such'"),
        ([{"scenario": "subnet-full"}, {"scenario": "healthy-fleet"}], "stories[1]", "is not based on"),
        ([{"scenario": "demo-fleet"}], "stories[0]", "is not based on"),
        ([{"scenario": "subnet-full", "name": {}}], "stories[0].name", "known are scenario, names"),
        ([{"scenario": "pdb-blocks-drain", "names": {"prod-weu": "staging-neu"}}], "fleet.clusters.staging-neu", ""),
    ],
)
def test_stories_that_cannot_be_told_here_are_refused(tmp_path: Path, stories: list[Any], key: str, says: str) -> None:
    with pytest.raises(BadScenario) as refused:
        told(tmp_path, stories=stories)
    assert refused.value.key.startswith(key)
    assert says in refused.value.what
    assert refused.value.file == tmp_path / "scenario.yaml"


def test_the_fleet_of_the_demo_has_a_cluster_for_every_story_and_one_that_is_fine() -> None:
    scenario = Scenario.load("demo-fleet", now=NOW)
    roots = {cluster: {one.code for one in found if one.root} for cluster, found in scenario.expect.items() if found}
    assert roots == {
        "prod-weu": {"quota-exceeded"},
        "prod-eus2": {"subnet-full", "node-vm-failed"},
        "staging-neu": {"pdb-blocks-drain"},
        "payments-prod": {"private-cluster-unreachable"},
    }
    assert scenario.expect["dev-shared"] == ()
