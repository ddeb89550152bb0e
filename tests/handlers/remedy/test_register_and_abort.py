"""Registering a provider, and ending an operation."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from handlers.remedy.plan import Risk, Verb
from tests.handlers.diagnose.bodies import CLUSTER, GROUP, SUB, event, pool_id
from tests.handlers.diagnose.wire import Azure
from tests.handlers.remedy.asking import planned, refused

STORAGE = "Microsoft.Storage"


def unregistered(state: str = "NotRegistered") -> Azure:
    azure = Azure()
    azure.pool("apps")
    azure.cluster["storageProfile"] = {"fileCSIDriver": {"enabled": True}}
    azure.registered = {STORAGE: state}
    return azure


async def test_registering_is_one_post_in_the_subscription() -> None:
    plan = await planned("register-provider", unregistered())
    [step] = plan.steps
    above = f"/subscriptions/{SUB}"
    assert (step.verb, step.target, dict(step.arguments)) == (Verb.REGISTER_PROVIDER, above, {"namespace": STORAGE})
    assert step.command == f"az provider register --subscription {SUB} --namespace {STORAGE} --wait"
    assert plan.before == {f"registration of {STORAGE}": "NotRegistered"}
    assert plan.undo == f"az provider unregister --subscription {SUB} --namespace {STORAGE}"
    assert (plan.risk, plan.title) == (Risk.LOW, f"Register {STORAGE}")


@pytest.mark.parametrize("state", ["Registering", "Unregistering"])
async def test_what_is_on_its_way_is_waited_for(state: str) -> None:
    azure = unregistered(state)
    said = f"The subscription is not registered to use namespace '{STORAGE}'."
    error = {"error": {"code": "MissingSubscriptionRegistration", "message": said}}
    azure.events[GROUP] = [event(CLUSTER, "Failed", timedelta(minutes=20), json.dumps(error))]
    assert f"{STORAGE} is {state}" in await refused("register-provider", azure)


async def test_a_locked_subscription_and_a_writer_who_may_not_register_are_reasons() -> None:
    azure = unregistered("Unregistered")
    azure.lock(f"/subscriptions/{SUB}", "ReadOnly")
    assert "lock keep (ReadOnly)" in await refused("register-provider", azure)
    azure.locks.clear()
    azure.writer_may = {"actions": ["Microsoft.ContainerService/*", "*/read"], "notActions": []}
    assert f"may not do {STORAGE}/register/action" in await refused("register-provider", azure)
    azure.writer_may["actions"].append("*/register/action")
    assert (await planned("register-provider", azure)).warnings == ()


def busy(state: str = "Updating", ago: timedelta = timedelta(hours=5)) -> Azure:
    azure = Azure()
    azure.pool("apps", 2)
    azure.cluster["provisioningState"] = state
    azure.events[GROUP] = [event(CLUSTER, "Started", ago)]
    return azure


async def test_aborting_ends_exactly_the_operation_that_was_looked_at() -> None:
    plan = await planned("abort-operation", busy())
    [step] = plan.steps
    assert (step.verb, step.target, dict(step.arguments)) == (Verb.ABORT_LATEST, CLUSTER, {})
    assert step.command == f"az aks operation-abort --subscription {SUB} --resource-group {GROUP} --name one"
    assert plan.before == {"state of cluster one": "Updating", "operation (correlation id)": "c0ffee"}
    assert plan.risk is Risk.HIGH
    assert "is left Canceled" in plan.could_go_wrong[0]
    assert "look first whether it still moves" in plan.warnings[0]


async def test_an_aborted_upgrade_says_what_it_leaves_behind() -> None:
    upgrade = await planned("abort-operation", busy("Upgrading", timedelta(hours=20)))
    assert any("surge nodes and cordons" in one for one in upgrade.could_go_wrong)
    assert not any("surge" in one for one in (await planned("abort-operation", busy())).could_go_wrong)


async def test_an_operation_on_a_pool_alone_is_aborted_there() -> None:
    azure = busy("Succeeded")
    azure.pools["apps"]["provisioningState"] = "Scaling"
    azure.events[GROUP] = [event(pool_id("apps"), "Started", timedelta(hours=5))]
    [step] = (await planned("abort-operation", azure)).steps
    assert step.target == pool_id("apps")
    assert step.command.startswith("az aks nodepool operation-abort ")
    assert step.command.endswith("--cluster-name one --name apps")


async def test_another_operation_moves_the_plan() -> None:
    before, azure = await planned("abort-operation", busy()), busy()
    azure.events[GROUP] = [event(CLUSTER, "Started", timedelta(hours=5), correlation="beef")]
    assert before.moved(await planned("abort-operation", azure)) == ("operation (correlation id): was c0ffee, is beef",)


async def test_a_writer_who_may_not_abort_and_a_lock_are_reasons() -> None:
    azure = busy()
    azure.writer_may = {"actions": ["*/read"], "notActions": []}
    azure.lock(CLUSTER, "ReadOnly")
    reasons = await refused("abort-operation", azure)
    assert "may not do Microsoft.ContainerService/managedClusters/abort/action" in reasons
    assert "lock keep (ReadOnly)" in reasons
