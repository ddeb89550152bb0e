"""The role that we ship lets the bot see what its collectors declare, and no more."""

from pathlib import Path

import yaml

from tests.checking import GRAPH

READER = Path(__file__).parents[2] / "deploy" / "kubernetes" / "reader.yaml"


def test_the_cluster_role_is_what_the_collectors_declare() -> None:
    role, binding = yaml.safe_load_all(READER.read_text())
    granted = {
        f"{verb} {resource}{f'.{group}' if group else ''}"
        for rule in role["rules"]
        for group in rule.get("apiGroups", [""])
        for resource in (*rule.get("resources", []), *rule.get("nonResourceURLs", []))
        for verb in rule["verbs"]
    }
    assert granted == {seen for collector in GRAPH.wanted for seen in collector.sees}
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
