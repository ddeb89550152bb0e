"""The roles that we ship let the bot see what its collectors declare, and no more."""

from __future__ import annotations

import json
from dataclasses import replace

import yaml

from deploy import roles
from handlers.clients.arm import ArmReader
from handlers.clients.fleet import fleet
from sandbox.scenario import Scenario
from tests.checking import GRAPH, access, azure, check


def test_the_roles_are_written_anew_with_every_new_fact() -> None:
    """`make roles` writes them."""
    assert roles.AZURE.read_text(encoding="utf-8") == roles.azure_text(GRAPH)
    assert roles.KUBERNETES.read_text(encoding="utf-8") == roles.kubernetes_text(GRAPH)
    assert roles.WRITER.read_text(encoding="utf-8") == roles.writer_text()


def test_the_cluster_role_is_what_the_collectors_declare() -> None:
    role, binding = yaml.safe_load_all(roles.KUBERNETES.read_text(encoding="utf-8"))
    granted = {
        f"{verb} {resource}{f'.{group}' if group else ''}"
        for rule in role["rules"]
        for group in rule.get("apiGroups", [""])
        for resource in (*rule.get("resources", []), *rule.get("nonResourceURLs", []))
        for verb in rule["verbs"]
    }
    assert granted == {seen for collector in GRAPH.wanted for seen in collector.sees}
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


async def test_with_the_azure_role_alone_the_fleet_is_found_and_nothing_goes_unseen() -> None:
    world = Scenario.load("healthy-fleet").world
    role = json.loads(roles.AZURE.read_text(encoding="utf-8"))
    world.principals = [
        replace(one, actions=tuple(role["Actions"]), not_actions=()) if one.name == "reader" else one
        for one in world.principals
    ]
    async with azure(world) as server:
        async with ArmReader(access(server)) as arm:
            found = await fleet(arm)
        diagnosis = await check(server, "prod-weu")
        # Without the graph each subscription is looked into, with the same role.
        server.deny("reader", "Microsoft.ResourceGraph/resources/read")
        async with ArmReader(access(server)) as arm:
            assert await fleet(arm) == found
    assert len(found) == 8
    assert diagnosis.unseen == ()


def test_the_azure_role_grants_looking_only() -> None:
    role = json.loads(roles.AZURE.read_text(encoding="utf-8"))
    assert all(action.endswith("/read") for action in role["DataActions"])
    assert [action for action in role["Actions"] if not action.endswith("/read")] == [
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
        "Microsoft.PolicyInsights/policyStates/queryResults/action",
    ]
