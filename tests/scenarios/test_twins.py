"""A scenario and its twin: one fact apart, and the cause of what a write does is in the one and not in the other."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sandbox.kube.world import KubeWorld
from sandbox.objects import find_object
from sandbox.scenario import Expectation, Expected, Questions, Scenario
from sandbox.world import World

Body = dict[str, Any]

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
WITH_TWINS = [one.name for one in Scenario.heads() if one.has_twin and one.name != "api-server-logs"]
"""What a control plane logs is no root, and no fact of Azure's or the cluster's own."""
REPEATED = {"agentPoolProfiles", "subnets"}
"""Properties in which a parent repeats its children."""


def plain(body: Body) -> Body:
    """A resource without what it repeats of its children."""
    properties = body.get("properties", {})
    return {**body, "properties": {k: v for k, v in properties.items() if k not in REPEATED}}


def differing_facts(one: World, other: World) -> list[str]:
    facts: list[str] = []
    held, twin = one.resources, other.resources
    changed = [key for key in held.keys() & twin.keys() if plain(held[key]) != plain(twin[key])]
    facts += [f"resource {key}" for key in changed]
    gone, new = sorted(held.keys() - twin.keys()), sorted(twin.keys() - held.keys())
    moved = [(a, b) for a in gone for b in new if {**held[a], "id": ""} == {**twin[b], "id": ""}]
    facts += [f"moved {a} to {b}" for a, b in moved]
    facts += [f"gone {a}" for a in gone if a not in dict(moved)]
    facts += [f"new {b}" for b in new if b not in {to for _, to in moved}]
    for path in one.tables.keys() | other.tables.keys():
        rows = zip(one.tables[path], other.tables[path], strict=True)
        facts += [f"row {path}/{a.get('name')}" for a, b in rows if a != b]
    facts += [f"operation {label}" for label in operations(one) ^ operations(other)]
    for cluster in one.kubes:
        facts += inside_facts(one.kubes[cluster], other.kubes[cluster])
    return facts


FOLLOWS = {"deployments", "replicasets", "statefulsets", "daemonsets", "poddisruptionbudgets"}
"""Kinds whose status is set by controllers."""


def inside_facts(one: KubeWorld, other: KubeWorld) -> list[str]:
    """What differs inside a cluster, without what follows from it by itself."""
    facts = [
        f"{name} of the API server"
        for name in ("reachable", "refuses", "not_ready", "run_commands", "logs")
        if getattr(one, name) != getattr(other, name)
    ]
    for key, table in one.objects.items():
        if key[2] in ("endpointslices", "leases"):
            continue
        twins = other.objects[key]
        facts += [f"{key[2]} {name} is gone or new" for name in table.keys() ^ twins.keys()]
        both = table.keys() & twins.keys()
        facts += [f"{key[2]} {name}" for name in both if essence(key[2], table[name]) != essence(key[2], twins[name])]
    nodes = [fact for fact in facts if fact.startswith("nodes ")]
    claims = {fact.split()[1] for fact in facts if fact.startswith("persistentvolumeclaims ")}
    return nodes or [fact for fact in facts if not follows_a_claim(fact, one, other, claims)]


def follows_a_claim(fact: str, one: KubeWorld, other: KubeWorld, claims: set[str]) -> bool:
    """Whether the same pod is placed in the one world and waits in the other, for a claim that differs."""
    plural, _, name = fact.partition(" ")
    pods = [table.get(name) for kube in (one, other) for key, table in kube.objects.items() if key[2] == plural]
    if plural != "pods" or not all(pods):
        return False
    bodies = [essence(plural, pod) for pod in pods if pod]
    first, second = ({**body, "status": None, "spec": {**body["spec"], "nodeName": None}} for body in bodies)
    volumes = first["spec"].get("volumes", ())
    mounted = {volume.get("persistentVolumeClaim", {}).get("claimName") for volume in volumes}
    return first == second and bool(claims & {f"{name.partition('/')[0]}/{claim}" for claim in mounted})


def essence(plural: str, body: Body) -> Body:
    metadata = {key: value for key, value in body["metadata"].items() if key != "resourceVersion"}
    return {**body, "metadata": metadata, **({"status": None} if plural in FOLLOWS else {})}


def operations(world: World) -> set[str]:
    told: dict[str, list[str]] = {}
    for event in world.events:
        told.setdefault(event["correlationId"], []).append(json.dumps(event, sort_keys=True))
    return {f"{correlation}: {hash(tuple(events))}" for correlation, events in told.items()}


@pytest.mark.parametrize("name", WITH_TWINS)
def test_a_twin_differs_in_exactly_one_fact(name: str) -> None:
    scenario = Scenario.load(name, now=NOW)
    facts = differing_facts(scenario.world, scenario.twin_world())
    # An operation that began at another time is one fact, told once in each world.
    if facts and all(fact.startswith("operation ") for fact in facts):
        assert len({fact.split()[1] for fact in facts}) == 1
    else:
        assert len(facts) == 1, facts


@pytest.mark.parametrize("name", WITH_TWINS)
def test_a_scenario_has_one_root_that_its_twin_does_not_have(name: str) -> None:
    scenario = Scenario.load(name, now=NOW)
    assert scenario.twin is not None
    [(cluster, findings)] = [(one, found) for one, found in found_by_whom(scenario.expect, scenario.questions) if found]
    [root] = {one.code for one in findings if one.root}
    of_the_twin = dict(found_by_whom(scenario.twin.expect, scenario.twin.questions))
    assert root not in {one.code for one in of_the_twin[cluster]}
    worlds = (scenario.world, scenario.twin_world())  # what is missing in the one exists in the other
    assert all(any(exists(world, cluster, one.subject) for world in worlds) for one in findings)
    assert all(set(one.explained_by) <= {other.code for other in findings} for one in findings)


def found_by_whom(expect: Expectation, questions: Questions) -> list[tuple[str, tuple[Expected, ...]]]:
    """What a check of each cluster finds; where it finds nothing by itself, what the questions about it find."""
    return [
        (cluster, found or tuple(one for asked in questions.get(cluster, ()) for one in asked.expect))
        for cluster, found in expect.items()
    ]


def exists(world: World, cluster: str, subject: str) -> bool:
    """Whether there is such a resource, quota row or object; a node may be known by its pods only."""
    if subject.startswith("/"):
        return subject.lower() in world.resources or world.usage(subject) is not None
    kube = next(kube for key, kube in world.kubes.items() if key.endswith(f"/{cluster}"))
    if subject.startswith("Scheduler/"):  # no object of the API: it is known by the pods that name it
        return subject in {f"Scheduler/{pod['spec'].get('schedulerName')}" for pod in kube.every("pods")}
    named = {f"Node/{pod['spec'].get('nodeName')}" for pod in kube.every("pods")}
    return subject in named or find_object(kube, subject) is not None


@pytest.mark.parametrize("name", WITH_TWINS)
def test_a_write_that_must_fail_has_its_cause_in_the_scenario(name: str) -> None:
    scenario = Scenario.load(name, now=NOW)
    for rule in scenario.world.writes:
        assert rule.only_while is None or scenario.world.holds(rule.only_while)
        assert (rule.only_while is None) == (rule.ends == "Succeeded" and rule.refuse is None)


@pytest.mark.parametrize("name", ["quota-blocks-upgrade", "quota-regional", "quota-spot", "subnet-full"])
def test_a_write_that_must_fail_has_no_cause_in_the_twin(name: str) -> None:
    twin = Scenario.load(name, now=NOW).twin_world()
    assert not any(twin.holds(rule.only_while) for rule in twin.writes if rule.only_while)


def test_the_twin_of_a_locked_group_lets_writes_through() -> None:
    for name in ("lock-blocks-scale", "lock-blocks-delete"):
        twin = Scenario.load(name, now=NOW).twin_world()
        assert not any(twin.holds(rule.only_while) for rule in twin.writes if rule.only_while)
