"""Offered fixes work: check, offer, execution, and a final check."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.checks.clients import clients
from bot.checks.remedies import offers_for
from handlers.clients.kube.access import KubeAccess
from handlers.engine.run import Engine, Finished
from handlers.model import Target
from handlers.remedy.execution import Outcome
from handlers.remedy.plan import Offer, Plan
from handlers.resource_id import ResourceId
from sandbox.scenario import Scenario
from tests.checking import GRAPH, LIBRARY, access, azure
from tests.remedy_execution.inside import change
from tests.remedy_execution.stage import Stage
from tests.sandbox.worlds import lock

HELD = "shop/Pod/session-store-0"
SCENARIOS = {
    "reconcile-pool": ("nodepool-failed", "staging-neu"),
    "reconcile-cluster": ("cluster-failed", "prod-eus2"),
    "update-instances": ("node-vm-failed", "prod-weu"),
    "reapply-machine": ("node-vm-failed-availability-set", "staging-neu"),
    "enable-isolation-domain": ("isolation-domain-disabled", "edge-nexus-01"),
    "register-bridge-providers": ("arc-bridge-offline-providers", "arc-bridge-hq"),
    "register-provider": ("subscription-not-registered", "prod-weu"),
    "relax-budget": ("pdb-blocks-drain", "prod-weu"),
    "abort-operation": ("upgrade-runs-long", "payments-prod"),
    "delete-stuck-pod": ("drain-error-gone-node", "staging-neu"),
}


@asynccontextmanager
async def staged(remedy: str) -> AsyncIterator[Stage]:
    scenario, cluster = SCENARIOS[remedy]
    async with azure(Scenario.load(scenario).world) as server:
        stage = Stage(server, cluster)
        if remedy == "delete-stuck-pod":
            # Whoever held the pod has let go of it; its node is gone, so nobody says that it has ended.
            change(stage, HELD, {"metadata": {"finalizers": None}})
        yield stage


async def offered(stage: Stage, remedy: str) -> list[Offer]:
    target = Target(ResourceId.parse(stage.cluster))
    async with clients(access(stage.azure), KubeAccess()) as opened, opened.for_target(target) as given:
        async for event in Engine(GRAPH, LIBRARY.explains).check(target, given):
            if isinstance(event, Finished):
                return [one for one in await offers_for(event, target, given) if one.remedy == remedy]
    raise AssertionError("a check ends")


async def planned(stage: Stage, remedy: str) -> Plan:
    (first, *_) = await offered(stage, remedy)
    assert first.plan is not None, first.forbidden
    return first.plan


@pytest.mark.parametrize("remedy", list(SCENARIOS))
async def test_an_offer_is_carried_out_with_exactly_the_writes_it_names(remedy: str) -> None:
    async with staged(remedy) as stage:
        plan = await planned(stage, remedy)
        before = len(stage.kube_writes)
        ended = await stage.run(plan)
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        written = [f"{method} {path}".lower() for method, path in [*stage.writes, *stage.kube_writes[before:]]]
        named = [one.request.lower().split(",")[0] for one in plan.steps]
        assert sorted(written) == sorted(named)
        assert await offered(stage, remedy) == []


@pytest.mark.parametrize(
    ("level", "reasons"),
    [("ReadOnly", ["lock fabric-freeze (ReadOnly) on rg-edge-nexus forbids it"]), ("CanNotDelete", [])],
)
async def test_a_read_only_lock_over_the_fabric_is_a_reason_instead_of_a_button(level: str, reasons: list[str]) -> None:
    async with staged("enable-isolation-domain") as stage:
        group = stage.cluster.split("/providers")[0]
        stage.azure.world.put(lock(group, level, "fabric-freeze"))
        (offer,) = await offered(stage, "enable-isolation-domain")
        assert [one.because for one in offer.forbidden] == reasons


async def test_where_the_locks_over_the_fabric_cannot_be_seen_it_is_said_beside_the_button() -> None:
    async with staged("enable-isolation-domain") as stage:
        stage.azure.deny("reader", "Microsoft.Authorization/locks/read")
        plan = await planned(stage, "enable-isolation-domain")
        assert any("locks over the isolation domains" in one for one in plan.warnings)


@pytest.mark.parametrize(
    ("infrastructure", "says", "never"),
    [
        ("HCI", "do not delete or deploy it yourself", "deployed again"),
        ("VMWare", "until it is deleted and deployed again", "support"),
    ],
)
async def test_what_remains_after_the_providers_are_registered_depends_on_who_deployed_the_bridge(
    infrastructure: str, says: str, never: str
) -> None:
    async with staged("register-bridge-providers") as stage:
        stage.resource(stage.cluster)["properties"]["infrastructureConfig"] = {"provider": infrastructure}
        plan = await planned(stage, "register-bridge-providers")
        for text in (plan.verify.remains, plan.could_go_wrong[0]):
            assert says in text
            assert never not in text


@pytest.mark.parametrize("remedy", list(SCENARIOS))
async def test_a_plan_survives_being_written_down(remedy: str) -> None:
    async with staged(remedy) as stage:
        plan = await planned(stage, remedy)
        assert Plan.from_json(plan.as_json()).digest == plan.digest
