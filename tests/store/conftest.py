"""A real Redis server for each test, in its own folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path) as opened:
        yield opened
