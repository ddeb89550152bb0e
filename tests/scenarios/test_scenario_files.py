"""Scenario files that cannot be used are refused: the file, the key, and what is wrong with it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox.scenario import BadScenario, Scenario

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
GOOD = {"title": "T", "story": "S", "based_on": "healthy-fleet"}
POOL = "${prod-weu.pool.apps}"
WRITE = {"at": "now-1h", "operation": "Microsoft.Compute/virtualMachineScaleSets/write", "resource": POOL}


@pytest.mark.parametrize(
    ("wrong", "key", "says"),
    [
        ({"expects": {}}, "expects", "is not known here; known are title, story"),
        ({"title": None}, "title", "valid string"),
        ({"based_on": "no-such"}, "based_on", "no scenario 'no-such'"),
        ({"changes": [{"id": POOL}]}, "changes[0]", "exactly one of patch, body"),
        ({"changes": [{"id": POOL, "patch": {}, "delete": True}]}, "changes[0]", "exactly one of patch, body"),
        ({"changes": [{"id": POOL, "pach": {}}]}, "changes[0].pach", "known are id, patch"),
        ({"changes": [{"id": "${prod-weu.pool.app}", "patch": {}}]}, "changes[0].id", "mean prod-weu.pool.apps"),
        ({"changes": [{"id": "/subscriptions/x", "patch": {}}]}, "changes[0].id", "no resource /subscriptions/x"),
        ({"usages": {"${prod-weu.usage}/corez": {"limit": 1}}}, "usages.", "no such quota row"),
        ({"events": {"one": {**WRITE, "outcome": "Lost"}}}, "events.one.outcome", "'Succeeded', 'Failed'"),
        ({"events": {"one": {**WRITE, "at": "yesterday"}}}, "events.one", "not a moment"),
        ({"events": {"one": {**WRITE, "takes": "1w"}}}, "events.one", "not a span"),
        ({"writes": [{"method": "GET", "id": POOL}]}, "writes[0].method", "'PUT', 'PATCH'"),
        (
            {"writes": [{"method": "PUT", "id": POOL, "then": [{"id": "/x", "delete": True}]}]},
            "writes[0].then[0].id",
            "no",
        ),
        ({"kube": {"prod-wue": {}}}, "kube.prod-wue", "no cluster of this fleet"),
        ({"kube": {"edge-nexus-01": {}}}, "kube.edge-nexus-01", "no cluster of this fleet"),
        ({"kube": {"prod-weu": {"reach": True}}}, "kube.prod-weu.reach", "known are changes, reachable"),
        (
            {"kube": {"prod-weu": {"changes": [{"id": "Node/no-such", "delete": True}]}}},
            "kube.prod-weu.changes[0].id",
            "no Node/no-such",
        ),
        (
            {"kube": {"prod-weu": {"changes": [{"id": "shop/Node/a", "body": {}}]}}},
            "kube.prod-weu.changes[0].id",
            "not Kind/name",
        ),
        (
            {"kube": {"prod-weu": {"changes": [{"id": "*/Pod/*", "where": {"spec.nodeName": "x"}, "delete": True}]}}},
            "kube.prod-weu.changes[0].id",
            "no */Pod/*",
        ),
        (
            {
                "writes": [
                    {"method": "PUT", "id": POOL, "then": [{"cluster": "${prod-weu}", "id": "Node/x", "patch": {}}]}
                ]
            },
            "writes[0].then[0].id",
            "no Node/x",
        ),
        ({"expect": {"prod-wue": []}}, "expect.prod-wue", "nothing that this fleet has"),
        ({"expect": {"prod-weu": [{"code": "X Y", "subject": "s"}]}}, "expect.prod-weu[0].code", "match pattern"),
        ({"twin": {"title": "T", "events": {"two": {}}}}, "twin.events.two", "no event of this scenario"),
        ({"changes": [{"id": POOL, "patch": {"tags": {"x": "now-5mm"}}}]}, "now-5mm", "not a span"),
        ({"fleet": {"clusters": {"prod-weu": {"plan": 1}}}}, "fleet.clusters.prod-weu.plan", "known are subscription"),
        (
            {"fleet": {"clusters": {"prod-weu": {"subscription": "x"}}}},
            "fleet.clusters.prod-weu.subscription",
            "not among",
        ),
        (
            {"fleet": {"vnets": {"vnet-prod-weu": {"subnets": {"snet-nodes": {"prefix": "10.16.0.0/29"}}}}}},
            "",
            "in use",
        ),
        (
            {"fleet": {"locks": {"x": {"scope": "${nowhere}", "level": "ReadOnly"}}}},
            "fleet.locks.x.scope",
            "no ${nowhere}",
        ),
    ],
)
def test_a_bad_scenario_is_refused_with_its_file_and_key(
    tmp_path: Path, wrong: dict[str, Any], key: str, says: str
) -> None:
    (tmp_path / "scenario.yaml").write_text(json.dumps({**GOOD, **wrong}))
    with pytest.raises(BadScenario) as refused:
        Scenario.load(tmp_path, now=NOW)
    file = tmp_path / "scenario.yaml"
    assert refused.value.file == file
    assert refused.value.key.startswith(key)
    assert says in refused.value.what
    assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("title: a\ntitle: b\n", "line 2", "'title' stands twice"),
        ("title: [\n", "line 2", "expected"),
        ("- a\n", "", "not a mapping"),
    ],
)
def test_a_file_that_is_no_clean_yaml_is_refused_by_its_line(tmp_path: Path, text: str, key: str, says: str) -> None:
    (tmp_path / "scenario.yaml").write_text(text)
    with pytest.raises(BadScenario) as refused:
        Scenario.load(tmp_path)
    assert refused.value.key == key
    assert says in refused.value.what


def test_an_unknown_name_is_answered_with_those_that_exist() -> None:
    with pytest.raises(BadScenario, match="healthy-fleet"):
        Scenario.load("no-such-scenario")


def test_a_wrong_fleet_is_blamed_on_the_file_that_describes_it(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text("{ title: T, story: S }")
    (tmp_path / "fleet.yaml").write_text("{ tenant: t, principals: {}, subscriptions: {} }")
    with pytest.raises(BadScenario) as refused:
        Scenario.load(tmp_path)
    assert (refused.value.file, refused.value.key) == (tmp_path / "fleet.yaml", "subscriptions")


def test_a_head_says_what_the_built_scenario_says() -> None:
    heads = {one.name: one for one in Scenario.heads()}
    assert set(heads) == set(Scenario.names())
    for name in ("demo-fleet", "nodepool-failed", "healthy-fleet"):
        built, head = Scenario.load(name), heads[name]
        assert (head.title, head.has_twin, head.repairs) == (built.title, built.twin is not None, built.repairs)
