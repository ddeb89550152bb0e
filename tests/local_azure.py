"""Fixtures for a folder: a local Azure, and a clock with instant waits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from ssl import SSLContext

import pytest

from tests.clients.azure import LocalAzure, QuickClock, certificate

__all__ = ["azure", "clock", "listening", "signed"]

Signed = tuple[SSLContext, Path]


@pytest.fixture(scope="session")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    return certificate(tmp_path_factory.mktemp("tls"))


@asynccontextmanager
async def listening(signed: Signed) -> AsyncIterator[LocalAzure]:
    context, ca_file = signed
    local = LocalAzure(ca_file)
    await local.start(context)
    yield local
    await local.stop()


@pytest.fixture
async def azure(signed: Signed) -> AsyncIterator[LocalAzure]:
    async with listening(signed) as local:
        yield local


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()
