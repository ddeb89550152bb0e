"""Errors if the run-command fallback fails too."""

from __future__ import annotations

import asyncio

import pytest

from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    Garbled,
    Refused,
    ServerFault,
    TimedOut,
)
from handlers.clients.kube.inside.questions import NODES
from handlers.clients.kube.reader import KubeReader
from handlers.engine.current import deadline
from handlers.model import Why
from tests.clients.azure import Handler, LocalAzure, says
from tests.clients_kube.cluster import LocalCluster
from tests.clients_kube.commands import FORBIDDEN, RUN, Commands, failure, result

POST_ACTION = "Microsoft.ContainerService/managedClusters/runCommand/action"


@pytest.mark.parametrize(
    ("answer", "kind", "why", "says_so"),
    [
        (result("Failed", reason="pod cannot be scheduled: 0/3"), ServerFault, Why.FAILED, "pod could not be started"),
        (says({}, 404), ServerFault, Why.FAILED, "its pod could not be started"),
        (
            says({"code": "KubernetesPerformanceError", "message": "did not start within 30s"}, 400),
            ServerFault,
            Why.FAILED,
            "its pod could not be started in the cluster: 400 KubernetesPerformanceError: did not start within 30s",
        ),
        (result(exitCode=1, logs=FORBIDDEN), Denied, Why.DENIED, "403 Forbidden"),
        (
            result(exitCode=1, logs="error: You must be logged in to the server (Unauthorized)"),
            CredentialRefused,
            Why.DENIED,
            "401 Unauthorized",
        ),
        (
            result(exitCode=2, logs="token=abcdefgh12345678 oops"),
            ServerFault,
            Why.FAILED,
            "kubectl ended with 2: token=[",
        ),
        (result("Canceled"), Garbled, Why.FAILED, "ended as Canceled"),
        (says({}), Garbled, Why.FAILED, "could not be understood"),
    ],
)
async def test_each_way_to_fail_is_called_by_its_name(
    commands: Commands, roundabout: KubeReader, answer: Handler, kind: type[ArmError], why: Why, says_so: str
) -> None:
    commands.reply(NODES, answer)
    error = await failure(roundabout)
    assert type(error) is kind
    assert error.unavailable.why is why
    assert "no such host: prod-weu-1a2b3c4d.privatelink.westeurope.azmk8s.invalid" in error.detail
    assert "through run-command: " in error.detail
    assert says_so in error.detail
    assert "abcdefgh12345678" not in str(error)
    again = await failure(roundabout)
    assert again.detail == error.detail
    assert len(commands.sent) == 1
    assert roundabout.reached == ""


async def test_a_missing_permission_in_the_cluster_is_named(commands: Commands, roundabout: KubeReader) -> None:
    commands.reply(NODES, result(exitCode=1, logs=FORBIDDEN))
    assert (await failure(roundabout)).unavailable.grant == "list nodes (cluster scope)"


@pytest.mark.parametrize(
    ("status", "code", "message", "kind", "grant", "says_so"),
    [
        (403, "AuthorizationFailed", f"to perform action '{POST_ACTION}' over", Denied, POST_ACTION, "403 Auth"),
        (409, "ScopeLocked", "are locked", Refused, None, "such a lock forbids run-command"),
        (400, "RunCommandDisabled", "Run command is disabled", Refused, None, "Run command is disabled"),
    ],
)
async def test_a_command_that_azure_refuses_is_not_sent_again(
    azure: LocalAzure,
    private: LocalCluster,
    roundabout: KubeReader,
    status: int,
    code: str,
    message: str,
    kind: type[ArmError],
    grant: str | None,
    says_so: str,
) -> None:
    azure.on[RUN.lower()] = [says({"error": {"code": code, "message": message}}, status)]
    error = await failure(roundabout)
    assert type(error) is kind
    assert error.unavailable.grant == grant
    assert says_so in error.detail
    assert "no such host" in error.detail
    assert azure.count(RUN) == 1


async def test_a_command_too_slow_for_the_deadline_says_what_it_waited_for(
    commands: Commands, roundabout: KubeReader
) -> None:
    commands.reply(NODES, says({"properties": {"provisioningState": "Running"}}, 202))
    deadline.set(asyncio.get_running_loop().time() + 0.5)
    error = await failure(roundabout)
    assert type(error) is TimedOut
    assert "the command did not finish within" in error.detail
