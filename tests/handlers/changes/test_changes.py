"""What was done to a cluster: from the events of the activity log, over real sockets, to lines for people."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot.checks.clients import clients
from bot.render.over_time.changes import changes_lines, headline
from handlers.changes.change import Changes, Part, Result
from handlers.changes.read import read_changes
from handlers.changes.told import line
from handlers.clients.kube.access import KubeAccess
from handlers.clients.recording.case import Recorder
from handlers.model import Target, Why
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.checking import access, azure, cluster_id
from tests.handlers.changes.logged import (
    AKS,
    ASSIGN,
    CLUSTER_WRITE,
    DENY,
    LOCK,
    POOL_WRITE,
    SCALE_SET_WRITE,
    UNASSIGN,
    event,
    now,
    only,
    operation,
)

READ = "Microsoft.Insights/eventtypes/values/read"
POLICIES = json.dumps(
    [
        {
            "policyAssignmentDisplayName": "No public addresses",
            "policyAssignmentId": "/subscriptions/x/policyAssignments/no",
        }
    ]
)
LOCKED = json.dumps({"error": {"code": "ScopeLocked", "message": "The scope cannot perform write operation."}})


class Here:
    """A cluster whose log holds what a test puts there."""

    def __init__(self, server: ArmServer, name: str = "prod-weu") -> None:
        self.server, self.world = server, server.world
        self.id = cluster_id(self.world, name)
        self.group = f"/subscriptions/{self.id.subscription}/resourceGroups/{self.id.resource_group}"
        body = next(body for body in self.world.resources.values() if body and body.get("id") == str(self.id))
        self.node_group = (
            f"/subscriptions/{self.id.subscription}/resourceGroups/{body['properties']['nodeResourceGroup']}"
        )
        self.identity = body["identity"]["principalId"]
        self.scale_set = f"{self.node_group}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-apps-1-vmss"
        self.pool = f"{self.id}/agentPools/apps"

    async def read(self, hours: float = 24) -> Changes:
        async with clients(access(self.server), KubeAccess()) as opened:
            return await read_changes(Target(self.id), opened.arm, timedelta(hours=hours))

    async def lines(self) -> list[str]:
        found = await self.read()
        return [line(change, found.until) for change in found.changes]


@asynccontextmanager
async def serving() -> AsyncIterator[Here]:
    async with azure(Scenario.load("healthy-fleet").world) as server:
        here = Here(server)
        only(here.world)
        yield here


@pytest.fixture
async def here() -> AsyncIterator[Here]:
    async with serving() as made:
        yield made


AGO = timedelta(hours=2)


async def test_started_accepted_and_succeeded_are_one_line_with_who_and_how_long(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Accepted", 0), ("Succeeded", 7)))
    found = await here.read()
    [change] = found.changes
    assert line(change, found.until) == "node pool apps: created or updated, in 7 min · by someone"
    assert (change.part, change.result) == (Part.CLUSTER, Result.SUCCEEDED)


async def test_the_newest_comes_first(here: Here) -> None:
    older = operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1), request="a")
    newer = operation(str(here.id), CLUSTER_WRITE, now() - timedelta(hours=1), ("Succeeded", 1), request="b")
    only(here.world, older, newer)
    assert [change.subject for change in (await here.read()).changes] == ["cluster prod-weu", "node pool apps"]


async def test_a_failure_says_azures_error_and_after_how_long(here: Here) -> None:
    failed = operation(here.pool, POOL_WRITE, now() - AGO, ("Accepted", 0), ("Failed", 35), statusMessage=LOCKED)
    only(here.world, failed)
    [told] = await here.lines()
    assert told.startswith("node pool apps: created or updated, failed after 35 min: ScopeLocked: The scope cannot")


async def test_what_azure_turned_down_at_once_is_refused_and_not_failed(here: Here) -> None:
    refused = operation(here.pool, POOL_WRITE, now() - AGO, ("Failed", 0), statusMessage=LOCKED, http="Conflict")
    only(here.world, refused)
    [change] = (await here.read()).changes
    assert change.result is Result.REFUSED


async def test_an_operation_without_an_end_is_running(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - timedelta(minutes=12), ("Accepted", 0)))
    [told] = await here.lines()
    assert "still running after 12 min" in told


async def test_what_began_days_ago_and_has_no_end_in_the_log_is_not_called_running(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - timedelta(hours=30), ("Accepted", 0)))
    [change] = (found := await here.read(hours=48)).changes
    assert "without an end in the log" in line(change, found.until)


async def test_what_aks_writes_to_the_nodes_for_it_belongs_to_its_line(here: Here) -> None:
    mine = operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 7), correlation="c")
    below = operation(
        here.scale_set, SCALE_SET_WRITE, now() - AGO, ("Succeeded", 3), request="b", correlation="c", caller=AKS
    )
    only(here.world, mine, below)
    [told] = await here.lines()
    assert "1 write of AKS to its nodes" in told


async def test_a_failed_write_to_the_nodes_is_told_where_the_operation_above_it_did_not_fail(here: Here) -> None:
    mine = operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 7), correlation="c")
    below = operation(
        here.scale_set, SCALE_SET_WRITE, now() - AGO, ("Accepted", 0), ("Failed", 3),
        request="b", correlation="c", caller=AKS, statusMessage=LOCKED,
    )  # fmt: skip
    only(here.world, mine, below)
    assert {change.result for change in (await here.read()).changes} == {Result.SUCCEEDED, Result.FAILED}


async def test_the_same_again_is_one_line_with_how_often(here: Here) -> None:
    again = [
        operation(
            here.scale_set, SCALE_SET_WRITE, now() - n * AGO, ("Succeeded", 2), request=str(n), caller=here.identity
        )
        for n in (1, 2, 3)
    ]
    only(here.world, *again)
    [change] = (await here.read()).changes
    assert change.times == 3
    assert change.caller == "the cluster's identity"
    told = await here.lines()
    assert f"3 times since {now() - 3 * AGO:%d %b %H:%M}" in told[0]


async def test_others_in_between_keep_repeated_ones_apart(here: Here) -> None:
    first = operation(here.pool, POOL_WRITE, now() - 3 * AGO, ("Succeeded", 2), request="1")
    between = operation(str(here.id), CLUSTER_WRITE, now() - 2 * AGO, ("Succeeded", 2), request="2")
    last = operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 2), request="3")
    only(here.world, first, between, last)
    assert len((await here.read()).changes) == 3


async def test_a_role_is_told_by_its_name_and_to_whom(here: Here) -> None:
    asked = {
        "properties": {
            "roleDefinitionId": "/subscriptions/x/providers/Microsoft.Authorization/roleDefinitions/"
            "acdd72a7-3385-48ef-bd42-f606fba81ae7",
            "principalId": "233c0342-4683-48b2-85af-9ed9fc76277e",
            "principalType": "User",
        }
    }
    role = f"{here.group}/providers/Microsoft.Authorization/roleAssignments/1"
    only(here.world, operation(role, ASSIGN, now() - AGO, ("Succeeded", 0), requestbody=asked))
    [told] = await here.lines()
    assert told.startswith(
        f"Reader: assigned to user 233c0342-4683-48b2-85af-9ed9fc76277e on resource group {here.id.resource_group}"
    )


async def test_a_role_that_is_taken_away_is_told_from_the_properties_of_the_event(here: Here) -> None:
    role = f"{here.group}/providers/Microsoft.Authorization/roleAssignments/1"
    gone = event(
        role, UNASSIGN, "Succeeded", now() - AGO,
        principalId="e22c7ac45ea2408abb1e9af034e683d5", roleDefinitionId="b24988ac618042a0ab8820f7382dd24c",
    )  # fmt: skip
    only(here.world, [gone])
    [told] = await here.lines()
    assert told.startswith("Contributor: taken from principal e22c7ac45ea2408abb1e9af034e683d5 on resource group")


async def test_a_lock_says_on_what_it_was_set(here: Here) -> None:
    lock = f"{here.node_group}/providers/Microsoft.Authorization/locks/keep"
    only(here.world, operation(lock, LOCK, now() - AGO, ("Succeeded", 0)))
    [change] = (await here.read()).changes
    assert change.subject == "lock keep"
    assert change.action == f"set on resource group {here.node_group.rsplit('/', 1)[-1]}"
    assert change.part is Part.RULES


async def test_what_a_policy_denied_is_one_line_that_names_the_policy(here: Here) -> None:
    failed = operation(
        here.scale_set,
        SCALE_SET_WRITE,
        now() - AGO,
        ("Failed", 0),
        correlation="c",
        http="Forbidden",
        statusMessage=LOCKED,
    )
    denied = event(
        here.scale_set, DENY, "Failed", now() - AGO, request="p", correlation="c", http="Forbidden", policies=POLICIES
    )
    only(here.world, failed, [denied])
    [told] = await here.lines()
    assert "created or updated, denied by policy No public addresses" in told


async def test_what_the_request_asked_for_is_said_where_the_log_holds_it(here: Here) -> None:
    asked = {"properties": {"count": 6, "orchestratorVersion": "1.35.6"}}
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 7), requestbody=asked))
    [told] = await here.lines()
    assert told.startswith("node pool apps: created or updated (Kubernetes 1.35.6, count 6), in 7 min")


async def test_a_request_that_was_cut_in_the_middle_is_left_out(here: Here) -> None:
    cut = event(here.pool, POOL_WRITE, "Started", now() - AGO, requestbody='{"properties":{"count":')
    only(here.world, [cut])
    assert (await here.lines())[0].startswith("node pool apps: created or updated, still running after 2 h")


async def test_other_clusters_of_the_same_group_are_left_out(here: Here) -> None:
    other = f"{here.group}/providers/Microsoft.ContainerService/managedClusters/prod-weu-2"
    only(
        here.world,
        operation(other, CLUSTER_WRITE, now() - AGO, ("Succeeded", 1), request="a"),
        operation(
            f"{other}/providers/Microsoft.Authorization/locks/x", LOCK, now() - AGO, ("Succeeded", 0), request="b"
        ),
        operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1), request="c"),
    )
    assert [change.subject for change in (await here.read()).changes] == ["node pool apps"]


async def test_reading_keys_and_audits_is_no_change(here: Here) -> None:
    listing = f"{CLUSTER_WRITE.removesuffix('/write')}/listClusterUserCredential/action"
    audit = "Microsoft.Authorization/policies/audit/action"
    only(here.world, [event(str(here.id), name, "Succeeded", now() - AGO, request=name) for name in (listing, audit)])
    assert (await here.read()).changes == ()


async def test_what_is_older_than_was_asked_for_is_left_out(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1)))
    assert (await here.read(hours=1)).changes == ()
    assert len((await here.read(hours=3)).changes) == 1


async def test_an_empty_log_says_where_it_looked(here: Here) -> None:
    found = await here.read()
    assert headline(found) == "nothing was changed in the last 24 h"
    assert found.groups == (here.id.resource_group, here.node_group.rsplit("/", 1)[-1])


async def test_a_log_that_may_not_be_read_is_never_called_empty(here: Here) -> None:
    here.server.deny("reader", READ)
    found = await here.read()
    assert {gap.why for gap in found.gaps} == {Why.DENIED}
    assert headline(found) == "what changed in the last 24 h could not be seen"
    assert any(f"grant {READ}" in shown.text for shown in changes_lines(found, 400))


async def test_a_cluster_that_may_not_be_read_leaves_its_own_group(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1)))
    here.server.deny("reader", "Microsoft.ContainerService/managedClusters/read")
    found = await here.read()
    assert found.groups == (here.id.resource_group,)
    assert headline(found) == "1 change in the last 24 h in what could be seen"
    assert [gap.why for gap in found.gaps] == [Why.DENIED]
    only(here.world)
    assert headline(await here.read()) == "nothing was changed in the last 24 h in what could be seen"


async def test_of_people_the_name_is_shown_and_not_the_address(here: Here) -> None:
    guest = "kim.lee_fabrikam.com#EXT#@contoso.onmicrosoft.com"
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1), caller=guest))
    [told] = await here.lines()
    assert told.endswith("· by kim.lee")


async def test_a_recording_names_nobody(here: Here) -> None:
    only(here.world, operation(here.pool, POOL_WRITE, now() - AGO, ("Succeeded", 1)))
    async with clients(access(here.server), KubeAccess(), recorder=Recorder()) as opened:
        [change] = (await read_changes(Target(here.id), opened.arm)).changes
    assert change.caller == "[redacted:email]"
