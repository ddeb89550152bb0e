"""Stages by scenario."""

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
    """staging-neu: pool general is Failed for no reason that lasts."""
    async with staged("nodepool-failed", "staging-neu") as stage:
        yield stage


@pytest.fixture
async def failed_cluster() -> AsyncIterator[Stage]:
    """prod-eus2 is Failed, its pools are not."""
    async with staged("cluster-failed", "prod-eus2") as stage:
        yield stage


@pytest.fixture
async def failed_machine() -> AsyncIterator[Stage]:
    """prod-weu: one instance of pool apps is Failed, and its node is silent."""
    async with staged("node-vm-failed", "prod-weu") as stage:
        yield stage


@pytest.fixture
async def wire(signed: Signed) -> AsyncIterator[LocalAzure]:
    """An Azure that keeps every body that it gets, and answers as a test tells it to."""
    async with listening(signed) as local:
        yield local
