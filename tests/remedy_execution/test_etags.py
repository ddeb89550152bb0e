"""Nothing is written without a valid eTag, because a PUT could overwrite someone else's change."""

from __future__ import annotations

from dataclasses import replace

from handlers.remedy.execution import Outcome
from tests.remedy_execution.stage import Stage
from tests.remedy_execution.test_puts import first_pool


def untagged(stage: Stage, name: str) -> None:
    """The cluster's body tells no eTag of this pool."""
    body = stage.resource(stage.cluster)
    profiles = body["properties"]["agentPoolProfiles"]
    kept = [
        {key: value for key, value in one.items() if key.lower() != "etag"} if one["name"] == name else one
        for one in profiles
    ]
    stage.azure.world.put({**body, "properties": {**body["properties"], "agentPoolProfiles": kept}})


async def test_a_pool_of_which_neither_plan_nor_cluster_knows_the_etag_keeps_the_cluster_from_being_sent(
    failed_cluster: Stage,
) -> None:
    """It may have been changed between the two reads: the body would take that back."""
    stage, pool = failed_cluster, first_pool(failed_cluster)
    untagged(stage, pool)
    ended = await stage.run(stage.plan(stage.put_cluster(without=(pool,))))
    assert (ended.outcome, stage.writes) == (Outcome.FAILED, [])
    assert f"no eTag tells whether someone has changed pool {pool} meanwhile" in ended.why


async def test_the_plans_own_etag_of_a_pool_is_enough(failed_cluster: Stage) -> None:
    stage, pool = failed_cluster, first_pool(failed_cluster)
    plan = stage.plan(stage.put_cluster())
    untagged(stage, pool)
    ended = await stage.run(replace(plan, steps=(stage.put_cluster(),)))
    assert (ended.outcome, stage.writes) == (Outcome.DONE, [("PUT", stage.cluster)])


async def test_a_pool_that_has_no_etag_at_all_keeps_the_cluster_from_being_sent(failed_cluster: Stage) -> None:
    stage, pool = failed_cluster, first_pool(failed_cluster)
    plan = stage.plan(stage.put_cluster())
    body = stage.resource(stage.pool(pool))
    bare = {key: value for key, value in body["properties"].items() if key.lower() != "etag"}
    stage.azure.world.put({**{key: value for key, value in body.items() if key.lower() != "etag"}, "properties": bare})
    ended = await stage.run(plan)
    assert (ended.outcome, stage.writes) == (Outcome.FAILED, [])


async def test_a_pool_is_not_sent_by_a_plan_that_knows_no_etag_of_it(failed_pool: Stage) -> None:
    stage = failed_pool
    ended = await stage.run(stage.plan(stage.put_pool("general", etag="")))
    assert (ended.outcome, stage.writes) == (Outcome.FAILED, [])
    assert "nothing was sent" in ended.why
