"""A request that AKS rejected immediately leaves nothing failed; after a while it is no longer relevant."""

import json
from datetime import timedelta

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import GROUP, NODE_GROUP, event, pool_id, scale_set_id, usage
from tests.handlers.diagnose.wire import Azure, asked

REFUSED = {"code": "ErrCode_InsufficientVCPUQuota", "message": "Insufficient vcpu quota requested 40, remaining 2."}
OF_POOL = "Microsoft.ContainerService/managedClusters/agentPools/write"
OF_SET = "Microsoft.Compute/virtualMachineScaleSets/write"


def wished(ago: timedelta, operation: str = OF_POOL, state: str = "Succeeded") -> Azure:
    """A pool that was to be scaled, and a quota that has no room for that."""
    azure = Azure()
    azure.pool("apps", provisioningState=state)
    azure.usages[2] = usage("standardDSv5Family", 98, 100)
    of_pool = operation == OF_POOL
    told = event(pool_id("apps") if of_pool else scale_set_id("apps"), "Failed", ago, json.dumps(REFUSED))
    told["operationName"] = {"value": operation}
    told["subStatus"] = {"value": "BadRequest", "localizedValue": "Bad Request (HTTP Status Code: 400)"}
    azure.events[GROUP if of_pool else NODE_GROUP] = [told]
    return azure


async def outcome(azure: Azure) -> Outcome:
    return (await asked("quota-exceeded", azure)).outcome


@pytest.mark.parametrize("ago", [timedelta(hours=2, minutes=1), timedelta(hours=20)])
async def test_a_wish_that_was_refused_a_while_ago_on_a_sound_pool_is_no_finding(ago: timedelta) -> None:
    assert await outcome(wished(ago)) is Outcome.CLEAR


async def test_the_twin_that_has_just_been_refused_is_found() -> None:
    assert await outcome(wished(timedelta(minutes=40))) is Outcome.FOUND


async def test_what_a_scale_set_was_refused_yesterday_the_autoscaler_asks_for_again() -> None:
    assert await outcome(wished(timedelta(hours=20), OF_SET)) is Outcome.FOUND


async def test_a_log_that_may_not_be_read_is_not_taken_for_a_day_without_refusals() -> None:
    azure = wished(timedelta(hours=20))
    azure.denied = {"/eventtypes/"}
    assert await outcome(azure) is Outcome.INCONCLUSIVE
