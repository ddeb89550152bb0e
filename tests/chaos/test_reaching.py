"""A private cluster seen from outside: with and without run-command; allowed, forbidden, stuck, truncated.

In all cases the Azure half of the check is complete, and the diagnosis says what was and was not seen.
"""

from dataclasses import replace

import pytest

from bot.checks.check import check, engine_for
from bot.checks.clients import clients
from bot.report.events import EVERYTHING, Report
from handlers.clients.kube.access import KubeAccess
from handlers.model import Diagnosis, Outcome, State, Target
from sandbox.arm.server import ArmServer
from sandbox.kube.world import KubeWorld, RunCommands
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import LIBRARY, access, cluster_id, diagnose

CLUSTER = "payments-prod"
RUN = "Microsoft.ContainerService/managedClusters/runCommand/action"
FROM_AZURE = {
    "cluster-failed",
    "node-vm-failed",
    "nodepool-failed",
    "provisioning-in-progress",
    "quota-exceeded",
    "resource-lock",
    "subnet-full",
}
FROM_INSIDE = {
    "drain-error",
    "kube-system-not-running",
    "node-not-ready",
    "pdb-blocks-drain",
    "upgrade-half-done",
}
OF_WORKLOADS = {
    "aso-resources",
    "config-missing",
    "container-crashing",
    "container-oom-killed",
    "container-port-conflict",
    "cpu-saturation",
    "dependency-refused",
    "dns-broken",
    "gateway-misroute",
    "image-pull-failed",
    "namespace-quota-exceeded",
    "network-policy-blocking",
    "pod-unschedulable",
    "probe-misconfigured",
    "scaled-to-zero",
    "scheduler-unavailable",
    "service-account-missing",
    "service-address-wrong",
    "service-no-endpoints",
    "service-pod-not-listening",
    "service-port-mismatch",
    "service-protocol-mismatch",
    "tunnel-broken",
    "volume-mount-failed",
    "volume-unbound",
    "webhook-blocks",
}
"""Evidence that run-command does not fetch: it gets the unhealthy pods, but no workloads, services, claims or
custom resources."""
OF_ALL_PODS = {"cni-or-route-broken", "pod-ip-exhaustion"}
"""Of the pods, run-command gets a part."""
QUIET = {Outcome.CLEAR, Outcome.NOT_APPLICABLE}


async def checked(
    commands: RunCommands | None = None, *, allowed: tuple[str, ...] = ("payments-*",), granted: bool = True
) -> tuple[Diagnosis, int]:
    """The diagnosis, and how many commands were run."""
    world = Scenario.load("private-cluster-unreachable").world
    inside(world).run_commands = commands or RunCommands()
    if granted:
        world.principals = [
            replace(one, actions=(*one.actions, RUN)) if one.name == "reader" else one for one in world.principals
        ]
    async with ArmServer(world) as server:
        async with clients(access(server), KubeAccess(run_command=allowed, connect_s=0.3)) as opened:
            diagnosis = await diagnose(opened, Target(cluster_id(world, CLUSTER)))
        written = [request for request in server.log if request.is_write and request.principal == "reader"]
        assert {request.action for request in written} <= {RUN}
    return diagnosis, len([request for request in written if request.status == 202])


def inside(world: World) -> KubeWorld:
    return world.kubes[str(cluster_id(world, CLUSTER)).lower()]


def outcomes(diagnosis: Diagnosis) -> dict[str, Outcome]:
    return {check.id: check.outcome for check in diagnosis.checks}


def assert_only_azure_was_seen(diagnosis: Diagnosis, says: str) -> None:
    found = outcomes(diagnosis)
    assert {found[one] for one in FROM_AZURE} == {Outcome.CLEAR}
    assert {found[one] for one in FROM_INSIDE} == {Outcome.INCONCLUSIVE}
    assert found["private-cluster-unreachable"] is Outcome.FOUND
    assert any(says in one.detail for one in diagnosis.unseen), diagnosis.unseen


@pytest.mark.parametrize("allowed", [(), ("prod-*",)])
async def test_where_it_is_not_allowed_no_command_is_run(allowed: tuple[str, ...]) -> None:
    diagnosis, commands = await checked(allowed=allowed)
    assert commands == 0
    assert_only_azure_was_seen(diagnosis, "no connection within 0.3 s")


async def test_where_it_is_allowed_eight_commands_make_all_clear_but_the_workloads_that_they_do_not_ask_for() -> None:
    diagnosis, commands = await checked()
    assert commands == 8
    open_ = {check.id: check.why for check in diagnosis.checks if check.outcome is Outcome.INCONCLUSIVE}
    assert open_.keys() == OF_WORKLOADS | OF_ALL_PODS
    assert all("run-command does not ask for this" in open_[one] for one in OF_WORKLOADS), open_
    assert all("only a part could be read" in open_[one] for one in OF_ALL_PODS), open_
    assert {outcomes(diagnosis)[one] for one in FROM_AZURE | FROM_INSIDE} == {Outcome.CLEAR}
    assert {outcome for one, outcome in outcomes(diagnosis).items() if one not in open_} <= QUIET
    assert diagnosis.state is State.INCONCLUSIVE


async def test_the_calls_that_commands_take_are_counted() -> None:
    world = Scenario.load("private-cluster-unreachable").world
    world.principals = [
        replace(one, actions=(*one.actions, RUN)) if one.name == "reader" else one for one in world.principals
    ]
    async with ArmServer(world) as server:
        async with clients(access(server), KubeAccess(run_command=("*",), connect_s=0.3)) as opened:
            engine = engine_for(LIBRARY, EVERYTHING, 60.0)
            events = check(str(cluster_id(world, CLUSTER)), opened, engine, timeout_s=60)
            report = [event async for event in events][-1]
        sent = [one for one in server.log if one.principal == "reader"]
    assert isinstance(report, Report)
    assert report.arm_calls == len(sent)


async def test_where_it_is_forbidden_the_missing_action_is_named() -> None:
    diagnosis, _ = await checked(granted=False)
    assert_only_azure_was_seen(diagnosis, "run-command")
    assert RUN in {one.grant for one in diagnosis.unseen}


async def test_a_pod_that_never_starts_and_one_that_finds_no_room_are_told_apart_from_silence() -> None:
    for commands in (RunCommands(never_starts=True), RunCommands(fails="0/7 nodes are available: 7 Insufficient cpu.")):
        diagnosis, _ = await checked(commands)
        assert_only_azure_was_seen(diagnosis, "run-command")


async def test_output_that_is_cut_is_never_taken_for_the_whole() -> None:
    diagnosis, commands = await checked(RunCommands(output_limit=900))
    found = outcomes(diagnosis)
    assert commands > 0
    assert {found[one] for one in FROM_AZURE} == {Outcome.CLEAR}
    assert Outcome.CLEAR not in {found[one] for one in FROM_INSIDE}
    assert Outcome.CRASHED not in found.values()
