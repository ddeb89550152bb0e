"""The credential goes from Azure to the API server, and nowhere else."""

from __future__ import annotations

import logging

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.recording.case import Recorder
from handlers.model import Target
from tests.clients.azure import LocalAzure, QuickClock, refuses, says
from tests.clients_kube.cluster import CLUSTER, CREDENTIAL, EntraCredential, LocalCluster


async def test_it_is_neither_redacted_nor_kept_nor_recorded_nor_logged(
    azure: LocalAzure, cluster: LocalCluster, arm: ArmReader, caplog: pytest.LogCaptureFixture, target: Target
) -> None:
    caplog.set_level(logging.DEBUG)
    recorder = Recorder()
    async with ArmReader(arm.access, credential=EntraCredential(), recorder=recorder) as reader:
        first = await reader.user_credential(target.id)
        second = await reader.user_credential(target.id)
    value = first["kubeconfigs"][0]["value"]
    assert second == first
    assert "redacted" not in value
    assert azure.count(CREDENTIAL) == 2
    assert recorder.recording.calls == ()
    assert value not in caplog.text
    assert [call.path for call in reader.calls] == [CREDENTIAL, CREDENTIAL]


async def test_it_is_asked_for_again_when_azure_failed_for_a_moment(
    azure: LocalAzure, arm: ArmReader, clock: QuickClock
) -> None:
    azure.reply(CREDENTIAL, refuses(503, "ServerTimeout", "later"), says({"kubeconfigs": []}))
    assert await arm.user_credential(CLUSTER) == {"kubeconfigs": []}
    assert len(clock.waits) == 1
