"""From the check to the end: what the remedies plan for a cluster's inside is carried out as planned, and it works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.checks.clients import clients
from bot.checks.remedies import offers_for
from handlers.clients.access import WRITER, AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.engine.run import Engine, Finished
from handlers.model import Diagnosis, Target
from handlers.remedy.execution import Outcome
from handlers.remedy.plan import Offer, Plan
from sandbox.scenario import Scenario
from tests.checking import GRAPH, LIBRARY, access, azure, cluster_id
from tests.remedy_execution.inside import as_people_wrote_it
from tests.remedy_execution.stage import Stage


@asynccontextmanager
async def staged(scenario: str, cluster: str) -> AsyncIterator[Stage]:
    async with azure(Scenario.load(scenario).world) as server:
        yield Stage(server, cluster)


async def looked_at(stage: Stage) -> tuple[Diagnosis, tuple[Offer, ...]]:
    """A check as the bot makes it, by the reader, with the writer asked what it may do."""
    both = access(stage.azure)
    identity = {**both.environment, **_as_writer(access(stage.azure, "writer"))}
    target = Target(cluster_id(stage.azure.world, stage.name))
    async with clients(replace(both, identity=identity), KubeAccess()) as opened, opened.for_target(target) as given:
        async for event in Engine(GRAPH, LIBRARY.explains).check(target, given):
            if isinstance(event, Finished):
                return event.diagnosis, await offers_for(event, target, given)
    raise AssertionError("a check that ends has a diagnosis")


def _as_writer(writer: AzureAccess) -> dict[str, str]:
    own = writer.environment
    return {f"{WRITER}{name.removeprefix('AZURE_')}": own[name] for name in own if name.startswith("AZURE_")}


async def planned(stage: Stage, remedy: str) -> Plan:
    _, offers = await looked_at(stage)
    [offer] = [one for one in offers if one.remedy == remedy]
    assert offer.plan is not None, offer.forbidden
    assert offer.plan.warnings == ()
    return offer.plan


async def codes(stage: Stage) -> set[str]:
    diagnosis, _ = await looked_at(stage)
    return {one.finding.code for one in diagnosis.findings}


async def changed(stage: Stage) -> list[str]:
    """What was written inside, without the questions what the writer may do."""
    return [f"{method} {path.rsplit('/', 1)[-1]}" for method, path in stage.kube_writes if "reviews" not in path]


async def test_a_relaxed_budget_lets_the_upgrade_through_and_is_as_it_was() -> None:
    async with staged("pdb-blocks-drain", "prod-weu") as stage:
        before = as_people_wrote_it(stage)
        plan = await planned(stage, "relax-budget")
        ended = await stage.run(plan)
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        assert as_people_wrote_it(stage) == before
        assert await changed(stage) == ["PATCH web", "PATCH web"]
        assert [(one, path.lower()) for one, path in stage.writes] == [
            ("PUT", step.target.lower()) for step in plan.steps[1:3]
        ]
        # The budget is as strict as it was, and in nobody's way: nothing is drained any more.
        assert await codes(stage) == set()


async def test_a_pod_that_held_up_the_drain_is_gone_and_the_pool_can_go_on() -> None:
    async with staged("drain-error-lost-pod", "staging-neu") as stage:
        ended = await stage.run(await planned(stage, "delete-stuck-pod"))
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        assert await changed(stage) == ["DELETE session-store-0"]
        assert stage.writes == []
        assert await codes(stage) == {"nodepool-failed"}


async def test_the_probe_says_which_way_is_blocked_and_is_removed() -> None:
    async with staged("node-cannot-reach-api-server", "staging-neu") as stage:
        plan = await planned(stage, "probe-from-pod")
        ended = await stage.run(plan)
        assert (ended.outcome, ended.why) == (Outcome.DONE, "")
        said = "\n".join(one.says for one in ended.notes)
        assert "https://kubernetes.default.svc/ no answer within 10 s" in said
        assert "azmk8s.io/ 401: the way is open" in said
        assert ended.answer in said
        assert len(ended.answer.splitlines()) == 3
        assert stage.inside(plan.target) is None
        assert await changed(stage) == ["POST pods", "DELETE aksbot-probe"]
