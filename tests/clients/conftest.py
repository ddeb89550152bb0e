"""A local Azure, and a reader that speaks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from ssl import SSLContext

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm import ArmReader
from tests.clients.azure import LocalAzure, PaperCredential, QuickClock, certificate


@pytest.fixture(scope="session")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[SSLContext, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def azure(signed: tuple[SSLContext, Path]) -> AsyncIterator[LocalAzure]:
    context, ca_file = signed
    local = LocalAzure(ca_file)
    await local.start(context)
    yield local
    await local.stop()


@pytest.fixture
def access(azure: LocalAzure) -> AzureAccess:
    return AzureAccess(resource_manager=azure.url, authority=azure.url, ca_bundle=azure.ca_file, identity={})


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


@pytest.fixture
def credential() -> PaperCredential:
    return PaperCredential()


@pytest.fixture
async def arm(access: AzureAccess, credential: PaperCredential, clock: QuickClock) -> AsyncIterator[ArmReader]:
    async with ArmReader(access, credential=credential, clock=clock) as reader:
        yield reader
