"""The shipped roles grant exactly what the collectors declare."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import yaml

from bot.checks.check import check as check_cluster
from bot.checks.check import engine_for
from bot.checks.clients import clients
from bot.report.events import Report, Selection
from deploy import roles
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.evidence.aso.groups import ASO_GROUPS
from handlers.evidence.detectors import Detectors
from handlers.fleet.clusters import fleet
from handlers.remedy.inside import IN
from handlers.remedy.offers import Remedies
from sandbox.blueprint.inside.access import PROBE_RULES, WRITER_RULES
from sandbox.blueprint.inside.service_operator import GROUPS as OPERATORS_GROUPS
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import GRAPH, LIBRARY, access, azure, check


def test_the_roles_are_written_anew_with_every_new_fact() -> None:
    """`make roles` writes them."""
    assert roles.AZURE.read_text(encoding="utf-8") == roles.azure_text(GRAPH.whole())
    assert roles.KUBERNETES.read_text(encoding="utf-8") == roles.kubernetes_text(GRAPH.whole())
    assert roles.CONDITION.read_text(encoding="utf-8") == roles.condition_text(GRAPH.whole())
    assert roles.WRITER.read_text(encoding="utf-8") == roles.writer_text()
    assert roles.KUBERNETES_WRITER.read_text(encoding="utf-8") == roles.kubernetes_writer_text()
    assert roles.POD_PROXY.read_text(encoding="utf-8") == roles.pod_proxy_text(GRAPH.whole())


def granted(role: dict[str, Any]) -> set[str]:
    return {
        f"{verb} {resource}{f'.{group}' if group else ''}{f':{name}' if name else ''}"
        for rule in role["rules"]
        for group in rule.get("apiGroups", [""])
        for resource in (*rule.get("resources", []), *rule.get("nonResourceURLs", []))
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    }


def test_the_cluster_role_is_what_the_collectors_declare() -> None:
    role, binding, of_system, bound = yaml.safe_load_all(roles.KUBERNETES.read_text(encoding="utf-8"))
    seen = {sight for collector in GRAPH.whole().wanted for sight in collector.sees}
    assert granted(role) == {sight for sight in seen if IN not in sight}
    assert {f"{sight}{IN}kube-system" for sight in granted(of_system)} == {sight for sight in seen if IN in sight}
    assert (of_system["kind"], of_system["metadata"]["namespace"]) == ("Role", "kube-system")
    for one, its_binding in ((role, binding), (of_system, bound)):
        assert its_binding["roleRef"]["name"] == one["metadata"]["name"]


def test_what_reaches_into_pods_is_a_role_of_its_own_for_one_namespace() -> None:
    role, binding = yaml.safe_load_all(roles.POD_PROXY.read_text(encoding="utf-8"))
    assert granted(role) == {"get pods/proxy"}
    assert (role["kind"], role["metadata"]["namespace"]) == ("Role", binding["metadata"]["namespace"])
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "aksbot-pod-proxy"}
    assert "proxy" not in roles.KUBERNETES.read_text(encoding="utf-8")
    assert "proxy" not in roles.AZURE.read_text(encoding="utf-8")


def test_the_writers_roles_are_what_the_remedies_declare_and_a_probe_pod_is_made_in_one_namespace_only() -> None:
    everywhere, bound, here, bound_here = yaml.safe_load_all(roles.KUBERNETES_WRITER.read_text(encoding="utf-8"))
    acts = {act for one in Remedies.discover().all for act in one.acts}
    assert granted(everywhere) == {act for act in acts if IN not in act}
    assert {f"{act}{IN}default" for act in granted(here)} == {act for act in acts if IN in act}
    assert not any(act.startswith("create") for act in granted(everywhere))
    assert (here["kind"], here["metadata"]["namespace"]) == ("Role", "default")
    for role, binding in ((everywhere, bound), (here, bound_here)):
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        assert binding["metadata"].get("namespace") == role["metadata"].get("namespace")


def test_the_writer_of_the_sandbox_may_do_what_the_shipped_roles_grant_and_no_more() -> None:
    everywhere, _, here, _ = yaml.safe_load_all(roles.KUBERNETES_WRITER.read_text(encoding="utf-8"))
    assert granted({"rules": WRITER_RULES}) == granted(everywhere)
    assert granted({"rules": PROBE_RULES}) == granted(here)


def test_the_writers_azure_role_reaches_into_no_cluster() -> None:
    """Data actions would hold for every namespace of every cluster in its scope."""
    role = json.loads(roles.WRITER.read_text(encoding="utf-8"))
    assert role["DataActions"] == []
    assert roles.GETTING_IN in role["Actions"]
    everywhere, *_ = yaml.safe_load_all(roles.KUBERNETES_WRITER.read_text(encoding="utf-8"))
    assert {"get pods", "delete pods"} <= granted(everywhere)


def test_custom_resources_are_one_action_of_the_azure_role_and_named_one_by_one_in_the_cluster_role() -> None:
    """`az role definition create` refuses a role with an action that Azure does not have, such as that of one kind."""
    inside = "Microsoft.ContainerService/managedClusters/"
    role = json.loads(roles.AZURE.read_text(encoding="utf-8"))
    named = [action.removeprefix(inside).split("/") for action in role["DataActions"]]
    assert {parts[0] for parts in named if len(parts) > 2} <= roles.AZURES_GROUPS
    assert f"{inside}customresources/read" in role["DataActions"]
    assert not any("*" in action for action in role["DataActions"])
    seen = {sight for collector in GRAPH.whole().wanted for sight in collector.sees}
    custom = {sight for sight in seen if roles.group_of(sight) not in roles.AZURES_GROUPS}
    kinds = [one for one in yaml.safe_load_all(roles.KUBERNETES.read_text(encoding="utf-8")) if "rules" in one]
    assert {sight.partition(IN)[0] for sight in custom} <= set().union(*map(granted, kinds))
    condition = roles.CONDITION.read_text(encoding="utf-8")
    assert [sight for sight in custom if f"'{roles.group_of(sight)}'" not in condition] == []
    assert "'resources.azure.com'" in condition


def test_the_groups_of_the_sandboxs_operator_are_among_those_that_the_role_names() -> None:
    assert set(OPERATORS_GROUPS) <= set(ASO_GROUPS)
    assert len(set(ASO_GROUPS)) == len(ASO_GROUPS)


def with_the_azure_role_alone() -> World:
    world = Scenario.load("healthy-fleet").world
    role = json.loads(roles.AZURE.read_text(encoding="utf-8"))
    world.principals = [
        replace(one, actions=tuple(role["Actions"]), not_actions=()) if one.name == "reader" else one
        for one in world.principals
    ]
    return world


async def test_with_the_azure_role_alone_the_fleet_is_found_and_nothing_goes_unseen() -> None:
    world = with_the_azure_role_alone()
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


async def test_with_the_azure_role_alone_azures_detectors_can_be_run() -> None:
    world = with_the_azure_role_alone()
    engine = engine_for(LIBRARY, Selection(only="cluster-failed"), 30.0)
    async with azure(world) as server, clients(access(server), KubeAccess()) as opened:
        events = [one async for one in check_cluster("prod-weu", opened, engine, timeout_s=30.0, detectors=True)]
    report = events[-1]
    assert isinstance(report, Report)
    assert isinstance(report.detectors, Detectors)
    assert report.detectors.complete


def test_the_azure_role_grants_looking_only() -> None:
    role = json.loads(roles.AZURE.read_text(encoding="utf-8"))
    asking = "Microsoft.ContainerService/managedClusters/authorization.k8s.io/subjectaccessreviews/write"
    assert [action for action in role["DataActions"] if not action.endswith("/read")] == [asking]  # it stores nothing
    assert [action for action in role["Actions"] if not action.endswith("/read")] == [
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
        "Microsoft.PolicyInsights/policyStates/queryResults/action",
    ]


SEVEN_STEPS = {
    "node pool": {"Microsoft.ContainerService/managedClusters/agentPools/read"},
    "scale set": {"Microsoft.Compute/virtualMachineScaleSets/read"},
    "instances": {
        "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
        "Microsoft.Compute/virtualMachines/read",
    },
    "activity log": {"Microsoft.Insights/eventtypes/values/read", "Microsoft.Insights/diagnosticSettings/read"},
    "quota, capacity": {"Microsoft.Compute/locations/usages/read", "Microsoft.Compute/skus/read"},
    "policies, roles": {
        "Microsoft.Authorization/policyAssignments/read",
        "Microsoft.Authorization/policyExemptions/read",
        "Microsoft.Authorization/roleAssignments/read",
        "Microsoft.PolicyInsights/policyStates/queryResults/action",
    },
    "locks": {"Microsoft.Authorization/locks/read", "Microsoft.Network/virtualNetworks/subnets/read"},
}
"""The permissions for the seven places of a failed node pool (the Azure document, "Node pool is in a failed state")."""


def test_the_azure_role_shows_all_seven_places_of_a_failed_node_pool() -> None:
    granted_actions = set(json.loads(roles.AZURE.read_text(encoding="utf-8"))["Actions"])
    missing = {place: actions - granted_actions for place, actions in SEVEN_STEPS.items()}
    assert not any(missing.values()), missing
