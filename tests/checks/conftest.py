"""A real Redis server for each test, in its own folder."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected

BROKEN = "ignore:Exception ignored in.*MemoryObject:pytest.PytestUnraisableExceptionWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore warnings about streams of broken connections, which coredis leaves to the garbage collector."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings(BROKEN))


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Run the garbage collector after each test, so that leaks are reported in the test that caused them."""
    yield
    gc.collect()


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path) as opened:
        yield opened
