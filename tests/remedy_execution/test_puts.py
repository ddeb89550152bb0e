from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.remedy.acts.follow_arm import etag_of
from handlers.remedy.execution import Execution, Outcome, StepEnd
from sandbox.arm.server import Fault
from sandbox.world import Change, WriteRule
from tests.remedy_execution.stage import Stage

POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"


def of_pool(stage: Stage, rule: WriteRule) -> None:
    stage.azure.world.writes.insert(0, rule)


async def test_a_failed_pool_is_sent_as_it_was_read_and_followed_to_its_end(failed_pool: Stage) -> None:
    stage = failed_pool
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert stage.writes == [("PUT", stage.pool("general"))]
    assert stage.resource(stage.pool("general"))["properties"]["provisioningState"] == "Succeeded"
    assert any("Azure says: ScalingAgentPool" in note.says for note in ended.notes)
    (call,) = ended.calls
    assert (call.method, call.result) == ("PUT", "200")
    assert call.request_id == next(one.client_request_id for one in stage.azure.log if one.is_write and one.principal)
    assert call.correlation_id


async def test_the_intent_is_written_down_before_anything_is_sent(failed_pool: Stage) -> None:
    stage, seen = failed_pool, []

    async def at(boundary: str) -> None:
        seen.append((boundary, len(stage.ledger.saved), len(stage.writes)))

    await stage.run(stage.plan(stage.put_pool("general")), at)
    by_name = {name.partition(": ")[2]: (saved, writes) for name, saved, writes in seen}
    assert by_name["ready, no intent recorded"] == (0, 0)
    assert by_name["intent recorded, not sent"] == (1, 0)
    assert by_name["sent, not recorded"] == (1, 1)
    assert by_name["answer recorded"] == (2, 1)
    intent = Execution.from_json(stage.ledger.saved[0])
    sent = next(one for one in stage.azure.log if one.is_write and one.principal)
    assert intent.data["request_id"] == sent.client_request_id


async def test_what_is_written_down_holds_no_body(failed_pool: Stage) -> None:
    stage = failed_pool
    pool = stage.resource(stage.pool("general"))
    stage.azure.world.put({**pool, "properties": {**pool["properties"], "customSecret": "hunter2-hunter2"}})
    await stage.run(stage.plan(stage.put_pool("general")))
    assert "hunter2" not in "".join(stage.ledger.saved)
    assert stage.resource(stage.pool("general"))["properties"]["customSecret"] == "hunter2-hunter2"


async def test_a_pool_that_was_changed_since_the_plan_is_not_written(failed_pool: Stage) -> None:
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    pool = stage.pool("general")
    body = stage.resource(pool)
    stage.azure.world.put({**body, "properties": {**body["properties"], "eTag": "another"}})
    ended = await stage.run(plan)
    assert ended.outcome is Outcome.STALE
    assert "another" in ended.why
    assert stage.writes == []


async def test_a_pool_that_is_changed_between_the_read_and_the_write_is_not_overwritten(failed_pool: Stage) -> None:
    stage = failed_pool
    pool = stage.pool("general")

    async def change(boundary: str) -> None:
        if boundary.endswith("intent recorded, not sent"):
            body = stage.resource(pool)
            stage.azure.world.put({**body, "properties": {**body["properties"], "eTag": "another"}})

    ended = await stage.run(stage.plan(stage.put_pool("general")), change)
    assert ended.outcome is Outcome.STALE
    assert "EtagMismatch" in ended.why
    assert stage.tag(pool) == "another"
    assert len(stage.writes) == 1


async def test_a_pool_that_an_operation_is_at_work_on_is_not_written(failed_pool: Stage) -> None:
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    stage.azure.world.apply(Change(stage.pool("general"), {"properties": {"provisioningState": "Scaling"}}))
    ended = await stage.run(plan)
    assert (ended.outcome, "is Scaling" in ended.why) == (Outcome.STALE, True)
    assert stage.writes == []


async def test_an_operation_that_begins_in_the_same_second_is_told(failed_pool: Stage) -> None:
    stage = failed_pool

    async def begin(boundary: str) -> None:
        if boundary.endswith("intent recorded, not sent"):
            stage.azure.world.apply(Change(stage.cluster, {"properties": {"provisioningState": "Updating"}}))

    ended = await stage.run(stage.plan(stage.put_pool("general")), begin)
    assert ended.outcome is Outcome.STALE
    assert "another operation runs" in ended.why


@pytest.mark.parametrize("kind", ["permission", "lock"])
async def test_a_refusal_names_who_and_what(failed_pool: Stage, kind: str) -> None:
    stage = failed_pool
    plan = stage.plan(stage.put_pool("general"))
    if kind == "permission":
        stage.azure.deny("writer", POOL_WRITE)
    else:
        lock = f"{stage.cluster}/providers/Microsoft.Authorization/locks/frozen"
        body = {"name": "frozen", "type": "Microsoft.Authorization/locks", "properties": {"level": "ReadOnly"}}
        stage.azure.world.put({"id": lock, **body})
    ended = await stage.run(plan)
    assert ended.outcome is Outcome.FAILED
    assert (POOL_WRITE if kind == "permission" else "ScopeLocked") in ended.why
    assert stage.resource(stage.pool("general"))["properties"]["provisioningState"] == "Failed"


async def test_a_refusal_says_the_innermost_error(failed_pool: Stage) -> None:
    stage = failed_pool
    inner = (
        'Category: ClientError; SubCode: SubnetIsFull; Dependency: X; OrginalError: Code="SubnetIsFull" Message="full"'
    )
    body = {"code": "ReconcileVMSSAgentPoolFailed", "message": inner}
    of_pool(stage, WriteRule("PUT", stage.pool("general"), refuse=(400, body)))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "SubnetIsFull: full" in ended.why) == (Outcome.FAILED, True)


async def test_an_operation_that_fails_says_the_innermost_error(failed_pool: Stage) -> None:
    stage = failed_pool
    inner = (
        'Category: ClientError; SubCode: SubnetIsFull; Dependency: X; OrginalError: Code="SubnetIsFull" Message="full"'
    )
    error = {"code": "ReconcileVMSSAgentPoolFailed", "message": inner}
    of_pool(stage, WriteRule("PUT", stage.pool("general"), interim=("Updating",), ends="Failed", error=error))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "SubnetIsFull: full" in ended.why) == (Outcome.FAILED, True)
    assert len(stage.writes) == 1


async def test_gateways_that_fail_now_and_then_do_not_end_an_operation(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("502", method="GET", principal="writer", skip=2, times=3))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert ended.outcome is Outcome.DONE
    assert sum("could not look" in note.says for note in ended.notes) == 1


async def test_an_operation_that_nobody_can_see_any_more_is_asked_about(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.faults.append(Fault("502", method="GET", principal="writer", skip=1))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert ended.outcome is Outcome.UNKNOWN
    assert "goes on by itself" in ended.why
    assert ended.ask


async def test_an_operation_that_azure_has_forgotten_is_read_at_its_resource(failed_pool: Stage) -> None:
    stage = failed_pool
    routes = {one.route for one in stage.azure.log}

    async def forget(here: Execution) -> None:
        if here.data.get("via") == "status":
            operations = {one.route for one in stage.azure.log} - routes
            stage.azure.faults[:] = [Fault("404", method="GET", route=one) for one in operations if "operations" in one]
            stage.azure.finish_operations()

    ended = await stage.run(stage.plan(stage.put_pool("general")), between=forget)
    assert ended.outcome is Outcome.DONE


async def test_a_fix_that_takes_too_long_ends_and_says_that_azure_goes_on(failed_pool: Stage) -> None:
    stage = failed_pool
    of_pool(stage, WriteRule("PUT", stage.pool("general"), interim=("Updating",) * 500))
    ended = await stage.run(
        replace(stage.plan(stage.put_pool("general")), limit=stage.plan(stage.put_pool("general")).eta)
    )
    assert ended.outcome is Outcome.TIMED_OUT
    assert "goes on by itself" in ended.why
    assert len(stage.writes) == 1


async def test_a_body_with_a_redaction_mark_is_refused(failed_pool: Stage) -> None:
    stage = failed_pool
    stage.azure.world.apply(Change(stage.pool("general"), {"properties": {"tags": {"k": "[redacted:key]"}}}))
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    assert (ended.outcome, "redaction mark" in ended.why) == (Outcome.FAILED, True)
    assert stage.writes == []


async def test_pools_come_before_their_cluster(failed_cluster: Stage) -> None:
    stage = failed_cluster
    pool = next(
        key.rsplit("/", 1)[1] for key in stage.azure.world.resources if f"{stage.cluster}/agentpools/".lower() in key
    )
    steps = (stage.put_pool(pool), stage.put_cluster(etag="", without=(pool,)))
    ended = await stage.run(stage.plan(*steps))
    assert (ended.outcome, ended.why) == (Outcome.DONE, "")
    assert stage.writes == [("PUT", stage.pool(pool)), ("PUT", stage.cluster)]
    assert stage.resource(stage.cluster)["properties"]["provisioningState"] == "Succeeded"


async def test_a_cluster_is_not_written_over_a_pool_that_was_changed_since(failed_cluster: Stage) -> None:
    stage = failed_cluster
    plan = stage.plan(stage.put_cluster())
    name = next(
        key.rsplit("/", 1)[1] for key in stage.azure.world.resources if f"{stage.cluster}/agentpools/".lower() in key
    )
    pool = stage.resource(stage.pool(name))
    stage.azure.world.put({**pool, "properties": {**pool["properties"], "eTag": "another"}})
    ended = await stage.run(plan)
    assert (ended.outcome, f"pool {name} was changed" in ended.why) == (Outcome.STALE, True)
    assert stage.writes == []


async def test_a_cluster_that_was_changed_since_is_not_written(failed_cluster: Stage) -> None:
    stage = failed_cluster
    ended = await stage.run(stage.plan(stage.put_cluster(etag="of another day")))
    assert ended.outcome is Outcome.STALE
    assert stage.writes == []


async def test_a_step_that_fails_leaves_the_others_undone(failed_cluster: Stage) -> None:
    stage = failed_cluster
    name = next(
        key.rsplit("/", 1)[1] for key in stage.azure.world.resources if f"{stage.cluster}/agentpools/".lower() in key
    )
    ended = await stage.run(stage.plan(stage.put_pool(name, etag="of another day"), stage.put_cluster()))
    assert ended.outcome is Outcome.STALE
    assert stage.writes == []


async def test_a_fix_that_is_cancelled_ends_after_the_step_that_runs(failed_cluster: Stage) -> None:
    stage = failed_cluster
    name = next(
        key.rsplit("/", 1)[1] for key in stage.azure.world.resources if f"{stage.cluster}/agentpools/".lower() in key
    )

    async def cancel(here: Execution) -> Execution:
        return replace(here, cancelled=True)

    ended = await stage.run(
        stage.plan(stage.put_pool(name), stage.put_cluster(etag="", without=(name,))), between=cancel
    )
    assert ended.outcome is Outcome.CANCELLED
    assert "before step 2 of 2" in ended.why
    assert ended.ends == (StepEnd.DONE, StepEnd.SKIPPED), "what was not sent is never ticked"
    assert stage.writes == [("PUT", stage.pool(name))]
    assert stage.resource(stage.pool(name))["properties"]["provisioningState"] == "Succeeded"


async def test_an_execution_that_has_ended_does_nothing_more(failed_pool: Stage) -> None:
    stage = failed_pool
    ended = await stage.run(stage.plan(stage.put_pool("general")))
    asked = len(stage.azure.log)
    async with stage.executor() as executor:
        assert await executor.advance(ended, stage.ledger) == ended
    assert len(stage.azure.log) == asked
    assert etag_of(stage.resource(stage.pool("general")))


def first_pool(stage: Stage) -> str:
    above = f"{stage.cluster}/agentpools/".lower()
    return next(key.rsplit("/", 1)[1] for key in stage.azure.world.resources if above in key)


async def test_a_cluster_that_somebody_upgrades_while_its_pools_are_sent_is_left_alone(failed_cluster: Stage) -> None:
    """The plan cannot know the cluster's eTag after its pools: what it must not be is looked at again."""
    stage, pool = failed_cluster, first_pool(failed_cluster)

    async def upgrade(here: Execution) -> None:
        if here.step == 1:
            stage.azure.world.apply(Change(stage.cluster, {"properties": {"kubernetesVersion": "1.99.0"}}))

    steps = (stage.put_pool(pool), stage.put_cluster(etag="", without=(pool,)))
    ended = await stage.run(stage.plan(*steps), between=upgrade)
    assert (ended.outcome, "go on upgrading it" in ended.why) == (Outcome.STALE, True)
    assert stage.writes == [("PUT", stage.pool(pool))]


async def test_a_pool_that_somebody_upgrades_after_it_was_sent_keeps_its_cluster_from_being_sent(
    failed_cluster: Stage,
) -> None:
    stage, pool = failed_cluster, first_pool(failed_cluster)

    async def upgrade(here: Execution) -> None:
        if here.step == 1:
            stage.azure.world.apply(Change(stage.pool(pool), {"properties": {"orchestratorVersion": "1.99.0"}}))

    steps = (stage.put_pool(pool), stage.put_cluster(etag="", without=(pool,)))
    ended = await stage.run(stage.plan(*steps), between=upgrade)
    assert ended.outcome is Outcome.STALE
    assert stage.writes == [("PUT", stage.pool(pool))]
