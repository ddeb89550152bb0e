"""A local Azure that returns a local cluster's credential, and a reader that uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.model import Target
from tests.clients.azure import LocalAzure, QuickClock
from tests.clients_kube.cluster import CLUSTER, CREDENTIAL, EntraCredential, LocalCluster, credential
from tests.clients_kube.commands import ALLOWED, Commands
from tests.local_azure import azure, clock, signed

__all__ = ["azure", "clock", "signed"]


@pytest.fixture
async def cluster(azure: LocalAzure) -> AsyncIterator[LocalCluster]:
    """A cluster whose user has a static token, which Azure returns."""
    local = LocalCluster(tokens={"static-token"})
    await local.start()
    azure.reply(CREDENTIAL, credential(local.kubeconfig({"token": "static-token"})))
    yield local
    await local.stop()


@pytest.fixture
def identity() -> EntraCredential:
    return EntraCredential()


@pytest.fixture
async def arm(azure: LocalAzure, identity: EntraCredential, clock: QuickClock) -> AsyncIterator[ArmReader]:
    access = AzureAccess(resource_manager=azure.url, authority=azure.url, ca_bundle=azure.ca_file, identity={})
    async with ArmReader(access, credential=identity, clock=clock) as reader:
        yield reader


@pytest.fixture
def target() -> Target:
    return Target(CLUSTER)


@pytest.fixture
async def kube(arm: ArmReader, target: Target, clock: QuickClock) -> AsyncIterator[KubeReader]:
    async with KubeReader(target, arm, KubeAccess(), clock=clock) as reader:
        yield reader


@pytest.fixture
async def private(azure: LocalAzure) -> LocalCluster:
    """A cluster whose host name does not resolve."""
    local = LocalCluster()
    server = "https://prod-weu-1a2b3c4d.privatelink.westeurope.azmk8s.invalid:443"
    azure.on[CREDENTIAL.lower()] = [credential(local.kubeconfig({"token": "t"}, server=server))]
    return local


@pytest.fixture
def commands(azure: LocalAzure, private: LocalCluster) -> Commands:
    return Commands(azure)


@pytest.fixture
def audited() -> list[tuple[str, str]]:
    return []


@pytest.fixture
async def roundabout(
    arm: ArmReader, target: Target, clock: QuickClock, audited: list[tuple[str, str]]
) -> AsyncIterator[KubeReader]:
    def audit(cluster: str, command: str) -> None:
        audited.append((cluster, command))

    async with KubeReader(target, arm, ALLOWED, clock=clock, on_run_command=audit) as reader:
        yield reader
