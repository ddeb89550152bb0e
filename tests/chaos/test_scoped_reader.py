"""A reader with a role only on resource groups sees their resources, and the check reports what is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.model import Check, Outcome, Why
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import azure, check


def scoped(world: World, *clusters: str) -> World:
    """Limit the reader's role to these clusters' resource groups and node resource groups."""
    bodies = [body for key, body in world.resources.items() if key.endswith(tuple(f"/{one}" for one in clusters))]
    groups = []
    for body in bodies:
        if str(body["type"]).lower() == "microsoft.containerservice/managedclusters":
            parts = body["id"].split("/")
            groups += ["/".join(parts[:5]), "/".join([*parts[:4], body["properties"]["nodeResourceGroup"]])]
    world.principals = [replace(one, scopes=tuple(groups)) if one.name == "reader" else one for one in world.principals]
    return world


async def checks(scenario: str, cluster: str) -> dict[str, Check]:
    world = scoped(Scenario.load(scenario).world, cluster)
    async with azure(world) as server:
        diagnosis = await check(server, cluster)
    return {one.id: one for one in diagnosis.checks}


async def test_locks_are_known_and_so_is_one_on_the_subscription() -> None:
    assert (await checks("healthy-fleet", "dev-shared"))["resource-lock"].outcome is Outcome.CLEAR
    inherited = (await checks("lock-inherited", "dev-shared"))["resource-lock"]
    assert [one.facts["lock"] for one in inherited.findings] == ["audit-guard"]


@pytest.mark.parametrize(
    ("question", "action"),
    [
        ("quota-exceeded", "Microsoft.Compute/locations/usages/read"),
        ("subscription-not-registered", "Microsoft.Resources/subscriptions/providers/read"),
    ],
)
async def test_what_only_the_subscription_shows_names_the_action_and_where_it_is_missing(
    question: str, action: str
) -> None:
    asked = (await checks("healthy-fleet", "dev-shared"))[question]
    assert asked.outcome is Outcome.INCONCLUSIVE
    told = [one for one in asked.unseen if one.why is Why.DENIED and one.grant == action]
    assert told
    assert all(one.detail.startswith("missing on /subscriptions/") for one in told)
