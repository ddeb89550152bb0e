"""Fixtures that set up a Stage for a scenario."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sandbox.scenario import Scenario
from tests.checking import azure
from tests.clients.azure import LocalAzure
from tests.local_azure import Signed, listening, signed
from tests.remedy_execution.stage import Stage

__all__ = ["signed"]


@asynccontextmanager
async def staged(scenario: str, cluster: str) -> AsyncIterator[Stage]:
    async with azure(Scenario.load(scenario).world) as server:
        yield Stage(server, cluster)


@pytest.fixture
async def failed_pool() -> AsyncIterator[Stage]:
    """staging-neu: pool general is Failed, and the cause is gone."""
    async with staged("nodepool-failed", "staging-neu") as stage:
        yield stage


@pytest.fixture
async def failed_cluster() -> AsyncIterator[Stage]:
    """prod-eus2 is Failed, its pools are not."""
    async with staged("cluster-failed", "prod-eus2") as stage:
        yield stage


@pytest.fixture
async def failed_machine() -> AsyncIterator[Stage]:
    """prod-weu: one instance of pool apps is Failed, and its node is NotReady."""
    async with staged("node-vm-failed", "prod-weu") as stage:
        yield stage


@pytest.fixture
async def wire(signed: Signed) -> AsyncIterator[LocalAzure]:
    """A fake Azure that records every request body and returns the test's responses."""
    async with listening(signed) as local:
        yield local
