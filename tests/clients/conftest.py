"""A local Azure, and a reader connected to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from tests.clients.azure import LocalAzure, PaperCredential, QuickClock
from tests.local_azure import azure, clock, signed

__all__ = ["azure", "clock", "signed"]


@pytest.fixture
def access(azure: LocalAzure) -> AzureAccess:
    return AzureAccess(resource_manager=azure.url, authority=azure.url, ca_bundle=azure.ca_file, identity={})


@pytest.fixture
def credential() -> PaperCredential:
    return PaperCredential()


@pytest.fixture
async def arm(access: AzureAccess, credential: PaperCredential, clock: QuickClock) -> AsyncIterator[ArmReader]:
    async with ArmReader(access, credential=credential, clock=clock) as reader:
        yield reader
