"""Where a fix would do harm or cannot work there is a reason in the thread instead of a button; what came to stand in
the way after the approval stops it. Nothing is written in Azure or in a cluster.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.app import Bot
from bot.drill.repair import writes
from bot.fixes.proposal import End
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.kube.world import KubeWorld
from sandbox.objects import patch_object
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.world import Change
from tests.slack_app.fixes.steps import CHANNEL, Desk, audited, ended
from tests.slack_app.reading import buttons, seen

EVERYBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def scenario() -> str:
    return "node-vm-failed"


@pytest.fixture(autouse=True)
async def _nothing_is_written(arm: ArmServer) -> AsyncIterator[None]:
    yield
    assert writes(arm) == []


def failed_machine(arm: ArmServer) -> dict[str, Any]:
    found = (
        body
        for key, body in arm.world.resources.items()
        if key.rsplit("/", 2)[-2] == "virtualmachines" and body["properties"].get("provisioningState") == "Failed"
    )
    return next(found)


def lock_down(arm: ArmServer) -> None:
    """The node resource group as AKS leaves it with `--nrg-lockdown-restriction-level ReadOnly`."""
    group = failed_machine(arm)["id"].partition("/providers/")[0]
    arm.world.put(
        {
            "id": f"{group}/providers/Microsoft.Authorization/denyAssignments/11111111-2222-4333-8444-555555555555",
            "name": "11111111-2222-4333-8444-555555555555",
            "type": "Microsoft.Authorization/denyAssignments",
            "properties": {
                "denyAssignmentName": "aks-managed-lockdown",
                "scope": group,
                "permissions": [{"actions": ["*"], "notActions": ["*/read"], "dataActions": [], "notDataActions": []}],
                "principals": [{"id": EVERYBODY, "type": "SystemDefined"}],
                "excludePrincipals": [],
                "isSystemProtected": True,
            },
        }
    )


def leave_one_node_behind(arm: ArmServer) -> None:
    """One node of the failed pool still runs the version before."""
    kube, node = a_node(arm, "staging-neu", "general")
    patch_object(kube, f"Node/{node}", {"status": {"nodeInfo": {"kubeletVersion": "v1.34.8"}}})


def leave_one_image_behind(arm: ArmServer) -> str:
    """One node of a pool that is well still has the image before."""
    kube, node = a_node(arm, "prod-eus2", "system")
    label = "kubernetes.azure.com/node-image-version"
    old = "AKSUbuntu-2204gen2containerd-202609.01.0"
    patch_object(kube, f"Node/{node}", {"metadata": {"labels": {label: old}}})
    return node


def a_node(arm: ArmServer, cluster: str, pool: str) -> tuple[KubeWorld, str]:
    kube = next(kube for key, kube in arm.world.kubes.items() if key.endswith(f"/{cluster}"))
    of_pool = [one for one in kube.every("nodes", group="") if one["metadata"]["labels"]["agentpool"] == pool]
    return kube, str(of_pool[0]["metadata"]["name"])


def give_the_set_a_newer_model(arm: ArmServer) -> str:
    machine = failed_machine(arm)
    arm.world.apply(Change(machine["id"], {"properties": {"latestModelApplied": False}}))
    return str(machine["name"])


async def no_button(desk: Desk, *words: str) -> Message:
    """The answer says why, and offers nothing."""
    cause = await desk.offered()
    assert not [name for name in buttons(cause) if name.startswith("fix_")]
    said = f"{seen(cause)} {json.dumps(cause.blocks)}"
    assert not [word for word in ("Why there is no button", *words) if word not in said], said
    return cause


async def stops_as_stale(desk: Desk, control: Control, redis: Connection, proposal: Message, *words: str) -> None:
    """It was approved, and does not begin; the thread says why."""
    await control.press("approver", proposal, "fix_approve")
    assert (await ended(redis)).end is End.STALE
    await desk.says("out of date", *words)
    thread = control.thread(CHANNEL, proposal.thread_ts or "")
    await control.until(lambda: any("out of date" in seen(x) and x.ts != proposal.ts for x in thread_of(desk, thread)))
    assert "started" not in await audited(redis)


def thread_of(desk: Desk, thread: list[Message]) -> list[Message]:
    return desk.control.thread(CHANNEL, thread[0].ts)


LOCKED_DOWN = ("aks-managed-lockdown", "the node resource group is locked down", "az aks nodepool delete-machines")
REIMAGED = ("does not have the latest model", "would re-image the node", "--node-image-only")


async def test_behind_a_lockdown_the_answer_names_it_and_what_aks_offers_instead(
    bot: Bot, desk: Desk, arm: ArmServer
) -> None:
    lock_down(arm)
    await no_button(desk, *LOCKED_DOWN)


async def test_a_lockdown_that_came_after_the_approval_was_asked_for_stops_it(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    lock_down(arm)
    await stops_as_stale(desk, control, redis, proposal, "aks-managed-lockdown")


async def test_an_instance_without_the_latest_model_gets_steps_instead_of_a_button(
    bot: Bot, desk: Desk, arm: ArmServer
) -> None:
    name = give_the_set_a_newer_model(arm)
    await no_button(desk, name, *REIMAGED)


async def test_a_newer_model_that_came_after_the_approval_was_asked_for_stops_it(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    give_the_set_a_newer_model(arm)
    await stops_as_stale(desk, control, redis, proposal, "would re-image the node")


@pytest.mark.parametrize("scenario", ["nodepool-failed"])
async def test_of_mixed_node_versions_the_answer_says_which_and_gives_the_steps(
    bot: Bot, desk: Desk, arm: ArmServer
) -> None:
    leave_one_node_behind(arm)
    cause = await desk.offered()
    assert not [name for name in buttons(cause) if name.startswith("fix_")]
    said = seen(cause)
    assert "its nodes run 1.34.8 (1), 1.35.6 (3)" in said
    assert "az aks nodepool upgrade" in said


@pytest.mark.parametrize("scenario", ["nodepool-failed"])
async def test_a_node_of_another_version_that_came_after_the_approval_was_asked_for_stops_it(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    leave_one_node_behind(arm)
    await stops_as_stale(desk, control, redis, proposal, "follows from another cause now: upgrade-half-done")


@pytest.mark.parametrize("scenario", ["cluster-failed"])
async def test_a_node_of_another_image_in_any_pool_is_named_instead_of_a_button_for_the_cluster(
    bot: Bot, desk: Desk, arm: ArmServer
) -> None:
    name = leave_one_image_behind(arm)
    await no_button(desk, name, "202609.01.0", "a PUT could replace them", "finish the upgrade, or take it back")
