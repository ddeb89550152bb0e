"""The sweep over Azure Service Operator's resources, against the sandbox's API server: paged, small, once each."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

from bot.checks.clients import clients
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import METADATA_ONLY, KubeReader
from handlers.engine.run import Engine, Finished
from handlers.evidence.aso.kinds import DEFINITIONS
from handlers.evidence.aso.resources import PAGE, AsoResources
from handlers.model import Target
from sandbox.blueprint.operator_kinds import KINDS
from sandbox.scenario import Scenario
from tests.checking import GRAPH, LIBRARY, access, azure, cluster_id

Body = dict[str, Any]
TOTAL, REFUSED, BULK = 200, 45, 30_000
"""The scenario itself has four resources more."""
ASO = GRAPH.only([one for one in GRAPH.diagnostics if one.id == "aso-resources"])


def resources() -> Iterator[Body]:
    """200 of twelve kinds, most of one; 45 of them refused by the same policy, each in its own words."""
    kinds = [kind for kind in KINDS if kind != "UserAssignedIdentity"]
    for number in range(TOTAL):
        kind = kinds[number % len(kinds)] if number >= 2 * PAGE - 60 else "StorageAccount"
        group, version, _ = KINDS[kind]
        name = f"thing-{number:03}"
        refused = number < REFUSED
        ready: Body = {"type": "Ready", "status": "True", "reason": "Succeeded", "observedGeneration": 1}
        if refused:
            told = f"Resource '{name}' was disallowed by policy."
            ready |= {"status": "False", "severity": "Error", "reason": "RequestDisallowedByPolicy", "message": told}
        yield {
            "apiVersion": f"{group}.azure.com/v1api{version}",
            "kind": kind,
            "metadata": {"name": name, "namespace": "platform", "generation": 1},
            "spec": {"bulk": "x" * BULK},
            "status": {"conditions": [ready | {"lastTransitionTime": "2026-11-18T02:00:00Z"}]},
        }


async def test_two_hundred_resources_of_twelve_kinds_are_swept_in_pages_and_each_problem_is_told_once() -> None:
    world = Scenario.load("aso-creation-failed").world
    target = Target(cluster_id(world, "prod-eus2"))
    for body in resources():
        world.kubes[target.id.key].put(body)
    async with (
        azure(world) as server,
        clients(access(server), KubeAccess()) as opened,
        opened.for_target(target) as given,
    ):
        ended = [one async for one in Engine(ASO, LIBRARY.explains).check(target, given)][-1]
        log = list(server.kube[target.id.key].log)
        bare = await given[KubeReader].list(DEFINITIONS, sorted, accept=METADATA_ONLY)
    assert isinstance(ended, Finished)
    swept = ended.facts[AsoResources]
    assert isinstance(swept, AsoResources)
    assert len(swept.resources) == TOTAL + 4
    assert len({one.kind for one in swept.resources}) == 12
    assert all(one.kind.version.endswith("storage") for one in swept.resources)
    assert len(pickle.dumps(swept.resources)) < len(swept.resources) * 400, "specs are not kept"
    assert Counter(one.finding.code for one in ended.diagnosis.findings) == {"aso-creation-failed": 2}
    policy = next(one.finding for one in ended.diagnosis.findings if one.finding.facts["page"])
    assert len(policy.affects) == REFUSED - 1
    asked = [(one.path, parse_qs(one.query)) for one in log if ".azure.com/" in one.path]
    assert {query["limit"][0] for _, query in asked} == {str(PAGE)}
    pages = Counter(path.rpartition("/")[2] for path, _ in asked)
    assert pages.pop("storageaccounts") == 2
    assert set(pages.values()) == {1}
    assert {tuple(keys) for keys in bare.items} == {("metadata",)}, "definitions come without their schemas"
    assert not [one for one in log if "secrets" in one.path]
