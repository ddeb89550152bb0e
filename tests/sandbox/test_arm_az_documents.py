"""The reading command lines of the documents, with the real command line. Skipped where there is none."""

from __future__ import annotations

import pytest

from sandbox.arm.server import ArmServer
from sandbox.world import World
from tests.sandbox.test_arm_az import AZ, Az, az, signed_in
from tests.sandbox.worlds import (
    CLUSTER,
    GROUP,
    NODE_GROUP,
    POOL,
    SCALE_SET,
    SUBNET,
    SUBSCRIPTION,
    event,
    lock,
    policy_assignment,
)

__all__ = ["az", "signed_in"]

pytestmark = pytest.mark.skipif(AZ is None, reason="no az on PATH, and AKSBOT_TEST_AZ names none")

IN_GROUP = ("--resource-group", "rg-prod")
IN_NODE_GROUP = ("--resource-group", NODE_GROUP.rsplit("/", 1)[1])
SET = (*IN_NODE_GROUP, "--name", SCALE_SET.rsplit("/", 1)[1])
LOG = ("monitor", "activity-log", "list", "--offset", "1h")


async def test_a_cluster_its_pools_and_their_machines_are_shown(signed_in: Az) -> None:
    assert (await signed_in("aks", "show", *IN_GROUP, "--name", "prod-weu"))["id"] == CLUSTER
    pool = await signed_in("aks", "nodepool", "show", *IN_GROUP, "--cluster-name", "prod-weu", "--name", "apps")
    assert pool["id"] == POOL
    assert (await signed_in("vmss", "show", *SET))["name"] == SET[-1]
    assert [row["instanceId"] for row in await signed_in("vmss", "list-instances", *SET)] == ["0", "1"]
    expanded = await signed_in("vmss", "list-instances", *SET, "--expand", "instanceView")
    assert expanded[0]["instanceView"]["statuses"]
    view = await signed_in("vmss", "get-instance-view", *SET, "--instance-id", "0")
    assert view["statuses"]
    assert await signed_in("vm", "list", *IN_NODE_GROUP) == []


async def test_quotas_sizes_and_networks_are_shown(signed_in: Az) -> None:
    where = ("--location", "westeurope")
    assert await signed_in("vm", "list-usage", *where)
    assert isinstance(await signed_in("vm", "list-skus", *where, "--size", "Standard_D4s_v5", "--all"), list)
    assert (await signed_in("network", "vnet", "subnet", "show", "--ids", SUBNET))["id"] == SUBNET
    assert isinstance(await signed_in("network", "lb", "list", *IN_NODE_GROUP), list)
    assert isinstance(await signed_in("network", "public-ip", "list"), list)


async def test_locks_policies_and_roles_are_listed(world: World, signed_in: Az) -> None:
    world.put(lock(GROUP, name="hold"))
    for scope, name in ((SUBSCRIPTION, "all"), (NODE_GROUP, "nodes"), (CLUSTER, "cluster")):
        world.put(policy_assignment(scope, name))
    assert [row["name"] for row in await signed_in("lock", "list")] == ["hold"]
    listed = await signed_in("policy", "assignment", "list", *IN_NODE_GROUP, "--disable-scope-strict-match")
    assert {row["name"] for row in listed} == {"all", "nodes"}
    assert isinstance(await signed_in("policy", "exemption", "list", *IN_NODE_GROUP), list)
    roles = await signed_in("role", "assignment", "list", "--scope", CLUSTER, "--include-inherited")
    assert isinstance(roles, list)


async def test_the_activity_log_is_narrowed_by_status_and_caller(world: World, arm: ArmServer, signed_in: Az) -> None:
    world.events = [event(minutes, minutes) for minutes in (5, 10, 20)]
    world.events[0] |= {"status": {"value": "Started", "localizedValue": "Started"}}
    world.events[1] |= {"caller": "somebody@example.com"}
    failed = await signed_in(*LOG, *IN_GROUP, "--status", "Failed")
    assert [row["eventDataId"][-3:] for row in failed] == ["010", "020"]
    theirs = await signed_in(*LOG, *IN_GROUP, "--status", "Failed", "--caller", "somebody@example.com")
    assert [row["eventDataId"][-3:] for row in theirs] == ["010"]
    assert len(await signed_in(*LOG, "--resource-id", POOL, "--status", "Failed")) == 2
    assert len(await signed_in(*LOG, "--correlation-id", world.events[0]["correlationId"])) == 1
    sent = [one.query for one in arm.calls if "eventtypes" in one.path]
    assert all("status" in query for query in sent[:3])
